//! A message of a client, as the operations take it.

use serde::Deserialize;
use serde_json::value::RawValue;
use tandem_api::a2a::{self as wire, Content, HUB_EXTENSION, JsonObject, Reason, Role, Wrong};
use tandem_api::parts::{Extras, Part};
use tandem_core::TaskId;
use tandem_core::tasks::{LeaseSeconds, MaxMessages, OnStall, Priority, TtlSeconds};
use tandem_core::text::{ContextId, ForeignId, Title, Unfit};
use tandem_hub::ops::a2a::{Incoming, NewPush, Settings};

use super::call::Wishes;
use super::failure::Failure;

/// What the hub's extension says about a new task.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HubSettings {
    title: Option<Title>,
    priority: Option<Priority>,
    ttl_seconds: Option<TtlSeconds>,
    lease_seconds: Option<LeaseSeconds>,
    on_stall: Option<OnStall>,
    max_messages: Option<MaxMessages>,
    parent_task_id: Option<TaskId>,
    hops: Option<i64>,
}

impl HubSettings {
    fn of(metadata: Option<&JsonObject>) -> Result<Self, Failure> {
        let Some(metadata) = metadata else { return Ok(Self::default()) };
        let fields = wire::proto::Object::read(metadata.as_raw())?;
        let Some((_, own)) = fields.fields().find(|(name, _)| *name == HUB_EXTENSION) else {
            return Ok(Self::default());
        };
        serde_json::from_str(own.get()).map_err(|wrong| {
            // What serde adds is a place in a text that the client has never seen.
            let why = wrong.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            Failure::field(&format!("message.metadata.{HUB_EXTENSION}"), &format!("is not usable: {why}"))
        })
    }
}

/// Whether a client makes use of the hub's extension with this message.
pub(super) fn uses_extension(wishes: &Wishes, message: &wire::Message) -> bool {
    wishes.extension || message.extensions.iter().any(|uri| uri == HUB_EXTENSION)
}

fn checked<T: TryFrom<String, Error = Unfit>>(field: &str, text: String) -> Result<T, Failure> {
    T::try_from(text).map_err(|unfit| Failure::field(field, &unfit.to_string()))
}

/// The message as the operations take it.
pub(super) fn incoming(
    message: wire::Message,
    accepted_output_modes: Vec<String>,
    push: Option<NewPush>,
    wishes: &Wishes,
) -> Result<Incoming, Failure> {
    if message.role != Role::User {
        return Err(Failure::field("message.role", "must be ROLE_USER"));
    }
    if message.parts.is_empty() {
        return Err(Failure::field("message.parts", "must not be empty"));
    }
    let own = match uses_extension(wishes, &message) {
        true => HubSettings::of(message.metadata.as_ref())?,
        false => HubSettings::default(),
    };
    let context = message.context_id.map(|id| checked::<ContextId>("message.contextId", id)).transpose()?;
    let no_task = |_| Failure::new(Reason::TaskNotFound, "There is no such task, or you may not see it");
    Ok(Incoming {
        message_id: checked::<ForeignId>("message.messageId", message.message_id)?,
        parts: message.parts.into_iter().map(part).collect::<Result<_, Wrong>>()?,
        extras: Extras {
            metadata: message.metadata.map(Into::into),
            reference_task_ids: message.reference_task_ids,
            accepted_output_modes,
            extensions: message.extensions,
            traceparent: wishes.traceparent.clone(),
            tracestate: wishes.tracestate.clone(),
            hops: own.hops,
        },
        context,
        task: message.task_id.map(|id| id.parse().map_err(no_task)).transpose()?,
        settings: Settings {
            title: own.title,
            priority: own.priority,
            ttl_seconds: own.ttl_seconds,
            lease_seconds: own.lease_seconds,
            on_stall: own.on_stall,
            max_messages: own.max_messages,
            parent: own.parent_task_id,
        },
        push,
    })
}

fn part(part: wire::Part) -> Result<Part, Wrong> {
    let wire::Part { content, metadata, filename, media_type } = part;
    let rest = Part { metadata: metadata.map(Into::into), filename, media_type, ..Part::default() };
    Ok(match content {
        Content::Text(text) => Part { text: Some(text), ..rest },
        Content::Raw(bytes) => Part { raw: Some(bytes.into()), ..rest },
        Content::Url(url) => Part { url: Some(url), ..rest },
        Content::Data(json) => Part { data: Some(Box::<RawValue>::from(json)), ..rest },
    })
}
