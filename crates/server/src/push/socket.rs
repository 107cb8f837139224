//! `GET /ws`: the caller's events over a WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use tracing::{Instrument as _, Span};

use crate::http::{ApiError, error};
use crate::push::{PushQuery, Subscriber, greeting};
use tandem_hub::Hub;
use tandem_hub::bus::{EndReason, Transport};
use tandem_hub::feed::{Feed, FeedItem};

/// Interval of pings.
const PING_EVERY: Duration = Duration::from_secs(30);
/// Time without any frame, pongs included, after which the socket is closed.
const SILENCE_MAX: Duration = Duration::from_secs(75);
/// Time limit for sending a frame.
const SEND_MAX: Duration = Duration::from_secs(5);
/// Enough for one of our frames; the default costs 128 KiB for every idle socket.
const BUFFER_BYTES: usize = 2 * 1024;
/// Incoming frames per second, pongs included. A client has nothing to say, so more than this is abuse.
const FRAMES_PER_SECOND_MAX: u32 = 50;
/// Size limit of incoming messages; clients send only pongs.
const INCOMING_BYTES_MAX: usize = 16 * 1024;
/// Size limit of unsent frames.
const OUTGOING_BYTES_MAX: usize = 1024 * 1024;

/// Stream your events over a WebSocket.
///
/// The first frame is `{"type":"connected","agentId","cursor","epoch"}`; every other frame is an event with its `cursor` and
/// `createdAt`.
/// Reconnect with `?after=<cursor>`: no event is lost or repeated. The hub closes a socket that reads too slowly with
/// 1013, one whose key has ended or that sends more than 50 frames per second with 1008, and at a restart with 1012;
/// the reason contains the cursor to resume from.
#[utoipa::path(get, path = "/ws", tag = "push", params(PushQuery),
    responses((status = 101, description = "The socket is open")))]
pub(crate) async fn socket(
    State(hub): State<Hub>,
    subscriber: Subscriber,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|_| ApiError(error::upgrade_needed()))?;
    let feed = subscriber.listen(&hub, subscriber.start(&hub), Transport::Socket).await?;
    let upgrade = upgrade
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(OUTGOING_BYTES_MAX)
        .max_message_size(INCOMING_BYTES_MAX)
        .max_frame_size(INCOMING_BYTES_MAX);
    let (span, connection) = (Span::current(), Arc::clone(&subscriber.connection));
    let hello = greeting(subscriber.agent(), &feed);
    let running = move |socket| async move {
        run(socket, feed, hello).await;
        drop(connection);
    };
    Ok(upgrade.on_upgrade(move |socket| running(socket).instrument(span)))
}

enum Closing {
    /// The client has disconnected or does not answer.
    Disconnected,
    /// The hub closes it, with a code and a reason.
    WithCode(u16, String),
}

async fn run(mut socket: WebSocket, mut feed: Feed, hello: String) {
    let closing = match send(&mut socket, &feed, hello, feed.cursor()).await {
        Err(closing) => closing,
        Ok(()) => pump(&mut socket, &mut feed).await,
    };
    if let Closing::WithCode(code, reason) = closing {
        let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
        // A client that is too slow for its events may be too slow for this frame.
        let _ = timeout(SEND_MAX, socket.send(close)).await;
    }
}

/// Sends events until one side closes.
async fn pump(socket: &mut WebSocket, feed: &mut Feed) -> Closing {
    let mut client = Client::new();
    loop {
        // A frame of the client does not interrupt a read of the log, so it costs no second one.
        let fed = tokio::select! {
            fed = feed.next() => fed,
            ended = client.listen(socket) => return match ended {
                ClientEnd::Disconnected => Closing::Disconnected,
                ClientEnd::TooManyFrames => Closing::WithCode(1008, resume("too many frames", feed.cursor())),
            },
        };
        match fed {
            Ok(FeedItem::Events(events)) => {
                for event in &events {
                    if let Err(closing) = send(socket, feed, event.text().whole(), event.seq - 1).await {
                        return closing;
                    }
                }
                feed.pushed(&events);
            }
            Ok(FeedItem::Ended(end)) => return ended(end, feed.cursor()),
            Err(_) => return Closing::WithCode(1011, resume("the hub cannot read its log", feed.cursor())),
        }
    }
}

/// Why the hub stops listening to a client.
enum ClientEnd {
    Disconnected,
    TooManyFrames,
}

/// What is known of the client: when it was last heard, and how many frames it has sent in this second.
struct Client {
    ping: Interval,
    last_received: Instant,
    second: Instant,
    frames: u32,
}

impl Client {
    fn new() -> Self {
        let now = Instant::now();
        let mut ping = interval_at(now + PING_EVERY, PING_EVERY);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { ping, last_received: now, second: now, frames: 0 }
    }

    /// Pings the client and takes its frames until it is to be closed. Dropping the future loses nothing.
    async fn listen(&mut self, socket: &mut WebSocket) -> ClientEnd {
        loop {
            tokio::select! {
                received = socket.recv() => match received {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return ClientEnd::Disconnected,
                    Some(Ok(_)) if self.count_frame() > FRAMES_PER_SECOND_MAX => return ClientEnd::TooManyFrames,
                    Some(Ok(_)) => {}
                },
                _ = self.ping.tick() => {
                    if self.last_received.elapsed() > SILENCE_MAX {
                        return ClientEnd::Disconnected;
                    }
                    let ping = Message::Ping(Vec::new().into());
                    if timeout(SEND_MAX, socket.send(ping)).await.is_err() {
                        return ClientEnd::Disconnected;
                    }
                }
            }
        }
    }

    /// Counts a frame. Returns how many there were in this second.
    fn count_frame(&mut self) -> u32 {
        self.last_received = Instant::now();
        if self.last_received - self.second >= Duration::from_secs(1) {
            (self.second, self.frames) = (self.last_received, 0);
        }
        self.frames += 1;
        self.frames
    }
}

/// Sends a frame. `sent` is the cursor of the previous frame, where a slow client resumes.
async fn send(socket: &mut WebSocket, feed: &Feed, text: String, sent: i64) -> Result<(), Closing> {
    match timeout(SEND_MAX, socket.send(Message::Text(text.into()))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Closing::Disconnected),
        Err(_) => {
            feed.too_slow();
            Err(Closing::WithCode(1013, resume("too slow", sent)))
        }
    }
}

fn ended(end: EndReason, cursor: i64) -> Closing {
    match end {
        EndReason::KeyEnded | EndReason::SignedOut => {
            Closing::WithCode(1008, "the key is no longer valid".into())
        }
        EndReason::Stopping => Closing::WithCode(1012, resume("the hub restarts", cursor)),
    }
}

fn resume(why: &str, cursor: i64) -> String {
    format!("{why}; reconnect with ?after={cursor}")
}
