//! Amounts of money: US dollars on the wire, integer millionths of a dollar inside.

use std::fmt;

use crate::text::Unfit;

/// The largest amount: a million dollars.
const MICRO_MAX: i64 = 1_000_000_000_000;

/// An amount of US dollars, exact to a millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, serde::Deserialize)]
#[serde(try_from = "f64")]
pub struct Usd(i64);

impl Usd {
    /// An amount from millionths of a dollar.
    #[must_use]
    pub const fn from_micro(micro: i64) -> Self {
        Self(micro)
    }

    /// The amount in millionths of a dollar.
    #[must_use]
    pub const fn micro(self) -> i64 {
        self.0
    }

    /// The amount in dollars, as it is sent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53 millionths")]
    pub fn number(self) -> f64 {
        self.0 as f64 / 1_000_000.0
    }
}

impl TryFrom<f64> for Usd {
    type Error = Unfit;
    fn try_from(dollars: f64) -> Result<Self, Unfit> {
        let micro = dollars * 1_000_000.0;
        if !(0.0..=1_000_000.0).contains(&dollars) {
            return Err(Unfit("must be from 0 to 1000000".into()));
        }
        if (micro - micro.round()).abs() > 0.001 {
            return Err(Unfit("must have at most six decimals".into()));
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most a million dollars")]
        let micro = micro.round() as i64;
        Ok(Self(micro.min(MICRO_MAX)))
    }
}

impl serde::Serialize for Usd {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.number())
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} USD", self.number())
    }
}
