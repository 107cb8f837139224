//! Telling clients that something waits for them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionContext;
use tandem_app::inbox;
use tandem_core::AgentId;
use tandem_core::events::EventKind;
use tandem_store::events::Logged;
use tokio::task::JoinHandle;

use crate::bus::Way;
use crate::http::ApiError;
use crate::hub::Hub;
use crate::mcp::call::rpc;
use crate::mcp::resources::INBOX;
use crate::mcp::sampling;
use crate::mcp::sessions::{Served, SessionId};
use crate::push::feed::{Fed, Feed};

/// Events that put something into an inbox.
const FOR_THE_INBOX: [EventKind; 4] = [
    EventKind::TaskCreated,
    EventKind::TaskApprovalRequired,
    EventKind::MessageCreated,
    EventKind::BroadcastCreated,
];
/// How long a client may leave a note unread before its session ends.
const NOTE_PATIENCE: Duration = Duration::from_secs(30);

/// Whether an event says that something waits.
fn waits(event: &Logged) -> bool {
    FOR_THE_INBOX.iter().any(|kind| kind.as_str() == event.kind)
}

/// A session's stream that is served.
struct Pushing {
    hub: Hub,
    session: SessionId,
    agent: AgentId,
    /// The note under way: a second one would say nothing new. True once it has been sent.
    note: Option<JoinHandle<bool>>,
}

/// Serves a session's streams until nobody reads any: notes for its inbox, and prompts for its model.
pub(crate) async fn push(hub: Hub, session: SessionId, agent: AgentId, news: News, served: Served) {
    let Served { ended, renewed } = served;
    let mut pushing = Pushing { hub, session, agent, note: None };
    let mut feed = news.feed;
    let mut waiting = news.waiting;
    loop {
        // What came while nobody read the stream waits in the inbox.
        // A note under way may have gone to an older stream.
        if waiting && pushing.note.is_none() {
            pushing.tell();
            waiting = false;
        }
        let fed = tokio::select! {
            // A session that has a new stream must not end with the old one's troubles.
            biased;
            () = ended.cancelled() => return,
            sent = pushing.told() => {
                pushing.note = None;
                if sent {
                    continue;
                }
                feed.too_slow();
                break;
            }
            () = renewed.notified() => {
                waiting = is_waiting(&pushing.hub, &pushing.agent).await.unwrap_or(true);
                continue;
            }
            fed = feed.next() => fed,
        };
        match fed {
            Ok(Fed::Events(events)) => pushing.pass_on(&events),
            Ok(Fed::Ended(_)) => break,
            Err(error) => {
                tracing::warn!(%error, "a session's stream ends: its agent's log cannot be read");
                break;
            }
        }
    }
    pushing.hub.sessions.end(&pushing.session);
}

impl Pushing {
    fn pass_on(&mut self, events: &[Logged]) {
        for event in events {
            let now = self.hub.clock.now();
            if let Some(sampler) = self.hub.sessions.sampler(&self.session, &self.agent, now) {
                sampling::consider(&self.hub, &self.agent, sampler, event, now);
            }
        }
        // After that: what a client does when it is told must not decide which events its model is asked about.
        if events.iter().any(waits) {
            self.tell();
        }
    }

    /// Says that the inbox has changed, if anybody wants to know.
    fn tell(&mut self) {
        if self.note.is_some() {
            return;
        }
        let Some(peer) = self.hub.sessions.subscriber(&self.session) else { return };
        let note = ResourceUpdatedNotificationParam::new(INBOX);
        self.note = Some(tokio::spawn(async move {
            tokio::time::timeout(NOTE_PATIENCE, peer.notify_resource_updated(note)).await.is_ok()
        }));
    }

    /// Waits for the note under way; for ever, if there is none.
    async fn told(&mut self) -> bool {
        match &mut self.note {
            Some(note) => note.await.unwrap_or(false),
            None => std::future::pending().await,
        }
    }
}

/// An agent's log from now on, and whether something waited for it before.
#[derive(Debug)]
pub(crate) struct News {
    feed: Feed,
    waiting: bool,
}

impl News {
    pub(crate) async fn open(hub: &Hub, agent: &AgentId) -> Result<Self, ApiError> {
        let feed = Feed::open(hub, agent, None, Way::Stream).await?;
        Ok(Self { feed, waiting: is_waiting(hub, agent).await? })
    }
}

/// Whether something is in an agent's inbox.
async fn is_waiting(hub: &Hub, agent: &AgentId) -> Result<bool, ApiError> {
    let by = agent.clone();
    let page = hub.read(move |tx, now| inbox::list(tx, &by, None, 1, now)).await?;
    Ok(!page.items.is_empty())
}

/// News that were opened before their subscription was accepted, as long as that could still be refused.
#[derive(Debug, Clone)]
pub(crate) struct Reserved(Arc<Mutex<Option<News>>>);

impl Reserved {
    pub(crate) fn new(news: News) -> Self {
        Self(Arc::new(Mutex::new(Some(news))))
    }

    fn take(&self) -> Option<News> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Serves a subscription of 2026-07-28 until it is cancelled.
pub(crate) async fn listen(
    hub: &Hub,
    agent: &AgentId,
    reserved: Option<Reserved>,
    context: &SubscriptionContext,
) -> Result<(), rmcp::ErrorData> {
    let news = match reserved.and_then(|reserved| reserved.take()) {
        Some(news) => news,
        None => News::open(hub, agent).await.map_err(|error| rpc(&error))?,
    };
    let News { mut feed, mut waiting } = news;
    loop {
        if std::mem::take(&mut waiting) && context.sink().notify_resource_updated(INBOX).await.is_err() {
            return Ok(());
        }
        let fed = tokio::select! {
            () = context.cancelled() => return Ok(()),
            fed = feed.next() => fed,
        };
        match fed {
            Ok(Fed::Events(events)) => waiting = events.iter().any(waits),
            Ok(Fed::Ended(_)) => return Ok(()),
            Err(error) => return Err(rpc(&error.into())),
        }
    }
}
