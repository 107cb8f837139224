//! Examples of views.

use serde_json::{Map, Value, json};
use tandem_api::admin::{AdminAgent, AdminDelivery, AdminEvent, AdminNode, AdminTask, Overview, SetupLink};
use tandem_api::agents::{
    BlockEntry, Blocked, Challenge, DeletedAccount, DirectoryEntry, Discovered, NewKey, Profile, ReachView,
    Registered, RungView,
};
use tandem_api::connections::{ConnectedView, ConnectionView, Disconnected, PairingCodeView};
use tandem_api::decisions::DecisionView;
use tandem_api::error::ErrorBody;
use tandem_api::events::{Acknowledged, EventData, EventView, EventsPage, TicketView, TypedEvent};
use tandem_api::export::{ExportView, ExportedFile};
use tandem_api::files::{DeletedFile, DownloadedFile, UploadedFile};
use tandem_api::guests::{DeletedGuest, GuestView, NewGuest};
use tandem_api::inbox::{InboxItem, InboxView};
use tandem_api::messages::{DeletedMessage, MessageFile, MessageView};
use tandem_api::networks::{
    BroadcastSent, BroadcastView, DeletedNetwork, InviteView, LeftNetwork, MemberView, NetworkView,
    RemovedMember,
};
use tandem_api::parts::{ArtifactHeader, ArtifactView, Extras};
use tandem_api::remotes::{DeletedRemote, PauseView, PushTaken, RemoteView};
use tandem_api::system::{Health, Ready};
use tandem_api::tasks::{
    AcknowledgedView, DeletedTask, Delivery, ReadView, RepliedView, TaskLogView, TaskView, ThreadView,
    TreeTask, TreeView, UsageView,
};
use tandem_api::updates::{NewsView, PendingTask, UnreadThread, UpdatesView};
use tandem_api::webhooks::DeliveryView;

use crate::round_trip::{Case, cases};

const AT: &str = "2026-01-02T03:04:05.678Z";

pub(crate) fn cases() -> Vec<Case> {
    let mut all = about_tasks();
    all.extend(about_agents());
    all.extend(about_events());
    all.extend(about_networks());
    all.extend(about_the_hub());
    all
}

/// The fields of several objects, in one.
fn joined<const N: usize>(parts: [Value; N]) -> Value {
    let mut all = Map::new();
    for part in parts {
        all.extend(part.as_object().unwrap().clone());
    }
    Value::Object(all)
}

/// An object with these fields null.
fn nulled(object: &Value, fields: &[&str]) -> Value {
    let mut less = object.clone();
    for field in fields {
        assert!(less.get(*field).is_some(), "{field}");
        less[*field] = Value::Null;
    }
    less
}

fn delivery() -> Value {
    json!({ "queuedAt": AT, "pushedAt": AT, "fetchedAt": AT, "surfacedAt": AT, "surfacedBy": "channel", "acknowledgedAt": AT, "startedAt": AT, "ahead": 3 })
}

pub(crate) fn task() -> Value {
    let own = json!({ "id": "t-1", "title": "Look", "description": "At this.", "status": "input-required",
        "statusReason": "Why", "nextStatuses": ["working"], "requiresReview": true, "priority": "high", "attempt": 2,
        "encrypted": true, "descriptionKeys": { "agent_b": "QUJD", "agent_a": "REVG" }, "senderSignature": "c2ln",
        "initiatorAgentId": "agent_a", "initiatorAgentName": "Ada", "targetAgentId": "agent_b",
        "targetAgentName": "Bob", "approvalStatus": "approved", "approvalNote": "Go on", "unreadCount": 1, "ttlSeconds": 60, "expiresAt": AT,
        "checkInSeconds": 30, "parentTaskId": "t-0", "networkId": "net_1", "initiatorSessionKey": "i",
        "targetSessionKey": "t", "result": "Done", "progress": 50, "progressNote": "Half", "leaseSeconds": 10,
        "onStall": "retry", "maxAttempts": 3, "maxMessages": 4, "usageReported": 1.5, "delivery": delivery(),
        "acknowledgedAt": AT, "startedAt": AT, "completedAt": AT, "createdAt": AT, "updatedAt": AT });
    let foreign = json!({ "contextId": "c-1", "messageId": "m-1", "parts": [{ "data": 42 }], "metadata": { "a": 1.5 },
        "referenceTaskIds": ["t-9"], "acceptedOutputModes": ["text/plain"] });
    joined([own, foreign])
}

const TASK_NULLS: [&str; 25] = [
    "description",
    "statusReason",
    "descriptionKeys",
    "senderSignature",
    "approvalStatus",
    "approvalNote",
    "ttlSeconds",
    "expiresAt",
    "parentTaskId",
    "networkId",
    "initiatorSessionKey",
    "targetSessionKey",
    "result",
    "progress",
    "progressNote",
    "leaseSeconds",
    "acknowledgedAt",
    "startedAt",
    "completedAt",
    "contextId",
    "messageId",
    "parts",
    "metadata",
    "referenceTaskIds",
    "acceptedOutputModes",
];

pub(crate) fn message() -> Value {
    json!({ "id": "msg_1", "taskId": "t-1", "inReplyTo": "msg_0", "senderAgentId": "agent_a",
        "senderAgentName": "Ada", "kind": "message", "content": "Hi", "contentType": "encrypted", "encryptedKeys": { "agent_b": "QUJD" },
        "senderSignature": "c2ln", "readAt": AT, "acknowledgedAt": AT, "createdAt": AT,
        "messageId": "m-2", "parts": [{ "text": "Hi" }, { "data": {} }], "metadata": { "b": [] },
        "referenceTaskIds": ["t-9"], "acceptedOutputModes": ["text/plain"],
        "artifact": { "artifactId": "x", "name": "X", "description": "An X", "append": true, "lastChunk": false } })
}

fn of_the_hub() -> Value {
    let nulls = [
        "inReplyTo",
        "senderAgentName",
        "encryptedKeys",
        "senderSignature",
        "readAt",
        "acknowledgedAt",
        "messageId",
        "parts",
        "metadata",
        "referenceTaskIds",
        "acceptedOutputModes",
        "artifact",
    ];
    joined([
        nulled(&message(), &nulls),
        json!({ "senderAgentId": "system", "kind": "system", "contentType": "text" }),
    ])
}

fn guest() -> Value {
    json!({ "agentId": "agent_g", "name": "Travel", "address": "https://hub.example/a2a/agents/agent_a",
        "expiresAt": AT, "createdAt": AT })
}

fn remote() -> Value {
    json!({ "agentId": "agent_r", "connectionId": "conn_r", "name": "Far", "description": "Elsewhere", "alias": "far",
        "cardUrl": "https://a.example/card", "url": "https://a.example/a2a", "binding": "HTTP+JSON",
        "authType": "apiKey", "allowOrigins": ["https://b.example"], "signature": "verified", "cardVersion": "1",
        "cardReadAt": AT, "onUnclear": "retry",
        "paused": { "reason": "origin", "detail": "https://c.example", "since": AT }, "waitingTasks": 3,
        "failingSince": AT, "lastError": "no answer", "createdAt": AT })
}

fn tree_task() -> Value {
    json!({ "id": "t-1", "parentTaskId": "t-0", "depth": 1, "status": "working", "attempt": 1,
        "initiatorAgentId": "agent_a", "initiatorAgentName": "Ada", "targetAgentId": "agent_b",
        "targetAgentName": "Bob", "createdAt": AT, "updatedAt": AT })
}

fn about_tasks() -> Vec<Case> {
    let line = json!({ "fromStatus": "submitted", "toStatus": "working", "actor": "agent_b", "actorName": "Bob",
        "detail": "Go", "attempt": 1, "createdAt": AT });
    // More than a request may name: the sum of what was reported has no bound.
    let usage = json!({ "deducted": 0.25, "credits": 0.0, "balance": 0.0, "usageReported": 2500000.000001,
        "status": "input-required", "paused": true });
    let nulls = [
        "queuedAt",
        "pushedAt",
        "fetchedAt",
        "surfacedAt",
        "surfacedBy",
        "acknowledgedAt",
        "startedAt",
        "ahead",
    ];
    cases! {
        Delivery: delivery(), nulled(&delivery(), &nulls);
        TaskView: task(), nulled(&task(), &TASK_NULLS);
        GuestView: guest(), nulled(&guest(), &["expiresAt"]);
        NewGuest: joined([json!({ "apiKey": "tdm_1" }), guest()]);
        DeletedGuest: json!({ "deleted": true, "agentId": "agent_g" });
        RemoteView: remote(), nulled(&remote(), &["connectionId", "description", "alias", "authType", "paused",
            "failingSince", "lastError"]);
        PauseView: remote()["paused"], nulled(&remote()["paused"], &["detail"]);
        DeletedRemote: json!({ "deleted": true, "agentId": "agent_r" });
        PushTaken: json!({ "received": true });
        ArtifactView: message()["artifact"], json!({ "artifactId": "x", "name": null, "description": null,
            "append": false, "lastChunk": true });
        Extras: json!({ "metadata": { "z": 1 }, "referenceTaskIds": ["t-9"], "acceptedOutputModes": ["text/plain"],
            "extensions": ["urn:x"], "traceparent": "00", "tracestate": "a=b", "hops": 1 }),
            json!({});
        ArtifactHeader: json!({ "artifactId": "x", "name": "X", "description": "An X", "append": true, "lastChunk": true }),
            json!({ "artifactId": "x" });
        DeletedTask: json!({ "deleted": true, "deletedMessages": 1, "deletedFiles": 2 });
        TaskLogView: line,
            joined([nulled(&line, &["fromStatus", "actorName", "detail"]), json!({ "actor": "system" })]);
        ThreadView: joined([task(), json!({ "messages": [message()], "olderMessagesCursor": "7" })]),
            joined([nulled(&task(), &TASK_NULLS), json!({ "messages": [] })]);
        ReadView: json!({ "messages": [message(), of_the_hub()], "unreadCount": 0 }),
            json!({ "messages": [], "unreadCount": 0 });
        AcknowledgedView: json!({ "acknowledged": true, "messageIds": ["msg_1"], "acknowledgedAt": AT,
            "unreadCount": 0 }),
            json!({ "acknowledged": true, "messageIds": [], "acknowledgedAt": null, "unreadCount": 0 });
        RepliedView: joined([task(), json!({ "message": message(), "note": "It waits." })]),
            joined([nulled(&task(), &TASK_NULLS), json!({ "message": of_the_hub(), "note": null })]);
        TreeTask: tree_task(), nulled(&tree_task(), &["parentTaskId"]);
        TreeView: joined([tree_task(), json!({ "descendants": [tree_task()], "hasMore": true })]),
            joined([tree_task(), json!({ "descendants": [], "hasMore": false })]);
        UsageView: usage;
        MessageView: message(), of_the_hub();
        DeletedMessage: json!({ "deleted": true, "messageId": "msg_1" });
        UploadedFile: json!({ "id": "file_1", "fileId": "file_1", "url": "/files/file_1", "messageId": "msg_1",
            "filename": "a.txt", "mimeType": "text/plain", "sizeBytes": 1 });
        DownloadedFile: json!({ "fileId": "file_1", "filename": "a.txt", "mimeType": "text/plain", "sizeBytes": 1,
            "text": "a", "base64Content": null });
        MessageFile: json!({ "filename": "a.txt", "mimeType": "text/plain", "sizeBytes": 1 });
        DeletedFile: json!({ "deleted": true, "fileId": "file_1" });
    }
}

pub(crate) fn profile() -> Value {
    json!({ "id": "agent_a", "name": "Ada", "publicKey": "PEM", "description": "Codes.", "capabilities": ["rust"],
        "metadata": { "z": 1, "a": { "b": [1.5, null, true] } }, "discoverable": true, "autoAccept": false,
        "defaultApprovalRule": "require", "a2a": "public", "skills": [{ "id": "review", "name": "Review",
            "description": "Reads code.", "tags": ["code"] }], "webhookUrl": "https://example.com/",
        "webhookEvents": ["task.created", "ping"], "webhookActive": true, "webhookSecretFormat": "raw",
        "costsCredits": false, "credits": 0.5, "createdAt": AT, "online": true, "lastSeenAt": AT, "reach": "hook",
        "reachConfirmedAt": AT })
}

const PROFILE_NULLS: [&str; 8] = [
    "publicKey",
    "description",
    "metadata",
    "defaultApprovalRule",
    "webhookUrl",
    "webhookSecretFormat",
    "lastSeenAt",
    "reachConfirmedAt",
];

fn connected() -> Value {
    json!({ "connectionId": "conn_1", "id": "conn_1", "agentId": "agent_b", "agentName": "Bob", "name": "Bob",
        "publicKey": "PEM", "description": "Reads.", "capabilities": ["law"] })
}

fn connection() -> Value {
    joined([
        connected(),
        json!({ "alias": "bob", "approval": "auto", "online": false, "lastSeenAt": AT,
        "reach": "channel", "reachConfirmedAt": AT, "createdAt": AT }),
    ])
}

fn block() -> Value {
    json!({ "agentId": "agent_b", "agentName": "Bob", "createdAt": AT })
}

fn decision() -> Value {
    json!({ "decidedAt": AT, "verdict": "approved", "taskId": "t-1", "attempt": 1, "title": "Review",
        "senderAgentId": "agent_b", "senderAgentName": "Bob", "note": "Be quick.", "version": 3, "files": 1,
        "contentSha256": "ab", "way": "page", "device": "Firefox", "session": "1234", "address": "192.0.2.7" })
}

fn about_agents() -> Vec<Case> {
    let entry = json!({ "id": "agent_b", "name": "Bob", "description": "Reads.", "capabilities": ["law"],
        "connectionCount": 10, "taskCompletionRate": 0.75, "memberSince": AT, "publicKey": true, "autoAccept": true,
        "online": true, "lastSeenAt": AT, "reach": "socket" });
    let bare = nulled(&entry, &["description", "taskCompletionRate", "lastSeenAt"]);
    let rung = json!({ "rung": "longPoll", "providedUntil": AT, "lastWorkedAt": AT });
    let reach = json!({ "reach": "runner", "reachConfirmedAt": null, "rungs": [rung] });
    cases! {
        Profile: profile(), nulled(&profile(), &PROFILE_NULLS);
        Registered: joined([json!({ "apiKey": "tdm_1" }), profile()]),
            joined([json!({ "apiKey": null }), nulled(&profile(), &PROFILE_NULLS)]);
        NewKey: json!({ "apiKey": "tdm_1" }), json!({ "apiKey": null });
        Challenge: json!({ "challenge": "c", "difficulty": 12, "algorithm": "SHA-256" });
        Discovered: json!({ "total": 1, "agents": [entry] }), json!({ "total": 0, "agents": [] });
        DirectoryEntry: entry, bare;
        Blocked: json!({ "agentId": "agent_b", "blocked": true, "cancelledTasks": 2 });
        BlockEntry: block();
        DeletedAccount: json!({ "deleted": true, "connections": 1, "tasks": 2, "messages": 3, "files": 4 });
        PairingCodeView: json!({ "pairingId": "pair_1", "code": "BLUE-TIGER-4231", "expiresAt": AT });
        ConnectedView: connected(), nulled(&connected(), &["publicKey", "description"]);
        ConnectionView: connection(),
            nulled(&connection(), &["publicKey", "description", "alias", "approval", "lastSeenAt", "reachConfirmedAt"]);
        ReachView: reach;
        RungView: rung, nulled(&rung, &["providedUntil", "lastWorkedAt"]);
        Disconnected: json!({ "deleted": true, "cancelledTasks": 2 });
    }
}

/// All the fields that an event can have.
pub(crate) fn event_data() -> Value {
    json!({ "type": "task.updated", "taskId": "t-1", "messageId": "msg_1", "kind": "reply",
        "contentType": "json", "fromAgentId": "agent_a", "initiatorSessionKey": "i", "targetSessionKey": "t", "attempt": 1, "status": "failed", "reason": "Why",
        "messageIds": ["msg_1"], "byAgentId": "agent_b", "fileId": "file_1", "targetAgentId": "agent_b",
        "connectionId": "conn_1", "withAgentId": "agent_b", "withAgentName": "Bob", "withPublicKey": "PEM",
        "pairingId": "pair_1", "networkId": "net_1", "fromAgentName": "Ada", "content": "Hi", "cursor": 7,
        "createdAt": AT })
}

fn event_listed() -> Value {
    json!({ "id": 7, "type": "task.updated", "taskId": "t-1", "fromAgentId": "agent_a", "data": event_data(),
        "createdAt": AT })
}

/// An event as all channels carry it: its fields, what all events have, and its fields once more.
fn whole_event(data: &Value, envelope: &Value) -> Value {
    let last = json!({ "id": 7, "cursor": 7, "createdAt": AT, "data": data });
    joined([data.clone(), envelope.clone(), last])
}

fn updated_event() -> Value {
    let data = json!({ "type": "task.updated", "taskId": "t-1", "initiatorSessionKey": "i", "status": "failed",
        "reason": "Why", "fromAgentName": "Ada" });
    whole_event(&data, &json!({ "fromAgentId": "agent_a" }))
}

fn about_events() -> Vec<Case> {
    let bare = nulled(&joined([event_listed(), json!({ "data": {} })]), &["taskId", "fromAgentId"]);
    let newer = joined([event_listed(), json!({ "type": "task.sung" })]);
    let sent =
        json!({ "type": "message.deleted", "taskId": "t-1", "messageId": "msg_1", "fromAgentId": "agent_a" });
    let of_the_hub = whole_event(
        &json!({ "type": "agent.disconnected", "connectionId": "conn_1", "byAgentId": "agent_b" }),
        &json!({ "taskId": null, "fromAgentId": null }),
    );
    let unknown = json!({ "type": "task.sung", "taskId": "t-1" });
    let pending = json!({ "id": "t-1", "title": "Look", "fromAgent": "Ada", "fromAgentId": "agent_a",
        "status": "submitted", "createdAt": AT });
    let unread = json!({ "taskId": "t-1", "taskTitle": "Look", "count": 2 });
    let updates = json!({ "hasUpdates": true, "pendingTasks": [pending], "unreadMessages": [unread],
        "pendingApprovals": [pending], "cursor": 7, "epoch": "e1" });
    let nothing = json!({ "hasUpdates": false, "pendingTasks": [], "unreadMessages": [], "pendingApprovals": [],
        "cursor": 0, "epoch": "e1" });
    let item = json!({ "kind": "broadcast", "taskId": "t-1", "title": "Crew", "fromAgentId": "agent_a",
        "fromAgentName": "Ada", "priority": "normal", "unreadCount": 1, "networkId": "net_1", "messageId": "msg_1",
        "createdAt": AT });
    let told = joined([item.clone(), json!({ "content": "Hi" })]);
    let delivery = json!({ "id": "whd_1", "event": "ping", "eventId": 7, "url": "https://example.com/",
        "status": "failed", "attempts": 1, "nextAttemptAt": AT, "lastAttemptAt": AT, "request": "{}",
        "responseStatus": 500, "response": "no", "error": "timeout", "durationMs": 10000, "createdAt": AT });
    cases! {
        EventView: updated_event(), whole_event(&sent, &json!({})), of_the_hub,
            whole_event(&unknown, &json!({ "fromAgentId": "agent_a" }));
        EventsPage: json!({ "events": [updated_event()], "cursor": 7, "hasMore": true, "epoch": "e1" }),
            json!({ "events": [], "cursor": 0, "hasMore": false, "epoch": "e1" });
        EventData: event_data(), json!({});
        TypedEvent: event_listed(), bare, newer;
        Acknowledged: json!({ "acknowledged": true, "cursor": 7, "epoch": "e1" });
        TicketView: json!({ "ticket": "x", "expiresAt": AT });
        UpdatesView: updates, nothing;
        NewsView: joined([updates.clone(), json!({ "events": [event_listed()] })]),
            joined([nothing.clone(), json!({ "events": [] })]);
        PendingTask: pending;
        UnreadThread: unread;
        InboxItem: told, nulled(&item, &["taskId", "networkId", "messageId"]);
        InboxView: json!({ "items": [told], "hasMore": true, "nextCursor": "1" }),
            json!({ "items": [], "hasMore": false });
        DeliveryView: delivery,
            nulled(&delivery, &["eventId", "nextAttemptAt", "lastAttemptAt", "responseStatus", "response", "error",
            "durationMs"]);
    }
}

fn about_networks() -> Vec<Case> {
    let network = json!({ "id": "net_1", "name": "Crew", "description": "Releases.", "ownerAgentId": "agent_a",
        "ownerAgentName": "Ada", "role": "owner", "memberCount": 2, "createdAt": AT });
    let member = json!({ "agentId": "agent_b", "agentName": "Bob", "description": "Reads.", "capabilities": ["law"],
        "publicKey": "PEM", "role": "member", "online": true, "createdAt": AT });
    cases! {
        NetworkView: network, nulled(&network, &["description"]);
        InviteView: json!({ "code": "NET-7K2M-QX4T-9WBD", "maxUses": 3, "expiresAt": AT });
        MemberView: member, nulled(&member, &["description", "publicKey"]);
        BroadcastSent: json!({ "messageId": "msg_1", "recipients": 2 });
        BroadcastView: json!({ "id": "msg_1", "networkId": "net_1", "senderAgentId": "agent_a",
            "senderAgentName": "Ada", "kind": "broadcast", "content": "Hi", "contentType": "text", "recipients": 2,
            "createdAt": AT });
        DeletedNetwork: json!({ "deleted": true });
        LeftNetwork: json!({ "left": true });
        RemovedMember: json!({ "removed": true });
    }
}

fn about_the_hub() -> Vec<Case> {
    let agent = json!({ "id": "agent_a", "name": "Ada", "capabilities": ["rust"], "discoverable": true,
        "costsCredits": true, "credits": 0.5, "suspended": false, "online": true, "lastSeenAt": AT,
        "reach": "polling", "createdAt": AT });
    let event = json!({ "id": 7, "agentId": "agent_a", "type": "message.no_ack", "taskId": "t-1",
        "fromAgentId": "agent_b", "createdAt": AT });
    let delivery = json!({ "id": "whd_1", "agentId": "agent_a", "event": "task.created", "state": "pending",
        "attempts": 1, "answerStatus": 500, "nextAttemptAt": AT, "createdAt": AT });
    let file = json!({ "id": "file_1", "taskId": "t-1", "messageId": "msg_1", "uploaderAgentId": "agent_a",
        "filename": "a.txt", "mimeType": "text/plain", "sizeBytes": 1, "createdAt": AT, "base64Content": "YQ==",
        "contentOmitted": false });
    let omitted = nulled(&file, &["base64Content"]);
    let node = json!({ "id": "node_1", "advertise": "10.0.0.5:3000", "version": "0.1.0", "answers": true,
        "draining": false, "bus": "hearing", "busMs": 0.5, "openSockets": 1, "openStreams": 2, "startedAt": AT,
        "seenMsAgo": 3 });
    cases! {
        Health: json!({ "status": "ok", "version": "0.1.0", "publicUrl": "https://hub.example.com" });
        Ready: json!({ "status": "ready", "database": "postgres" }),
            json!({ "status": "ready", "database": "postgres", "warnings": ["NATS is away"] });
        Overview: json!({ "version": "0.1.0", "database": "sqlite", "startedAt": AT, "uptimeSeconds": 1, "agents": 2,
            "agentsOnline": 1, "openSockets": 1, "openStreams": 0, "nodes": 3, "connections": 1, "messages": 3, "events": 4,
            "tasks": { "completed": 1, "working": 2 }, "countedAt": AT, "store": { "writes": 5 } });
        AdminNode: node, nulled(&node, &["busMs"]);
        SetupLink: json!({ "code": "7QFD-K2MX-9TRA", "path": "/setup#7QFD-K2MX-9TRA", "expiresAt": AT });
        AdminAgent: agent, nulled(&agent, &["lastSeenAt"]);
        AdminTask: json!({ "id": "t-1", "status": "working", "priority": "low", "attempt": 1, "encrypted": false,
            "initiatorAgentId": "agent_a", "targetAgentId": "agent_b", "messageCount": 3, "createdAt": AT,
            "updatedAt": AT });
        AdminEvent: event, nulled(&event, &["taskId", "fromAgentId"]);
        AdminDelivery: delivery, nulled(&delivery, &["answerStatus", "nextAttemptAt"]);
        ErrorBody: json!({ "error": "No", "code": "invalid_transition", "details": { "status": ["is wrong"] },
            "status": "working", "nextStatuses": ["completed"] }),
            json!({ "error": "No", "code": "not_found" });
        ExportedFile: file, omitted;
        ExportView: json!({ "agent": profile(), "connections": [connection()], "tasks": [task()],
            "messages": [message()], "files": [file], "decisions": [decision()], "blocks": [block()], "events": [event_listed()],
            "__exportComplete": true }),
            json!({ "agent": nulled(&profile(), &PROFILE_NULLS), "connections": [], "tasks": [], "messages": [],
            "files": [], "decisions": [], "blocks": [], "events": [], "__exportComplete": true });
        DecisionView: decision(), nulled(&decision(), &["note", "way", "device", "session", "address"]);
    }
}
