//! `GET /events/stream`: the caller's events as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use tandem_app::Invalid;
use tokio::time::timeout;
use tracing::{Instrument as _, Span};

use crate::http::ApiError;
use crate::push::{PushQuery, Subscriber, greeting};
use tandem_hub::Hub;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::feed::{Feed, FeedItem};

/// Interval of keep-alive comments, which proxies and clients need.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Stream your events as server-sent events.
///
/// The same JSON as over the WebSocket, with the cursor as `id:`. Resume with `Last-Event-ID` or `?after=`.
#[utoipa::path(get, path = "/events/stream", tag = "push", params(PushQuery, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(hub): State<Hub>,
    headers: HeaderMap,
    subscriber: Subscriber,
) -> Result<Response, ApiError> {
    let after = last_event_id(&headers)?.or(subscriber.after);
    let feed = subscriber.listen(&hub, after, Transport::Stream).await?;
    let hello =
        format!("retry: 2000\nid: {}\ndata: {}\n\n", feed.cursor(), greeting(subscriber.agent(), &feed));
    let span = Span::current();
    let chunks = unfold(Next::Greet(hello, feed), move |state| {
        let advancing = advance(state).instrument(span.clone());
        async move { advancing.await.map(|(chunk, next)| (Ok::<_, Infallible>(Bytes::from(chunk)), next)) }
    });
    Ok(event_stream(Body::from_stream(chunks)))
}

enum Next {
    Greet(String, Feed),
    Feed(Feed),
    Over,
}

async fn advance(state: Next) -> Option<(String, Next)> {
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
                .map(|event| format!("id: {}\ndata: {}\n\n", event.seq, event.frame()))
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

pub(crate) fn event_stream(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, body).into_response()
}

pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, Invalid> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number: &i64| *number >= 0);
    number.map(Some).ok_or_else(|| Invalid::field("Last-Event-ID", "must be a cursor of this stream"))
}
