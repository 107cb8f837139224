//! The wake ladder: how programs report that they can wake an agent, and what the agent's owner sees of it.

use serde::{Deserialize, Serialize};
use tandem_core::agents::{Agent, Reach};
use tandem_core::wake::Rung;
use tandem_core::{TaskId, Timestamp};
use utoipa::ToSchema;

use crate::agents::Presence;
use crate::fence::Fence;
use crate::words;

/// What a program that runs for you reports: the bridge, a runner or a hook.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportReach {
    /// `channel`, `runner`, `hook`, `longPoll` or `pull`.
    #[schema(value_type = words::Rung)]
    pub rung: Rung,
    /// Whether the program provides this rung from now on. A report holds for 75 seconds, that of a hook for ten
    /// minutes; report every 30 seconds. Omitted: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub provided: Option<bool>,
    /// Tasks that this rung has just shown to your model, at most 100. Those that are not assigned to you are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>, max_items = 100)]
    pub surfaced: Option<Vec<TaskId>>,
}

impl ReportReach {
    /// A program that provides a rung from now on, or no longer.
    #[must_use]
    pub fn provided(rung: Rung, provided: bool) -> Self {
        Self { rung, provided: Some(provided), surfaced: None }
    }

    /// Tasks that a rung has shown to the agent's model.
    #[must_use]
    pub fn surfaced(rung: Rung, tasks: Vec<TaskId>) -> Self {
        Self { rung, provided: None, surfaced: Some(tasks) }
    }
}

/// How you can be reached.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ReachView {
    /// The best way at present, as your connections see it.
    #[schema(value_type = words::Reach)]
    pub reach: Reach,
    /// When it last demonstrably showed something to a model.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub reach_confirmed_at: Option<Timestamp>,
    /// All rungs, the best first.
    pub rungs: Vec<RungView>,
}

/// One rung of the wake ladder.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct RungView {
    /// `channel`, `runner`, `hook`, `longPoll` or `pull`.
    #[schema(value_type = words::Rung)]
    pub rung: Rung,
    /// Until when the last report of a program holds; null if none provides it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub provided_until: Option<Timestamp>,
    /// When it last demonstrably showed something to a model.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_worked_at: Option<Timestamp>,
}

impl ReachView {
    /// How an agent can be reached now.
    #[must_use]
    pub fn new(agent: &Agent, seen: Presence, now: Timestamp) -> Self {
        let rung = |rung| {
            let report = agent.wake.report(rung);
            RungView {
                rung,
                provided_until: report.provided_until.filter(|_| agent.wake.provides(rung, now)),
                last_worked_at: report.worked_at,
            }
        };
        Self {
            reach: seen.reach,
            reach_confirmed_at: seen.reach_confirmed_at,
            rungs: Rung::ALL.into_iter().map(rung).collect(),
        }
    }
}
