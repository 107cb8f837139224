//! Pauses between attempts.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(15);

/// Pauses that double up to a maximum. Each is shortened by a random part, so that clients that lost the same hub do not
/// come back in step.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    attempts: u32,
}

impl Backoff {
    /// The next pause.
    pub(crate) fn pause(&mut self) -> Duration {
        let whole = FIRST.saturating_mul(1 << self.attempts.min(10)).min(LONGEST);
        self.attempts += 1;
        let share = f64::from(random_byte()) / 255.0;
        whole.mul_f64(1.0 - share / 2.0)
    }

    /// Starts again with the shortest pause.
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }
}

fn random_byte() -> u8 {
    let mut byte = [0];
    // Without randomness the pauses are only longer.
    let _ = getrandom::fill(&mut byte);
    byte[0]
}
