//! Renews the row of this node while it runs.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tandem_app::cluster;

use crate::hub::Hub;
use crate::upkeep::housekeeping::Pacing;

/// Interval of renewals. A row lasts four of them.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// Pause before a renewal that somebody wants soon, so that many wishes are one renewal.
const HURRY_PAUSE: Duration = Duration::from_millis(50);

/// Renews this node's row until the hub stops, and learns which other nodes run.
pub(crate) async fn renew(hub: Hub, mut pacing: Pacing) {
    if !hub.cluster.topology.has_shared_database() {
        return;
    }
    let mut tick = tokio::time::interval(RENEW_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = hub.cluster.hurry.notified() => tokio::time::sleep(HURRY_PAUSE).await,
            () = pacing.stopped() => return,
        }
        let renewed = renew_once(&hub).await;
        if let Err(error) = &renewed
            && !failing
        {
            tracing::warn!(%error, "could not renew this node's row; other nodes take it for gone after 20 seconds");
        }
        failing = renewed.is_err();
    }
}

async fn renew_once(hub: &Hub) -> Result<(), tandem_app::Error> {
    let cluster = &hub.cluster;
    let (node, now) =
        (cluster.own_row(serde_json::to_string(&hub.figures()).unwrap_or_default()), cluster.clock.now());
    let (nodes, has_twin) = cluster.db.write(move |tx, _| cluster::renew(tx, &node, now)).await?;
    cluster.learn(nodes);
    let had_twin = cluster.has_twin.swap(has_twin, Relaxed);
    if has_twin && !had_twin {
        tracing::error!(
            "another process runs with the id of this node, as after copying its data folder: stop one of them and give \
             it an empty data folder"
        );
    }
    Ok(())
}
