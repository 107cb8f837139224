//! `GET /events/stream`: the caller's events as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream::unfold;
use tandem_app::Invalid;
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

use crate::http::ApiError;
use crate::http::event_stream::{event_stream, parse_cursor, sent_id};
use crate::push::{PushQuery, Subscriber, greeting};
use tandem_hub::Hub;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::feed::{Feed, FeedItem, Start};

/// Interval of keep-alive comments, which proxies and clients need.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Stream your events as server-sent events.
///
/// The same JSON as over the WebSocket, with the cursor as `id:`. Resume with `Last-Event-ID` or `?after=`. If the log has
/// another epoch than the address names, each `id:` is the cursor, a colon and the log's epoch: a browser connects to the
/// same address again, and continues after the last event that it got.
#[utoipa::path(get, path = "/events/stream", tag = "push", params(PushQuery, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(hub): State<Hub>,
    headers: HeaderMap,
    subscriber: Subscriber,
) -> Result<Response, ApiError> {
    let ids = Ids { epoch: subscriber.is_of_another_epoch(&hub).then(|| hub.epoch.clone()) };
    let start = match LastEventId::of(&headers)? {
        None => subscriber.start(&hub),
        Some(last) if last.is_of(&hub.epoch, &ids) => Start::After(last.cursor),
        Some(_) => Start::Acknowledged,
    };
    let feed = subscriber.listen(&hub, start, Transport::Stream).await?;
    let id = ids.of(feed.cursor());
    let hello = format!("retry: 2000\nid: {id}\ndata: {}\n\n", greeting(subscriber.agent(), &feed));
    let span = Span::current();
    let chunks = unfold((Next::Greet(hello, feed), ids), move |(state, ids)| {
        let advancing = advance(state, ids).instrument(span.clone());
        async move { advancing.await.map(|(chunk, next)| (Ok::<_, Infallible>(Bytes::from(chunk)), next)) }
    });
    Ok(event_stream(Body::from_stream(chunks)))
}

enum Next {
    Greet(String, Feed),
    Feed(Feed),
    Over,
}

/// How the events of a stream are numbered. A browser sends the last number when it connects again, and nothing else that
/// it learned, so a number carries the log's epoch where the address has another one.
#[derive(Debug)]
struct Ids {
    /// The log's epoch, unless it goes without saying.
    epoch: Option<String>,
}

impl Ids {
    fn of(&self, cursor: i64) -> String {
        match &self.epoch {
            None => cursor.to_string(),
            Some(epoch) => format!("{cursor}:{epoch}"),
        }
    }
}

/// What a client sends of the last event that it got.
#[derive(Debug)]
struct LastEventId<'a> {
    cursor: i64,
    epoch: Option<&'a str>,
}

impl<'a> LastEventId<'a> {
    fn of(headers: &'a HeaderMap) -> Result<Option<Self>, Invalid> {
        let Some(text) = sent_id(headers) else { return Ok(None) };
        let (number, epoch) = match text.split_once(':') {
            Some((number, epoch)) => (number, Some(epoch)),
            None => (text, None),
        };
        Ok(Some(Self { cursor: parse_cursor(number)?, epoch }))
    }

    /// Whether it is of this epoch. One that names none is of the epoch in the address, if that has one.
    fn is_of(&self, epoch: &str, ids: &Ids) -> bool {
        self.epoch.map_or(ids.epoch.is_none(), |own| own == epoch)
    }
}

async fn advance(state: Next, ids: Ids) -> Option<(String, (Next, Ids))> {
    let (chunk, next) = next_chunk(state, &ids).await?;
    Some((chunk, (next, ids)))
}

async fn next_chunk(state: Next, ids: &Ids) -> Option<(String, Next)> {
    let mut feed = match state {
        Next::Greet(hello, feed) => return Some((hello, Next::Feed(feed))),
        Next::Feed(feed) => feed,
        Next::Over => return None,
    };
    match timeout(KEEP_ALIVE, feed.next()).await {
        Err(_) => Some((": still here\n\n".into(), Next::Feed(feed))),
        Ok(Ok(FeedItem::Events(events))) => {
            let chunk = events
                .iter()
                .map(|event| format!("id: {}\ndata: {}\n\n", ids.of(event.seq), event.text().whole()))
                .collect();
            feed.pushed(&events);
            Some((chunk, Next::Feed(feed)))
        }
        Ok(Ok(FeedItem::Ended(EndReason::Stopping))) => {
            Some((": the hub restarts\nretry: 1000\n\n".into(), Next::Over))
        }
        Ok(Ok(FeedItem::Ended(EndReason::KeyEnded | EndReason::SignedOut))) => {
            Some((": the key is no longer valid\n\n".into(), Next::Over))
        }
        Ok(Err(_)) => Some((": the hub cannot read its log\n\n".into(), Next::Over)),
    }
}
