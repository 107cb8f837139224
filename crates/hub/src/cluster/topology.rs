//! Whether other nodes may run beside this one, whether it hears of what they commit, and so how long what it remembers may
//! be believed without asking the database. It is made once, at the start, from the settings.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tandem_store::Database;

use crate::config::BusKind;

/// How old something remembered may be while this node does not hear of other nodes' commits.
const UNHEARD_MAX: Duration = Duration::from_secs(2);
/// How old it may be in any case beside other nodes: a message of the bus can be lost.
const HEARD_MAX: Duration = Duration::from_secs(60);
/// How long a node believes that it hears of everything after it heard of every other node. It must be less than
/// [`UNHEARD_MAX`].
const HEARD_FOR: Duration = Duration::from_millis(1_500);

const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub struct Topology {
    bus: BusKind,
    /// Whether the database is a server that other processes can use.
    has_shared_database: bool,
    epoch: Instant,
    /// Since when it hears everything, in milliseconds after the epoch. [`NEVER`] while it does not.
    since_ms: AtomicU64,
    /// Until when it believes that.
    until_ms: AtomicU64,
}

impl Topology {
    pub(crate) fn new(bus: BusKind, database: &Database) -> Self {
        Self {
            bus,
            has_shared_database: matches!(database, Database::Postgres(_)),
            epoch: Instant::now(),
            since_ms: AtomicU64::new(NEVER),
            until_ms: AtomicU64::new(0),
        }
    }

    pub(crate) fn bus(&self) -> &BusKind {
        &self.bus
    }

    /// Whether other processes can use the same database: other nodes, or one that was started by mistake.
    pub(crate) fn has_shared_database(&self) -> bool {
        self.has_shared_database
    }

    /// Whether other nodes may run beside this one. If not, everything in memory is the only copy.
    #[must_use]
    pub fn is_clustered(&self) -> bool {
        self.bus != BusKind::Alone
    }

    /// Whether this node tells others what it counts. Without NATS it has no way to.
    pub(crate) fn gossips(&self) -> bool {
        matches!(self.bus, BusKind::Nats(_))
    }

    /// Whether this node hears of every commit of other nodes.
    pub(crate) fn hears(&self) -> bool {
        match self.bus {
            BusKind::Alone => true,
            BusKind::Polling => false,
            BusKind::Nats(_) => {
                self.since_ms.load(Relaxed) != NEVER && self.ms(Instant::now()) < self.until_ms.load(Relaxed)
            }
        }
    }

    /// Since when this node hears of every commit; `None` while it does not.
    pub(crate) fn since(&self) -> Option<u64> {
        self.hears().then(|| self.since_ms.load(Relaxed)).filter(|since| *since != NEVER)
    }

    /// Whether something that was read from the database at this time may still be believed.
    pub(crate) fn covers(&self, read_at: Instant) -> bool {
        if self.bus == BusKind::Alone {
            return true;
        }
        let age = read_at.elapsed();
        age < UNHEARD_MAX || (age < HEARD_MAX && self.since().is_some_and(|since| self.ms(read_at) >= since))
    }

    /// Notes that NATS and every other node were heard at this time or later. Returns whether this node hears of
    /// commits again after it did not, so that it may have missed some.
    pub(crate) fn heard(&self, at: Instant) -> bool {
        let was_deaf = !self.hears();
        self.until_ms.store(self.ms(at + HEARD_FOR), Relaxed);
        let hears_again = was_deaf && at.elapsed() < HEARD_FOR;
        if hears_again {
            self.since_ms.store(self.ms(Instant::now()), Relaxed);
        }
        hears_again
    }

    /// Messages were lost, or the connection was.
    pub(crate) fn doubt(&self) {
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

    fn topology(bus: BusKind) -> Topology {
        Topology::new(bus, &Database::Postgres(String::new()))
    }

    #[test]
    fn a_node_that_hears_nothing_believes_for_two_seconds() {
        let deaf = [topology(BusKind::Polling), topology(BusKind::Nats(Vec::new()))];
        for topology in deaf {
            assert!(topology.covers(Instant::now()));
            assert!(!topology.covers(ago(Duration::from_secs(2))));
        }
    }

    #[test]
    fn a_node_alone_believes_for_ever() {
        assert!(topology(BusKind::Alone).covers(ago(Duration::from_secs(60))));
    }
}
