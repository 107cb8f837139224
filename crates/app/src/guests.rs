//! Guests: an agent makes them for others, who reach it, and nobody else, by their keys. A guest is an agent that is connected
//! to its host alone, so that every rule for agents holds for it.

use tandem_core::agents::Guest;
use tandem_core::{AgentId, Now};
use tandem_store::{Tx, agents as agent_rows, guests as rows};

use crate::agents::{KeyHolder, NewAgent, register};
use crate::connections::create_connection;
use crate::{Error, accounts};

/// Guests of one agent at most.
pub const GUESTS_MAX: i64 = 100;
/// Guests whose time is over that one transaction removes.
const EXPIRED_BATCH: i64 = 20;

/// What the paths of an agent's A2A address begin with, before its id.
const ADDRESS: &str = "/a2a/agents/";

/// Whether a guest's key is good at a path: at the address of its host and below. Everything else is for agents with a key of
/// their own.
fn may_use(host: &AgentId, path: &str) -> bool {
    let rest = path.strip_prefix(ADDRESS).and_then(|rest| rest.strip_prefix(host.as_str()));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses what a guest's key is not good for. The only place that decides this.
pub fn check(holder: &KeyHolder, path: &str) -> Result<(), Error> {
    match &holder.host {
        Some(host) if !may_use(host, path) => Err(Error::GuestOnly(host.clone())),
        _ => Ok(()),
    }
}

/// Makes a guest of the caller.
pub fn create(
    tx: &mut Tx<'_>,
    by: &AgentId,
    new: &NewAgent,
    expires_in_seconds: Option<i64>,
    now: &Now,
) -> Result<Guest, Error> {
    // Locks the host, so that two at once cannot exceed the limit.
    agent_rows::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let guests = rows::list(tx, by, GUESTS_MAX)?;
    if i64::try_from(guests.len()).unwrap_or(i64::MAX) >= GUESTS_MAX {
        return Err(Error::TooManyGuests(GUESTS_MAX));
    }
    let agent = register(tx, new, now)?;
    let guest = Guest {
        agent: agent.id.clone(),
        name: agent.name.clone(),
        host: by.clone(),
        expires_at: expires_in_seconds.map(|seconds| now.at.plus_seconds(seconds)),
        created_at: now.at,
    };
    rows::insert(tx, &guest)?;
    create_connection(tx, by, agent, None, None, now)?;
    Ok(guest)
}

/// The caller's guests, oldest first.
pub fn list(tx: &mut Tx<'_>, by: &AgentId) -> Result<Vec<Guest>, Error> {
    Ok(rows::list(tx, by, GUESTS_MAX)?)
}

/// Ends a guest of the caller: its key at once, and then everything that is its own.
pub fn remove(tx: &mut Tx<'_>, by: &AgentId, guest: &AgentId, now: &Now) -> Result<(), Error> {
    if rows::host_of(tx, guest)?.as_ref() != Some(by) {
        return Err(Error::NotFound("guest"));
    }
    accounts::close(tx, guest, now)
}

/// Ends guests whose time is over. Returns whether there may be more.
pub fn expire(tx: &mut Tx<'_>, now: &Now) -> Result<bool, Error> {
    let expired = rows::expired(tx, now.at, EXPIRED_BATCH)?;
    for guest in &expired {
        // Another node may have done it.
        if rows::host_of(tx, guest)?.is_some() {
            accounts::close(tx, guest, now)?;
        }
    }
    Ok(i64::try_from(expired.len()).is_ok_and(|count| count == EXPIRED_BATCH))
}
