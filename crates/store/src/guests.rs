//! Guests: agents that their host made, to be reached by their keys at its address only.

use tandem_core::agents::Guest;
use tandem_core::{AgentId, Timestamp};

use crate::declare::insert;
use crate::table::{columns, sql};
use crate::{Error, Tx};

columns! {
    "g", guest: Guest {
        agent: agent_id,
        name: "a.name",
        host: host_id,
        expires_at,
        created_at,
    }
}

pub fn insert(tx: &mut Tx<'_>, guest: &Guest) -> Result<(), Error> {
    insert!(guests { ..guest: Guest }).send(tx)
}

/// An agent's guests, oldest first.
pub fn list(tx: &mut Tx<'_>, host: &AgentId, limit: i64) -> Result<Vec<Guest>, Error> {
    let sql = sql!(
        "select {} from guests g join agents a on a.id = g.agent_id where g.host_id = ?1
         order by g.created_at, g.agent_id limit ?2",
        Guest
    );
    tx.list(sql, &[host.into(), limit.into()])
}

/// Whose guest an agent is.
pub fn host_of(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<AgentId>, Error> {
    tx.find("select host_id from guests where agent_id = ?1 /* lock guests */", &[agent.into()])
}

/// Guests whose time is over.
pub fn expired(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<Vec<AgentId>, Error> {
    let sql = "select agent_id from guests where expires_at <= ?1 order by expires_at, agent_id limit ?2";
    tx.list(sql, &[now.into(), limit.into()])
}

/// Forgets that an agent was a guest: its account is closed.
pub fn remove(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    tx.send("delete from guests where agent_id = ?1", &[agent.into()])
}
