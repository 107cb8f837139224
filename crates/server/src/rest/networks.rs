//! Networks.

use std::collections::HashSet;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::networks::{
    BroadcastSent, BroadcastView, CreateInvite, CreateNetwork, DeletedNetwork, InviteView, JoinNetwork,
    LeftNetwork, MemberView, NetworkView, RemovedMember, SendBroadcast,
};
use tandem_api::tasks::PageQuery;
use tandem_app::Invalid;
use tandem_app::networks::{self, NewBroadcast, NewInvite, NewNetwork};
use tandem_core::networks::MEMBERS_MAX;
use tandem_core::{AgentId, NetworkId, Now};
use tandem_store::Tx;

use crate::http::front::{Address, Caller, SentUri};
use crate::http::{Answer, ApiError, Input, Json, Param, Query, paging};
use crate::hub::{Hub, HubParts};
use crate::rest::connections::{Nothing, guessed};
use crate::rest::id;

/// Make a network.
///
/// You own it: invite others by a code. Members see each other and send each other tasks without pairing.
#[utoipa::path(post, path = "/networks", tag = "networks", request_body = CreateNetwork,
    responses((status = 201, body = NetworkView)))]
pub(crate) async fn create(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<CreateNetwork>,
) -> Result<Response, ApiError> {
    let body = input.body?;
    let new = NewNetwork { name: body.name, description: body.description };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::CREATED, move |tx, now| {
        Ok(NetworkView::new(networks::create(tx, &by, &new, now)?, &by))
    })
    .await
}

/// The networks you are in, in the order in which you joined them.
#[utoipa::path(get, path = "/networks", tag = "networks", responses((status = 200, body = Vec<NetworkView>)))]
pub(crate) async fn list(State(hub): State<Hub>, Caller(me): Caller) -> Answer<Vec<NetworkView>> {
    let by = me.clone();
    let found = hub.read(move |tx, _| networks::list(tx, &by)).await?;
    Ok(Json(found.into_iter().map(|network| NetworkView::new(network, &me)).collect()))
}

/// A network you are in.
#[utoipa::path(get, path = "/networks/{id}", tag = "networks", params(("id" = String, Path)),
    responses((status = 200, body = NetworkView)))]
pub(crate) async fn view(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
) -> Answer<NetworkView> {
    let network: NetworkId = id(&network, "network")?;
    let by = me.clone();
    let found = hub.read(move |tx, _| networks::view(tx, &by, &network)).await?;
    Ok(Json(NetworkView::new(found, &me)))
}

/// Delete a network of yours, with everything that was said in it.
#[utoipa::path(delete, path = "/networks/{id}", tag = "networks", params(("id" = String, Path)),
    responses((status = 200, body = DeletedNetwork)))]
pub(crate) async fn delete(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
) -> Answer<DeletedNetwork> {
    let network: NetworkId = id(&network, "network")?;
    hub.write(move |tx, _| networks::delete(tx, &me, &network)).await?;
    Ok(Json(DeletedNetwork { deleted: true }))
}

/// Invite others to a network of yours.
#[utoipa::path(post, path = "/networks/{id}/invites", tag = "networks", params(("id" = String, Path)),
    request_body = CreateInvite, responses((status = 201, body = InviteView)))]
pub(crate) async fn invite(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
    input: Input<CreateInvite>,
) -> Result<Response, ApiError> {
    let network: NetworkId = id(&network, "network")?;
    let body = hub.body_on_network(&me, &network, input.body).await?;
    let new = NewInvite { max_uses: body.max_uses, expires_in: body.expires_in_seconds };
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::CREATED, move |tx, now| {
        let invite = networks::invite(tx, &by, &network, &new, now)?;
        let code = invite.code.to_string();
        Ok(InviteView { code, max_uses: invite.max_uses, expires_at: invite.expires_at })
    })
    .await
}

/// Join a network by an invitation.
///
/// Wrong codes are limited as wrong pairing codes are.
#[utoipa::path(post, path = "/networks/join", tag = "networks", request_body = JoinNetwork,
    responses((status = 201, body = NetworkView)))]
pub(crate) async fn join(
    State(hub): State<Hub>,
    Caller(me): Caller,
    address: Address,
    input: Input<JoinNetwork>,
) -> Result<Response, ApiError> {
    let by = me.clone();
    let joining = async {
        let code = input.body?.code;
        let join =
            move |tx: &mut Tx<'_>, now: &Now| Ok(NetworkView::new(networks::join(tx, &by, &code, now)?, &by));
        hub.answer_once(&me, input.key, StatusCode::CREATED, join).await
    };
    guessed(&hub, &me, &address, joining).await
}

/// Leave a network.
///
/// Tasks under way with its members go on; its owner cannot leave, but can delete it.
#[utoipa::path(post, path = "/networks/{id}/leave", tag = "networks", params(("id" = String, Path)),
    responses((status = 200, body = LeftNetwork)))]
pub(crate) async fn leave(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    let network: NetworkId = id(&network, "network")?;
    hub.body_on_network(&me, &network, input.body).await?;
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::OK, move |tx, _| {
        networks::leave(tx, &by, &network)?;
        Ok(LeftNetwork { left: true })
    })
    .await
}

/// Who is in a network, in the order in which they joined.
#[utoipa::path(get, path = "/networks/{id}/members", tag = "networks", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<MemberView>)))]
pub(crate) async fn members(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let network: NetworkId = id(&network, "network")?;
    let limit = paging::WHOLE.of(query.limit)?;
    let after = paging::place(query.cursor.as_deref())?;
    let (network, page) =
        hub.read(move |tx, _| networks::members(tx, &me, &network, after.as_ref(), limit)).await?;
    let view = |member: tandem_store::networks::Member| MemberView {
        role: MemberView::role_of(&member.agent.id, &network),
        online: hub.seen(&member.agent).online,
        agent_id: member.agent.id,
        agent_name: member.agent.name,
        description: member.agent.description,
        capabilities: member.agent.capabilities,
        public_key: member.agent.public_key,
        created_at: member.joined_at,
    };
    let views: Vec<MemberView> = page.items.into_iter().map(view).collect();
    paging::list(&views, page.next.as_ref().map(paging::cursor).as_deref(), &uri)
}

/// Take an agent out of a network of yours.
#[utoipa::path(delete, path = "/networks/{id}/members/{agentId}", tag = "networks",
    params(("id" = String, Path), ("agentId" = String, Path)), responses((status = 200, body = RemovedMember)))]
pub(crate) async fn remove_member(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param((network, agent)): Param<(String, String)>,
) -> Answer<RemovedMember> {
    let network: NetworkId = id(&network, "network")?;
    let agent: AgentId = id(&agent, "member")?;
    hub.write(move |tx, _| networks::remove_member(tx, &me, &network, &agent)).await?;
    Ok(Json(RemovedMember { removed: true }))
}

/// Say something to every other member at once.
///
/// Each gets `broadcast.created`, and finds it in its inbox. `filter` narrows it to those with a tag, or to those
/// that are online. An agent may send ten a minute to a network.
#[utoipa::path(post, path = "/networks/{id}/broadcast", tag = "networks", params(("id" = String, Path)),
    request_body = SendBroadcast, responses((status = 201, body = BroadcastSent)))]
pub(crate) async fn broadcast(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
    input: Input<SendBroadcast>,
) -> Result<Response, ApiError> {
    let network: NetworkId = id(&network, "network")?;
    let body = hub.body_on_network(&me, &network, input.body).await?;
    if body.content.as_str().is_empty() {
        return Err(Invalid::field("content", "must not be empty").into());
    }
    if let Some(kept) = hub.kept_answer(&me, input.key.as_ref()).await? {
        return Ok(kept);
    }
    let filter = body.filter.unwrap_or_default();
    let only = match filter.online {
        Some(online) => Some(hub.members_online(&me, &network, online).await?),
        None => None,
    };
    let new = NewBroadcast { content: body.content, capability: filter.capability, only };
    let (by, to) = (me.clone(), network.clone());
    let sending = hub.answer_once(&me, input.key, StatusCode::CREATED, move |tx, now| {
        let message = networks::broadcast(tx, &by, &to, &new, now)?;
        Ok(BroadcastSent { message_id: message.id, recipients: message.recipients })
    });
    hub.counted(&me, network.as_str(), sending).await
}

/// What was said to a network, oldest first.
///
/// The page without a cursor holds the newest; `Link: rel="next"` leads to older ones.
#[utoipa::path(get, path = "/networks/{id}/messages", tag = "networks", params(("id" = String, Path), PageQuery),
    responses((status = 200, body = Vec<BroadcastView>)))]
pub(crate) async fn messages(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(network): Param<String>,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let network: NetworkId = id(&network, "network")?;
    let limit = paging::WHOLE.of(query.limit)?;
    let before = paging::number(query.cursor.as_deref())?;
    let page = hub.read(move |tx, _| networks::messages(tx, &me, &network, before, limit)).await?;
    let views: Vec<BroadcastView> = page.items.into_iter().map(Into::into).collect();
    paging::list(&views, page.next.map(|number| number.to_string()).as_deref(), &uri)
}

impl HubParts {
    /// A request's body; if it does not fit, a network that the caller is not in has the first word.
    async fn body_on_network<T>(
        &self,
        by: &AgentId,
        id: &NetworkId,
        body: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if body.is_err() {
            let (by, id) = (by.clone(), id.clone());
            self.read(move |tx, _| networks::view(tx, &by, &id)).await?;
        }
        body
    }

    /// Which members of a network are online, or are not.
    async fn members_online(
        &self,
        by: &AgentId,
        id: &NetworkId,
        online: bool,
    ) -> Result<HashSet<AgentId>, ApiError> {
        let (by, id) = (by.clone(), id.clone());
        let (_, page) = self.read(move |tx, _| networks::members(tx, &by, &id, None, MEMBERS_MAX)).await?;
        let online = page.items.into_iter().filter(|member| self.seen(&member.agent).online == online);
        Ok(online.map(|member| member.agent.id).collect())
    }
}
