//! Webhooks: when to try again, when to give up, and which addresses are nobody's business.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::messages::words;
use crate::text::Unfit;
use crate::time::Timestamp;

/// How long to wait after the first, second, … failure, in seconds; after the last there is no more try.
pub const RETRY_AFTER_SECONDS: [i64; 6] = [5, 30, 120, 600, 3_600, 21_600];
/// A receiver that has failed for so long is switched off.
pub const GIVE_UP_AFTER_SECONDS: i64 = 24 * 3_600;
/// Beyond so many bytes an event is sent without its data.
pub const DATA_BYTES_MAX: usize = 100 * 1024;
/// The fewest characters of a secret.
pub const SECRET_CHARS_MIN: usize = 16;

words!(
    /// Where a delivery stands.
    State, "must be pending, delivered or failed", {
        /// It will be tried, or tried again.
        Pending = "pending",
        /// The receiver took it.
        Delivered = "delivered",
        /// It will not be tried again by itself.
        Failed = "failed",
    }
);

/// When to try again after so many failures; nothing when it is over. `jitter` is a number from 0 to 1
/// that spreads receivers' retries over a tenth of the pause either way.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "pauses are hours at most")]
pub fn retry_at(failures: i64, now: Timestamp, jitter: f64) -> Option<Timestamp> {
    let index = usize::try_from(failures.checked_sub(1)?).ok()?;
    let pause_ms = RETRY_AFTER_SECONDS.get(index)? * 1_000;
    let spread = (pause_ms as f64 * (jitter.clamp(0.0, 1.0) - 0.5) * 0.2) as i64;
    Some(now.plus_ms(pause_ms + spread))
}

/// Whether an address belongs to the open internet. Everything else (this machine, private and shared
/// networks, multicast, documentation, and v6 forms that carry a v4 address) is refused.
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
    // Only 2000::/3 is given out at all; within it, what tunnels or documents is left out.
    let global = (0x2000..=0x3fff).contains(&a);
    let special =
        matches!((a, b), (0x2001, 0x0000..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0x0000..=0x0fff));
    global && !special
}

/// Which events a receiver wants; none named means all.
#[must_use]
pub fn wants(filter: &[String], event: &str) -> bool {
    filter.is_empty() || filter.iter().any(|wanted| wanted == event)
}
