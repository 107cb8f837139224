//! Networks, their members, their invitations and what was said to all of them.

use std::sync::Arc;

use tandem_core::agents::Agent;
use tandem_core::networks::{Broadcast, InviteCode, Network};
use tandem_core::text::Capability;
use tandem_core::{AgentId, MessageId, NetworkId, Timestamp};

use crate::declare::{add, insert, read, update};
use crate::query::Query;
use crate::statement::Read;
use crate::table::{columns, sql};
use crate::{Error, Tx};

columns! {
    "n", network: Network {
        id,
        name,
        description,
        owner: owner_id,
        owner_name: "o.name",
        members: member_count,
        messages: message_count,
        created_at,
    }
}

/// Adds a network with its owner as the only member, which the network counts already.
pub fn insert(tx: &mut Tx<'_>, network: &Network) -> Result<(), Error> {
    insert!(networks { ..network: Network }).send(tx)?;
    insert_member(tx, &network.id, &network.owner, network.created_at)
}

/// A network that this agent is in. A transaction that writes locks the network first: its members change only under
/// this lock, and a query does not see what was committed while it waited.
pub fn find(tx: &mut Tx<'_>, member: &AgentId, id: &NetworkId) -> Result<Option<Network>, Error> {
    if tx.locks_rows() {
        locked_size().peek::<i64>(tx, &[id.into()])?;
    }
    let network = read!(Network:
        "network_members m join networks n on n.id = m.network_id
         join agents o on o.id = n.owner_id where m.network_id = ?1 and m.agent_id = ?2",
        of network_members as m { network_id: 1, agent_id: 2 } uses [],
        networks as n { id: 1 } uses [owner_id], agents as o uses [name]);
    network.find(tx, &[id.into(), member.into()])
}

fn locked_size() -> &'static Arc<Read> {
    read!([member_count]: "networks where id = ?1", of networks { id: 1 } uses []; lock networks)
}

/// Locks a network and tells how many members it has.
pub fn lock_size(tx: &mut Tx<'_>, id: &NetworkId) -> Result<Option<i64>, Error> {
    locked_size().find(tx, &[id.into()])
}

/// The networks an agent is in, in the order in which it joined them.
pub fn list(tx: &mut Tx<'_>, member: &AgentId, limit: i64) -> Result<Vec<Network>, Error> {
    let sql = sql!(
        "select {} from network_members m join networks n on n.id = m.network_id
         join agents o on o.id = n.owner_id where m.agent_id = ?1 order by m.joined_at, m.network_id limit ?2",
        Network
    );
    tx.list(sql, &[member.into(), limit.into()])
}

pub fn count_of(tx: &mut Tx<'_>, member: &AgentId) -> Result<i64, Error> {
    tx.get("select count(*) from network_members where agent_id = ?1", &[member.into()])
}

/// Removes a network. What was said in it is out of everybody's sight, and has to be removed by
/// [`remove_messages`].
pub fn remove(tx: &mut Tx<'_>, id: &NetworkId) -> Result<(), Error> {
    for sql in [
        "insert into removed_networks (id) values (?1)",
        "delete from network_invites where network_id = ?1",
        "delete from network_members where network_id = ?1",
        "delete from networks where id = ?1",
    ] {
        tx.send(sql, &[id.into()])?;
    }
    Ok(())
}

/// Removes some messages of a network that is gone; false when there is none left.
pub fn remove_messages(tx: &mut Tx<'_>, limit: i64) -> Result<bool, Error> {
    // Locked, because of two that remove the same rows, the second would believe that none are left.
    let next =
        read!([id]: "removed_networks order by id limit 1", of removed_networks; lock removed_networks);
    let Some(id) = next.find::<NetworkId>(tx, &[])? else {
        return Ok(false);
    };
    let removed = tx.execute(
        "delete from network_messages where id in
             (select id from network_messages where network_id = ?1 limit ?2)",
        &[(&id).into(), limit.into()],
    )?;
    if removed == 0 {
        tx.send("delete from removed_networks where id = ?1", &[(&id).into()])?;
    }
    Ok(true)
}

pub fn is_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId) -> Result<bool, Error> {
    let member = read!(1: "network_members where network_id = ?1 and agent_id = ?2",
        of network_members { network_id: 1, agent_id: 2 } uses []);
    member.exists(tx, &[id.into(), agent.into()])
}

struct Shared {
    network: NetworkId,
}

columns! {
    "mine", shared: Shared {
        network: network_id,
    }
}

/// The network that two agents have been in together the longest.
pub fn shared(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<Option<NetworkId>, Error> {
    let shared = read!(Shared:
        "network_members mine
         join network_members theirs on theirs.network_id = mine.network_id and theirs.agent_id = ?2
         where mine.agent_id = ?1 order by mine.joined_at, mine.network_id limit 1",
        of network_members as mine { agent_id: 1 }, network_members as theirs { agent_id: 2 });
    Ok(shared.find::<Shared>(tx, &[one.into(), other.into()])?.map(|shared| shared.network))
}

pub fn add_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    insert_member(tx, id, agent, now)?;
    add!(networks { member_count: 1 } where { id: id }).send(tx)
}

fn insert_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId, now: Timestamp) -> Result<(), Error> {
    insert!(network_members { network_id: id, agent_id: agent, joined_at: now }).send(tx)
}

/// Takes an agent out of a network; false when it was not in it.
pub fn remove_member(tx: &mut Tx<'_>, id: &NetworkId, agent: &AgentId) -> Result<bool, Error> {
    let removed = tx.execute(
        "delete from network_members where network_id = ?1 and agent_id = ?2",
        &[id.into(), agent.into()],
    )?;
    if removed > 0 {
        add!(networks { member_count: -1 } where { id: id }).send(tx)?;
    }
    Ok(removed > 0)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub joined_at: Timestamp,
    pub agent: Agent,
}

columns! {
    "m", member: Member {
        joined_at,
        agent: join Agent,
    }
}

/// A network's members in the order in which they joined, from after a place in it.
pub fn members(
    tx: &mut Tx<'_>,
    id: &NetworkId,
    after: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<Vec<Member>, Error> {
    let mut query = Query::default();
    query.push(sql!(
        "select {} from network_members m join agents a on a.id = m.agent_id where m.network_id = ",
        Member
    ));
    query.bind(id);
    if let Some((at, agent)) = after {
        query.push(" and (m.joined_at, m.agent_id) > (").bind(*at).push(", ").bind(agent).push(")");
    }
    query.push(" order by m.joined_at, m.agent_id limit ").bind(limit);
    tx.list(&query.sql, &query.params)
}

/// Whom a broadcast reaches: every other member that neither has blocked the sender nor is blocked by it,
/// in the order of ids. Accounts that are closed get nothing.
pub fn audience(
    tx: &mut Tx<'_>,
    id: &NetworkId,
    sender: &AgentId,
    capability: Option<&Capability>,
) -> Result<Vec<AgentId>, Error> {
    let (network, sender) = (id.into(), sender.into());
    match capability {
        None => read!(Heard: "network_members m join agents a on a.id = m.agent_id and a.deleted_at is null
             where m.network_id = ?1 and m.agent_id <> ?2 and {UNBLOCKED} order by m.agent_id",
            of network_members as m { network_id: 1 }, agents as a uses [deleted_at], blocks as b)
        .list::<Heard>(tx, &[network, sender]),
        Some(capability) => {
            read!(Heard: "network_members m join agents a on a.id = m.agent_id and a.deleted_at is null
             join agent_capabilities tag on tag.agent_id = m.agent_id and tag.capability = ?3
             where m.network_id = ?1 and m.agent_id <> ?2 and {UNBLOCKED} order by m.agent_id",
            of network_members as m { network_id: 1 }, agents as a uses [deleted_at], blocks as b,
            agent_capabilities as tag { capability: 3 })
            .list::<Heard>(tx, &[network, sender, capability.as_str().into()])
        }
    }
    .map(|found| found.into_iter().map(|heard| heard.agent).collect())
}

/// Neither a member nor the sender has blocked the other.
const UNBLOCKED: &str =
    "not exists (select 1 from blocks b where b.agent_id = m.agent_id and b.blocked_id = ?2)
     and not exists (select 1 from blocks b where b.blocked_id = m.agent_id and b.agent_id = ?2)";

/// A member that hears a broadcast.
struct Heard {
    agent: AgentId,
}

columns! {
    "m", heard: Heard {
        agent: agent_id,
    }
}

/// Adds an invitation; false when the code is in use.
pub fn insert_invite(
    tx: &mut Tx<'_>,
    code: &InviteCode,
    id: &NetworkId,
    uses: i64,
    expires_at: Timestamp,
) -> Result<bool, Error> {
    insert!(network_invites {
        code: code.as_str(),
        network_id: id,
        uses_left: uses,
        expires_at: expires_at,
    }, on conflict (code) ignore)
    .execute(tx)
}

/// How many invitations to a network are open.
pub fn open_invites(tx: &mut Tx<'_>, id: &NetworkId, now: Timestamp) -> Result<i64, Error> {
    tx.get(
        "select count(*) from network_invites where network_id = ?1 and expires_at > ?2 and uses_left > 0",
        &[id.into(), now.into()],
    )
}

/// The network that an open invitation leads to.
pub fn invited_to(tx: &mut Tx<'_>, code: &InviteCode, now: Timestamp) -> Result<Option<NetworkId>, Error> {
    let network = read!([network_id]: "network_invites where code = ?1 and expires_at > ?2 and uses_left > 0",
        of network_invites { code: 1 }; lock network_invites);
    network.find(tx, &[code.as_str().into(), now.into()])
}

pub fn use_invite(tx: &mut Tx<'_>, code: &InviteCode) -> Result<(), Error> {
    add!(network_invites { uses_left: -1 } where { code: code.as_str() }).send(tx)
}

/// Removes invitations that have run out.
pub fn sweep_invites(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from network_invites where code in
             (select code from network_invites where expires_at <= ?1 order by expires_at limit ?2)",
        &[now.into(), limit.into()],
    )
}

columns! {
    "m", message: Broadcast {
        id,
        network: network_id,
        number,
        sender: sender_id,
        sender_name: "a.name",
        content,
        recipients,
        created_at,
    }
}

/// Adds what somebody said to a network.
pub fn insert_message(tx: &mut Tx<'_>, message: &Broadcast) -> Result<(), Error> {
    insert!(network_messages { ..message: Broadcast }).send(tx)?;
    update!(networks { message_count: message.number } where { id: &message.network }).send(tx)
}

/// What was said to a network before a number, as far as no block stands between writer and reader: the newest
/// of it, oldest first, and whether a page had no room for all that were asked for.
pub fn messages_before(
    tx: &mut Tx<'_>,
    id: &NetworkId,
    reader: &AgentId,
    before: i64,
    limit: i64,
) -> Result<(Vec<Broadcast>, bool), Error> {
    let sql = sql!(
        "select {} from network_messages m join agents a on a.id = m.sender_id
         where m.network_id = ?1 and m.number < ?2
             and not exists (select 1 from blocks b where b.agent_id = ?4 and b.blocked_id = m.sender_id)
             and not exists (select 1 from blocks b where b.blocked_id = ?4 and b.agent_id = m.sender_id)
         order by m.number desc limit ?3",
        Broadcast
    );
    let (mut found, cut) = tx.list_page(sql, &[id.into(), before.into(), limit.into(), reader.into()])?;
    found.reverse();
    Ok((found, cut))
}

pub fn find_message(tx: &mut Tx<'_>, id: &MessageId) -> Result<Option<Broadcast>, Error> {
    let sql = sql!(
        "select {} from network_messages m join agents a on a.id = m.sender_id where m.id = ?1",
        Broadcast
    );
    tx.find(sql, &[id.into()])
}
