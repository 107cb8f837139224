//! A moment, as milliseconds since 1970 in UTC. It can be shown and compared, never read off a clock.

use std::fmt;

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The moment so many milliseconds later; the end of time instead of an overflow.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// The moment so many seconds later.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_ms(seconds.saturating_mul(1_000))
    }

    /// How many milliseconds have gone by since `earlier`.
    #[must_use]
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A moment outside of jiff's years cannot come from a clock; the epoch is as good an answer as any.
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        write!(f, "{moment:.3}")
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
