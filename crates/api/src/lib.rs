//! The wire types of requests and answers.
//!
//! Missing values are null, names are camelCase, times are ISO 8601 in UTC. Unknown fields of a request are ignored.
//! This crate has no behaviour except converting text to checked types and back.

#![warn(missing_docs)]

pub mod a2a;
pub mod actor;
pub mod admin;
pub mod agents;
pub mod connections;
pub mod decisions;
pub mod error;
pub mod events;
pub mod export;
pub mod fence;
pub mod files;
pub mod guests;
pub mod inbox;
pub mod json;
pub mod messages;
pub mod networks;
pub mod parts;
pub mod remotes;
pub mod system;
pub mod tasks;
pub mod text;
pub mod updates;
pub mod webhooks;
pub mod words;

use serde::{Deserialize, Deserializer};
use tandem_core::credits::Usd;

/// Distinguishes null from a missing field: `Some(None)` clears, `None` leaves unchanged.
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// An amount in a view. A sum may exceed the limit of a single request.
fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usd, D::Error> {
    let dollars = f64::deserialize(deserializer)?;
    if !dollars.is_finite() {
        return Err(serde::de::Error::custom("must be a finite number"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest amount")]
    let micro = (dollars * 1_000_000.0).round() as i64;
    Ok(Usd::from_micro(micro))
}
