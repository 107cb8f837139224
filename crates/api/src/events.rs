//! The caller's own event log.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tandem_core::{AgentId, TaskId, Timestamp};
use utoipa::{IntoParams, ToSchema};

/// Where to begin.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only events after this number; without it, those after what was acknowledged.
    pub after: Option<i64>,
    /// Wait so many seconds for an event, if there is none yet (at most 60).
    pub wait: Option<i64>,
}

/// One event.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    /// Its number in the caller's log.
    pub id: i64,
    /// What happened, such as `task.created`.
    #[serde(rename = "type")]
    pub kind: String,
    /// On which task.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// Through whom; null where the hub acted by itself.
    #[schema(value_type = Option<String>)]
    pub from_agent_id: Option<AgentId>,
    /// The event with all its fields.
    #[schema(value_type = Object)]
    pub data: Box<RawValue>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// A page of the log.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventsPage {
    /// The events, oldest first.
    pub events: Vec<EventView>,
    /// Where the next page begins.
    pub cursor: i64,
    /// Whether there is more already.
    pub has_more: bool,
}

/// How far the caller has read.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AckCursor {
    /// The cursor of the last page that was dealt with. Past the end means the end; backwards does nothing.
    #[serde(deserialize_with = "number")]
    pub cursor: i64,
}

/// Cursors are numbers; clients that treat them as opaque may send them back as text.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let wrong = || serde::de::Error::custom("must be a cursor that this hub gave out");
    let number = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|number| *number >= 0).ok_or_else(wrong)
}

/// Where the cursor stands.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledged {
    /// Always true.
    pub acknowledged: bool,
    /// The acknowledged cursor.
    pub cursor: i64,
}
