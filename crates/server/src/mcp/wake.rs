//! Notifies MCP clients of new items in their inbox.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use tandem_core::AgentId;
use tandem_core::events::Subject;
use tokio::task::JoinHandle;

use tandem_hub::bus::Transport;
use tandem_hub::feed::{Feed, FeedItem, Logged, Start};
use tandem_hub::ops::inbox;
use tandem_hub::{Error, Hub};

use crate::mcp::reply::rpc;
use crate::mcp::resources::INBOX;
use crate::mcp::sampling;
use crate::mcp::sessions::{Session, Sessions};

/// Time limit for sending a notification, after which the session ends.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether an event adds something to the inbox.
fn reaches_inbox(event: &Logged) -> bool {
    event.subject().is_some_and(Subject::is_for_inbox)
}

/// What serves a session's streams.
struct StreamPusher {
    hub: Hub,
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    /// The notification that is being sent; a second one would be redundant. True if it was sent.
    note: Option<JoinHandle<bool>>,
}

/// Serves a session's streams until none is read: notifications for its inbox, and requests to its model.
pub(crate) async fn push(
    hub: Hub,
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    inbox: InboxFeed,
    server: u64,
) {
    let mut pusher = StreamPusher { hub, sessions, session: Arc::clone(&session), note: None };
    let InboxFeed { mut feed, mut waiting } = inbox;
    let mut stream = server;
    loop {
        // Notify of what came while no stream was open. A pending notification may have gone to an older stream.
        if waiting && pusher.note.is_none() {
            pusher.notify();
            waiting = false;
        }
        let fed = tokio::select! {
            // A session with a new stream must not end because of the old one.
            biased;
            next = session.next_stream(server, stream) => {
                let Some(next) = next else { return };
                stream = next;
                waiting = inbox::is_waiting(&pusher.hub, &session.caller.agent).await.unwrap_or(true);
                continue;
            }
            sent = pusher.notified() => {
                pusher.note = None;
                if sent {
                    continue;
                }
                feed.too_slow();
                break;
            }
            fed = feed.next() => fed,
        };
        match fed {
            Ok(FeedItem::Events(events)) => pusher.handle_events(&events),
            Ok(FeedItem::Ended(_)) => break,
            Err(error) => {
                tracing::warn!(%error, "an MCP stream ended: could not read the event log");
                break;
            }
        }
    }
    pusher.sessions.end(&session.id);
}

impl StreamPusher {
    fn handle_events(&mut self, events: &[Logged]) {
        for event in events {
            let now = self.hub.time();
            if let Some(sampler) = self.sessions.sampler(&self.session, now) {
                sampling::sample_for_event(&self.hub, &self.sessions, sampler, event, now);
            }
        }
        // Notify last: the client's reaction must not decide which events its model is asked about.
        if events.iter().any(reaches_inbox) {
            self.notify();
        }
    }

    /// Sends a notification that the inbox has changed, if the session has subscribed.
    fn notify(&mut self) {
        if self.note.is_some() {
            return;
        }
        let Some(peer) = self.sessions.subscriber(&self.session.id) else { return };
        let note = ResourceUpdatedNotificationParam::new(INBOX);
        self.note =
            Some(tokio::spawn(
                async move {
                    tokio::time::timeout(NOTIFY_TIMEOUT, peer.notify_resource_updated(note)).await.is_ok()
                }
                .boxed(),
            ));
    }

    /// Waits for the pending notification; forever if there is none.
    async fn notified(&mut self) -> bool {
        match &mut self.note {
            Some(note) => note.await.unwrap_or(false),
            None => std::future::pending().await,
        }
    }
}

/// An agent's log from now on, and whether its inbox had items before.
#[derive(Debug)]
pub(crate) struct InboxFeed {
    feed: Feed,
    waiting: bool,
}

impl InboxFeed {
    pub(crate) async fn open(hub: &Hub, agent: &AgentId) -> Result<Self, Error> {
        let feed = Feed::open(hub, agent, Start::End, Transport::Stream).await?;
        Ok(Self { feed, waiting: inbox::is_waiting(hub, agent).await? })
    }
}

/// Serves a subscription of revision 2026-07-28 until it is cancelled.
pub(crate) async fn listen(inbox: InboxFeed, context: &SubscriptionContext) -> Result<(), rmcp::ErrorData> {
    let InboxFeed { mut feed, mut waiting } = inbox;
    loop {
        if std::mem::take(&mut waiting) && context.sink().notify_resource_updated(INBOX).await.is_err() {
            return Ok(());
        }
        let fed = tokio::select! {
            () = context.cancelled() => return Ok(()),
            fed = feed.next() => fed,
        };
        match fed {
            Ok(FeedItem::Events(events)) => waiting = events.iter().any(reaches_inbox),
            Ok(FeedItem::Ended(_)) => return Ok(()),
            Err(error) => return Err(rpc(&error)),
        }
    }
}
