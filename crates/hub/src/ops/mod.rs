//! The operations: one async function for each thing that a client can do.
//!
//! An operation takes the hub, the caller and the wire types of the request, runs one use case, and returns the wire
//! type of the answer. Lists return [`Listed`](crate::Listed). Surfaces differ only in how they parse requests and
//! render answers.

pub mod admin;
pub mod agents;
pub mod approvals;
pub mod blocks;
pub mod connections;
pub mod events;
pub mod export;
pub mod files;
pub mod inbox;
pub mod messages;
pub mod models;
pub mod needs;
pub mod networks;
pub mod news;
pub mod sign_ins;
pub mod tasks;
pub mod threads;
pub mod tickets;
pub mod updates;
pub mod wake;
pub mod webhooks;

use tandem_app::{Error as AppError, Invalid};
use tandem_core::Id;

use crate::Error;

/// Parses an id in a request. A text that cannot be an id is not found.
pub fn parse_id<T>(text: &str, what: &'static str) -> Result<Id<T>, Error> {
    text.parse().map_err(|_| AppError::NotFound(what).into())
}

/// The error for an empty change.
fn nothing_to_change() -> Error {
    Invalid::field("body", "contains nothing to change").into()
}
