//! The use cases. Each is a synchronous function of a transaction, the caller and its input.
//!
//! This is the only crate that changes data and the only one that decides who may change it. It knows no HTTP, no
//! clock and no configuration file: all of that is passed in.

pub mod a2a;
pub mod accounts;
pub mod admin;
pub mod agents;
pub mod approvals;
pub mod blocks;
pub mod cards;
pub mod challenge;
pub mod cluster;
pub mod connections;
pub mod deadlines;
pub mod decisions;
mod error;
pub mod events;
pub mod figures;
pub mod files;
pub mod guests;
pub mod housekeeping;
pub mod idempotency;
pub mod inbox;
pub mod keys;
pub mod limits;
pub mod messages;
pub mod networks;
pub mod pairing;
pub mod remotes;
pub mod sealed;
pub mod search;
pub mod sign_ins;
pub mod tasks;
pub mod ticket;
pub mod updates;
pub mod wake;
pub mod webhooks;

pub use error::{Error, Invalid};

/// A page of a list, and the cursor of the next page.
#[derive(Debug, Clone)]
pub struct Page<T, C> {
    pub items: Vec<T>,
    /// Cursor of the next page, if there is one.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// Builds a page from rows that were queried with `limit + 1`.
    fn cut(mut items: Vec<T>, limit: i64, place: impl Fn(&T) -> C) -> Self {
        let limit = usize::try_from(limit).unwrap_or_default();
        let next =
            (items.len() > limit).then(|| limit.checked_sub(1).map(|last| place(&items[last]))).flatten();
        items.truncate(limit);
        Self { items, next }
    }

    /// Builds a page from the newest rows of a list, oldest first, that were queried with `limit + 1`. The next page
    /// holds older rows. `cut` says that the query stopped early, because its rows were too large for a page.
    fn newest(mut items: Vec<T>, cut: bool, limit: i64, place: impl Fn(&T) -> C) -> Self {
        let more = i64::try_from(items.len()).unwrap_or(i64::MAX) > limit;
        if more {
            items.remove(0);
        }
        let next = items.first().filter(|_| more || cut).map(place);
        Self { items, next }
    }
}
