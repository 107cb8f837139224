//! Telling clients that something waits for them.

use std::sync::Arc;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use tandem_core::AgentId;
use tandem_store::events::Logged;
use tokio_util::sync::CancellationToken;

use crate::bus::Way;
use crate::hub::Hub;
use crate::mcp::resources::INBOX;
use crate::mcp::sampling;
use crate::mcp::sessions::SessionId;
use crate::push::feed::{Fed, Feed};

/// Events that put something into an inbox.
const FOR_THE_INBOX: [&str; 4] =
    ["task.created", "task.approval_required", "message.created", "broadcast.created"];

/// Whether an event says that something waits.
fn waits(event: &Logged) -> bool {
    FOR_THE_INBOX.contains(&event.kind.as_str())
}

/// Serves a session's stream until nobody reads it: notes for its inbox, and prompts for its model.
pub(crate) async fn push(
    hub: Hub,
    session: SessionId,
    agent: AgentId,
    mut feed: Feed,
    unread: CancellationToken,
) {
    loop {
        let fed = tokio::select! {
            () = unread.cancelled() => return,
            fed = feed.next() => fed,
        };
        let events = match fed {
            Ok(Fed::Events(events)) => events,
            Ok(Fed::Ended(_)) => return hub.sessions.end(&session),
            Err(error) => {
                tracing::warn!(%error, "a session's stream ends: its agent's log cannot be read");
                return hub.sessions.end(&session);
            }
        };
        if events.iter().any(waits)
            && let Some(peer) = hub.sessions.subscriber(&session)
        {
            let note = ResourceUpdatedNotificationParam::new(INBOX);
            // A client that does not read must not hold up its prompts.
            tokio::spawn(async move { peer.notify_resource_updated(note).await });
        }
        for event in &events {
            if let Some(peer) = hub.sessions.sampler(&session, &agent) {
                sampling::consider(&hub, &agent, peer, event, unread.clone());
            }
        }
    }
}

/// Serves a subscription of 2026-07-28 until it is cancelled.
pub(crate) async fn listen(
    hub: &Hub,
    agent: &AgentId,
    context: &SubscriptionContext,
) -> Result<(), rmcp::ErrorData> {
    let full = |error: crate::http::ApiError| rmcp::ErrorData::internal_error(error.body().error, None);
    let mut feed = Feed::open(&Arc::clone(hub), agent, None, Way::Stream).await.map_err(full)?;
    loop {
        let fed = tokio::select! {
            () = context.cancelled() => return Ok(()),
            fed = feed.next() => fed,
        };
        match fed {
            Ok(Fed::Events(events)) if events.iter().any(waits) => {
                if context.sink().notify_resource_updated(INBOX).await.is_err() {
                    return Ok(());
                }
            }
            Ok(Fed::Events(_)) => {}
            Ok(Fed::Ended(_)) => return Ok(()),
            Err(error) => return Err(full(error.into())),
        }
    }
}
