//! Rate limits with fixed windows, usually of one minute, counted from the first request.
//!
//! This is our own code and not a crate: the contract defines limits per minute, tests move the clock, and a window
//! is one number in a header.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use tandem_core::Timestamp;

use crate::Error;

/// The length of a window.
const WINDOW_MS: i64 = 60_000;
/// Number of windows before those that ended are removed.
const WINDOWS_MAX: usize = 200_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateKind {
    /// All requests.
    Requests,
    /// Registrations per address.
    Registrations,
    /// Directory searches.
    Discoveries,
    /// Messages per agent and task.
    Messages,
    /// Wrong pairing codes per agent.
    WrongCodes,
    /// Wrong pairing codes per address.
    WrongCodesOfAddress,
    /// Exports per agent.
    Exports,
    /// Failed sign-ins to the dashboard per address.
    SignIns,
}

/// The state of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The limit.
    pub limit: u32,
    /// Requests left in this window.
    pub remaining: u32,
    /// Seconds until the window ends.
    pub reset_seconds: i64,
    /// Whether this request is allowed.
    pub allowed: bool,
}

#[derive(Debug)]
struct Window {
    began: Timestamp,
    count: u32,
    length_ms: i64,
}

/// All counters. They are kept in memory; a restart resets them.
#[derive(Debug, Default)]
pub struct Rates {
    hasher: RandomState,
    windows: Mutex<HashMap<u64, Window>>,
}

impl Rates {
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

    /// Counts a request in a window of the given seconds; 0 seconds allow everything.
    pub fn count_within(
        &self,
        what: RateKind,
        who: &str,
        limit: u32,
        seconds: u32,
        now: Timestamp,
    ) -> Option<Rate> {
        if seconds == 0 {
            return None;
        }
        self.look(what, who, limit, now, 1, i64::from(seconds) * 1_000)
    }

    /// The state in a window of the given seconds, without counting a request.
    pub fn peek_within(
        &self,
        what: RateKind,
        who: &str,
        limit: u32,
        seconds: u32,
        now: Timestamp,
    ) -> Option<Rate> {
        if seconds == 0 {
            return None;
        }
        self.look(what, who, limit, now, 0, i64::from(seconds) * 1_000)
    }

    /// The state after one more request, without counting it.
    pub fn peek(&self, what: RateKind, who: &str, limit: u32, now: Timestamp) -> Option<Rate> {
        self.look(what, who, limit, now, 0, WINDOW_MS)
    }

    /// Uncounts a request.
    pub fn uncount(&self, what: RateKind, who: &str) {
        let key = self.hasher.hash_one((what, who));
        if let Some(window) = self.windows.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Resets a counter.
    pub fn reset(&self, what: RateKind, who: &str) {
        let key = self.hasher.hash_one((what, who));
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
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
        let key = self.hasher.hash_one((what, who));
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= WINDOWS_MAX && !windows.contains_key(&key) {
            windows.retain(|_, window| now.ms_since(window.began) < window.length_ms);
            if windows.len() >= WINDOWS_MAX {
                tracing::warn!("too many rate-limit windows; resetting all");
                windows.clear();
            }
        }
        let window = windows.entry(key).or_insert(Window { began: now, count: 0, length_ms });
        // A clock that was set back also starts a new window.
        if !(0..length_ms).contains(&now.ms_since(window.began)) {
            *window = Window { began: now, count: 0, length_ms };
        }
        let allowed = window.count < limit;
        if allowed {
            window.count += add;
        }
        let left_ms = length_ms - now.ms_since(window.began);
        Some(Rate {
            limit,
            remaining: limit - window.count.min(limit),
            reset_seconds: (left_ms + 999) / 1_000,
            allowed,
        })
    }
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
