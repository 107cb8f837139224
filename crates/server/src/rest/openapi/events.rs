//! Events in the OpenAPI document: a union with a schema for each type, from the table of event types.

use serde_json::{Map, Value, json};
use tandem_core::events::EventKind;

fn to(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// The schema of a field that some events have.
fn field(name: &str) -> Value {
    match name {
        "taskId" => text("The task it is about."),
        "initiatorSessionKey" => text("The session key of the task's initiator."),
        "targetSessionKey" => text("The session key of the task's target."),
        "fromAgentId" => text("The agent that caused it."),
        "fromAgentName" => text("The name of the agent that caused it."),
        "attempt" => {
            json!({ "type": "integer", "format": "int64", "description": "Number of the current attempt." })
        }
        "status" => to("Status"),
        "reason" => text("The reason of the status change."),
        "messageId" => text("The message it is about."),
        "kind" => to("MessageKind"),
        "contentType" => to("ContentType"),
        "messageIds" => {
            json!({ "type": "array", "items": { "type": "string" }, "description": "The messages it is about." })
        }
        "byAgentId" => text("The agent that read, acknowledged or disconnected."),
        "targetAgentId" => text("The agent that has not acknowledged."),
        "fileId" => text("The file that was deleted."),
        "connectionId" => text("The connection."),
        "withAgentId" => text("The other agent of the connection."),
        "withAgentName" => text("The name of that agent."),
        "withPublicKey" => text("The public key of that agent."),
        "pairingId" => text("The offer to pair whose code was redeemed."),
        "networkId" => text("The network of the broadcast."),
        unknown => unreachable!("no event has {unknown}"),
    }
}

/// The name of the schema of a type: `TaskCreatedEvent` for `task.created`.
fn name(kind: &str) -> String {
    let words = kind.split(['.', '_']).map(|word| word[..1].to_uppercase() + &word[1..]);
    words.collect::<String>() + "Event"
}

fn a_type(kind: &str) -> Value {
    json!({ "type": "string", "const": kind })
}

/// The fields of a type beside the envelope, and whether each is always there.
fn own_fields(kind: EventKind) -> Vec<(&'static str, bool)> {
    let mut fields = Vec::new();
    if kind.is_about_a_task() {
        fields.extend([("taskId", true), ("initiatorSessionKey", false), ("targetSessionKey", false)]);
    }
    if kind.names_sender() {
        fields.push(("fromAgentId", true));
    }
    fields.push(("fromAgentName", false));
    fields.extend(kind.fields().iter().map(|field| (field.name, field.is_always_there)));
    fields
}

fn closed_object(about: &str, properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({ "type": "object", "description": about, "properties": properties, "required": required })
}

/// What every event has, whatever its type.
fn envelope(kind: &str, own: &Map<String, Value>, data: &Value) -> Map<String, Value> {
    let mut all = json!({
        "type": a_type(kind),
        "id": { "type": "integer", "format": "int64", "description": "The event's number in your log." },
        "cursor": { "type": "integer", "format": "int64", "description": "The same number: the events after it follow." },
        "taskId": { "type": ["string", "null"], "description": "The task it is about." },
        "fromAgentId": { "type": ["string", "null"], "description": "The agent that caused it; null if the hub did." },
        "createdAt": { "type": "string", "format": "date-time", "description": "When it was written." },
        "data": data,
    });
    let all = super::object(&mut all);
    for (name, schema) in own {
        all.insert(name.clone(), schema.clone());
    }
    std::mem::take(all)
}

const ENVELOPE: [&str; 7] = ["type", "id", "cursor", "taskId", "fromAgentId", "createdAt", "data"];

fn schemas_of(kind: &str, meaning: &str, own: &[(&'static str, bool)], all: &mut Map<String, Value>) {
    let properties: Map<String, Value> =
        own.iter().map(|(name, _)| ((*name).to_owned(), field(name))).collect();
    let always: Vec<&str> = own.iter().filter(|(_, always)| *always).map(|(name, _)| *name).collect();
    let mut data = Map::from_iter([("type".to_owned(), a_type(kind))]);
    data.extend(properties.clone());
    let (event, inner) = (name(kind), name(kind) + "Data");
    let required: Vec<&str> = ["type"].into_iter().chain(always.iter().copied()).collect();
    all.insert(
        inner.clone(),
        closed_object("The fields of the event, without its number and time.", data, &required),
    );
    let mut required = ENVELOPE.to_vec();
    required.extend(always.iter().filter(|name| !ENVELOPE.contains(name)));
    all.insert(event, closed_object(meaning, envelope(kind, &properties, &to(&inner)), &required));
}

fn union(about: &str, kinds: &[&str]) -> Value {
    let mapping: Map<String, Value> =
        kinds.iter().map(|kind| ((*kind).to_owned(), to(&name(kind))["$ref"].clone())).collect();
    let choices: Vec<Value> = kinds.iter().map(|kind| to(&name(kind))).collect();
    json!({ "description": about, "oneOf": choices, "discriminator": { "propertyName": "type", "mapping": mapping } })
}

/// The schemas of all events, and of what is sent beside them.
pub(super) fn schemas() -> Map<String, Value> {
    let mut all = Map::new();
    let mut kinds = Vec::new();
    for kind in EventKind::ALL {
        schemas_of(kind.as_str(), kind.meaning(), &own_fields(*kind), &mut all);
        kinds.push(kind.as_str());
    }
    let about = "An event, the same on every channel: a page of the log, a socket, a stream, and the `data` of a webhook.";
    all.insert("Event".into(), union(about, &kinds));
    all.insert("ConnectedEvent".into(), connected());
    kinds.insert(0, "connected");
    all.insert(
        "PushedEvent".into(),
        union("What a socket or a stream sends: a greeting, then events.", &kinds),
    );
    all.insert("TruncatedEvent".into(), truncated());
    all.insert("PingEvent".into(), ping());
    all.insert("WebhookRequest".into(), webhook_request());
    all
}

fn connected() -> Value {
    json!({
        "type": "object",
        "description": "The first message of a socket or stream.",
        "properties": {
            "type": a_type("connected"),
            "agentId": text("You."),
            "cursor": { "type": "integer", "format": "int64", "description": "The events after this one follow." },
            "epoch": text("The epoch of the log."),
            "reset": { "type": "boolean", "description": "True if the log has another epoch than you named." },
        },
        "required": ["type", "agentId", "cursor", "epoch"],
    })
}

fn truncated() -> Value {
    json!({
        "type": "object",
        "description": "An event of more than 100 KB: read it from your log.",
        "properties": { "type": to("EventType"), "truncated": { "type": "boolean", "const": true } },
        "required": ["type", "truncated"],
    })
}

fn ping() -> Value {
    json!({
        "type": "object",
        "description": "A test of the webhook.",
        "properties": { "type": a_type("ping") },
        "required": ["type"],
    })
}

fn webhook_request() -> Value {
    json!({
        "type": "object",
        "description": "The body of a request to your webhook.",
        "properties": {
            "event": to("WebhookEventType"),
            "timestamp": { "type": "string", "format": "date-time", "description": "When it happened." },
            "agentId": text("You."),
            "data": { "oneOf": [to("Event"), to("PingEvent"), to("TruncatedEvent")] },
        },
        "required": ["event", "timestamp", "agentId", "data"],
    })
}

/// The requests that the hub sends.
pub(super) fn webhooks() -> Value {
    let header = |name: &str, about: &str, required: bool| {
        let text = json!({ "type": "string" });
        json!({ "name": name, "in": "header", "required": required, "description": about, "schema": text })
    };
    json!({ "event": { "post": {
        "tags": ["webhooks"],
        "operationId": "webhooks_event",
        "summary": "An event, sent to your webhook",
        "description": "Every 2xx answer within ten seconds is a receipt; otherwise it is sent again for about eight hours. \
            The signatures are there if you have set a secret.",
        "security": [],
        "parameters": [
            header("webhook-id", "The id of the delivery, the same in every attempt.", true),
            header("webhook-timestamp", "Time of this attempt, in seconds.", true),
            header("webhook-signature", "The signature of Standard Webhooks.", false),
            header("X-Pairai-Timestamp", "Time of this attempt, in seconds.", true),
            header("X-Pairai-Signature", "Hexadecimal HMAC-SHA256 over the timestamp, a full stop and the body.", false),
        ],
        "requestBody": { "required": true, "content": { "application/json": { "schema": to("WebhookRequest") } } },
        "responses": {
            "2XX": { "description": "You have it." },
            "4XX": { "description": "You do not have it; the hub tries again." },
        },
    } } })
}
