//! A point in time, in milliseconds since 1970 in UTC. This crate never reads a clock.

use std::fmt;

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Adds milliseconds; the largest value instead of an overflow.
    #[must_use]
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Adds seconds; the largest value instead of an overflow.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_ms(seconds.saturating_mul(1_000))
    }

    /// Milliseconds since `earlier`.
    #[must_use]
    pub fn ms_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A time outside the years that jiff supports cannot come from a clock, so any answer will do.
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        write!(f, "{moment:.3}")
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(moment.as_millisecond()))
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
