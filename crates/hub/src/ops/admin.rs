//! Operations of the operator. They never return the content of a task.

use std::collections::HashMap;
use std::time::Duration;

use tandem_api::admin::{
    AdminAgent, AdminDelivery, AdminEvent, AdminEventsQuery, AdminNode, AdminTask, Overview, PatchAgentTerms,
};
use tandem_api::error::Code;
use tandem_api::tasks::PageQuery;
use tandem_api::text::HubText;
use tandem_app::admin::{self, AgentTerms};
pub use tandem_app::admin::{BrokenWebhook, OldTask};
use tandem_app::cluster::NODE_LIFE_MS;
use tandem_core::{AgentId, Timestamp};
use tandem_store::Owner;

use super::files::storage_error;
use super::nothing_to_change;
use crate::cluster::{Figures, Node};
use crate::delivery::bus::LinkState;
use crate::ops::paging;
use crate::upkeep::plot_counts;
use crate::{Error, HubParts, Listed};

pub async fn overview(hub: &HubParts) -> Result<Overview, Error> {
    let totals = hub.totals.get(&hub.db).await?;
    let (nodes, figures) = hub.all_figures().await?;
    Ok(Overview {
        version: HubText::new(env!("CARGO_PKG_VERSION")),
        database: hub.totals.database,
        started_at: hub.totals.started_at,
        uptime_seconds: hub.time().ms_since(hub.totals.started_at) / 1_000,
        agents: totals.agents,
        agents_online: hub.online_count().await?,
        open_sockets: figures.sockets,
        open_streams: figures.streams,
        nodes,
        connections: totals.connections,
        messages: totals.messages,
        events: totals.events,
        tasks: totals.tasks,
        counted_at: totals.counted_at,
        store: figures.store.into_iter().map(|(name, figure)| (camel_case(&name), figure)).collect(),
    })
}

/// What an operator should look at, without any content.
#[derive(Debug, Clone)]
pub struct Attention {
    /// The oldest live tasks.
    pub oldest: Vec<OldTask>,
    pub broken_webhooks: Vec<BrokenWebhook>,
    /// Free and all megabytes of the disk with the data, if the system tells.
    pub disk_mb: Option<(i64, i64)>,
}

/// What an operator should look at, as of the last count.
pub async fn attention(hub: &HubParts) -> Result<Attention, Error> {
    let totals = hub.totals.get(&hub.db).await?;
    let disk_mb = plot_counts::disk(&hub.config.data).await;
    Ok(Attention { oldest: totals.oldest, broken_webhooks: totals.broken_webhooks, disk_mb })
}

/// The names of agents that a page of the operator shows.
pub async fn names(hub: &HubParts, mut ids: Vec<AgentId>) -> Result<HashMap<AgentId, String>, Error> {
    ids.sort();
    ids.dedup();
    let found = hub.read_for(Owner::Hub, move |tx, _| admin::names(tx, &ids)).await?;
    Ok(found.into_iter().collect())
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(part.len().min(1));
        format!("{name}{}{rest}", initial.to_uppercase())
    })
}

pub async fn nodes(hub: &HubParts) -> Result<Vec<AdminNode>, Error> {
    let now = hub.cluster.real_time();
    let nodes = hub.cluster.nodes().await?;
    Ok(nodes.iter().map(|node| node_view(hub, node, now)).collect())
}

fn node_view(hub: &HubParts, node: &Node, now: Timestamp) -> AdminNode {
    let answers = node.id == *hub.cluster.id();
    let figures = if answers { hub.figures() } else { Figures::of(node) };
    AdminNode {
        id: node.id.clone(),
        advertise: HubText::new(node.advertise.clone()),
        version: HubText::new(node.version.clone()),
        answers,
        draining: figures.draining,
        bus: HubText::new(figures.bus),
        bus_ms: figures.bus_ms,
        open_sockets: figures.sockets,
        open_streams: figures.streams,
        started_at: node.started_at,
        seen_ms_ago: if answers { 0 } else { node.renewed_ms_ago(NODE_LIFE_MS, now) },
    }
}

/// Every agent, newest first.
pub async fn agents(hub: &HubParts, query: PageQuery) -> Result<Listed<AdminAgent>, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let page = hub.read_for(Owner::Hub, move |tx, _| admin::list_agents(tx, before.as_ref(), limit)).await?;
    let seen = hub.sightings(page.items.iter().map(|agent| &agent.id)).await;
    let view = |agent| {
        let seen = seen.of(&agent);
        AdminAgent::new(agent, seen)
    };
    Ok(Listed::new(page, view, paging::cursor))
}

/// Changes an agent's terms: whether it costs credits, its balance, whether it is suspended.
pub async fn change_agent(
    hub: &HubParts,
    agent: &AgentId,
    body: PatchAgentTerms,
) -> Result<AdminAgent, Error> {
    let terms =
        AgentTerms { costs_credits: body.costs_credits, credits: body.credits, suspended: body.suspended };
    if terms.costs_credits.is_none() && terms.credits.is_none() && terms.suspended.is_none() {
        return Err(nothing_to_change());
    }
    let id = agent.clone();
    let changed = hub.db.write(move |tx, now| admin::change_agent(tx, &id, &terms, now.at)).await?;
    let seen = hub.presence(&changed).await;
    Ok(AdminAgent::new(changed, seen))
}

/// Every task, newest first, without its content.
pub async fn tasks(hub: &HubParts, query: PageQuery) -> Result<Listed<AdminTask>, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::id(query.cursor.as_deref())?;
    let page = hub.read_for(Owner::Hub, move |tx, _| admin::tasks(tx, before.as_ref(), limit)).await?;
    let view = |task: tandem_store::admin::TaskRow| AdminTask {
        id: task.id,
        status: task.status,
        priority: task.priority,
        attempt: task.attempt,
        encrypted: task.encrypted,
        initiator_agent_id: task.initiator,
        target_agent_id: task.target,
        message_count: task.messages,
        created_at: task.created_at,
        updated_at: task.updated_at,
    };
    Ok(Listed::new(page, view, ToString::to_string))
}

/// One agent's event log, or all of them log by log, newest first, without the events' fields.
pub async fn events(hub: &HubParts, query: AdminEventsQuery) -> Result<Listed<AdminEvent>, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let before = match query.cursor.as_deref().map(|cursor| cursor.rsplit_once('.')) {
        None => None,
        Some(place) => {
            let (agent, seq) = place.ok_or_else(paging::bad_cursor)?;
            let agent: AgentId = agent.parse().map_err(|_| paging::bad_cursor())?;
            Some((agent, seq.parse().map_err(|_| paging::bad_cursor())?))
        }
    };
    let agent = query.agent_id;
    let page = hub
        .read_for(Owner::Hub, move |tx, _| admin::events(tx, agent.as_ref(), before.as_ref(), limit))
        .await?;
    let view = |event: tandem_store::admin::EventRow| AdminEvent {
        id: event.seq,
        agent_id: event.agent,
        kind: event.kind.into(),
        task_id: event.task,
        from_agent_id: event.from,
        created_at: event.at,
    };
    Ok(Listed::new(page, view, |(agent, seq)| format!("{agent}.{seq}")))
}

/// Webhook deliveries of all agents, newest first, without their addresses.
pub async fn deliveries(hub: &HubParts, query: PageQuery) -> Result<Listed<AdminDelivery>, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::id(query.cursor.as_deref())?;
    let page = hub.read_for(Owner::Hub, move |tx, _| admin::deliveries(tx, before.as_ref(), limit)).await?;
    let view = |delivery: tandem_store::admin::DeliveryRow| AdminDelivery {
        id: delivery.id,
        agent_id: delivery.agent,
        event: delivery.event_type.into(),
        state: delivery.state,
        attempts: delivery.attempts,
        answer_status: delivery.answer_status,
        next_attempt_at: delivery.next_at,
        created_at: delivery.created_at,
    };
    Ok(Listed::new(page, view, ToString::to_string))
}

/// How long the answer whether the hub is ready may take.
const READY_WITHIN: Duration = Duration::from_secs(3);

/// Checks that the hub is ready: it is not stopping, the database answers, neither writes nor uploads fail, and the disk has
/// room. After a failed write, a row is written as it is: without requests, nobody else would learn that writing is possible
/// again. Returns what is wrong although the hub can serve.
pub async fn check_ready(hub: &HubParts) -> Result<Vec<HubText>, Error> {
    if hub.cluster.is_draining() {
        return Err(Error::new(Code::Unavailable, "this node is stopping; another one serves").retry_after(1));
    }
    let checking = async {
        hub.read_for(Owner::Hub, |tx, _| admin::ping(tx)).await?;
        hub.db.check_writable().await?;
        hub.files.check_room().await.map_err(storage_error)?;
        hub.disk_space.check(&hub.db, &hub.files).await
    };
    match tokio::time::timeout(READY_WITHIN, checking).await {
        Ok(checked) => checked.map(|()| warnings(hub)),
        Err(_) => Err(Error::new(Code::Unavailable, "the database does not answer").retry_after(5)),
    }
}

fn warnings(hub: &HubParts) -> Vec<HubText> {
    let bus = match hub.liveness.bus.link_state() {
        None | Some(LinkState::Hearing) => None,
        Some(LinkState::Away) => Some("NATS is away; this node looks at the database every second"),
        Some(LinkState::NotAllHeard) => {
            Some("another node is not heard; this node looks at the database every second")
        }
    };
    let twin = hub.cluster.has_twin().then_some("another process runs with the id of this node");
    bus.into_iter().chain(twin).map(HubText::new).collect()
}
