//! The proof of work that a hub may ask for at registration.

use aws_lc_rs::digest::{SHA256, digest};
use tandem_api::agents::Challenge;

/// Attempts between two reports of progress.
const REPORT_EVERY: u64 = 1 << 14;

/// Finds a solution: a text that, appended to the challenge, has a SHA-256 with enough leading zero bits. The expected
/// number of attempts is two to the power of the difficulty. `progress` is called with the attempts so far; if it
/// returns false, the search stops.
///
/// It uses the processor until it is done: call it on a thread of its own.
#[must_use]
pub fn solve(challenge: &Challenge, mut progress: impl FnMut(u64) -> bool) -> Option<String> {
    let mut text = challenge.challenge.clone();
    let prefix = text.len();
    for attempt in 0_u64.. {
        if attempt % REPORT_EVERY == 0 && !progress(attempt) {
            return None;
        }
        text.truncate(prefix);
        text.push_str(&attempt.to_string());
        if leading_zero_bits(digest(&SHA256, text.as_bytes()).as_ref()) >= challenge.difficulty {
            return Some(text.split_off(prefix));
        }
    }
    None
}

fn leading_zero_bits(bytes: &[u8]) -> u32 {
    let mut bits = 0;
    for byte in bytes {
        bits += byte.leading_zeros();
        if *byte != 0 {
            break;
        }
    }
    bits
}
