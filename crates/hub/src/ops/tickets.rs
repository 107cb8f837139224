//! Tickets: a browser cannot send a key when it opens a WebSocket, so it first exchanges the key for a ticket.

use tandem_api::events::TicketView;
use tandem_api::text::HubText;
use tandem_app::ticket::{self, Ticket};
use tandem_store::Owner;

use crate::{Caller, Error, HubParts};

/// Issues a ticket for one socket or stream.
pub async fn issue(hub: &HubParts, caller: &Caller) -> Result<TicketView, Error> {
    let by = caller.agent.clone();
    let mark = hub
        .read_as(caller, move |tx, _| ticket::key_fingerprint(tx, &by))
        .await?
        .ok_or_else(Error::unauthorized)?;
    let (ticket, expires_at) = hub.access.tickets.issue(&caller.agent, &mark, hub.time());
    Ok(TicketView { ticket: HubText::new(ticket), expires_at })
}

/// Uses a ticket, and returns it.
pub async fn redeem(hub: &HubParts, ticket: &str) -> Result<Ticket, Error> {
    let genuine = hub.access.tickets.check(ticket, hub.time()).ok_or_else(Error::unauthorized)?;
    let used = genuine.clone();
    let unused = hub.db.write(move |tx, _| ticket::redeem(tx, &used)).await?;
    if unused { Ok(genuine) } else { Err(Error::unauthorized()) }
}

/// Refuses a ticket whose key has ended since it was redeemed.
pub async fn check(hub: &HubParts, ticket: &Ticket) -> Result<(), Error> {
    let ticket = ticket.clone();
    let valid =
        hub.read_for(Owner::agent(&ticket.agent), move |tx, _| ticket::is_of_key(tx, &ticket)).await?;
    if valid { Ok(()) } else { Err(Error::unauthorized()) }
}
