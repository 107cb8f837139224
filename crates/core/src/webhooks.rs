//! Webhooks: when to retry, when to give up, and which addresses are allowed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::messages::words;
use crate::text::Unfit;
use crate::time::Timestamp;

/// Seconds to wait after the first, second, … failure. After the last one there is no further attempt.
pub const RETRY_AFTER_SECONDS: [i64; 6] = [5, 30, 120, 600, 3_600, 21_600];
/// A receiver that has failed for this long is switched off.
pub const GIVE_UP_AFTER_SECONDS: i64 = 24 * 3_600;
/// The shortest secret, in characters.
pub const SECRET_CHARS_MIN: usize = 16;

words!(
    State, "must be pending, delivered or failed", {
        /// An attempt is planned.
        Pending = "pending",
        /// The receiver answered with 2xx.
        Delivered = "delivered",
        /// Given up; only a replay sends it again.
        Failed = "failed",
    }
);

words!(
    /// How to give a secret to a Standard Webhooks library.
    SecretFormat, "must be whsec or raw", {
        /// As it is: the key is the decoded text after `whsec_`.
        Whsec = "whsec",
        /// As raw bytes: the key is the text itself.
        Raw = "raw",
    }
);

/// When to retry after this many failures; `None` when there is no further attempt. `jitter` is a number from 0
/// to 1 that moves the retry by up to a tenth of the pause in either direction.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "pauses are hours at most")]
pub fn retry_at(failures: i64, now: Timestamp, jitter: f64) -> Option<Timestamp> {
    let index = usize::try_from(failures.checked_sub(1)?).ok()?;
    let pause_ms = RETRY_AFTER_SECONDS.get(index)? * 1_000;
    let spread = (pause_ms as f64 * (jitter.clamp(0.0, 1.0) - 0.5) * 0.2) as i64;
    Some(now.plus_ms(pause_ms + spread))
}

/// Whether an address is public. Loopback, private and shared networks, multicast, documentation ranges and v6
/// addresses that contain a v4 address are not.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    // Only 2000::/3 is allocated; within it, ranges for tunnels and documentation are not public.
    let global = (0x2000..=0x3fff).contains(&a);
    let special =
        matches!((a, b), (0x2001, 0x0000..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0x0000..=0x0fff));
    global && !special
}

/// Whether a filter includes an event type; an empty filter includes all.
#[must_use]
pub fn wants(filter: &[String], event: &str) -> bool {
    filter.is_empty() || filter.iter().any(|wanted| wanted == event)
}
