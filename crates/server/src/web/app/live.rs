//! `GET /app/{agent}/live`: the agent's events for a page that is open. Unlike `/events/stream` it does not make the agent
//! count as connected, and its events do not count as pushed: a person looks on.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use futures_util::stream::unfold;
use serde::Deserialize;
use serde_json::{Map, Value};
use tandem_api::events::EventView;
use tandem_hub::Hub;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::feed::{Feed, FeedItem};
use tandem_hub::ops::{events, sign_ins};
use tokio::time::timeout;

use super::sentence::sentence;
use super::{Page, Viewer};
use crate::http::event_stream::{event_stream, last_event_id};
use crate::http::{Query, json};

/// Interval of keep-alives: events and not comments, so that a script notices when they stop. The session is checked as
/// often.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
pub(crate) struct After {
    after: Option<i64>,
}

pub(crate) async fn stream(
    State(hub): State<Hub>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<After>,
) -> Page {
    let after = last_event_id(&headers)?.or(query.after.filter(|after| *after >= 0));
    let feed = Feed::open(&hub, &viewer.caller.agent, after.into(), Transport::Page).await?;
    // A key that ended before the feed was open does not end it.
    hub.access.check(&viewer.caller).await?;
    let hello = format!("retry: 2000\nid: {}\nevent: start\ndata: {{}}\n\n", feed.cursor());
    let chunks =
        unfold(Next::Greet(hello, Open { hub, viewer, feed, checked: Instant::now() }), async |state| {
            let (chunk, next) = advance(state).await?;
            Some((Ok::<_, Infallible>(Bytes::from(chunk)), next))
        });
    Ok(event_stream(Body::from_stream(chunks)))
}

struct Open {
    hub: Hub,
    viewer: Viewer,
    feed: Feed,
    /// When the session was last found to be valid.
    checked: Instant,
}

enum Next {
    Greet(String, Open),
    Follow(Open),
    Over,
}

async fn advance(state: Next) -> Option<(String, Next)> {
    let mut open = match state {
        Next::Greet(hello, open) => return Some((hello, Next::Follow(open))),
        Next::Follow(open) => open,
        Next::Over => return None,
    };
    let next = timeout(KEEP_ALIVE, open.feed.next()).await;
    if let Ok(Ok(FeedItem::Ended(EndReason::SignedOut))) = next {
        open.feed.ignore_sign_outs();
        return match open.is_signed_in().await {
            true => Some(("event: ping\ndata: {}\n\n".into(), Next::Follow(open))),
            false => Some((end("signed-out"), Next::Over)),
        };
    }
    // Also while there are events all the time.
    if open.checked.elapsed() >= KEEP_ALIVE && !open.is_signed_in().await {
        return Some((end("signed-out"), Next::Over));
    }
    match next {
        Err(_) => Some(("event: ping\ndata: {}\n\n".into(), Next::Follow(open))),
        Ok(Ok(FeedItem::Events(found))) => {
            let views: Vec<EventView> = found.into_iter().map(events::view).collect();
            let text = open.entries(&views).await;
            Some((text, Next::Follow(open)))
        }
        Ok(Ok(FeedItem::Ended(EndReason::KeyEnded | EndReason::SignedOut))) => {
            Some((end("signed-out"), Next::Over))
        }
        Ok(Ok(FeedItem::Ended(EndReason::Stopping)) | Err(_)) => Some((end("restart"), Next::Over)),
    }
}

impl Open {
    /// Events for the page, each with its sentence.
    async fn entries(&self, views: &[EventView]) -> String {
        let titles = events::titles_of(&self.hub, &self.viewer.caller, views).await;
        // Without titles the sentences are poorer, and nothing is missed.
        let titles = titles.unwrap_or_default();
        let entry = |view: &EventView| {
            let data: Map<String, Value> = serde_json::from_str(view.data.get()).unwrap_or_default();
            // The event writes itself as text, so the sentence is added to its text.
            let whole = json(view);
            let fields = whole.strip_suffix('}').unwrap_or(&whole);
            let said = json(&sentence(view, &data, &titles));
            format!("id: {}\nevent: log\ndata: {fields},\"sentence\":{said}}}\n\n", view.id)
        };
        views.iter().map(entry).collect()
    }

    /// Whether the sign-in that opened the page still holds; it may have ended in another tab.
    async fn is_signed_in(&mut self) -> bool {
        self.checked = Instant::now();
        let Viewer { browser, caller } = &self.viewer;
        match sign_ins::current(&self.hub, &browser.session).await {
            Ok(session) => session.is_some_and(|session| session.key_of(&caller.agent).is_some()),
            // A database that does not answer now says nothing about the session.
            Err(_) => true,
        }
    }
}

fn end(reason: &str) -> String {
    format!("event: end\ndata: {{\"reason\":\"{reason}\"}}\n\n")
}
