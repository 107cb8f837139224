//! Looks at the database for what other nodes have committed, while this node does not hear of it.

use std::collections::HashMap;
use std::time::Duration;

use tandem_app::cluster::{self, Watched};
use tandem_core::AgentId;

use super::Inbox;
use crate::cluster::Topology;
use crate::db::Db;
use crate::upkeep::housekeeping::Pacing;

/// Interval of looks. Each is a little shorter, by chance, so that nodes do not look at the same moment.
const LOOK_EVERY_MS: u64 = 1_000;
/// Agents per query.
const BATCH: usize = 500;

/// Looks every second for new events and ended keys of the agents that somebody listens for here. Does nothing while
/// the node hears of every commit, apart from one look when that begins.
pub(crate) async fn poll(db: Db, inbox: Inbox, topology: std::sync::Arc<Topology>, mut pacing: Pacing) {
    if !topology.is_clustered() {
        return;
    }
    let mut known = HashMap::new();
    let mut looked_since = None;
    let mut failing = false;
    loop {
        let jitter = u64::from(tandem_app::keys::random_byte());
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(LOOK_EVERY_MS - jitter)) => {}
            () = pacing.stopped() => return,
        }
        let since = topology.since();
        if since.is_some() && since == looked_since {
            known.clear();
            continue;
        }
        let looked = look(&db, &inbox, &mut known).await;
        if let Err(error) = &looked
            && !failing
        {
            tracing::warn!(%error, "could not look for what other nodes have committed");
        }
        failing = looked.is_err();
        looked_since = since.filter(|_| !failing);
    }
}

async fn look(
    db: &Db,
    inbox: &Inbox,
    known: &mut HashMap<AgentId, Watched>,
) -> Result<(), tandem_app::Error> {
    let listening = inbox.bus.listening();
    let mut found = HashMap::with_capacity(listening.len());
    for batch in listening.chunks(BATCH) {
        let agents = batch.to_vec();
        found.extend(db.read(move |tx, _| cluster::watch(tx, &agents)).await?);
    }
    let mut ended = inbox.keys.ended_among(&listening, |agent| found.get(agent).and_then(Watched::key));
    let mut woken = Vec::new();
    for agent in &listening {
        match (known.get(agent), found.get(agent)) {
            (Some(before), Some(now)) if before.key() != now.key() => ended.push(agent.clone()),
            (Some(before), Some(now)) if before.last_seq == now.last_seq => {}
            (_, Some(_)) => woken.push(agent),
            (_, None) => ended.push(agent.clone()),
        }
    }
    inbox.bus.wake_here(woken);
    for agent in &ended {
        inbox.end_key(agent);
    }
    *known = found;
    Ok(())
}
