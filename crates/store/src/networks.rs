//! Networks, their members, their invitations and what was said to all of them.

use tandem_core::agents::Agent;
use tandem_core::networks::{Broadcast, InviteCode, Network};
use tandem_core::text::Capability;
use tandem_core::{AgentId, MessageId, NetworkId, Timestamp};

use crate::query::Query;
use crate::{Error, Row, Tx, agents};

const COLUMNS: &str =
    "n.id, n.name, n.description, n.owner_id, o.name, n.member_count, n.message_count, n.created_at";

fn from_row(mut row: Row) -> Result<Network, Error> {
    Ok(Network {
        id: row.take()?,
        name: row.take()?,
        description: row.take()?,
        owner: row.take()?,
        owner_name: row.take()?,
        members: row.take()?,
        messages: row.take()?,
        created_at: row.take()?,
    })
}

/// Adds a network with its owner as the only member.
pub fn insert(tx: &mut Tx<'_>, network: &Network) -> Result<(), Error> {
    tx.send(
        "insert into networks (id, name, description, owner_id, member_count, message_count, created_at)
         values (?1, ?2, ?3, ?4, 0, 0, ?5)",
        &[
            (&network.id).into(),
            (&network.name).into(),
            network.description.as_ref().into(),
            (&network.owner).into(),
            network.created_at.into(),
        ],
    )?;
    add_member(tx, &network.id, &network.owner, network.created_at)
}

/// A network that this agent is in.
pub fn find(tx: &mut Tx<'_>, member: &AgentId, id: &NetworkId) -> Result<Option<Network>, Error> {
    let sql = format!(
        "select {COLUMNS} from network_members m join networks n on n.id = m.network_id
         join agents o on o.id = n.owner_id where m.network_id = ?1 and m.agent_id = ?2"
    );
    tx.optional(&sql, &[id.into(), member.into()])?.map(from_row).transpose()
}

/// The networks an agent is in, in the order in which it joined them.
pub fn list(tx: &mut Tx<'_>, member: &AgentId, limit: i64) -> Result<Vec<Network>, Error> {
    let sql = format!(
        "select {COLUMNS} from network_members m join networks n on n.id = m.network_id
         join agents o on o.id = n.owner_id where m.agent_id = ?1 order by m.joined_at, m.network_id limit ?2"
    );
    tx.rows(&sql, &[member.into(), limit.into()])?.into_iter().map(from_row).collect()
}

/// How many networks an agent is in.
pub fn count_of(tx: &mut Tx<'_>, member: &AgentId) -> Result<i64, Error> {
    tx.one("select count(*) from network_members where agent_id = ?1", &[member.into()])?.take()
}

/// Removes a network with everything in it.
pub fn remove(tx: &mut Tx<'_>, id: &NetworkId) -> Result<(), Error> {
    for sql in [
        "delete from network_messages where network_id = ?1",
        "delete from network_invites where network_id = ?1",
        "delete from network_members where network_id = ?1",
        "delete from networks where id = ?1",
    ] {
        tx.send(sql, &[id.into()])?;
    }
    Ok(())
}

/// Whether an agent is in a network.
pub fn is_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId) -> Result<bool, Error> {
    let row = tx.optional(
        "select 1 from network_members where network_id = ?1 and agent_id = ?2",
        &[id.into(), agent.into()],
    )?;
    Ok(row.is_some())
}

/// The network that two agents have been in together the longest.
pub fn shared(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<Option<NetworkId>, Error> {
    let row = tx.optional(
        "select mine.network_id from network_members mine
         join network_members theirs on theirs.network_id = mine.network_id and theirs.agent_id = ?2
         where mine.agent_id = ?1 order by mine.joined_at, mine.network_id limit 1",
        &[one.into(), other.into()],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// Adds an agent to a network.
pub fn add_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "insert into network_members (network_id, agent_id, joined_at) values (?1, ?2, ?3)",
        &[id.into(), agent.into(), now.into()],
    )?;
    tx.send("update networks set member_count = member_count + 1 where id = ?1", &[id.into()])
}

/// Takes an agent out of a network; false when it was not in it.
pub fn remove_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId) -> Result<bool, Error> {
    let removed = tx.execute(
        "delete from network_members where network_id = ?1 and agent_id = ?2",
        &[id.into(), agent.into()],
    )?;
    if removed > 0 {
        tx.send("update networks set member_count = member_count - 1 where id = ?1", &[id.into()])?;
    }
    Ok(removed > 0)
}

/// An agent in a network.
#[derive(Debug, Clone)]
pub struct Member {
    /// Since when.
    pub joined_at: Timestamp,
    /// Its profile.
    pub agent: Agent,
}

/// A network's members in the order in which they joined, from after a place in it.
pub fn members(
    tx: &mut Tx<'_>,
    id: &NetworkId,
    after: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Vec<Member>, Error> {
    let mut query = Query::default();
    query.push("select m.joined_at, ").push(agents::COLUMNS);
    query.push(" from network_members m join agents a on a.id = m.agent_id where m.network_id = ").bind(id);
    if let Some((at, agent)) = after {
        query.push(" and (m.joined_at, m.agent_id) > (").bind(*at).push(", ").bind(agent).push(")");
    }
    query.push(" order by m.joined_at, m.agent_id limit ").bind(limit);
    let rows = tx.rows(&query.sql, &query.params)?;
    rows.into_iter()
        .map(|mut row| Ok(Member { joined_at: row.take()?, agent: agents::from_row(&mut row)? }))
        .collect()
}

/// Whom a broadcast reaches: every other member that neither has blocked the sender nor is blocked by it,
/// in the order of ids.
pub fn audience(
    tx: &mut Tx<'_>,
    id: &NetworkId,
    sender: &AgentId,
    capability: Option<&Capability>,
) -> Result<Vec<AgentId>, Error> {
    let mut query = Query::default();
    query.push("select m.agent_id from network_members m");
    if let Some(capability) = capability {
        query
            .push(" join agent_capabilities tag on tag.agent_id = m.agent_id and tag.capability = ")
            .bind(capability.as_str());
    }
    query.push(" where m.network_id = ").bind(id).push(" and m.agent_id <> ").bind(sender);
    for (who, whom) in [("agent_id", "blocked_id"), ("blocked_id", "agent_id")] {
        query.push(" and not exists (select 1 from blocks b where b.").push(who);
        query.push(" = m.agent_id and b.").push(whom).push(" = ").bind(sender).push(")");
    }
    query.push(" order by m.agent_id");
    tx.rows(&query.sql, &query.params)?.into_iter().map(|mut row| row.take()).collect()
}

/// Adds an invitation; false when the code is in use.
pub fn insert_invite(
    tx: &mut Tx<'_>,
    code: &InviteCode,
    id: &NetworkId,
    uses: i64,
    expires_at: Timestamp,
) -> Result<bool, Error> {
    let added = tx.execute(
        "insert into network_invites (code, network_id, uses_left, expires_at) values (?1, ?2, ?3, ?4)
         on conflict (code) do nothing",
        &[code.as_str().into(), id.into(), uses.into(), expires_at.into()],
    )?;
    Ok(added > 0)
}

/// How many invitations to a network are open.
pub fn open_invites(tx: &mut Tx<'_>, id: &NetworkId, now: Timestamp) -> Result<i64, Error> {
    tx.one(
        "select count(*) from network_invites where network_id = ?1 and expires_at > ?2 and uses_left > 0",
        &[id.into(), now.into()],
    )?
    .take()
}

/// The network that an open invitation leads to.
pub fn invited_to(tx: &mut Tx<'_>, code: &InviteCode, now: Timestamp) -> Result<Option<NetworkId>, Error> {
    let row = tx.optional(
        "select network_id from network_invites where code = ?1 and expires_at > ?2 and uses_left > 0",
        &[code.as_str().into(), now.into()],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// Counts a use of an invitation.
pub fn use_invite(tx: &mut Tx<'_>, code: &InviteCode) -> Result<(), Error> {
    tx.send("update network_invites set uses_left = uses_left - 1 where code = ?1", &[code.as_str().into()])
}

/// Removes invitations that have run out.
pub fn sweep_invites(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from network_invites where code in
             (select code from network_invites where expires_at <= ?1 order by expires_at limit ?2)",
        &[now.into(), limit.into()],
    )
}

/// Adds what somebody said to a network.
pub fn insert_message(tx: &mut Tx<'_>, message: &Broadcast) -> Result<(), Error> {
    tx.send(
        "insert into network_messages (id, network_id, number, sender_id, content, recipients, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            (&message.id).into(),
            (&message.network).into(),
            message.number.into(),
            (&message.sender).into(),
            (&message.content).into(),
            message.recipients.into(),
            message.created_at.into(),
        ],
    )?;
    tx.send(
        "update networks set message_count = ?2 where id = ?1",
        &[(&message.network).into(), message.number.into()],
    )
}

/// What was said to a network before a number, as far as no block stands between writer and reader: the newest
/// of it, oldest first.
pub fn messages_before(
    tx: &mut Tx<'_>,
    id: &NetworkId,
    reader: &AgentId,
    before: i64,
    limit: i64,
) -> Result<Vec<Broadcast>, Error> {
    let rows = tx.rows(
        "select m.id, m.network_id, m.number, m.sender_id, a.name, m.content, m.recipients, m.created_at
         from network_messages m join agents a on a.id = m.sender_id
         where m.network_id = ?1 and m.number < ?2
             and not exists (select 1 from blocks b where b.agent_id = ?4 and b.blocked_id = m.sender_id)
             and not exists (select 1 from blocks b where b.blocked_id = ?4 and b.agent_id = m.sender_id)
         order by m.number desc limit ?3",
        &[id.into(), before.into(), limit.into(), reader.into()],
    )?;
    rows.into_iter().rev().map(broadcast).collect()
}

/// One message of a network.
pub fn find_message(tx: &mut Tx<'_>, id: &MessageId) -> Result<Option<Broadcast>, Error> {
    let rows = tx.rows(
        "select m.id, m.network_id, m.number, m.sender_id, a.name, m.content, m.recipients, m.created_at
         from network_messages m join agents a on a.id = m.sender_id where m.id = ?1",
        &[id.into()],
    )?;
    rows.into_iter().next().map(broadcast).transpose()
}

fn broadcast(mut row: Row) -> Result<Broadcast, Error> {
    Ok(Broadcast {
        id: row.take()?,
        network: row.take()?,
        number: row.take()?,
        sender: row.take()?,
        sender_name: row.take()?,
        content: row.take()?,
        recipients: row.take()?,
        created_at: row.take()?,
    })
}
