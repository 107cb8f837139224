//! When what has run out, or has been kept long enough, is removed: pass by pass, with pauses, so that nobody who
//! waits for the store notices. `tandem gc` runs the same passes at once.

use std::time::Duration;

use tandem_app::Error;
use tandem_app::housekeeping::{self as passes, Swept};
use tandem_core::Timestamp;
use tandem_store::Store;
use tokio::sync::watch;
use tokio::time::Interval;

use crate::config::Config;
use crate::hub::Hub;

/// How often what has run out is removed.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// How often everything is looked through for what has been kept long enough; that is a matter of days.
const RETAIN_EVERY: Duration = Duration::from_secs(3_600);
/// Between two passes of a running hub.
const PAUSE: Duration = Duration::from_millis(50);
const SECONDS_A_DAY: i64 = 86_400;

/// How fast passes follow each other, and when they end: between two of them, never within one.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    going: Option<watch::Receiver<()>>,
}

impl Pace {
    /// With pauses, until the other end is dropped.
    pub(crate) fn beside_a_hub(going: watch::Receiver<()>) -> Self {
        Self { going: Some(going) }
    }

    /// Without any, to the end.
    pub(crate) fn at_once() -> Self {
        Self { going: None }
    }

    /// Pauses; false when it is time to stop.
    pub(crate) async fn pause(&mut self) -> bool {
        let Some(going) = &mut self.going else { return true };
        tokio::select! {
            _ = going.changed() => false,
            () = tokio::time::sleep(PAUSE) => true,
        }
    }

    /// Waits for the next round; false when it is time to stop.
    pub(crate) async fn tick(&mut self, tick: &mut Interval) -> bool {
        let Some(going) = &mut self.going else { return false };
        tokio::select! {
            _ = going.changed() => false,
            _ = tick.tick() => true,
        }
    }
}

/// Removes what has run out, every minute.
pub(crate) async fn sweep(hub: Hub, mut pace: Pace) {
    let mut tick = tokio::time::interval(SWEEP_EVERY);
    while pace.tick(&mut tick).await {
        match run_out(&hub.store, hub.clock.now(), &mut pace).await {
            Ok(swept) if swept.answers + swept.invites + swept.codes > 0 => {
                tracing::debug!(?swept, "removed what had run out");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "could not remove what has run out"),
        }
        if let Err(error) = hub.write_presence().await {
            tracing::warn!(%error, "could not write down who was heard of");
        }
        hub.end_idle_sessions();
        if let Err(error) = hub.finish_deletions().await {
            tracing::warn!(%error, "could not finish removing closed accounts");
        }
    }
}

/// Removes what has been kept long enough, every hour.
pub(crate) async fn retain(hub: Hub, mut pace: Pace) {
    let mut tick = tokio::time::interval(RETAIN_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while pace.tick(&mut tick).await {
        match outlived(&hub.store, hub.clock.now(), &hub.config, &mut pace).await {
            Ok(removed) if removed.events + removed.deliveries > 0 => {
                tracing::info!(?removed, "removed what was kept long enough");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "could not remove what was kept long enough"),
        }
    }
}

/// Removes all that has run out.
pub(crate) async fn run_out(store: &Store, now: Timestamp, pace: &mut Pace) -> Result<Swept, Error> {
    let mut all = Swept::default();
    loop {
        let swept = store.write(move |tx| passes::sweep(tx, now)).await?;
        all.answers += swept.answers;
        all.invites += swept.invites;
        all.codes += swept.codes;
        if !swept.is_full() || !pace.pause().await {
            return Ok(all);
        }
    }
}

/// What was removed because it was old.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Removed {
    pub(crate) events: u64,
    pub(crate) deliveries: u64,
}

/// Removes all that has been kept for as many days as the settings say.
pub(crate) async fn outlived(
    store: &Store,
    now: Timestamp,
    config: &Config,
    pace: &mut Pace,
) -> Result<Removed, Error> {
    let until = |days: u32| (days > 0).then(|| now.plus_seconds(-i64::from(days) * SECONDS_A_DAY));
    let mut removed = Removed::default();
    if let Some(until) = until(config.event_retention_days) {
        removed.events = old_events(store, until, pace).await?;
    }
    if let Some(until) = until(config.delivery_retention_days) {
        removed.deliveries = old_deliveries(store, until, pace).await?;
    }
    Ok(removed)
}

async fn old_events(store: &Store, until: Timestamp, pace: &mut Pace) -> Result<u64, Error> {
    let (mut removed, mut after) = (0, String::new());
    loop {
        let from = after.clone();
        let logs = store.read(move |tx| passes::old_logs(tx, &from, until)).await?;
        for agent in logs.old {
            loop {
                let of = agent.clone();
                let rows = store.write(move |tx| passes::trim_log(tx, &of, until)).await?;
                removed += rows;
                if !passes::is_full(rows) {
                    break;
                }
                if !pace.pause().await {
                    return Ok(removed);
                }
            }
        }
        match logs.next {
            Some(next) => after = next,
            None => return Ok(removed),
        }
        if !pace.pause().await {
            return Ok(removed);
        }
    }
}

async fn old_deliveries(store: &Store, until: Timestamp, pace: &mut Pace) -> Result<u64, Error> {
    let (mut removed, mut after) = (0, String::new());
    loop {
        let from = after.clone();
        let pass = store.write(move |tx| passes::trim_deliveries(tx, &from, until)).await?;
        removed += pass.removed;
        match pass.next {
            Some(next) => after = next,
            None => return Ok(removed),
        }
        if !pace.pause().await {
            return Ok(removed);
        }
    }
}
