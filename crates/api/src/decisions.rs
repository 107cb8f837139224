//! Decisions at an agent's approval gate, as the owner keeps them.

use serde::{Deserialize, Serialize};
use tandem_core::{AgentId, TaskId, Timestamp, Verdict, Way};

use crate::fence::Fence;
use crate::text::{HubText, PeerName, PeerText};

/// What was decided about an attempt of a task that was held.
#[derive(Debug, Clone, Serialize, Deserialize, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DecisionView {
    /// When.
    pub decided_at: Timestamp,
    /// `approved`, `rejected` or `expired`.
    pub verdict: Verdict,
    /// The task, which may be deleted by now.
    pub task_id: TaskId,
    /// The attempt of the task.
    pub attempt: i64,
    /// The title as it was then.
    pub title: PeerText,
    /// The agent that asked.
    pub sender_agent_id: AgentId,
    /// Its name as it was then.
    pub sender_agent_name: PeerName,
    /// The note of an approval, or the reason of a rejection.
    pub note: Option<PeerText>,
    /// The version of the task that was decided on.
    pub version: i64,
    /// How many files it had.
    pub files: i64,
    /// SHA-256, in hexadecimal digits, of the JSON text `[title, description, [[name, type, size], …]]` with its files.
    pub content_sha256: HubText,
    /// By which way: `page`, `rest` or `mcp`; null if nobody decided in time.
    pub way: Option<Way>,
    /// The browser of a person.
    pub device: Option<HubText>,
    /// The beginning of the id of that browser's session.
    pub session: Option<HubText>,
    /// The address that the decision came from.
    pub address: Option<HubText>,
}
