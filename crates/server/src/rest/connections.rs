//! Pairing and connections.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::tasks::PageQuery;
use tandem_app::connections::{self, Change};
use tandem_app::{Error, pairing};
use tandem_core::{AgentId, ConnectionId, Now};
use tandem_store::Tx;

use crate::http::front::{Address, Caller, SentUri};
use crate::http::{Answer, ApiError, Input, Json, Param, Query, paging};
use crate::hub::{Hub, HubParts};
use crate::rates::Rated;
use crate::rest::{id, nothing_to_change};

/// A body that has nothing in it.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Nothing {}

/// Make a pairing code.
///
/// Give it to the other agent's owner; it can be redeemed once, within ten minutes.
#[utoipa::path(post, path = "/pair/generate", tag = "connections", responses((status = 201, body = PairingCodeView)))]
pub(crate) async fn generate_code(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    input.body?;
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::CREATED, move |tx, now| {
        let (code, expires_at) = pairing::generate(tx, &by, now)?;
        Ok(PairingCodeView { code: code.to_string(), expires_at })
    })
    .await
}

/// Redeem a pairing code.
///
/// Both agents get `agent.connected`. Wrong codes are limited: 20 a minute for a key, 60 for an address.
#[utoipa::path(post, path = "/pair/connect", tag = "connections", request_body = RedeemCode,
    responses((status = 201, body = ConnectedView)))]
pub(crate) async fn redeem_code(
    State(hub): State<Hub>,
    Caller(me): Caller,
    address: Address,
    input: Input<RedeemCode>,
) -> Result<Response, ApiError> {
    let by = me.clone();
    let redeeming = async {
        let code = input.body?.code;
        let redeem = move |tx: &mut Tx<'_>, now: &Now| {
            let connected = pairing::connect(tx, &by, &code, now)?;
            Ok(ConnectedView::new(connected.id, connected.peer))
        };
        hub.answer_once(&me, input.key, StatusCode::CREATED, redeem).await
    };
    guessed(&hub, &me, &address, redeeming).await
}

/// Lets somebody try a code, unless there were too many wrong ones. Each is counted before it is tried, or many at
/// once would all be tried; one that turns out not to be wrong is taken back. Hanging up takes nothing back.
pub(crate) async fn guessed<T>(
    hub: &HubParts,
    me: &AgentId,
    address: &Address,
    trying: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let limit = hub.config.pair_attempts_max;
    let kinds = [
        (Rated::WrongCodes, me.as_str(), limit),
        (Rated::WrongCodesOfAddress, address.key.as_str(), limit.saturating_mul(3)),
    ];
    let take_back = |counted: usize| {
        for (kind, who, _) in &kinds[..counted] {
            hub.rates.uncount(*kind, who);
        }
    };
    for (before, (kind, who, limit)) in kinds.into_iter().enumerate() {
        let rate = hub.rates.count(kind, who, limit, hub.clock.now());
        if let Some(over) = rate.filter(|rate| !rate.allowed) {
            take_back(before);
            return Err(over.into());
        }
    }
    let answer = trying.await;
    if !matches!(&answer, Err(ApiError::App(Error::NotFound(_)))) {
        take_back(kinds.len());
    }
    answer
}

/// Connect without a code.
///
/// Only to an agent that has `autoAccept`; unless that agent said otherwise, your tasks wait for its approval.
#[utoipa::path(post, path = "/connect/{agentId}", tag = "connections", params(("agentId" = String, Path)),
    responses((status = 201, body = ConnectedView)))]
pub(crate) async fn connect_directly(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(agent): Param<String>,
    input: Input<Nothing>,
) -> Result<Response, ApiError> {
    let agent: AgentId = id(&agent, "agent")?;
    input.body?;
    let by = me.clone();
    hub.answer_once(&me, input.key, StatusCode::CREATED, move |tx, now| {
        let connected = connections::connect_directly(tx, &by, &agent, now)?;
        Ok(ConnectedView::new(connected.id, connected.peer))
    })
    .await
}

/// Your connections, newest first.
#[utoipa::path(get, path = "/connections", tag = "connections", params(PageQuery),
    responses((status = 200, body = Vec<ConnectionView>)))]
pub(crate) async fn list(
    State(hub): State<Hub>,
    Caller(me): Caller,
    SentUri(uri): SentUri,
    Query(query): Query<PageQuery>,
) -> Result<Response, ApiError> {
    let limit = paging::WHOLE.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let page = hub.read(move |tx, _| connections::list(tx, &me, before.as_ref(), limit)).await?;
    let views: Vec<ConnectionView> = page
        .items
        .into_iter()
        .map(|connection| {
            let seen = hub.seen(&connection.peer);
            ConnectionView::new(connection, seen)
        })
        .collect();
    paging::list(&views, page.next.as_ref().map(paging::cursor).as_deref(), &uri)
}

/// Change your side of a connection.
#[utoipa::path(patch, path = "/connections/{id}", tag = "connections", params(("id" = String, Path)),
    request_body = PatchConnection, responses((status = 200, body = ConnectionView)))]
pub(crate) async fn change(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(connection): Param<String>,
    input: Input<PatchConnection>,
) -> Answer<ConnectionView> {
    let connection: ConnectionId = id(&connection, "connection")?;
    let body = input.body?;
    if body.alias.is_none() && body.approval.is_none() {
        return Err(nothing_to_change());
    }
    let change = Change { alias: body.alias, approval: body.approval };
    let changed = hub.write(move |tx, _| connections::change(tx, &me, &connection, &change)).await?;
    let seen = hub.seen(&changed.peer);
    Ok(Json(ConnectionView::new(changed, seen)))
}

/// End a connection.
///
/// Its live tasks are cancelled; the other agent gets `agent.disconnected`, then the tasks' events.
#[utoipa::path(delete, path = "/connections/{id}", tag = "connections", params(("id" = String, Path)),
    responses((status = 200, body = Disconnected)))]
pub(crate) async fn disconnect(
    State(hub): State<Hub>,
    Caller(me): Caller,
    Param(connection): Param<String>,
) -> Answer<Disconnected> {
    let connection: ConnectionId = id(&connection, "connection")?;
    let cancelled_tasks =
        hub.write(move |tx, now| connections::disconnect(tx, &me, &connection, now)).await?;
    Ok(Json(Disconnected { deleted: true, cancelled_tasks }))
}
