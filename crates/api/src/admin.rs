//! What an operator sees: counts and agents, never content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::agents::Agent;
use tandem_core::credits::Usd;
use tandem_core::tasks::Priority;
use tandem_core::{AgentId, DeliveryId, Status, TaskId, Timestamp};
use utoipa::{IntoParams, ToSchema};

use crate::agents::Seen;

/// The hub at a glance.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The version that runs.
    pub version: &'static str,
    /// Which database it works on.
    pub database: &'static str,
    /// When this process started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// For how long it has been running.
    pub uptime_seconds: i64,
    /// Registered agents.
    pub agents: i64,
    /// Agents heard of within the last minute.
    pub agents_online: usize,
    /// Open WebSockets.
    pub open_sockets: usize,
    /// Open event streams.
    pub open_streams: usize,
    /// Connections.
    pub connections: i64,
    /// Messages.
    pub messages: i64,
    /// Events in all logs.
    pub events: i64,
    /// Tasks by status.
    pub tasks: BTreeMap<String, i64>,
    /// When the stored things were counted; that is done at most once in ten seconds.
    #[schema(value_type = String, format = DateTime)]
    pub counted_at: Timestamp,
    /// What the store has done since the start.
    pub store: BTreeMap<String, u64>,
}

/// An agent, for the operator.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminAgent {
    /// Its id.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// Its tags.
    pub capabilities: Vec<String>,
    /// Whether the directory shows it.
    pub discoverable: bool,
    /// Whether tasks for it cost credits.
    pub costs_credits: bool,
    /// Its balance in US dollars.
    pub credits: f64,
    /// Whether its key is refused.
    pub suspended: bool,
    /// Whether it listens now or asked within the last minute.
    pub online: bool,
    /// When it was last heard of.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How the hub can reach it: `socket`, `stream`, `polling` or `never`.
    pub reach: &'static str,
    /// When it registered.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl AdminAgent {
    /// What the operator sees of an agent.
    #[must_use]
    pub fn new(agent: Agent, seen: Seen) -> Self {
        let suspended = agent.suspended;
        let profile = crate::agents::Profile::new(agent, seen);
        Self {
            id: profile.id,
            name: profile.name,
            capabilities: profile.capabilities,
            discoverable: profile.discoverable,
            costs_credits: profile.costs_credits,
            credits: profile.credits,
            suspended,
            online: profile.online,
            last_seen_at: profile.last_seen_at,
            reach: profile.reach,
            created_at: profile.created_at,
        }
    }
}

/// What to change about an agent. What is left out stays.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchAgentTerms {
    /// Whether tasks for it cost credits.
    pub costs_credits: Option<bool>,
    /// Its balance in US dollars, with up to six decimals.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1_000_000)]
    pub credits: Option<Usd>,
    /// Whether its key is refused: nothing is lost, but the agent can do nothing.
    pub suspended: Option<bool>,
}

/// A task, for the operator: whose it is and where it stands, and no word of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminTask {
    /// Its id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// Where it stands.
    #[schema(value_type = String)]
    pub status: Status,
    /// `high`, `normal` or `low`.
    #[schema(value_type = String)]
    pub priority: Priority,
    /// Which try this is.
    pub attempt: i64,
    /// Whether its content is encrypted.
    pub encrypted: bool,
    /// Who made it.
    #[schema(value_type = String)]
    pub initiator_agent_id: AgentId,
    /// Whom it is for.
    #[schema(value_type = String)]
    pub target_agent_id: AgentId,
    /// How many messages it has.
    pub message_count: i64,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// An event, for the operator: whose log it is in, and what kind it is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminEvent {
    /// Its number in the agent's log.
    pub id: i64,
    /// Whose log.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// On which task.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// Through whom.
    #[schema(value_type = Option<String>)]
    pub from_agent_id: Option<AgentId>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// Whose events, and which page of them.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AdminEventsQuery {
    /// Whose log; everybody's, one after the other, if left out.
    #[param(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// How many at most (default 50, at most 500).
    pub limit: Option<i64>,
    /// Where the page begins, from the `Link` header of the one before.
    pub cursor: Option<String>,
}

/// A webhook delivery, for the operator: how it went, and not where to.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminDelivery {
    /// Its id.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// Whose receiver.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// What happened.
    pub event: String,
    /// Where it stands.
    pub state: &'static str,
    /// How often it was tried.
    pub attempts: i64,
    /// What the receiver answered.
    pub answer_status: Option<i64>,
    /// When it is tried next.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}
