//! The caller's webhook deliveries.

use tandem_api::tasks::PageQuery;
use tandem_api::webhooks::DeliveryView;
use tandem_app::webhooks;
pub use tandem_app::webhooks::{Health, WAITING_MAX};
use tandem_core::DeliveryId;
use tandem_core::webhooks::State;

use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

/// The caller's deliveries, newest first.
pub async fn list(hub: &HubParts, caller: &Caller, query: PageQuery) -> Result<Listed<DeliveryView>, Error> {
    let limit = paging::LIST.of(query.limit)?;
    let before = paging::place(query.cursor.as_deref())?;
    let by = caller.agent.clone();
    let page = hub.read_page(caller, move |tx, _| webhooks::list(tx, &by, before.as_ref(), limit)).await?;
    Ok(Listed::new(page, view, paging::cursor))
}

pub async fn health(hub: &HubParts, caller: &Caller) -> Result<Health, Error> {
    let by = caller.agent.clone();
    hub.read(caller, move |tx, _| webhooks::health(tx, &by)).await
}

/// Sends a delivery again.
pub async fn replay(hub: &HubParts, caller: &Caller, delivery: &DeliveryId) -> Result<DeliveryView, Error> {
    let (by, id) = (caller.agent.clone(), delivery.clone());
    hub.write_once(caller, move |tx, now| Ok(view(webhooks::replay(tx, &by, &id, now)?))).await
}

/// Sends the failed ones of the caller's newest deliveries again; tells how many.
pub async fn replay_failed(hub: &HubParts, caller: &Caller) -> Result<usize, Error> {
    let by = caller.agent.clone();
    hub.write(caller, move |tx, now| webhooks::replay_failed(tx, &by, now)).await
}

/// Sends a test event to the caller's webhook.
pub async fn ping(hub: &HubParts, caller: &Caller) -> Result<DeliveryView, Error> {
    let by = caller.agent.clone();
    hub.write_once(caller, move |tx, now| Ok(view(webhooks::ping(tx, &by, now)?))).await
}

/// Bytes of a request that the delivery log shows.
const REQUEST_BYTES_MAX: usize = 4 * 1024;

pub(crate) fn view(delivery: tandem_store::webhooks::Delivery) -> DeliveryView {
    let mut request = delivery.body;
    request.truncate(request.floor_char_boundary(REQUEST_BYTES_MAX));
    // What is to be tried of a push is known of its config, so that the worker of webhooks leaves it alone.
    let is_retried = delivery.task.is_some() && delivery.next_at.is_some();
    DeliveryView {
        id: delivery.id,
        event: delivery.event_type.into(),
        event_id: delivery.event_seq,
        url: delivery.url,
        status: if is_retried { State::Pending } else { delivery.state },
        attempts: delivery.attempts,
        next_attempt_at: delivery.next_at,
        last_attempt_at: delivery.answered_at,
        request,
        response_status: delivery.answer_status,
        response: delivery.answer,
        error: delivery.error,
        duration_ms: delivery.took_ms,
        created_at: delivery.created_at,
    }
}
