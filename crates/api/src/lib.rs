//! The wire types: what requests and answers look like, and nothing else.
//!
//! Fields without a value are null, names are camelCase, times are ISO 8601. Unknown fields of a request
//! are ignored. There is no behaviour here beyond turning text into checked types and back.

pub mod admin;
pub mod agents;
pub mod connections;
pub mod error;
pub mod events;
pub mod files;
pub mod inbox;
pub mod messages;
pub mod networks;
pub mod system;
pub mod tasks;
pub mod updates;
pub mod webhooks;

use serde::{Deserialize, Deserializer};

/// Tells a field that is null from one that is not there: `Some(None)` clears, `None` leaves alone.
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// A JSON object that is kept as text, as it stands.
fn object(text: &str) -> Option<Box<serde_json::value::RawValue>> {
    serde_json::value::RawValue::from_string(text.to_owned()).ok()
}
