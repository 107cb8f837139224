//! Views for the operator: counts and metadata, never content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::agents::{Agent, Reach};
use tandem_core::credits::Usd;
use tandem_core::tasks::Priority;
use tandem_core::webhooks::State;
use tandem_core::{AgentId, DeliveryId, NodeId, Status, TaskId, Timestamp};
use utoipa::{IntoParams, ToSchema};

use crate::agents::Presence;
use crate::events::EventType;
use crate::system::Database;
use crate::text::{Author, HubText, PeerName, PeerTags};
use crate::words;

/// Statistics of the hub.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The running version.
    #[schema(value_type = String)]
    pub version: HubText,
    /// The kind of database.
    #[schema(value_type = String)]
    pub database: Database,
    /// When this process started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// Seconds since the start.
    pub uptime_seconds: i64,
    /// Registered agents.
    pub agents: i64,
    /// Agents with a request in the last minute.
    pub agents_online: usize,
    /// Open WebSockets, on all nodes.
    pub open_sockets: usize,
    /// Open event streams, on all nodes.
    pub open_streams: usize,
    /// Nodes that run.
    #[serde(default)]
    pub nodes: usize,
    /// Connections.
    pub connections: i64,
    /// Messages.
    pub messages: i64,
    /// Events in all logs.
    pub events: i64,
    /// Tasks by status.
    pub tasks: BTreeMap<String, i64>,
    /// When the rows were counted; at most once in ten seconds.
    #[schema(value_type = String, format = DateTime)]
    pub counted_at: Timestamp,
    /// Counters of the store since the start, of all nodes together.
    pub store: BTreeMap<String, u64>,
}

/// A node: a process that serves this hub, alone or beside others on the same database.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminNode {
    /// The node's id, which stays when it is started again.
    #[schema(value_type = String)]
    pub id: NodeId,
    /// Where other nodes reach it.
    #[schema(value_type = String)]
    pub advertise: HubText,
    /// The version that it runs.
    #[schema(value_type = String)]
    pub version: HubText,
    /// Whether it is the one that answers.
    pub answers: bool,
    /// Whether it is stopping.
    pub draining: bool,
    /// `alone`, `polling` (several nodes without NATS), `hearing` (it hears of every other node), `deaf` (it looks at the
    /// database, because it does not hear of another node) or `away` (NATS is away).
    #[schema(value_type = String)]
    pub bus: HubText,
    /// Milliseconds of its last exchange with NATS.
    pub bus_ms: Option<f64>,
    /// Open WebSockets.
    pub open_sockets: usize,
    /// Open event streams.
    pub open_streams: usize,
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    /// Milliseconds since it last said that it runs; it does so every five seconds.
    pub seen_ms_ago: i64,
}

/// A one-time link that signs the operator in to the dashboard.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupLink {
    /// The code, which can also be typed into the page `/setup`.
    #[schema(value_type = String, example = "7QFD-K2MX-9TRA")]
    pub code: HubText,
    /// The path of the link. The code is in the fragment, which browsers do not send.
    #[schema(value_type = String, example = "/setup#7QFD-K2MX-9TRA")]
    pub path: HubText,
    /// When the code ends. It can be used once.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// An agent, for the operator.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminAgent {
    /// Its id.
    #[schema(value_type = String)]
    pub id: AgentId,
    /// Its name.
    #[schema(value_type = String)]
    pub name: PeerName,
    /// Capability tags.
    #[schema(value_type = Vec<String>)]
    pub capabilities: PeerTags,
    /// Whether the directory lists it.
    pub discoverable: bool,
    /// Whether tasks for it cost credits.
    pub costs_credits: bool,
    /// Balance in US dollars.
    #[schema(value_type = f64)]
    #[serde(deserialize_with = "crate::amount")]
    pub credits: Usd,
    /// Whether its requests are refused.
    pub suspended: bool,
    /// Whether it is connected or sent a request in the last minute.
    pub online: bool,
    /// When it was last seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_seen_at: Option<Timestamp>,
    /// How it can be reached: `channel`, `runner`, `hook`, `socket`, `stream`, `webhook`, `a2a`, `polling`,
    /// `away` or `never`.
    #[schema(value_type = words::Reach)]
    pub reach: Reach,
    /// When it registered.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl AdminAgent {
    /// The operator's view of an agent.
    #[must_use]
    pub fn new(agent: Agent, seen: Presence) -> Self {
        Self {
            id: agent.id,
            name: PeerName::peer(agent.name),
            capabilities: PeerTags::new(Author::Peer, agent.capabilities),
            discoverable: agent.discoverable,
            costs_credits: agent.costs_credits,
            credits: Usd::from_micro(agent.credits_micro),
            suspended: agent.suspended,
            online: seen.online,
            last_seen_at: seen.last_seen_at,
            reach: seen.reach,
            created_at: agent.created_at,
        }
    }
}

/// Changes to an agent's terms. Omitted fields stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchAgentTerms {
    /// Whether tasks for it cost credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub costs_credits: Option<bool>,
    /// Balance in US dollars, with up to six decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<f64>, minimum = 0, maximum = 1_000_000)]
    pub credits: Option<Usd>,
    /// Whether its requests are refused. Nothing is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub suspended: Option<bool>,
}

/// A task, for the operator, without its content.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminTask {
    /// The task id.
    #[schema(value_type = String)]
    pub id: TaskId,
    /// The current status.
    #[schema(value_type = words::Status)]
    pub status: Status,
    /// `high`, `normal` or `low`.
    #[schema(value_type = words::Priority)]
    pub priority: Priority,
    /// Number of the current attempt.
    pub attempt: i64,
    /// Whether its content is encrypted.
    pub encrypted: bool,
    /// The agent that created it.
    #[schema(value_type = String)]
    pub initiator_agent_id: AgentId,
    /// The agent that it is assigned to.
    #[schema(value_type = String)]
    pub target_agent_id: AgentId,
    /// Number of messages.
    pub message_count: i64,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// An event, for the operator, without its data.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminEvent {
    /// The event's number in the agent's log.
    pub id: i64,
    /// The owner of the log.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The event type.
    #[serde(rename = "type")]
    #[schema(value_type = words::EventType)]
    pub kind: EventType,
    /// The task it is about.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// The agent that caused it.
    #[schema(value_type = Option<String>)]
    pub from_agent_id: Option<AgentId>,
    /// When it was written.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// Filter and page of the event list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AdminEventsQuery {
    /// Only this agent's log. Omit it to list all logs, one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// Page size (default 50, at most 500).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Cursor from the `Link` header of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A webhook delivery, for the operator, without its URL and content.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminDelivery {
    /// The delivery id.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The agent that receives it.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The event type.
    #[schema(value_type = words::WebhookEventType)]
    pub event: EventType,
    /// `pending`, `delivered` or `failed`.
    #[schema(value_type = words::DeliveryStatus)]
    pub state: State,
    /// Number of attempts.
    pub attempts: i64,
    /// HTTP status of the receiver's last response.
    pub answer_status: Option<i64>,
    /// When the next attempt is due.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}
