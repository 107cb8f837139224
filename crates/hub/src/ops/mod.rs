//! The operations: one async function for each thing that a client can do.
//!
//! An operation takes the hub, the caller and the wire types of the request, runs one use case, and returns the wire
//! type of the answer. Lists return [`Listed`](crate::Listed). Surfaces differ only in how they parse requests and
//! render answers.

pub mod a2a;
pub mod admin;
pub mod agents;
pub mod approvals;
pub mod artifacts;
pub mod blocks;
pub mod cards;
pub mod connections;
pub mod decisions;
pub mod events;
pub mod export;
pub mod figures;
pub mod files;
pub mod guests;
pub mod inbox;
pub mod messages;
pub mod models;
pub mod needs;
pub mod networks;
pub mod news;
pub mod paging;
pub mod parts;
pub mod receipts;
pub mod remotes;
pub mod search;
pub mod sign_ins;
pub mod tasks;
pub mod threads;
pub mod tickets;
pub mod updates;
pub mod wake;
pub mod webhooks;

use tandem_app::limits::{self, Limit};
use tandem_app::{Error as AppError, Invalid};
use tandem_core::Id;
use tandem_store::Owner;

use crate::{Error, HubParts};

/// Parses an id in a request. A text that cannot be an id is not found.
pub fn parse_id<T>(text: &str, what: &'static str) -> Result<Id<T>, Error> {
    text.parse().map_err(|_| AppError::NotFound(what).into())
}

fn nothing_to_change() -> Error {
    Invalid::field("body", "contains nothing to change").into()
}

/// Runs an attempt, limited by the number of those that fail. It is counted before it runs, so that parallel attempts
/// cannot exceed the limits; what is no failure is taken back.
async fn count_failures<T>(
    hub: &HubParts,
    limits: Vec<Limit>,
    trying: impl Future<Output = Result<T, Error>>,
    is_failure: impl Fn(&Error) -> bool,
) -> Result<T, Error> {
    let (taken, by) = (limits.clone(), owner_of(&limits));
    hub.db.write_for(by, move |tx, now| limits::take_all(tx, &taken, now.at)).await?;
    let tried = trying.await;
    if !tried.as_ref().is_err_and(is_failure) {
        give_back(hub, limits).await;
    }
    tried
}

/// Those who are counted together take turns together.
fn owner_of(limits: &[Limit]) -> Owner {
    limits.first().map_or(Owner::Hub, |limit| Owner::address(&limit.who))
}

/// Takes back what was counted. The operation is over, and its outcome stands whether this succeeds or not: if not, the
/// caller has one attempt less until the window ends.
async fn give_back(hub: &HubParts, limits: Vec<Limit>) {
    let by = owner_of(&limits);
    let given =
        hub.db.write_for(by, move |tx, now| limits.iter().try_for_each(|limit| limit.give_back(tx, now.at)));
    if let Err(error) = given.await {
        tracing::warn!(%error, "could not take back a counted attempt");
    }
}
