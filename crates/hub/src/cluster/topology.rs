//! How long what this node remembers may be believed without asking the database.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::config::BusKind;

/// How old something remembered may be while this node does not hear of other nodes' commits.
const UNHEARD_MAX: Duration = Duration::from_secs(2);
/// How old it may be in any case beside other nodes: a message of the bus can be lost.
const HEARD_MAX: Duration = Duration::from_secs(60);
/// How long a node believes that it hears of everything after it heard of every other node. It must be less than
/// [`UNHEARD_MAX`].
const HEARD_FOR: Duration = Duration::from_millis(1_500);

const NEVER: u64 = u64::MAX;

/// Whether this node hears of what other nodes commit.
#[derive(Debug)]
pub(crate) struct Trust {
    kind: BusKind,
    epoch: Instant,
    /// Since when it hears everything, in milliseconds after the epoch. [`NEVER`] while it does not.
    since_ms: AtomicU64,
    /// Until when it believes that.
    until_ms: AtomicU64,
}

impl Trust {
    pub(crate) fn new(kind: BusKind) -> Self {
        Self { kind, epoch: Instant::now(), since_ms: AtomicU64::new(NEVER), until_ms: AtomicU64::new(0) }
    }

    /// Whether other nodes may run beside this one.
    pub(crate) fn is_clustered(&self) -> bool {
        self.kind != BusKind::Alone
    }

    /// Whether this node hears of every commit of other nodes.
    pub(crate) fn hears(&self) -> bool {
        match self.kind {
            BusKind::Alone => true,
            BusKind::Polling => false,
            BusKind::Nats(_) => {
                self.since_ms.load(Relaxed) != NEVER && self.ms(Instant::now()) < self.until_ms.load(Relaxed)
            }
        }
    }

    /// Since when this node hears of every commit; `None` while it does not.
    pub(super) fn since(&self) -> Option<u64> {
        self.hears().then(|| self.since_ms.load(Relaxed)).filter(|since| *since != NEVER)
    }

    /// Whether something that was read from the database at this time may still be believed.
    pub(crate) fn covers(&self, read_at: Instant) -> bool {
        if self.kind == BusKind::Alone {
            return true;
        }
        let age = read_at.elapsed();
        age < UNHEARD_MAX || (age < HEARD_MAX && self.since().is_some_and(|since| self.ms(read_at) >= since))
    }

    /// Notes that NATS and every other node were heard at this time or later. Returns whether this node hears of
    /// commits again after it did not, so that it may have missed some.
    pub(super) fn heard(&self, at: Instant) -> bool {
        let was_deaf = !self.hears();
        self.until_ms.store(self.ms(at + HEARD_FOR), Relaxed);
        let hears_again = was_deaf && at.elapsed() < HEARD_FOR;
        if hears_again {
            self.since_ms.store(self.ms(Instant::now()), Relaxed);
        }
        hears_again
    }

    /// Messages were lost, or the connection was.
    pub(super) fn doubt(&self) {
        self.since_ms.store(NEVER, Relaxed);
    }

    fn ms(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.epoch).as_millis()).unwrap_or(NEVER - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ago(age: Duration) -> Instant {
        Instant::now().checked_sub(age).unwrap()
    }

    #[test]
    fn a_node_that_hears_nothing_believes_for_two_seconds() {
        let deaf = [Trust::new(BusKind::Polling), Trust::new(BusKind::Nats(Vec::new()))];
        for trust in deaf {
            assert!(trust.covers(Instant::now()));
            assert!(!trust.covers(ago(Duration::from_secs(2))));
        }
    }

    #[test]
    fn a_node_alone_believes_for_ever() {
        assert!(Trust::new(BusKind::Alone).covers(ago(Duration::from_secs(60))));
    }
}
