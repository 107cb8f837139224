//! Pairing and connections.

use tandem_api::connections::{
    ConnectedView, ConnectionView, Disconnected, PairingCodeView, PatchConnection, RedeemCode,
};
use tandem_api::error::Code;
use tandem_api::tasks::PageQuery;
use tandem_api::text::HubText;
use tandem_app::connections::{self, Change};
use tandem_app::limits::{Kind, Limit};
use tandem_app::pairing::{self, Offer};
use tandem_core::agents::Connection;
use tandem_core::{AgentId, ConnectionId};

use super::{count_failures, nothing_to_change};
use crate::cluster::presences::Sightings;
use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

pub async fn generate_code(hub: &HubParts, caller: &Caller) -> Result<PairingCodeView, Error> {
    let by = caller.agent.clone();
    hub.write_once(caller, move |tx, now| {
        let Offer { id, code, expires_at } = pairing::generate(tx, &by, now)?;
        Ok(PairingCodeView { pairing_id: id, code: HubText::new(code.as_str()), expires_at })
    })
    .await
}

/// The caller's newest pairing code that can still be redeemed.
pub async fn newest_code(hub: &HubParts, caller: &Caller) -> Result<Option<PairingCodeView>, Error> {
    let by = caller.agent.clone();
    let found = hub.read(caller, move |tx, now| pairing::newest(tx, &by, now)).await?;
    let view =
        |(pairing_id, code, expires_at)| PairingCodeView { pairing_id, code: HubText::new(code), expires_at };
    Ok(found.map(view))
}

pub async fn redeem_code(
    hub: &HubParts,
    caller: &Caller,
    body: Result<RedeemCode, Error>,
) -> Result<ConnectedView, Error> {
    let redeeming = async {
        let (by, code) = (caller.agent.clone(), body?.code);
        hub.write_once(caller, move |tx, now| {
            let connected = pairing::connect(tx, &by, &code, now)?;
            Ok(ConnectedView::new(connected.id, connected.peer))
        })
        .await
    };
    count_attempt(hub, caller, redeeming).await
}

/// Runs an attempt to redeem a code, limited by the number of wrong codes.
pub(super) async fn count_attempt<T>(
    hub: &HubParts,
    caller: &Caller,
    trying: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let max = hub.config.pair_attempts_max;
    let limit = |kind, who: &str, max| Limit { kind, who: who.to_owned(), max, seconds: 60 };
    let limits = [
        limit(Kind::WrongCodes, caller.agent.as_str(), max),
        limit(Kind::WrongCodesOfAddress, &caller.address.key, max.saturating_mul(3)),
    ];
    count_failures(hub, limits.into(), trying, |error| error.code() == Code::NotFound).await
}

/// Connects without a code to an agent that accepts direct connections.
pub async fn connect_directly(
    hub: &HubParts,
    caller: &Caller,
    agent: &AgentId,
) -> Result<ConnectedView, Error> {
    let (by, agent) = (caller.agent.clone(), agent.clone());
    hub.write_once(caller, move |tx, now| {
        let connected = connections::connect_directly(tx, &by, &agent, now)?;
        Ok(ConnectedView::new(connected.id, connected.peer))
    })
    .await
}

/// The caller's connections, newest first.
pub async fn list(
    hub: &HubParts,
    caller: &Caller,
    query: PageQuery,
    limits: paging::Limits,
) -> Result<Listed<ConnectionView>, Error> {
    let limit = limits.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let by = caller.agent.clone();
    let page = hub.read(caller, move |tx, _| connections::list(tx, &by, before.as_ref(), limit)).await?;
    let seen = hub.sightings(page.items.iter().map(|connection| &connection.peer.id)).await;
    Ok(Listed::new(page, |connection| view(&seen, connection), paging::cursor))
}

pub async fn find(
    hub: &HubParts,
    caller: &Caller,
    connection: &ConnectionId,
) -> Result<ConnectionView, Error> {
    let (by, id) = (caller.agent.clone(), connection.clone());
    let found = hub.read(caller, move |tx, _| connections::view(tx, &by, &id)).await?;
    let seen = hub.presence(&found.peer).await;
    Ok(ConnectionView::new(found, seen))
}

/// How many live tasks the caller has with the peers of its newest connections.
pub async fn live_tasks(hub: &HubParts, caller: &Caller, limit: i64) -> Result<Vec<(AgentId, i64)>, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| connections::live_tasks(tx, &by, limit)).await
}

/// How many live tasks the caller has with another agent.
pub async fn live_with(hub: &HubParts, caller: &Caller, peer: &AgentId) -> Result<i64, Error> {
    let (by, peer) = (caller.agent.clone(), peer.clone());
    hub.read(caller, move |tx, _| connections::live_with(tx, &by, &peer)).await
}

pub(super) fn view(seen: &Sightings<'_>, connection: Connection) -> ConnectionView {
    let seen = seen.of(&connection.peer);
    ConnectionView::new(connection, seen)
}

/// Changes the caller's side of a connection.
pub async fn change(
    hub: &HubParts,
    caller: &Caller,
    connection: &ConnectionId,
    body: PatchConnection,
) -> Result<ConnectionView, Error> {
    if body.alias.is_none() && body.approval.is_none() {
        return Err(nothing_to_change());
    }
    let (by, id) = (caller.agent.clone(), connection.clone());
    let change = Change { alias: body.alias, approval: body.approval };
    let changed = hub.write(caller, move |tx, _| connections::change(tx, &by, &id, &change)).await?;
    let seen = hub.presence(&changed.peer).await;
    Ok(ConnectionView::new(changed, seen))
}

pub async fn disconnect(
    hub: &HubParts,
    caller: &Caller,
    connection: &ConnectionId,
) -> Result<Disconnected, Error> {
    let (by, id) = (caller.agent.clone(), connection.clone());
    let cancelled_tasks =
        hub.write(caller, move |tx, now| connections::disconnect(tx, &by, &id, now)).await?;
    hub.cancel_rest(cancelled_tasks).await;
    Ok(Disconnected { deleted: true, cancelled_tasks })
}
