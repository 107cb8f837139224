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

/// The end of the times that [`Text`] can show, before the last ones that jiff supports.
const SHOWN_UNTIL: i64 = 253_402_200_000_000;
const DAY_MS: i64 = 86_400_000;

/// A time in the form of RFC 3339. A task has up to fifteen of them, and a list five hundred tasks.
struct Text([u8; 24]);

impl Text {
    fn new(time: Timestamp) -> Option<Self> {
        if !(0..SHOWN_UNTIL).contains(&time.0) {
            return None;
        }
        // In a calendar that begins in March a leap day is the last of its year, and 400 years always have as many days.
        let (days, of_day) = (time.0 / DAY_MS + 719_468, time.0 % DAY_MS);
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let mut text = Self(*b"0000-00-00T00:00:00.000Z");
        text.put(0, 4, era * 400 + year + later);
        text.put(5, 2, month);
        text.put(8, 2, day);
        text.put(11, 2, of_day / 3_600_000);
        text.put(14, 2, of_day / 60_000 % 60);
        text.put(17, 2, of_day / 1_000 % 60);
        text.put(20, 3, of_day % 1_000);
        Some(text)
    }

    fn put(&mut self, place: usize, digits: usize, mut number: i64) {
        for at in self.0[place..place + digits].iter_mut().rev() {
            *at = b'0' + u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
        }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = Text::new(*self) {
            return f.write_str(text.as_str());
        }
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
        match Text::new(*self) {
            Some(text) => serializer.serialize_str(text.as_str()),
            None => serializer.collect_str(self),
        }
    }
}
