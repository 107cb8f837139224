//! Connections: begun by a code or directly, changed by either side, ended with everything live on them.

use tandem_core::agents::{Agent, Connection};
use tandem_core::approval::rule_for_a_stranger;
use tandem_core::events::EventKind;
use tandem_core::ids::{self, Prefixed as _};
use tandem_core::text::Alias;
use tandem_core::{AgentId, ConnectionId, Now, Rule, Timestamp};
use tandem_store::{Tx, agents, blocks, connections as rows};

use crate::events::{Event, tell};
use crate::tasks::Which;
use crate::{Error, Invalid, Page, tasks};

/// What both parties read on tasks that end with their connection, whether by a block or not.
pub(crate) const ENDED: &str = "the connection was ended";

/// A connection as the one who made it sees it.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The connection.
    pub id: ConnectionId,
    /// The other agent.
    pub peer: Agent,
}

/// Connects directly to an agent that takes everybody.
pub fn connect_directly(tx: &mut Tx<'_>, by: &AgentId, to: &AgentId, now: &Now) -> Result<Connected, Error> {
    if to == by {
        return Err(Invalid::field("agentId", "is your own").into());
    }
    let peer = agents::find(tx, to)?.ok_or(Error::NotFound("agent"))?;
    if !peer.auto_accept {
        return Err(Error::NotAutoAccept);
    }
    let stranger = rule_for_a_stranger(peer.default_approval);
    join(tx, by, peer, stranger, now)
}

/// Connects two agents; `peer_rule` is what the other side does with the caller's tasks.
pub(crate) fn join(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: Agent,
    peer_rule: Option<Rule>,
    now: &Now,
) -> Result<Connected, Error> {
    if blocks::between(tx, by, &peer.id)? {
        return Err(Error::Blocked);
    }
    if rows::between(tx, by, &peer.id)?.is_some() {
        return Err(Error::AlreadyConnected);
    }
    let me = agents::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let id = now.new_id();
    rows::insert(tx, &id, (by, &peer.id), (None, peer_rule), now.at)?;
    // In the order of ids, so that two such transactions meet the counters in the same order.
    let mut sides = [(&me, &peer), (&peer, &me)];
    sides.sort_by(|a, b| a.0.id.cmp(&b.0.id));
    for (to, with) in sides {
        let event = Event::from_agent(EventKind::AgentConnected, (&with.id, &with.name))
            .with("connectionId", id.as_str())
            .with("withAgentId", with.id.as_str())
            .with("withAgentName", with.name.as_str())
            .with("withPublicKey", with.public_key.as_deref());
        tell(tx, &to.id, event, now)?;
    }
    Ok(Connected { id, peer })
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

/// What a side changes about a connection; what is nothing stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// What to call the other agent.
    pub alias: Option<Option<Alias>>,
    /// What to do with its tasks.
    pub approval: Option<Option<Rule>>,
}

/// Changes the caller's side of a connection.
pub fn change(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &ConnectionId,
    change: &Change,
) -> Result<Connection, Error> {
    let mut connection = rows::find(tx, by, id)?.ok_or(Error::NotFound("connection"))?;
    if let Some(alias) = &change.alias {
        if let Some(alias) = alias
            && rows::by_alias(tx, by, alias.as_str())?.is_some_and(|peer| peer != connection.peer.id)
        {
            return Err(Error::AliasTaken);
        }
        if alias.as_ref().is_some_and(|alias| alias.as_str().starts_with(ids::Agent::PREFIX)) {
            return Err(Invalid::field("alias", "must not look like an agent's id").into());
        }
        connection.alias = alias.as_ref().map(ToString::to_string);
    }
    if let Some(approval) = change.approval {
        connection.approval = approval;
    }
    rows::update(tx, by, &connection)?;
    Ok(connection)
}

/// Ends a connection and cancels what is live on it; tells how many tasks that were.
pub fn disconnect(tx: &mut Tx<'_>, by: &AgentId, id: &ConnectionId, now: &Now) -> Result<i64, Error> {
    let connection = rows::find(tx, by, id)?.ok_or(Error::NotFound("connection"))?;
    part(tx, by, &connection.peer.id, id, now)?;
    // What was sent inside a network is not the connection's.
    tasks::cancel_between(tx, by, &connection.peer.id, Which::OfConnection, ENDED, now)
}

/// Ends a connection. The other side is told of it first, then of each task that ends with it.
pub(crate) fn part(
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
    tell(tx, peer, event, now)?;
    Ok(())
}
