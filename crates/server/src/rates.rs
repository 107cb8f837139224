//! Rate limits: so many in a minute, counted from the first; or in another span.
//!
//! Fixed windows of our own instead of a crate: the contract speaks of "so many a minute", the tests move
//! the clock, and a window is one number to show in a header.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use tandem_core::Timestamp;

use crate::http::ApiError;

/// The length of a window.
const WINDOW_MS: i64 = 60_000;
/// How many windows are kept before those that ended are forgotten.
const WINDOWS_MAX: usize = 200_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rated {
    /// Any request.
    Requests,
    /// Registrations from an address.
    Registrations,
    /// Looks into the directory.
    Discoveries,
    /// Messages of an agent on a task.
    Messages,
    /// Wrong pairing codes of an agent.
    WrongCodes,
    /// Wrong pairing codes from an address.
    WrongCodesOfAddress,
    /// Exports of an agent.
    Exports,
}

/// Where a counter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many are allowed.
    pub limit: u32,
    /// How many are left.
    pub remaining: u32,
    /// In how many seconds the window ends.
    pub reset_seconds: i64,
    /// Whether this one is allowed.
    pub allowed: bool,
}

impl Rate {
    /// Shows where the counter stands in an answer's headers.
    pub fn show(&self, headers: &mut HeaderMap) {
        let shown = [
            ("ratelimit-limit", i64::from(self.limit)),
            ("ratelimit-remaining", i64::from(self.remaining)),
            ("ratelimit-reset", self.reset_seconds),
        ];
        for (name, value) in shown {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

impl From<Rate> for ApiError {
    fn from(rate: Rate) -> Self {
        Self::RateLimited { retry_seconds: rate.reset_seconds, rate }
    }
}

#[derive(Debug)]
struct Window {
    began: Timestamp,
    count: u32,
    length_ms: i64,
}

/// All counters. They live in memory: a restart forgives.
#[derive(Debug, Default)]
pub struct Rates {
    hasher: RandomState,
    windows: Mutex<HashMap<u64, Window>>,
}

impl Rates {
    /// Counts one and tells whether it is allowed. A limit of zero allows everything.
    pub fn count(&self, what: Rated, who: &str, limit: u32, now: Timestamp) -> Option<Rate> {
        self.look(what, who, limit, now, 1, WINDOW_MS)
    }

    /// Counts one in a window of so many seconds; none of them allows everything.
    pub fn count_within(
        &self,
        what: Rated,
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

    /// Tells whether one more would be allowed, without counting it.
    pub fn peek(&self, what: Rated, who: &str, limit: u32, now: Timestamp) -> Option<Rate> {
        self.look(what, who, limit, now, 0, WINDOW_MS)
    }

    /// Takes one back that was counted.
    pub fn uncount(&self, what: Rated, who: &str) {
        let key = self.hasher.hash_one((what, who));
        if let Some(window) = self.windows.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key) {
            window.count = window.count.saturating_sub(1);
        }
    }

    /// Forgets what was counted.
    pub fn forgive(&self, what: Rated, who: &str) {
        let key = self.hasher.hash_one((what, who));
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    fn look(
        &self,
        what: Rated,
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
                tracing::warn!("too many rate-limit windows at once; all are forgotten");
                windows.clear();
            }
        }
        let window = windows.entry(key).or_insert(Window { began: now, count: 0, length_ms });
        // A clock that went back begins a new window too.
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

/// What stands for an address: all of an IPv4 address, the network part of an IPv6 one.
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
