//! Networks.

use std::collections::HashSet;

use tandem_api::networks::{
    BroadcastSent, BroadcastView, CreateInvite, CreateNetwork, DeletedNetwork, InviteView, JoinNetwork,
    LeftNetwork, MemberView, NetworkView, RemovedMember, SendBroadcast,
};
use tandem_api::tasks::PageQuery;
use tandem_api::text::HubText;
use tandem_app::Invalid;
use tandem_app::networks::{self, NewBroadcast, NewInvite, NewNetwork};
use tandem_core::networks::MEMBERS_MAX;
use tandem_core::{AgentId, MessageId, NetworkId};

use super::connections::count_attempt;
use super::messages::limit_of;
use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

pub async fn create(hub: &HubParts, caller: &Caller, body: CreateNetwork) -> Result<NetworkView, Error> {
    let new = NewNetwork { name: body.name, description: body.description };
    let by = caller.agent.clone();
    hub.write_once(caller, move |tx, now| Ok(NetworkView::new(networks::create(tx, &by, &new, now)?, &by)))
        .await
}

pub async fn list(hub: &HubParts, caller: &Caller) -> Result<Vec<NetworkView>, Error> {
    let by = caller.agent.clone();
    let found = hub.read(caller, move |tx, _| networks::list(tx, &by)).await?;
    Ok(found.into_iter().map(|network| NetworkView::new(network, &caller.agent)).collect())
}

pub async fn view(hub: &HubParts, caller: &Caller, network: &NetworkId) -> Result<NetworkView, Error> {
    let (by, id) = (caller.agent.clone(), network.clone());
    let found = hub.read(caller, move |tx, _| networks::view(tx, &by, &id)).await?;
    Ok(NetworkView::new(found, &caller.agent))
}

/// Deletes a network that the caller owns.
pub async fn delete(hub: &HubParts, caller: &Caller, network: &NetworkId) -> Result<DeletedNetwork, Error> {
    let (by, id) = (caller.agent.clone(), network.clone());
    hub.write(caller, move |tx, _| networks::delete(tx, &by, &id)).await?;
    // The network is gone, whatever happens to its messages; housekeeping removes those that are left.
    if let Err(error) = hub.finish_networks().await {
        tracing::warn!(%error, "could not remove all messages of a deleted network; they are removed later");
    }
    Ok(DeletedNetwork { deleted: true })
}

/// Creates an invitation to a network that the caller owns.
pub async fn invite(
    hub: &HubParts,
    caller: &Caller,
    network: &NetworkId,
    body: CreateInvite,
) -> Result<InviteView, Error> {
    let new = NewInvite { max_uses: body.max_uses, expires_in: body.expires_in_seconds };
    let (by, id) = (caller.agent.clone(), network.clone());
    hub.write_once(caller, move |tx, now| {
        let invite = networks::invite(tx, &by, &id, &new, now)?;
        let code = invite.code.to_string();
        Ok(InviteView { code: HubText::new(code), max_uses: invite.max_uses, expires_at: invite.expires_at })
    })
    .await
}

pub async fn join(
    hub: &HubParts,
    caller: &Caller,
    body: Result<JoinNetwork, Error>,
) -> Result<NetworkView, Error> {
    let joining = async {
        let (by, code) = (caller.agent.clone(), body?.code);
        hub.write_once(caller, move |tx, now| Ok(NetworkView::new(networks::join(tx, &by, &code, now)?, &by)))
            .await
    };
    count_attempt(hub, caller, joining).await
}

pub async fn leave(hub: &HubParts, caller: &Caller, network: &NetworkId) -> Result<LeftNetwork, Error> {
    let (by, id) = (caller.agent.clone(), network.clone());
    hub.write_once(caller, move |tx, _| {
        networks::leave(tx, &by, &id)?;
        Ok(LeftNetwork { left: true })
    })
    .await
}

/// The members of a network, in the order of joining.
pub async fn members(
    hub: &HubParts,
    caller: &Caller,
    network: &NetworkId,
    query: PageQuery,
) -> Result<Listed<MemberView>, Error> {
    let limit = paging::WHOLE.of(query.limit)?;
    let after = paging::place(query.cursor.as_deref())?;
    let (by, id) = (caller.agent.clone(), network.clone());
    let (network, page) =
        hub.read(caller, move |tx, _| networks::members(tx, &by, &id, after.as_ref(), limit)).await?;
    let seen = hub.sightings(page.items.iter().map(|member| &member.agent.id)).await;
    let view = |member: tandem_store::networks::Member| {
        let online = seen.of(&member.agent).online;
        MemberView::new(member.agent, &network.owner, online, member.joined_at, &caller.agent)
    };
    Ok(Listed::new(page, view, paging::cursor))
}

/// Removes a member from a network that the caller owns.
pub async fn remove_member(
    hub: &HubParts,
    caller: &Caller,
    network: &NetworkId,
    agent: &AgentId,
) -> Result<RemovedMember, Error> {
    let (by, id, agent) = (caller.agent.clone(), network.clone(), agent.clone());
    hub.write(caller, move |tx, _| networks::remove_member(tx, &by, &id, &agent)).await?;
    Ok(RemovedMember { removed: true })
}

/// Sends a broadcast to all other members.
pub async fn broadcast(
    hub: &HubParts,
    caller: &Caller,
    network: &NetworkId,
    body: SendBroadcast,
) -> Result<BroadcastSent, Error> {
    if body.content.as_str().is_empty() {
        return Err(Invalid::field("content", "must not be empty").into());
    }
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    let filter = body.filter.unwrap_or_default();
    let only = match filter.online {
        Some(online) => Some(members_online(hub, caller, network, online).await?),
        None => None,
    };
    let limit = Some(limit_of(hub, caller, network.as_str()));
    let new = NewBroadcast { content: body.content, capability: filter.capability, only, limit };
    let (by, id) = (caller.agent.clone(), network.clone());
    let sent = hub.write_once(caller, move |tx, now| {
        let message = networks::broadcast(tx, &by, &id, &new, now)?;
        Ok(BroadcastSent { message_id: message.id, recipients: message.recipients })
    });
    sent.await
}

/// The members of a network that are online, or those that are not.
async fn members_online(
    hub: &HubParts,
    caller: &Caller,
    network: &NetworkId,
    online: bool,
) -> Result<HashSet<AgentId>, Error> {
    let (by, id) = (caller.agent.clone(), network.clone());
    let (_, page) = hub.read(caller, move |tx, _| networks::members(tx, &by, &id, None, MEMBERS_MAX)).await?;
    let seen = hub.sightings(page.items.iter().map(|member| &member.agent.id)).await;
    let found = page.items.into_iter().filter(|member| seen.of(&member.agent).online == online);
    Ok(found.map(|member| member.agent.id).collect())
}

/// The broadcasts of a network. The first page holds the newest; each page is oldest first.
pub async fn messages(
    hub: &HubParts,
    caller: &Caller,
    network: &NetworkId,
    query: PageQuery,
) -> Result<Listed<BroadcastView>, Error> {
    let limit = paging::WHOLE.of(query.limit)?;
    let before = paging::number(query.cursor.as_deref())?;
    let (by, id) = (caller.agent.clone(), network.clone());
    let page = hub.read_page(caller, move |tx, _| networks::messages(tx, &by, &id, before, limit)).await?;
    Ok(Listed::new(page, |message| BroadcastView::new(message, &caller.agent), ToString::to_string))
}

pub async fn message(hub: &HubParts, caller: &Caller, message: &MessageId) -> Result<BroadcastView, Error> {
    let (by, id) = (caller.agent.clone(), message.clone());
    let found = hub.read(caller, move |tx, _| networks::message(tx, &by, &id)).await?;
    Ok(BroadcastView::new(found, &caller.agent))
}
