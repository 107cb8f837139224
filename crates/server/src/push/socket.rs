//! `GET /ws`: the caller's events over a WebSocket.

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use crate::bus::{End, Way};
use crate::http::ApiError;
use crate::hub::Hub;
use crate::push::feed::{Fed, Feed};
use crate::push::{PushQuery, Subscriber, frame, greeting};

/// How often the other end is asked whether it is there.
const PING_EVERY: Duration = Duration::from_secs(30);
/// How long the other end may say nothing at all, pongs included.
const SILENCE_MAX: Duration = Duration::from_secs(75);
/// How long the other end may take to take a frame.
const SEND_MAX: Duration = Duration::from_secs(5);
/// Enough for a frame of ours; the library's default costs 128 KiB for every idle socket.
const BUFFER_BYTES: usize = 2 * 1024;
/// Clients have nothing to say here beyond pongs.
const INCOMING_BYTES_MAX: usize = 16 * 1024;
/// The most bytes a frame may wait behind the socket.
const OUTGOING_BYTES_MAX: usize = 1024 * 1024;

/// Your events over a WebSocket.
///
/// The first frame is `{"type":"connected","agentId","cursor"}`; every further one is an event with its
/// `cursor`. Reconnect with `?after=<cursor>` and nothing is missed or doubled. A socket that reads too
/// slowly is closed with 1013, one whose key was rotated with 1008, and at a restart of the hub with 1012;
/// the reason tells where to resume.
#[utoipa::path(get, path = "/ws", tag = "push", params(PushQuery),
    responses((status = 101, description = "The socket is open")))]
pub(crate) async fn socket(
    State(hub): State<Hub>,
    subscriber: Subscriber,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| ApiError::UpgradeNeeded)?;
    let feed = Feed::open(&hub, &subscriber.agent, subscriber.after, Way::Socket).await?;
    let upgrade = upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(OUTGOING_BYTES_MAX)
        .max_message_size(INCOMING_BYTES_MAX)
        .max_frame_size(INCOMING_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| run(socket, feed, greeting_of(subscriber))))
}

/// What is left of a subscriber once its feed is open.
fn greeting_of(subscriber: Subscriber) -> impl FnOnce(i64) -> String + Send {
    move |cursor| greeting(&subscriber.agent, cursor)
}

/// Why a socket ends.
enum Closing {
    /// The other end is gone, or does not answer.
    Gone,
    /// We close it, with a code and a reason.
    Because(u16, String),
}

async fn run(mut socket: WebSocket, mut feed: Feed, greet: impl FnOnce(i64) -> String + Send) {
    let closing = match send(&mut socket, &feed, greet(feed.cursor()), feed.cursor()).await {
        Err(closing) => closing,
        Ok(()) => pump(&mut socket, &mut feed).await,
    };
    if let Closing::Because(code, reason) = closing {
        let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
        // Whoever reads too slowly for its events may be too slow for this, too.
        let _ = timeout(SEND_MAX, socket.send(close)).await;
    }
}

/// Carries events until one side has enough.
async fn pump(socket: &mut WebSocket, feed: &mut Feed) -> Closing {
    let mut ping = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    loop {
        tokio::select! {
            fed = feed.next() => match fed {
                Ok(Fed::Events(events)) => {
                    for event in &events {
                        if let Err(closing) = send(socket, feed, frame(event), event.seq - 1).await {
                            return closing;
                        }
                    }
                    feed.pushed(&events);
                }
                Ok(Fed::Ended(end)) => return ended(end, feed.cursor()),
                Err(_) => return Closing::Because(1011, resume("the hub cannot read its log", feed.cursor())),
            },
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Closing::Gone,
                Some(Ok(_)) => heard = Instant::now(),
            },
            _ = ping.tick() => {
                if heard.elapsed() > SILENCE_MAX {
                    return Closing::Gone;
                }
                if timeout(SEND_MAX, socket.send(Message::Ping(Vec::new().into()))).await.is_err() {
                    return Closing::Gone;
                }
            }
        }
    }
}

/// Sends a frame; `sent` is the cursor of the one before it, where a reader that is too slow resumes.
async fn send(socket: &mut WebSocket, feed: &Feed, text: String, sent: i64) -> Result<(), Closing> {
    match timeout(SEND_MAX, socket.send(Message::Text(text.into()))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Closing::Gone),
        Err(_) => {
            feed.too_slow();
            Err(Closing::Because(1013, resume("too slow", sent)))
        }
    }
}

fn ended(end: End, cursor: i64) -> Closing {
    match end {
        End::KeyRotated => Closing::Because(1008, "the key is no longer valid".into()),
        End::Stopping => Closing::Because(1012, resume("the hub restarts", cursor)),
    }
}

fn resume(why: &str, cursor: i64) -> String {
    format!("{why}; reconnect with ?after={cursor}")
}
