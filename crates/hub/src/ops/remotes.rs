//! Remotes of an agent: agents elsewhere that it sends tasks to.

use tandem_api::error::Code;
use tandem_api::remotes::{
    CardKeys, CreateRemote, DeletedRemote, PatchRemote, PushTaken, RemoteBeside, RemoteView,
};
use tandem_app::keys::{fill_random, same_hash, sha256};
use tandem_app::remotes::{self, Change, NewRemote, Shown};
use tandem_app::{Error as AppError, Invalid};
use tandem_core::AgentId;
use tandem_core::remotes::{CardFacts, OnUnclear, PauseReason, Terms};

use crate::remotes::card::{self, Card, CardError, completed};
use crate::{Caller, Error, Hub, HubParts};

/// How often a change is tried again that another one came before.
const CHANGE_TRIES: usize = 3;

pub(crate) fn view(shown: Shown) -> RemoteView {
    let beside = RemoteBeside {
        name: shown.name,
        description: shown.description,
        connection: shown.connection.as_ref().map(|connection| connection.id.clone()),
        alias: shown.connection.and_then(|connection| connection.alias),
        waiting: shown.waiting,
    };
    RemoteView::new(shown.remote, beside)
}

fn stored_keys(keys: &CardKeys) -> Option<String> {
    serde_json::to_string(keys.as_slice()).ok()
}

/// Reads a card on behalf of a request.
async fn read_card(
    hub: &HubParts,
    caller: &Caller,
    terms: &Terms,
    pinned: Option<&str>,
    base: &str,
) -> Result<Card, Error> {
    let Some(_reading) = hub.remotes.begin_reading(&caller.agent) else {
        let why = "you have too many cards read at once; try again shortly";
        return Err(Error::new(Code::RateLimited, why).retry_after(5));
    };
    card::read(hub, &caller.agent, terms, pinned, base).await.map_err(|error| refused(&error))
}

/// What is wrong, at the field that can mend it.
fn refused(error: &CardError) -> Error {
    let field = match error {
        CardError::Unfit(PauseReason::Origin, _) => "allowOrigins",
        _ => "cardUrl",
    };
    let sentence = match error {
        CardError::Unfit(PauseReason::Origin, origin) => format!("must name {origin}: the card leads there"),
        error => error.sentence(),
    };
    Invalid::field(field, sentence).into()
}

/// Makes a remote: reads its card, and connects it to the caller.
pub async fn create(
    hub: &HubParts,
    caller: &Caller,
    base: &str,
    body: CreateRemote,
) -> Result<RemoteView, Error> {
    // Before the card is read: the remote is there already.
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    let mut terms = Terms {
        card_url: body.card_url,
        auth: body.auth.map(Into::into),
        origins: body.allow_origins.map(Into::into).unwrap_or_default(),
        keys: body.keys.as_ref().and_then(stored_keys),
        on_unclear: body.on_unclear.unwrap_or(OnUnclear::Retry),
    };
    let card = read_card(hub, caller, &terms, None, base).await?;
    terms.auth = completed(terms.auth, &card);
    let mut no_key = [0; 32];
    fill_random(&mut no_key);
    let Card { name, description, facts, .. } = card;
    let new = NewRemote { name, description, alias: body.alias, terms, card: facts, no_key };
    let by = caller.agent.clone();
    let made = hub.write_once(caller, move |tx, now| Ok(view(remotes::create(tx, &by, &new, now)?))).await?;
    hub.remotes.queue.wake(std::slice::from_ref(&made.agent_id));
    Ok(made)
}

/// The caller's remotes, oldest first.
pub async fn list(hub: &HubParts, caller: &Caller) -> Result<Vec<RemoteView>, Error> {
    let by = caller.agent.clone();
    let found = hub.read(caller, move |tx, _| remotes::list(tx, &by)).await?;
    Ok(found.into_iter().map(view).collect())
}

/// Changes a remote. What concerns its card is taken over only if the card can be used with it.
pub async fn change(
    hub: &HubParts,
    caller: &Caller,
    base: &str,
    agent: &AgentId,
    body: PatchRemote,
) -> Result<RemoteView, Error> {
    let mut change = Change {
        card_url: body.card_url,
        auth: body.auth.map(|auth| auth.map(Into::into)),
        alias: body.alias,
        origins: body.allow_origins.map(Into::into),
        keys: body.keys.map(|keys| keys.as_ref().and_then(stored_keys)),
        on_unclear: body.on_unclear,
        paused: body.paused,
    };
    for _ in 0..CHANGE_TRIES {
        let (by, of) = (caller.agent.clone(), agent.clone());
        let remote = hub.read_as(caller, move |tx, _| remotes::view(tx, &by, &of)).await?.remote;
        let (terms, pinned) = change.applied_to(&remote);
        let mut facts: Option<CardFacts> = None;
        if change.concerns_card() {
            let card = read_card(hub, caller, &terms, pinned.as_deref(), base).await?;
            change.auth = change.auth.map(|auth| completed(auth, &card));
            facts = Some(card.facts);
        }
        let (by, of, wanted) = (caller.agent.clone(), agent.clone(), change.clone());
        let changed = hub.write(caller, move |tx, now| {
            remotes::change(tx, &by, &of, (&wanted, facts.as_ref()), remote.version, now)
        });
        if let Some(shown) = changed.await? {
            hub.remotes.queue.wake(std::slice::from_ref(agent));
            return Ok(view(shown));
        }
    }
    Err(Error::new(Code::Conflict, "somebody else changes it; try again"))
}

/// Ends a remote, with everything that belongs to it.
pub async fn delete(hub: &Hub, caller: &Caller, agent: &AgentId) -> Result<DeletedRemote, Error> {
    let (by, ended) = (caller.agent.clone(), agent.clone());
    hub.write(caller, move |tx, now| remotes::remove(tx, &by, &ended, now)).await?;
    // It has ended, whatever happens to its rows; housekeeping removes those that are left.
    if let Err(error) = hub.erase_closed(agent).await {
        tracing::warn!(%error, "could not remove all rows of a remote; they are removed later");
    }
    Ok(DeletedRemote { deleted: true, agent_id: agent.clone() })
}

/// Another side tells of a change of its task. What it says is not read: the task is asked for.
pub async fn pushed(hub: &HubParts, path: &str, token: Option<&str>) -> Result<PushTaken, Error> {
    let token = token.ok_or(AppError::NotFound("address for pushes"))?;
    let (path, hash) = (path.to_owned(), sha256(token.as_bytes()));
    let is_token = move |known: &str| same_hash(&sha256(known.as_bytes()), &hash);
    hub.db.write(move |tx, now| remotes::pushed(tx, &path, &is_token, now)).await?;
    Ok(PushTaken { received: true })
}
