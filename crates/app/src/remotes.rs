//! Remotes: agents elsewhere that their owner sends tasks to. A remote is an agent without a key, connected to its owner alone,
//! so that every rule for agents holds for it. The calls themselves are made elsewhere; here is what follows from them.

mod moves;
mod outcome;
mod work;

use tandem_core::agents::Connection;
use tandem_core::remotes::{
    Auth, CARD_AGAIN_SECONDS, CARD_EVERY_SECONDS, CardFacts, OnUnclear, Pause, PauseReason, Remote, Terms,
};
use tandem_core::text::{AgentDescription, AgentName, Alias};
use tandem_core::{AgentId, Now, Timestamp};
use tandem_store::remotes::{self as rows, tasks as task_rows};
use tandem_store::{Tx, agents as agent_rows, connections as connection_rows};

use crate::agents::{NewAgent, register};
use crate::connections::{self, create_connection};
use crate::keys::KeyHash;
use crate::{Error, Invalid, accounts};

pub use moves::{Artifact, Observed, Words};
pub use outcome::{Failure, apply, apply_message, cancelled, forgotten, note_sent, postpone, refuse, reject};
pub use work::{
    Act, Batch, Claim, PushSecret, Work, claim, close_stream, foreign_id, give_back, open_stream, pushed,
    ring,
};

/// Remotes of one agent at most.
pub const REMOTES_MAX: i64 = 100;
/// Waiting tasks are counted up to this number.
pub const WAITING_MAX: i64 = 10_000;
/// Characters of an error that are kept.
const ERROR_CHARS_MAX: usize = 1_000;

/// A new remote, after its card was read.
#[derive(Debug, Clone)]
pub struct NewRemote {
    pub name: AgentName,
    pub description: Option<AgentDescription>,
    pub alias: Option<Alias>,
    pub terms: Terms,
    pub card: CardFacts,
    /// A hash that no key has.
    pub no_key: KeyHash,
}

/// A remote as its owner sees it.
#[derive(Debug, Clone)]
pub struct Shown {
    pub remote: Remote,
    pub name: String,
    pub description: Option<String>,
    /// The connection to it, unless that was ended.
    pub connection: Option<Connection>,
    /// How many tasks have not left, up to [`WAITING_MAX`].
    pub waiting: i64,
}

/// Makes a remote of the caller.
pub fn create(tx: &mut Tx<'_>, by: &AgentId, new: &NewRemote, now: &Now) -> Result<Shown, Error> {
    // Locks the owner, so that two at once cannot exceed the limit.
    agent_rows::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    if i64::try_from(rows::list(tx, by, REMOTES_MAX)?.len()).is_ok_and(|count| count >= REMOTES_MAX) {
        return Err(Error::TooManyRemotes(REMOTES_MAX));
    }
    if let Some(alias) = &new.alias {
        connections::check_alias(tx, by, None, alias)?;
    }
    let agent = NewAgent {
        description: new.description.clone(),
        is_remote: true,
        ..NewAgent::plain(new.name.clone(), new.no_key)
    };
    let agent = register(tx, &agent, now)?;
    let remote = Remote {
        agent: agent.id.clone(),
        owner: by.clone(),
        terms: new.terms.clone(),
        card: new.card.clone(),
        pause: None,
        failing_since: None,
        last_error: None,
        card_next_at: now.at.plus_seconds(CARD_EVERY_SECONDS),
        version: 1,
        created_at: now.at,
    };
    rows::insert(tx, &remote)?;
    let connected = create_connection(tx, by, agent, None, None, now)?;
    if let Some(alias) = &new.alias {
        let alias = connections::Change { alias: Some(Some(alias.clone())), approval: None };
        connections::change(tx, by, &connected.id, &alias)?;
    }
    show(tx, remote)
}

fn show(tx: &mut Tx<'_>, remote: Remote) -> Result<Shown, Error> {
    let connection = match connection_rows::between(tx, &remote.owner, &remote.agent)? {
        Some(id) => connection_rows::find(tx, &remote.owner, &id)?,
        None => None,
    };
    let agent = match &connection {
        Some(connection) => Some(connection.peer.clone()),
        None => agent_rows::find(tx, &remote.agent)?,
    };
    let waiting = rows::waiting(tx, &remote.agent, WAITING_MAX)?;
    let (name, description) = agent.map(|agent| (agent.name, agent.description)).unwrap_or_default();
    Ok(Shown { remote, name, description, connection, waiting })
}

/// The caller's remotes, oldest first.
pub fn list(tx: &mut Tx<'_>, by: &AgentId) -> Result<Vec<Shown>, Error> {
    rows::list(tx, by, REMOTES_MAX)?.into_iter().map(|remote| show(tx, remote)).collect()
}

pub fn view(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId) -> Result<Shown, Error> {
    let remote = own(tx, by, agent)?;
    show(tx, remote)
}

fn own(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId) -> Result<Remote, Error> {
    rows::find(tx, agent)?.filter(|remote| remote.owner == *by).ok_or(Error::NotFound("remote"))
}

/// Changes to a remote. `None` leaves a field unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub card_url: Option<String>,
    pub auth: Option<Option<Auth>>,
    pub alias: Option<Option<Alias>>,
    /// Origins beside that of the card.
    pub origins: Option<Vec<String>>,
    /// Keys that sign the card. Without any, the pinned one is forgotten too.
    pub keys: Option<Option<String>>,
    pub on_unclear: Option<OnUnclear>,
    pub paused: Option<bool>,
}

impl Change {
    /// What is known of the remote after the change; the card has to be read with it.
    #[must_use]
    pub fn applied_to(&self, remote: &Remote) -> (Terms, Option<String>) {
        let (mut terms, mut pinned) = (remote.terms.clone(), remote.card.pinned.clone());
        let change = self.clone();
        if let Some(url) = change.card_url {
            terms.card_url = url;
        }
        if let Some(auth) = change.auth {
            terms.auth = auth;
        }
        if let Some(origins) = change.origins {
            terms.origins = origins;
        }
        if let Some(keys) = change.keys {
            (terms.keys, pinned) = (keys, None);
        }
        terms.on_unclear = change.on_unclear.unwrap_or(terms.on_unclear);
        (terms, pinned)
    }

    /// Whether the card has to be read anew.
    #[must_use]
    pub fn concerns_card(&self) -> bool {
        let changes_terms =
            self.card_url.is_some() || self.auth.is_some() || self.origins.is_some() || self.keys.is_some();
        changes_terms || self.paused == Some(false)
    }
}

/// Changes a remote of the caller. `card` is what its card says under the new terms, if it had to be read. `None` if the remote
/// was changed since it was seen with this version.
pub fn change(
    tx: &mut Tx<'_>,
    by: &AgentId,
    agent: &AgentId,
    (change, card): (&Change, Option<&CardFacts>),
    version: i64,
    now: &Now,
) -> Result<Option<Shown>, Error> {
    let mut remote = own(tx, by, agent)?;
    if remote.version != version {
        return Ok(None);
    }
    let connection = connection_rows::between(tx, by, agent)?;
    if let Some(Some(alias)) = &change.alias {
        connections::check_alias(tx, by, Some(agent), alias)?;
    }
    (remote.terms, _) = change.applied_to(&remote);
    if let Some(card) = card {
        take_card(&mut remote, card, now);
    }
    match change.paused {
        Some(true) => {
            remote.pause = Some(Pause { reason: PauseReason::Owner, detail: None, since: now.at });
        }
        Some(false) => remote.pause = None,
        None => {}
    }
    remote.version += 1;
    rows::update(tx, &remote)?;
    if let (Some(alias), Some(connection)) = (&change.alias, connection) {
        let alias = connections::Change { alias: Some(alias.clone()), approval: None };
        connections::change(tx, by, &connection, &alias)?;
    }
    go_on(tx, &remote, now)?;
    show(tx, remote).map(Some)
}

/// Takes over what a card says. Only its owner ends a pause that it asked for.
fn take_card(remote: &mut Remote, card: &CardFacts, now: &Now) {
    remote.card = card.clone();
    remote.card_next_at = now.at.plus_seconds(CARD_EVERY_SECONDS);
    if remote.pause.as_ref().is_some_and(|pause| pause.reason != PauseReason::Owner) {
        remote.pause = None;
    }
}

/// Has a worker look at a remote whose tasks may go on. While they waited, nobody could answer.
fn go_on(tx: &mut Tx<'_>, remote: &Remote, now: &Now) -> Result<(), Error> {
    if remote.pause.is_none() {
        task_rows::hear_again(tx, &remote.agent, now.at)?;
    }
    Ok(rows::wake(tx, &remote.agent, now.at)?)
}

/// What became of the attempt to read a card again.
#[derive(Debug, Clone)]
pub enum CardReading {
    Read(CardFacts),
    /// It cannot be used, or not without its owner.
    Unfit(PauseReason, String),
    /// It could not be read.
    Unreachable(String),
}

/// Records a reading of the card, unless the remote was changed since it began.
pub fn record_card(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    version: i64,
    reading: &CardReading,
    now: &Now,
) -> Result<(), Error> {
    let Some(mut remote) = rows::find(tx, agent)?.filter(|remote| remote.version == version) else {
        return Ok(());
    };
    let was_paused = remote.pause.is_some();
    match reading {
        CardReading::Read(card) => take_card(&mut remote, card, now),
        CardReading::Unfit(reason, detail) => {
            remote.card_next_at = now.at.plus_seconds(CARD_EVERY_SECONDS);
            let is_own = |pause: &Pause| pause.reason == PauseReason::Owner || pause.reason == *reason;
            if !remote.pause.as_ref().is_some_and(is_own) {
                let detail = Some(cut(detail, ERROR_CHARS_MAX));
                remote.pause = Some(Pause { reason: *reason, detail, since: now.at });
            }
        }
        CardReading::Unreachable(why) => {
            remote.card_next_at = now.at.plus_seconds(CARD_AGAIN_SECONDS);
            remote.last_error = Some(cut(why, ERROR_CHARS_MAX));
        }
    }
    rows::update(tx, &remote)?;
    if was_paused && remote.pause.is_none() {
        task_rows::hear_again(tx, agent, now.at)?;
    }
    Ok(())
}

/// Ends a remote of the caller: its credentials at once, and then everything that is its own.
pub fn remove(tx: &mut Tx<'_>, by: &AgentId, agent: &AgentId, now: &Now) -> Result<(), Error> {
    own(tx, by, agent)?;
    accounts::close(tx, agent, now)
}

/// Refuses what no agent elsewhere could read.
pub(crate) fn check_readable(is_encrypted: bool) -> Result<(), Error> {
    if is_encrypted {
        let why = "must be false: an agent elsewhere has no key of this hub";
        return Err(Invalid::field("encrypted", why).into());
    }
    Ok(())
}

/// Remotes, after an id.
pub fn all(tx: &mut Tx<'_>, after: &str, limit: i64) -> Result<Vec<AgentId>, Error> {
    Ok(rows::all(tx, after, limit)?)
}

/// Those of them with events that nobody has looked at, or whose work `holder` had when it was stopped, up to an id.
pub fn behind(
    tx: &mut Tx<'_>,
    holder: &str,
    after: &str,
    to: &AgentId,
    now: &Now,
) -> Result<Vec<AgentId>, Error> {
    Ok(rows::behind(tx, holder, after, to, now.at)?)
}

/// Remotes with something due, by due time, after a place in that order.
pub fn due(
    tx: &mut Tx<'_>,
    after: Option<&(Timestamp, AgentId)>,
    now: &Now,
    limit: i64,
) -> Result<Vec<(Timestamp, AgentId)>, Error> {
    Ok(rows::due(tx, after, now.at, limit)?)
}

/// The beginning of a text.
fn cut(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| *c != '\0').take(chars_max).collect()
}
