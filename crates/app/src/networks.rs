//! Networks: groups whose members can send tasks to each other without pairing, and broadcast to all.

use std::collections::HashSet;

use tandem_core::events::EventKind;
use tandem_core::networks::{
    Broadcast, INVITE_SECONDS_DEFAULT, INVITE_USES_DEFAULT, INVITES_MAX, InviteCode, InviteSeconds,
    InviteUses, MEMBERS_MAX, NETWORKS_MAX, Network,
};
use tandem_core::text::{AgentDescription, AgentName, BODY_BYTES_MAX, Body, Capability};
use tandem_core::{AgentId, MessageId, NetworkId, Now, Timestamp};
use tandem_store::networks::{self as rows, Member};
use tandem_store::{Tx, agents, blocks};

use crate::accounts::check_open;
use crate::events::{Event, append_event};
use crate::limits::{self, Limit};
use crate::{Error, Page, keys};

#[derive(Debug, Clone)]
pub struct NewNetwork {
    pub name: AgentName,
    pub description: Option<AgentDescription>,
}

fn check_network_limit(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    check_open(tx, agent)?;
    if rows::count_of(tx, agent)? >= NETWORKS_MAX {
        return Err(Error::NetworkFull(NETWORKS_MAX, "networks per agent"));
    }
    Ok(())
}

/// Creates a network. The caller becomes its owner and first member.
pub fn create(tx: &mut Tx<'_>, by: &AgentId, new: &NewNetwork, now: &Now) -> Result<Network, Error> {
    check_network_limit(tx, by)?;
    let owner = agents::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let network = Network {
        id: now.new_id(),
        name: new.name.to_string(),
        description: new.description.as_ref().map(ToString::to_string),
        owner: by.clone(),
        owner_name: owner.name,
        members: 1,
        messages: 0,
        created_at: now.at,
    };
    rows::insert(tx, &network)?;
    Ok(network)
}

/// The caller's networks, in the order of joining.
pub fn list(tx: &mut Tx<'_>, by: &AgentId) -> Result<Vec<Network>, Error> {
    Ok(rows::list(tx, by, NETWORKS_MAX)?)
}

/// A network of which the caller is a member. Other networks are not found.
pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<Network, Error> {
    rows::find(tx, by, id)?.ok_or(Error::NotFound("network"))
}

fn owned(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<Network, Error> {
    let network = view(tx, by, id)?;
    if network.owner == *by { Ok(network) } else { Err(Error::NotOwner) }
}

/// Messages of a deleted network that one transaction removes at most.
const REMOVED_BATCH: i64 = 1_000;

/// Removes a batch of the broadcasts of deleted networks. Returns whether there may be more.
pub fn erase_batch(tx: &mut Tx<'_>) -> Result<bool, Error> {
    Ok(rows::remove_messages(tx, REMOVED_BATCH)?)
}

/// Deletes a network. Its broadcasts can no longer be seen; [`erase_batch`] removes them.
pub fn delete(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<(), Error> {
    owned(tx, by, id)?;
    Ok(rows::remove(tx, id)?)
}

#[derive(Debug, Clone, Copy, Default)]
pub struct NewInvite {
    /// How many agents may use it.
    pub max_uses: Option<InviteUses>,
    pub expires_in: Option<InviteSeconds>,
}

#[derive(Debug, Clone)]
pub struct Invite {
    /// The code to pass on.
    pub code: InviteCode,
    /// How many agents may use it.
    pub max_uses: i64,
    pub expires_at: Timestamp,
}

pub fn invite(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    new: &NewInvite,
    now: &Now,
) -> Result<Invite, Error> {
    owned(tx, by, id)?;
    let full = Error::NetworkFull(INVITES_MAX, "open invitations per network");
    if rows::open_invites(tx, id, now.at)? >= INVITES_MAX {
        return Err(full);
    }
    let max_uses = new.max_uses.map_or(INVITE_USES_DEFAULT, InviteUses::get);
    let expires_at = now.at.plus_seconds(new.expires_in.map_or(INVITE_SECONDS_DEFAULT, InviteSeconds::get));
    let mut bits = [0; 8];
    keys::fill_random(&mut bits);
    let code = InviteCode::from_random(u64::from_le_bytes(bits));
    // A collision of 60 random bits does not happen in practice; if it does, the caller can repeat the request.
    if rows::insert_invite(tx, &code, id, max_uses, expires_at)? {
        Ok(Invite { code, max_uses, expires_at })
    } else {
        Err(full)
    }
}

pub fn join(tx: &mut Tx<'_>, by: &AgentId, code: &InviteCode, now: &Now) -> Result<Network, Error> {
    const UNKNOWN: Error = Error::UnknownCode("invitation");
    let id = rows::invited_to(tx, code, now.at)?.ok_or(UNKNOWN)?;
    if rows::is_member(tx, &id, by)? {
        return Err(Error::AlreadyMember);
    }
    check_network_limit(tx, by)?;
    if rows::lock_size(tx, &id)?.ok_or(UNKNOWN)? >= MEMBERS_MAX {
        return Err(Error::NetworkFull(MEMBERS_MAX, "members per network"));
    }
    rows::add_member(tx, &id, by, now.at)?;
    rows::use_invite(tx, code)?;
    rows::find(tx, by, &id)?.ok_or(UNKNOWN)
}

/// Leaves a network. Tasks with its members continue.
pub fn leave(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<(), Error> {
    if view(tx, by, id)?.owner == *by {
        return Err(Error::OwnerStays);
    }
    rows::remove_member(tx, id, by)?;
    Ok(())
}

/// Removes a member from one of the caller's networks.
pub fn remove_member(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId, agent: &AgentId) -> Result<(), Error> {
    owned(tx, by, id)?;
    if agent == by {
        return Err(Error::OwnerStays);
    }
    if rows::remove_member(tx, id, agent)? { Ok(()) } else { Err(Error::NotFound("member")) }
}

pub type Members = Page<Member, (Timestamp, AgentId)>;

/// The members of one of the caller's networks, in the order of joining.
pub fn members(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    after: Option<&(Timestamp, AgentId)>,
    limit: i64,
) -> Result<(Network, Members), Error> {
    let network = view(tx, by, id)?;
    let found = rows::members(tx, id, after, limit + 1)?;
    let page = Page::cut(found, limit, |member| (member.joined_at, member.agent.id.clone()));
    Ok((network, page))
}

#[derive(Debug, Clone)]
pub struct NewBroadcast {
    pub content: Body,
    /// Only members with this capability.
    pub capability: Option<Capability>,
    /// Only these agents, if the sender filtered by presence.
    pub only: Option<HashSet<AgentId>>,
    /// How often its sender may write to the network.
    pub limit: Option<Limit>,
}

/// Sends a message to all other members. A broadcast has no life cycle: it appears in the log and the inbox of each
/// recipient.
pub fn broadcast(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    new: &NewBroadcast,
    now: &Now,
) -> Result<Broadcast, Error> {
    if let Some(limit) = &new.limit {
        limit.expect(tx)?;
    }
    // Agents are locked before networks.
    check_open(tx, by)?;
    let network = view(tx, by, id)?;
    if new.content.as_str().len() > BODY_BYTES_MAX {
        return Err(Error::TooLarge("message"));
    }
    let sender = agents::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    let mut audience = rows::audience(tx, id, by, new.capability.as_ref())?;
    if let Some(only) = &new.only {
        audience.retain(|member| only.contains(member));
    }
    let message = Broadcast {
        id: now.new_id(),
        network: id.clone(),
        number: network.messages + 1,
        sender: by.clone(),
        sender_name: sender.name,
        content: new.content.as_str().to_owned(),
        recipients: i64::try_from(audience.len()).unwrap_or(0),
        created_at: now.at,
    };
    limits::admit(tx, new.limit.as_ref(), now.at)?.count(tx)?;
    rows::insert_message(tx, &message)?;
    for member in &audience {
        let event = Event::from_agent(EventKind::BroadcastCreated, (by, &message.sender_name))
            .with("networkId", id.as_str())
            .with_message(&message.id);
        append_event(tx, member, event, now)?;
    }
    Ok(message)
}

pub fn message(tx: &mut Tx<'_>, by: &AgentId, id: &MessageId) -> Result<Broadcast, Error> {
    let unknown = || Error::NotFound("message");
    let message = rows::find_message(tx, id)?.ok_or_else(unknown)?;
    let may_see = rows::is_member(tx, &message.network, by)? && !blocks::between(tx, by, &message.sender)?;
    if may_see { Ok(message) } else { Err(unknown()) }
}

/// A page of a network's broadcasts, oldest first. The next page holds older ones.
pub fn messages(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    before: Option<i64>,
    limit: i64,
) -> Result<Page<Broadcast, i64>, Error> {
    view(tx, by, id)?;
    let (found, cut) = rows::messages_before(tx, id, by, before.unwrap_or(i64::MAX), limit + 1)?;
    Ok(Page::newest(found, cut, limit, |message| message.number))
}
