//! Push: streams the caller's event log over a WebSocket or server-sent events.

pub mod observe;
pub mod socket;
pub mod stream;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use tandem_app::Invalid;
use tandem_app::ticket::Ticket;
use tandem_core::AgentId;

use tandem_hub::bus::Transport;
use tandem_hub::feed::{Feed, Start};
use tandem_hub::ops::tickets;
use tandem_hub::{Caller, Error, Hub};

use crate::http::connection::Connection;
use crate::http::visitor::Authenticated;
use crate::http::{ApiError, Query};

/// Query of a push request.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct PushQuery {
    /// Send the events after this cursor first. Without it, only new events are sent.
    pub after: Option<i64>,
    /// The epoch to which `after` belongs. If the log has another, the events after the acknowledged cursor are sent, and the
    /// first frame has `"reset":true`.
    pub epoch: Option<String>,
    /// For browsers, which cannot send the key: a ticket from `POST /ws/ticket`.
    pub ticket: Option<String>,
}

/// The agent, authenticated by key or ticket, and its start cursor.
#[derive(Debug)]
pub struct Subscriber {
    admitted: Admitted,
    after: Option<i64>,
    epoch: Option<String>,
    /// A WebSocket outlives the service of its connection, and keeps the slot.
    connection: Arc<Connection>,
}

/// By what an agent is known.
#[derive(Debug)]
enum Admitted {
    Key(Caller),
    Ticket(Ticket),
}

impl FromRequestParts<Hub> for Subscriber {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, ApiError> {
        let Query(query) = Query::<PushQuery>::from_request_parts(parts, hub).await?;
        if query.after.is_some_and(|after| after < 0) {
            return Err(Invalid::field("after", "must not be negative").into());
        }
        let admitted = match (Authenticated::from_request_parts(parts, hub).await, query.ticket) {
            (Ok(Authenticated(caller)), _) => Admitted::Key(caller),
            (Err(_), Some(ticket)) => Admitted::Ticket(tickets::redeem(hub, &ticket).await?),
            (Err(unauthorized), None) => return Err(unauthorized),
        };
        let connection = Arc::clone(Connection::of(&parts.extensions)?);
        Ok(Self { admitted, after: query.after, epoch: query.epoch, connection })
    }
}

impl Subscriber {
    fn agent(&self) -> &AgentId {
        match &self.admitted {
            Admitted::Key(caller) => &caller.agent,
            Admitted::Ticket(ticket) => &ticket.agent,
        }
    }

    /// Whether the client names an epoch that the log no longer has.
    fn is_of_another_epoch(&self, hub: &Hub) -> bool {
        self.epoch.as_ref().is_some_and(|epoch| *epoch != hub.epoch)
    }

    /// Where the client's query has it begin.
    fn start(&self, hub: &Hub) -> Start {
        match self.after {
            None => Start::End,
            Some(_) if self.is_of_another_epoch(hub) => Start::Acknowledged,
            Some(after) => Start::After(after),
        }
    }

    /// Begins to listen. A key that ended before that could not end this, so it is checked afterwards.
    async fn listen(&self, hub: &Hub, start: Start, transport: Transport) -> Result<Feed, Error> {
        let feed = Feed::open(hub, self.agent(), start, transport).await?;
        match &self.admitted {
            Admitted::Key(caller) => hub.access.check(caller).await?,
            Admitted::Ticket(ticket) => tickets::check(hub, ticket).await?,
        }
        Ok(feed)
    }
}

/// The first message of every push.
fn greeting(agent: &AgentId, feed: &Feed) -> String {
    let reset = if feed.was_reset() { ",\"reset\":true" } else { "" };
    let (cursor, epoch) = (feed.cursor(), feed.epoch());
    format!(
        "{{\"type\":\"connected\",\"agentId\":\"{agent}\",\"cursor\":{cursor},\"epoch\":\"{epoch}\"{reset}}}"
    )
}
