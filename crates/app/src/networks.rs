//! Networks: agents that reach each other without pairing, and can be spoken to all at once.

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

use crate::events::{Event, tell};
use crate::{Error, Page, keys};

/// What a new network is made of.
#[derive(Debug, Clone)]
pub struct NewNetwork {
    /// What it is called.
    pub name: AgentName,
    /// What it is for.
    pub description: Option<AgentDescription>,
}

fn check_room_for(tx: &mut Tx<'_>, agent: &AgentId) -> Result<(), Error> {
    if rows::count_of(tx, agent)? >= NETWORKS_MAX {
        return Err(Error::NetworkFull(NETWORKS_MAX, "networks that you are in"));
    }
    Ok(())
}

/// Makes a network with the caller as its owner and first member.
pub fn create(tx: &mut Tx<'_>, by: &AgentId, new: &NewNetwork, now: &Now) -> Result<Network, Error> {
    check_room_for(tx, by)?;
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

/// The networks the caller is in, in the order in which it joined them.
pub fn list(tx: &mut Tx<'_>, by: &AgentId) -> Result<Vec<Network>, Error> {
    Ok(rows::list(tx, by, NETWORKS_MAX)?)
}

/// A network that the caller is in; any other does not exist for it.
pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<Network, Error> {
    rows::find(tx, by, id)?.ok_or(Error::NotFound("network"))
}

/// A network that the caller owns.
fn own(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<Network, Error> {
    let network = view(tx, by, id)?;
    if network.owner == *by { Ok(network) } else { Err(Error::NotOwner) }
}

/// Removes a network, with everything that was said in it.
pub fn delete(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<(), Error> {
    own(tx, by, id)?;
    Ok(rows::remove(tx, id)?)
}

/// How an invitation may be used.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewInvite {
    /// How often.
    pub max_uses: Option<InviteUses>,
    /// How long.
    pub expires_in: Option<InviteSeconds>,
}

/// An invitation.
#[derive(Debug, Clone)]
pub struct Invite {
    /// Its code.
    pub code: InviteCode,
    /// How often it may be used.
    pub max_uses: i64,
    /// Until when.
    pub expires_at: Timestamp,
}

/// Makes an invitation to a network of the caller's.
pub fn invite(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    new: &NewInvite,
    now: &Now,
) -> Result<Invite, Error> {
    own(tx, by, id)?;
    let full = Error::NetworkFull(INVITES_MAX, "open invitations to that network");
    if rows::open_invites(tx, id, now.at)? >= INVITES_MAX {
        return Err(full);
    }
    let max_uses = new.max_uses.map_or(INVITE_USES_DEFAULT, InviteUses::get);
    let expires_at = now.at.plus_seconds(new.expires_in.map_or(INVITE_SECONDS_DEFAULT, InviteSeconds::get));
    let mut bits = [0; 8];
    keys::fill_random(&mut bits);
    let code = InviteCode::from_random(u64::from_le_bytes(bits));
    // Sixty random bits that are in use already are not met in practice.
    if rows::insert_invite(tx, &code, id, max_uses, expires_at)? {
        Ok(Invite { code, max_uses, expires_at })
    } else {
        Err(full)
    }
}

/// Joins the network that an invitation leads to.
pub fn join(tx: &mut Tx<'_>, by: &AgentId, code: &InviteCode, now: &Now) -> Result<Network, Error> {
    const UNKNOWN: Error = Error::NotFound("invitation; it may have run out or been used up");
    let id = rows::invited_to(tx, code, now.at)?.ok_or(UNKNOWN)?;
    if rows::is_member(tx, &id, by)? {
        return Err(Error::AlreadyMember);
    }
    check_room_for(tx, by)?;
    rows::add_member(tx, &id, by, now.at)?;
    rows::use_invite(tx, code)?;
    let network = rows::find(tx, by, &id)?.ok_or(UNKNOWN)?;
    if network.members > MEMBERS_MAX {
        return Err(Error::NetworkFull(MEMBERS_MAX, "members in that network"));
    }
    Ok(network)
}

/// Takes the caller out of a network. What is under way with its members goes on.
pub fn leave(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId) -> Result<(), Error> {
    if view(tx, by, id)?.owner == *by {
        return Err(Error::OwnerStays);
    }
    rows::remove_member(tx, id, by)?;
    Ok(())
}

/// Takes another agent out of a network of the caller's.
pub fn remove_member(tx: &mut Tx<'_>, by: &AgentId, id: &NetworkId, agent: &AgentId) -> Result<(), Error> {
    own(tx, by, id)?;
    if agent == by {
        return Err(Error::OwnerStays);
    }
    if rows::remove_member(tx, id, agent)? { Ok(()) } else { Err(Error::NotFound("member")) }
}

/// A page of a network's members.
pub type Members = Page<Member, (Timestamp, AgentId)>;

/// Who is in a network of the caller's, in the order in which they joined.
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

/// What is said to a network, and to whom of it.
#[derive(Debug, Clone)]
pub struct NewBroadcast {
    /// What it says.
    pub content: Body,
    /// Only to members with this tag.
    pub capability: Option<Capability>,
    /// Only to these: those that are online, or those that are not, if that was asked.
    pub only: Option<HashSet<AgentId>>,
}

/// Says something to every other member at once. It has no life cycle: it is told, and stands in their inboxes.
pub fn broadcast(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    new: &NewBroadcast,
    now: &Now,
) -> Result<Broadcast, Error> {
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
    rows::insert_message(tx, &message)?;
    for member in &audience {
        let event = Event::from_agent(EventKind::BroadcastCreated, (by, &message.sender_name))
            .with("networkId", id.as_str())
            .with_message(&message.id);
        tell(tx, member, event, now)?;
    }
    Ok(message)
}

/// One message that was said to a network of the caller's.
pub fn message(tx: &mut Tx<'_>, by: &AgentId, id: &MessageId) -> Result<Broadcast, Error> {
    let unknown = || Error::NotFound("message");
    let message = rows::find_message(tx, id)?.ok_or_else(unknown)?;
    let may_see = rows::is_member(tx, &message.network, by)? && !blocks::between(tx, by, &message.sender)?;
    if may_see { Ok(message) } else { Err(unknown()) }
}

/// What was said to a network of the caller's: oldest first; the next page is the one before it.
pub fn messages(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &NetworkId,
    before: Option<i64>,
    limit: i64,
) -> Result<Page<Broadcast, i64>, Error> {
    view(tx, by, id)?;
    let found = rows::messages_before(tx, id, by, before.unwrap_or(i64::MAX), limit + 1)?;
    Ok(Page::newest(found, limit, |message| message.number))
}
