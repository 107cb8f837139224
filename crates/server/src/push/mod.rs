//! Push: the caller's log, carried to it as it grows, over whatever it has open.

pub mod feed;
pub mod observe;
pub mod socket;
pub mod stream;
pub mod ticket;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use tandem_app::Invalid;
use tandem_core::AgentId;
use tandem_store::events::Logged;

use crate::http::front::Identity;
use crate::http::{ApiError, Query};
use crate::hub::Hub;

/// Where a push begins, and for browsers, who they are.
#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct PushQuery {
    /// Replay what came after this cursor, then go on live; without it, live only.
    pub after: Option<i64>,
    /// For browsers, which cannot send the key: a ticket from `POST /ws/ticket`.
    pub ticket: Option<String>,
}

/// The agent at the other end, known by its key or by a ticket, and where it wants to begin.
#[derive(Debug)]
pub struct Subscriber {
    pub(crate) agent: AgentId,
    pub(crate) after: Option<i64>,
}

impl FromRequestParts<Hub> for Subscriber {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, ApiError> {
        let Query(query) = Query::<PushQuery>::from_request_parts(parts, hub).await?;
        if query.after.is_some_and(|after| after < 0) {
            return Err(Invalid::field("after", "must not be negative").into());
        }
        let known = match parts.extensions.get::<Identity>() {
            Some(Identity::Agent(agent)) => Some(agent.clone()),
            _ => None,
        };
        let agent = match (known, query.ticket) {
            (Some(agent), _) => agent,
            (None, Some(ticket)) => ticket::redeem(hub, &ticket).await?,
            (None, None) => return Err(ApiError::Unauthorized),
        };
        Ok(Self { agent, after: query.after })
    }
}

/// An event as it goes over the wire: the stored object with its cursor.
fn frame(event: &Logged) -> String {
    let fields = event.data.strip_suffix('}').unwrap_or("{\"type\":null");
    format!("{fields},\"cursor\":{}}}", event.seq)
}

/// What every push begins with.
fn greeting(agent: &AgentId, cursor: i64) -> String {
    format!("{{\"type\":\"connected\",\"agentId\":\"{agent}\",\"cursor\":{cursor}}}")
}
