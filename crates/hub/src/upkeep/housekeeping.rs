//! Housekeeping: removes expired and old rows in short passes with pauses, so that other work is not delayed. `tandem
//! gc` runs the same passes without pauses.

use std::time::Duration;

use tandem_app::Error;
use tandem_app::housekeeping::{self as passes, Swept};
use tandem_core::Timestamp;
use tandem_store::Store;
use tokio::sync::watch;
use tokio::time::Interval;

use crate::config::Config;
use crate::db::Db;
use crate::hub::Hub;

/// Interval for expired rows.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Interval for old rows; their age is counted in days.
const RETAIN_EVERY: Duration = Duration::from_secs(3_600);
/// Pause between two passes of a running hub.
const PAUSE: Duration = Duration::from_millis(50);
const SECONDS_A_DAY: i64 = 86_400;

/// The pauses between passes, and when to stop. It stops only between two passes.
#[derive(Debug, Clone)]
pub(crate) struct Pacing {
    running: Option<watch::Receiver<()>>,
}

impl Pacing {
    /// With pauses, until the sender is dropped.
    pub(crate) fn background(running: watch::Receiver<()>) -> Self {
        Self { running: Some(running) }
    }

    /// Without pauses, to the end.
    pub(crate) fn unpaced() -> Self {
        Self { running: None }
    }

    /// Pauses. Returns false when it is time to stop.
    pub(crate) async fn pause(&mut self) -> bool {
        let Some(running) = &mut self.running else { return true };
        tokio::select! {
            _ = running.changed() => false,
            () = tokio::time::sleep(PAUSE) => true,
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.has_changed().is_err())
    }

    /// Waits until it is time to stop.
    pub(crate) async fn stopped(&mut self) {
        match &mut self.running {
            // The sender is only ever dropped.
            Some(running) => drop(running.changed().await),
            None => std::future::pending().await,
        }
    }

    /// Waits for the next interval. Returns false when it is time to stop.
    pub(crate) async fn tick(&mut self, tick: &mut Interval) -> bool {
        let Some(running) = &mut self.running else { return false };
        tokio::select! {
            _ = running.changed() => false,
            _ = tick.tick() => true,
        }
    }
}

/// Removes expired rows, every minute.
pub(crate) async fn sweep(hub: Hub, mut pacing: Pacing) {
    let mut tick = tokio::time::interval(SWEEP_EVERY);
    let mut minutes = 0;
    while pacing.tick(&mut tick).await {
        match remove_expired(hub.db.store(), hub.time(), &mut pacing).await {
            Ok(swept) if swept.answers + swept.invites + swept.codes + swept.sessions > 0 => {
                tracing::debug!(?swept, "removed expired rows");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "could not remove expired rows"),
        }
        if let Err(error) = hub.write_presence().await {
            tracing::warn!(%error, "could not store the presence of agents");
        }
        if let Err(error) = hub.write_plot_counts(minutes).await {
            tracing::warn!(%error, "could not store the figures of the last minute");
        }
        minutes = 1;
        if let Err(error) = hub.finish_batches().await {
            tracing::warn!(%error, "could not finish a deletion or a cancellation");
        }
    }
}

/// Removes old rows, every hour.
pub(crate) async fn apply_retention(db: Db, config: Config, mut pacing: Pacing) {
    let mut tick = tokio::time::interval(RETAIN_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while pacing.tick(&mut tick).await {
        match remove_old(db.store(), db.time(), &config, &mut pacing).await {
            Ok(removed) if removed.events + removed.deliveries + removed.decisions > 0 => {
                tracing::info!(?removed, "removed old rows");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "could not remove old rows"),
        }
    }
}

pub(crate) async fn remove_expired(
    store: &Store,
    now: Timestamp,
    pacing: &mut Pacing,
) -> Result<Swept, Error> {
    let mut all = Swept::default();
    loop {
        let swept = store.write(move |tx| passes::sweep(tx, now)).await?;
        all.answers += swept.answers;
        all.invites += swept.invites;
        all.codes += swept.codes;
        all.sessions += swept.sessions;
        all.limits += swept.limits;
        if !swept.is_full() || !pacing.pause().await {
            return Ok(all);
        }
    }
}

/// Number of old rows removed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Removed {
    pub(crate) events: u64,
    pub(crate) deliveries: u64,
    pub(crate) decisions: u64,
}

/// Removes the rows that are older than the settings allow.
pub(crate) async fn remove_old(
    store: &Store,
    now: Timestamp,
    config: &Config,
    pacing: &mut Pacing,
) -> Result<Removed, Error> {
    let until = |days: u32| (days > 0).then(|| now.plus_seconds(-i64::from(days) * SECONDS_A_DAY));
    let mut removed = Removed::default();
    if let Some(until) = until(config.event_retention_days) {
        removed.events = old_events(store, until, pacing).await?;
    }
    if let Some(until) = until(config.delivery_retention_days) {
        removed.deliveries = old_deliveries(store, until, pacing).await?;
    }
    if let Some(until) = until(config.decision_retention_days) {
        removed.decisions = old_decisions(store, until, pacing).await?;
    }
    Ok(removed)
}

async fn old_events(store: &Store, until: Timestamp, pacing: &mut Pacing) -> Result<u64, Error> {
    let (mut removed, mut after) = (0, String::new());
    loop {
        let from = after.clone();
        let logs = store.read(move |tx| passes::old_logs(tx, &from, until)).await?;
        for agent in logs.old {
            loop {
                let of = agent.clone();
                let rows = store.write(move |tx| passes::trim_log(tx, &of, until)).await?;
                removed += rows;
                if pacing.is_stopped() {
                    return Ok(removed);
                }
                if !passes::is_full(rows) {
                    break;
                }
                if !pacing.pause().await {
                    return Ok(removed);
                }
            }
        }
        match logs.next {
            Some(next) => after = next,
            None => return Ok(removed),
        }
        if !pacing.pause().await {
            return Ok(removed);
        }
    }
}

async fn old_decisions(store: &Store, until: Timestamp, pacing: &mut Pacing) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let rows = store.write(move |tx| passes::trim_decisions(tx, until)).await?;
        removed += rows;
        if !passes::is_full(rows) || !pacing.pause().await {
            return Ok(removed);
        }
    }
}

async fn old_deliveries(store: &Store, until: Timestamp, pacing: &mut Pacing) -> Result<u64, Error> {
    let (mut removed, mut after) = (0, String::new());
    loop {
        let from = after.clone();
        let pass = store.write(move |tx| passes::trim_deliveries(tx, &from, until)).await?;
        removed += pass.removed;
        match pass.next {
            Some(next) => after = next,
            None => return Ok(removed),
        }
        if !pacing.pause().await {
            return Ok(removed);
        }
    }
}
