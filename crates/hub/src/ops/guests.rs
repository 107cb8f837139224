//! Guests of an agent.

use tandem_api::guests::{CreateGuest, DeletedGuest, GuestView, NewGuest};
use tandem_api::text::HubText;
use tandem_app::agents::NewAgent;
use tandem_app::{guests, keys};
use tandem_core::AgentId;

use crate::{Caller, Error, Hub, HubParts};

/// Where guests call an agent of the hub at `base`.
fn address(base: &str, host: &AgentId) -> String {
    format!("{base}/a2a/agents/{host}")
}

/// Makes a guest. Its key is in this answer only, so the answer is never kept for a repetition.
pub async fn create(
    hub: &HubParts,
    caller: &Caller,
    base: &str,
    body: CreateGuest,
) -> Result<NewGuest, Error> {
    let api_key = keys::new_api_key();
    let new = NewAgent {
        credits_micro: hub.config.initial_credits_micro(),
        ..NewAgent::plain(body.name, keys::sha256(api_key.as_bytes()))
    };
    let (by, seconds) = (caller.agent.clone(), body.expires_in_seconds.map(|seconds| seconds.get()));
    let guest = hub.write(caller, move |tx, now| guests::create(tx, &by, &new, seconds, now)).await?;
    let address = address(base, &caller.agent);
    Ok(NewGuest { api_key: HubText::new(api_key), guest: GuestView::new(guest, &address) })
}

/// The caller's guests, oldest first.
pub async fn list(hub: &HubParts, caller: &Caller, base: &str) -> Result<Vec<GuestView>, Error> {
    let by = caller.agent.clone();
    let found = hub.read(caller, move |tx, _| guests::list(tx, &by)).await?;
    let address = address(base, &caller.agent);
    Ok(found.into_iter().map(|guest| GuestView::new(guest, &address)).collect())
}

/// Ends a guest. Its key and its streams end at once.
pub async fn delete(hub: &Hub, caller: &Caller, guest: &AgentId) -> Result<DeletedGuest, Error> {
    let (by, ended) = (caller.agent.clone(), guest.clone());
    hub.write(caller, move |tx, now| guests::remove(tx, &by, &ended, now)).await?;
    // It has ended, whatever happens to its rows; housekeeping removes those that are left.
    if let Err(error) = hub.erase_closed(guest).await {
        tracing::warn!(%error, "could not remove all rows of a guest; they are removed later");
    }
    Ok(DeletedGuest { deleted: true, agent_id: guest.clone() })
}
