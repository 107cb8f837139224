//! Counts, and everything that was seen and must not happen.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::agents::lock;

/// How many breaches are described; the rest are counted.
const DESCRIBED_MAX: usize = 50;

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Breach {
    /// An answered write, an event or a timer is not there.
    Lost,
    /// Something is there, arrived or fired twice.
    Doubled,
    /// Events came in the wrong order or with a gap.
    Disordered,
    /// Two who exclude each other both succeeded.
    Race,
    /// A key that ended was taken.
    Key,
    /// The wrong agents are shown as online.
    Presence,
    /// A node did not come back, or no node answered.
    Unavailable,
}

/// The counters of a run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) writes_answered: AtomicU64,
    pub(crate) writes_repeated: AtomicU64,
    pub(crate) races: AtomicU64,
    pub(crate) events_delivered: AtomicU64,
    pub(crate) reconnects: AtomicU64,
    pub(crate) webhooks_received: AtomicU64,
    pub(crate) timers_fired: AtomicU64,
    pub(crate) keys_rotated: AtomicU64,
    pub(crate) refusals_of_ended_keys: AtomicU64,
    /// On another node, within the two seconds that are allowed.
    pub(crate) ended_keys_taken_in_time: AtomicU64,
    pub(crate) presence_checks: AtomicU64,
    pub(crate) tasks_checked: AtomicU64,
    breaches: Mutex<Vec<(Breach, String)>>,
    breaches_count: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Relaxed);
}

impl Ledger {
    pub(crate) fn breach(&self, breach: Breach, what: String) {
        self.breaches_count.fetch_add(1, Relaxed);
        let mut breaches = lock(&self.breaches);
        if breaches.len() < DESCRIBED_MAX {
            eprintln!("BREACH {breach:?}: {what}");
            breaches.push((breach, what));
        }
    }

    pub(crate) fn breaches(&self) -> Vec<(Breach, String)> {
        lock(&self.breaches).clone()
    }

    pub(crate) fn breaches_count(&self) -> u64 {
        self.breaches_count.load(Relaxed)
    }
}
