//! Connections between two agents: created by a pairing code or directly, changed by each side for itself, ended
//! together with the live tasks on them.

use tandem_core::agents::{Agent, Connection};
use tandem_core::approval::rule_for_a_stranger;
use tandem_core::events::EventKind;
use tandem_core::ids::{self, Prefixed as _};
use tandem_core::text::Alias;
use tandem_core::{AgentId, ConnectionId, Now, PairingId, Rule, Timestamp};
use tandem_store::{Tx, agents, blocks, connections as rows};

use crate::accounts::{check_open, lock_both};
use crate::events::{Event, append_event};
use crate::{Error, Invalid, Page, tasks};

/// A new connection, as the caller sees it.
#[derive(Debug, Clone)]
pub struct Connected {
    pub id: ConnectionId,
    pub peer: Agent,
}

/// Connects to an agent that accepts direct connections.
pub fn connect_directly(tx: &mut Tx<'_>, by: &AgentId, to: &AgentId, now: &Now) -> Result<Connected, Error> {
    if to == by {
        return Err(Invalid::field("agentId", "is your own").into());
    }
    lock_both(tx, by, to)?;
    let peer = agents::find(tx, to)?.ok_or(Error::NotFound("agent"))?;
    if !peer.auto_accept {
        return Err(Error::NotAutoAccept);
    }
    let stranger = rule_for_a_stranger(peer.default_approval);
    create_connection(tx, by, peer, stranger, None, now)
}

/// Creates a connection. `peer_rule` is the approval rule that the peer applies to the caller's tasks; `pairing` is the
/// offer whose code was redeemed.
pub(crate) fn create_connection(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: Agent,
    peer_rule: Option<Rule>,
    pairing: Option<&PairingId>,
    now: &Now,
) -> Result<Connected, Error> {
    check_open(tx, by)?;
    check_open(tx, &peer.id)?;
    let locked = rows::lock_pair(tx, by, &peer.id)?;
    check_unconnected(tx, by, &peer.id)?;
    if !locked {
        rows::create_pair(tx, by, &peer.id)?;
        // Another transaction may have made the row, and more.
        check_unconnected(tx, by, &peer.id)?;
    }
    let me = agents::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let id = now.new_id();
    rows::insert(tx, &id, (by, &peer.id), (None, peer_rule), now.at)?;
    // Both logs are written in the order of agent ids, so that concurrent transactions lock the counters in one
    // order.
    let mut sides = [(&me, &peer), (&peer, &me)];
    sides.sort_by(|a, b| a.0.id.cmp(&b.0.id));
    for (to, with) in sides {
        let event = Event::from_agent(EventKind::AgentConnected, (&with.id, &with.name))
            .with("connectionId", id.as_str())
            .with("withAgentId", with.id.as_str())
            .with("withAgentName", with.name.as_str())
            .with("withPublicKey", with.public_key.as_deref())
            .with("pairingId", pairing.map(PairingId::as_str));
        append_event(tx, &to.id, event, now)?;
    }
    Ok(Connected { id, peer })
}

fn check_unconnected(tx: &mut Tx<'_>, by: &AgentId, peer: &AgentId) -> Result<(), Error> {
    if blocks::between(tx, by, peer)? {
        return Err(Error::Blocked);
    }
    if rows::between(tx, by, peer)?.is_some() { Err(Error::AlreadyConnected) } else { Ok(()) }
}

/// The caller's connections, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    before: Option<&(Timestamp, ConnectionId)>,
    limit: i64,
) -> Result<Page<Connection, (Timestamp, ConnectionId)>, Error> {
    let found = rows::list(tx, by, before, limit + 1)?;
    Ok(Page::cut(found, limit, |connection| (connection.created_at, connection.id.clone())))
}

/// How many live tasks the caller has with the peers of its newest connections.
pub fn live_tasks(tx: &mut Tx<'_>, by: &AgentId, limit: i64) -> Result<Vec<(AgentId, i64)>, Error> {
    Ok(rows::live_tasks(tx, by, limit)?)
}

/// How many live tasks the caller has with another agent.
pub fn live_with(tx: &mut Tx<'_>, by: &AgentId, peer: &AgentId) -> Result<i64, Error> {
    Ok(rows::live_with(tx, by, peer)?)
}

pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &ConnectionId) -> Result<Connection, Error> {
    rows::find(tx, by, id)?.ok_or(Error::NotFound("connection"))
}

/// Changes to the caller's side of a connection. `None` leaves a field unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The caller's alias for the peer.
    pub alias: Option<Option<Alias>>,
    /// The approval rule for tasks from the peer.
    pub approval: Option<Option<Rule>>,
}

/// Checks that the caller may call this peer so.
pub(crate) fn check_alias(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: Option<&AgentId>,
    alias: &Alias,
) -> Result<(), Error> {
    let named = rows::by_alias(tx, by, alias.as_str())?;
    if named.is_some() && named.as_ref() != peer {
        return Err(Error::AliasTaken);
    }
    if alias.as_str().starts_with(ids::Agent::PREFIX) {
        return Err(Invalid::field("alias", "must not look like an agent's id").into());
    }
    Ok(())
}

/// Changes the caller's side of a connection.
pub fn change(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &ConnectionId,
    change: &Change,
) -> Result<Connection, Error> {
    let mut connection = view(tx, by, id)?;
    if let Some(alias) = &change.alias {
        if let Some(alias) = alias {
            check_alias(tx, by, Some(&connection.peer.id), alias)?;
        }
        connection.alias = alias.as_ref().map(ToString::to_string);
    }
    if let Some(approval) = change.approval {
        connection.approval = approval;
    }
    rows::update(tx, by, &connection)?;
    Ok(connection)
}

/// Ends a connection and cancels the live tasks on it. Returns the number of cancelled tasks.
pub fn disconnect(tx: &mut Tx<'_>, by: &AgentId, id: &ConnectionId, now: &Now) -> Result<i64, Error> {
    let peer = rows::peer_of(tx, by, id)?.ok_or(Error::NotFound("connection"))?;
    rows::create_pair(tx, by, &peer)?;
    // It may have ended before the pair was locked.
    let connection = view(tx, by, id)?;
    end_connection(tx, by, &connection.peer.id, id, now)?;
    // Tasks sent inside a network do not depend on the connection.
    tasks::cancel_between(tx, by, &connection.peer.id, false, now)
}

/// Removes a connection and notifies the peer. The events of the cancelled tasks follow this one.
pub(crate) fn end_connection(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: &AgentId,
    id: &ConnectionId,
    now: &Now,
) -> Result<(), Error> {
    let me = agents::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    rows::remove(tx, id)?;
    let event = Event::from_agent(EventKind::AgentDisconnected, (&me.id, &me.name))
        .with("connectionId", id.as_str())
        .with("byAgentId", by.as_str());
    append_event(tx, peer, event, now)?;
    Ok(())
}
