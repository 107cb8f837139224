//! What the nodes of a hub know of agents, shared by the database: each node writes who is connected to it or has called
//! it, and asks for what the others have written. A node that is alone does neither.

use std::collections::HashMap;
use std::time::Duration;

use tandem_api::agents::Presence;
use tandem_app::cluster::{self, Sighting};
use tandem_core::agents::{Agent, Reach};
use tandem_core::{AgentId, Timestamp};

use crate::delivery::liveness::{Elsewhere, Liveness, ONLINE_MS};
use crate::hub::{Hub, HubParts};
use crate::upkeep::housekeeping::Pacing;

/// Rows per transaction.
const BATCH: usize = 500;
/// Pause after a write, so that many changes share a transaction.
const WRITE_PAUSE: Duration = Duration::from_millis(20);
/// Pause after a failed write.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Interval of removing what is no longer true.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// The end of a row that holds as long as its node runs.
const WHILE_NODE_RUNS: Timestamp = Timestamp(i64::MAX);

/// What this node and the others know of some agents.
#[derive(Debug)]
pub(crate) struct Sightings<'h> {
    liveness: &'h Liveness,
    elsewhere: HashMap<AgentId, Elsewhere>,
}

impl Sightings<'_> {
    pub(crate) fn of(&self, agent: &Agent) -> Presence {
        self.liveness.presence(agent, self.elsewhere.get(&agent.id))
    }
}

impl HubParts {
    /// What this node and the others know of these agents. If the database does not say, what this node knows counts.
    pub(crate) async fn sightings<'a>(&self, agents: impl Iterator<Item = &'a AgentId>) -> Sightings<'_> {
        let mut seen = Sightings { liveness: &self.liveness, elsewhere: HashMap::new() };
        if !self.cluster.topology.is_clustered() {
            return seen;
        }
        let agents: Vec<AgentId> = agents.cloned().collect();
        for batch in agents.chunks(BATCH) {
            let (batch, own, now) = (batch.to_vec(), self.cluster.id().clone(), self.cluster.real_time());
            match self.db.read(move |tx, _| cluster::sightings(tx, &batch, &own, now)).await {
                Ok(found) => found.into_iter().for_each(|sighting| merge(&mut seen.elsewhere, sighting)),
                Err(error) => tracing::warn!(%error, "could not read what other nodes know of agents"),
            }
        }
        seen
    }

    pub(crate) async fn presence(&self, agent: &Agent) -> Presence {
        self.sightings(std::iter::once(&agent.id)).await.of(agent)
    }

    /// Number of agents that are online, on any node.
    pub(crate) async fn online_count(&self) -> Result<usize, crate::Error> {
        if !self.cluster.topology.is_clustered() {
            return Ok(self.liveness.online_count());
        }
        let (since, now) = (self.time().plus_ms(-ONLINE_MS), self.cluster.real_time());
        let count = self.db.read(move |tx, _| cluster::count_online(tx, since, now)).await?;
        Ok(usize::try_from(count).unwrap_or_default())
    }
}

/// Adds what one node knows to what others do.
fn merge(known: &mut HashMap<AgentId, Elsewhere>, sighting: Sighting) {
    let open = match sighting.reach.as_deref() {
        Some("socket") => Some(Reach::Socket),
        Some("stream") => Some(Reach::Stream),
        Some("polling") => Some(Reach::Polling),
        // A newer version may know more.
        Some(_) | None => None,
    };
    let found = Elsewhere { open, seen_at: sighting.seen_at };
    known
        .entry(sighting.agent)
        .and_modify(|known| {
            known.open = known.open.into_iter().chain(found.open).min();
            known.seen_at = known.seen_at.max(found.seen_at);
        })
        .or_insert(found);
}

/// Writes what changes on this node until the hub stops.
pub(crate) async fn write(hub: Hub, mut pacing: Pacing) {
    let Some(changes) = hub.liveness.bus.presence_changes() else { return };
    let mut sweep = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            () = changes.added() => {}
            _ = sweep.tick() => {
                let (node, now) = (hub.cluster.id().clone(), hub.cluster.real_time());
                if let Err(error) = hub.db.write(move |tx, _| cluster::sweep_sightings(tx, &node, now)).await {
                    tracing::warn!(%error, "could not remove old rows about agents");
                }
            }
            () = pacing.stopped() => return,
        }
        loop {
            if changes.take_all()
                && let Err(error) = write_all(&hub).await
            {
                tracing::warn!(%error, "could not tell other nodes again who is connected here");
                changes.tell_all();
                tokio::time::sleep(RETRY_AFTER).await;
            }
            let agents = changes.take(BATCH);
            if agents.is_empty() {
                break;
            }
            if let Err(error) = write_some(&hub, &agents).await {
                tracing::warn!(%error, "could not tell other nodes who is connected here");
                agents.iter().for_each(|agent| changes.add(agent));
                tokio::time::sleep(RETRY_AFTER).await;
            }
            tokio::time::sleep(WRITE_PAUSE).await;
            if pacing.is_stopped() {
                return;
            }
        }
    }
}

/// Replaces all that this node has said.
async fn write_all(hub: &Hub) -> Result<(), tandem_app::Error> {
    let node = hub.cluster.id().clone();
    hub.db.write(move |tx, _| cluster::forget_sightings(tx, &node)).await?;
    for agents in hub.liveness.bus.listening().chunks(BATCH) {
        write_some(hub, agents).await?;
    }
    Ok(())
}

async fn write_some(hub: &Hub, agents: &[AgentId]) -> Result<(), tandem_app::Error> {
    let (node, now) = (hub.cluster.id().clone(), hub.cluster.real_time());
    let sightings: Vec<Sighting> = agents.iter().map(|agent| sighting(hub, agent, now)).collect();
    hub.db.write(move |tx, _| cluster::write_sightings(tx, &node, &sightings)).await
}

/// What this node knows of an agent. If it knows nothing any more, that ends at once.
fn sighting(hub: &Hub, agent: &AgentId, now: Timestamp) -> Sighting {
    let open = hub.liveness.bus.reach(agent);
    let (seen_at, until) = match (open, hub.liveness.last_request(agent)) {
        (Some(_), _) => (hub.time(), WHILE_NODE_RUNS),
        (None, Some(at)) => (at, now.plus_ms(ONLINE_MS)),
        (None, None) => (hub.time(), now),
    };
    Sighting { agent: agent.clone(), reach: open.map(|reach| reach.as_str().into()), seen_at, until }
}
