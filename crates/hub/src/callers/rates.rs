//! Rate limits with fixed windows, usually of one minute, counted from the first request.
//!
//! Nodes beside each other tell each other their counts several times a second. While one of them is not heard, each
//! takes its share of the limit.
//!
//! This is our own code and not a crate: the contract defines limits per minute, tests move the clock, and a window
//! is one number in a header.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tandem_core::{NodeId, Timestamp};

use crate::Error;
use crate::cluster::Topology;

/// The length of a window.
const WINDOW_MS: i64 = 60_000;
/// Number of windows before those that ended are removed.
const WINDOWS_MAX: usize = 200_000;
/// Counts in one message to other nodes. The rest follows with the next.
const SHARED_MAX: usize = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateKind {
    Requests,
    /// Registrations per address.
    Registrations,
    /// Directory searches.
    Discoveries,
}

/// The state of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub limit: u32,
    /// Requests left in this window.
    pub remaining: u32,
    /// Seconds until the window ends.
    pub reset_seconds: i64,
    pub allowed: bool,
}

#[derive(Debug)]
struct Window {
    began: Timestamp,
    count: u32,
    length_ms: i64,
    /// What other nodes have counted in this window.
    elsewhere: Vec<(NodeId, u32)>,
}

impl Window {
    fn new(began: Timestamp, length_ms: i64) -> Self {
        Self { began, count: 0, length_ms, elsewhere: Vec::new() }
    }

    /// Whether it has not ended. A clock that was set back also ends it.
    fn runs(&self, now: Timestamp) -> bool {
        (0..self.length_ms).contains(&now.ms_since(self.began))
    }

    fn counted_elsewhere(&self) -> u32 {
        self.elsewhere.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }
}

/// What a node tells others of one counter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SharedCount {
    key: u64,
    began: i64,
    length_ms: i64,
    count: u32,
}

/// All counters. They are kept in memory; a restart resets them.
#[derive(Debug)]
pub struct Rates {
    /// The same on all nodes, and unknown to others, so that nobody can choose keys that collide.
    seed: [u8; 32],
    topology: Arc<Topology>,
    live_nodes: Arc<AtomicUsize>,
    counters: Mutex<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    windows: HashMap<u64, Window>,
    /// Counters that other nodes have to be told of. Each has a window, so there are no more than of those.
    changed: HashSet<u64>,
}

impl Rates {
    pub(crate) fn new(seed: [u8; 32], topology: Arc<Topology>, live_nodes: Arc<AtomicUsize>) -> Self {
        Self { seed, topology, live_nodes, counters: Mutex::default() }
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, what: RateKind, who: &str) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one((self.seed, what as u8, who))
    }

    /// The counts that have changed since the last call, some of them.
    pub(crate) fn take_changed(&self, now: Timestamp) -> Vec<SharedCount> {
        let mut counters = self.counters();
        let keys: Vec<u64> = counters.changed.iter().copied().take(SHARED_MAX).collect();
        let mut shared = Vec::with_capacity(keys.len());
        for key in keys {
            counters.changed.remove(&key);
            if let Some(window) = counters.windows.get(&key).filter(|window| window.runs(now)) {
                let Window { began, count, length_ms, .. } = *window;
                shared.push(SharedCount { key, began: began.0, length_ms, count });
            }
        }
        shared
    }

    /// Learns what another node has counted. The window that began first is the one that holds for all.
    pub(crate) fn learn(&self, node: &NodeId, shared: &[SharedCount], now: Timestamp) {
        let mut counters = self.counters();
        for count in shared {
            let began = Timestamp(count.began);
            if !(0..count.length_ms).contains(&now.ms_since(began)) {
                continue;
            }
            make_room(&mut counters, count.key, now);
            let window =
                counters.windows.entry(count.key).or_insert_with(|| Window::new(began, count.length_ms));
            if !window.runs(now) {
                *window = Window::new(began, count.length_ms);
            }
            window.began = window.began.min(began);
            match window.elsewhere.iter_mut().find(|(from, _)| from == node) {
                Some((_, known)) => *known = count.count,
                None => window.elsewhere.push((node.clone(), count.count)),
            }
        }
    }

    /// Counts a request and refuses it if the limit is exceeded.
    pub fn limit(&self, what: RateKind, who: &str, limit: u32, now: Timestamp) -> Result<(), Error> {
        match self.count(what, who, limit, now) {
            Some(rate) if !rate.allowed => Err(rate.into()),
            _ => Ok(()),
        }
    }

    /// Counts a request. A limit of 0 allows everything and returns `None`.
    pub fn count(&self, what: RateKind, who: &str, limit: u32, now: Timestamp) -> Option<Rate> {
        self.look(what, who, limit, now, 1, WINDOW_MS)
    }

    /// The state after one more request, without counting it.
    pub fn peek(&self, what: RateKind, who: &str, limit: u32, now: Timestamp) -> Option<Rate> {
        self.look(what, who, limit, now, 0, WINDOW_MS)
    }

    fn note_changed(&self, counters: &mut Counters, key: u64) {
        if self.topology.gossips() {
            counters.changed.insert(key);
        }
    }

    /// The part of a limit that this node may use up, and whether what others count is known.
    fn share(&self, limit: u32) -> (u32, bool) {
        if self.topology.hears() {
            return (limit, true);
        }
        let nodes = u32::try_from(self.live_nodes.load(Relaxed)).unwrap_or(u32::MAX).max(1);
        ((limit / nodes).max(1), false)
    }

    fn look(
        &self,
        what: RateKind,
        who: &str,
        limit: u32,
        now: Timestamp,
        add: u32,
        length_ms: i64,
    ) -> Option<Rate> {
        if limit == 0 {
            return None;
        }
        let key = self.key(what, who);
        let mut counters = self.counters();
        make_room(&mut counters, key, now);
        let window = counters.windows.entry(key).or_insert_with(|| Window::new(now, length_ms));
        if !window.runs(now) || window.length_ms != length_ms {
            *window = Window::new(now, length_ms);
        }
        let (share, hears) = self.share(limit);
        let elsewhere = if hears { window.counted_elsewhere() } else { 0 };
        let allowed = window.count.saturating_add(elsewhere) < share;
        if allowed {
            window.count += add;
        }
        let used = window.count.saturating_add(elsewhere);
        let left_ms = length_ms - now.ms_since(window.began);
        if allowed && add > 0 {
            self.note_changed(&mut counters, key);
        }
        Some(Rate {
            limit,
            remaining: share.saturating_sub(used),
            reset_seconds: (left_ms + 999) / 1_000,
            allowed,
        })
    }
}

/// Removes windows that have ended if there are too many for one more. While other nodes cannot be told of counts, those
/// that have ended are not kept for them.
fn make_room(counters: &mut Counters, key: u64, now: Timestamp) {
    let Counters { windows, changed } = counters;
    if windows.len() < WINDOWS_MAX || windows.contains_key(&key) {
        return;
    }
    windows.retain(|_, window| window.runs(now));
    if windows.len() >= WINDOWS_MAX {
        tracing::warn!("too many rate-limit windows; resetting all");
        windows.clear();
    }
    changed.retain(|key| windows.contains_key(key));
}

/// The key of an address: the whole IPv4 address, or the /64 network of an IPv6 address.
#[must_use]
pub(crate) fn address_key(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_store::Database;

    use crate::config::BusKind;

    fn changed_after(kind: BusKind, counted: usize) -> usize {
        let rates = Rates::new(
            [0; 32],
            Arc::new(Topology::new(kind, &Database::Postgres(String::new()))),
            Arc::default(),
        );
        for number in 0..counted {
            let at = Timestamp(i64::try_from(number).unwrap());
            rates.count(RateKind::Requests, &number.to_string(), 10, at);
        }
        rates.counters().changed.len()
    }

    #[test]
    fn counts_for_other_nodes_are_bounded_while_nobody_takes_them() {
        let counted = 2 * WINDOWS_MAX + 1_000;
        assert!(changed_after(BusKind::Nats(Vec::new()), counted) <= WINDOWS_MAX);
        assert_eq!(changed_after(BusKind::Polling, 1_000), 0, "there is no way to tell them");
        assert_eq!(changed_after(BusKind::Alone, 1_000), 0);
    }
}
