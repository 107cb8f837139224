//! One connection over which events arrive.

use std::time::Duration;

use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::Transport;
use super::event::{Frame, Start, StreamEvent, is_epoch, parse_frame};
use super::poll::Poll;
use super::socket::Socket;
use super::sse::ServerSentEvents;
use crate::{Client, Error};

/// Time limit until the hub has greeted.
const OPEN_MAX: Duration = Duration::from_secs(15);

/// An open connection.
#[derive(Debug)]
pub(super) enum Source {
    Socket(Box<Socket>),
    Stream(Box<ServerSentEvents>),
    Poll(Box<Poll>),
}

/// Why a source returns no event.
#[derive(Debug)]
pub(super) enum Interruption {
    /// The connection is of no more use.
    Lost(Error),
    /// Connect again at once; nothing is wrong.
    Renew,
}

impl From<Error> for Interruption {
    fn from(error: Error) -> Self {
        Self::Lost(error)
    }
}

impl Source {
    /// Opens a connection. Returns also where its events start: where it was asked for, at the end of the log, or at the
    /// acknowledged cursor if the log has another epoch.
    pub(super) async fn open(
        client: &Client,
        transport: Transport,
        after: Option<&Start>,
    ) -> Result<(Self, Start), Error> {
        let opening = async {
            Ok(match transport {
                Transport::WebSocket => {
                    let (socket, start) = Socket::open(client, after).await?;
                    (Self::Socket(Box::new(socket)), start)
                }
                Transport::ServerSentEvents => {
                    let (stream, start) = ServerSentEvents::open(client, after).await?;
                    (Self::Stream(Box::new(stream)), start)
                }
                Transport::LongPoll => {
                    let (poll, start) = Poll::open(client, after).await?;
                    (Self::Poll(Box::new(poll)), start)
                }
            })
        };
        match tokio::time::timeout(OPEN_MAX, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(Error::TimedOut { hub: client.hub().to_string(), after: OPEN_MAX }),
        }
    }

    /// The next event. After `silence_max` without a byte the connection counts as lost.
    pub(super) async fn next(
        &mut self,
        client: &Client,
        silence_max: Duration,
    ) -> Result<StreamEvent, Interruption> {
        let silence = || Error::Lost {
            hub: client.hub().to_string(),
            cause: format!("nothing arrived for {} seconds", silence_max.as_secs()),
        };
        loop {
            let text = match self {
                // Its requests have a time limit of their own.
                Self::Poll(poll) => return poll.next(client, silence_max).await,
                Self::Socket(socket) => tokio::time::timeout(silence_max, socket.next(client)).await,
                Self::Stream(stream) => {
                    let next = async { Ok(stream.next(client).await?.map(Utf8Bytes::from)) };
                    tokio::time::timeout(silence_max, next).await
                }
            };
            // Without a text it is only a sign of life.
            if let Some(text) = text.map_err(|_| silence())??
                && let Frame::Event(event) = parse(client, &text)?
            {
                return Ok(event);
            }
        }
    }
}

fn parse(client: &Client, text: &str) -> Result<Frame, Error> {
    parse_frame(text).map_err(|cause| client.not_a_hub(format!("a pushed event that is none: {cause}")))
}

/// The first message.
pub(super) fn greeting(client: &Client, text: &str) -> Result<Start, Error> {
    match parse(client, text)? {
        Frame::Greeting(start) => Ok(start),
        Frame::Event(_) => Err(client.not_a_hub("an event before the greeting")),
    }
}

/// The path of a push route.
pub(super) fn push_path(route: &str, after: Option<&Start>) -> String {
    match after {
        Some(Start { cursor, epoch: Some(epoch) }) if is_epoch(epoch) => {
            format!("{route}?after={cursor}&epoch={epoch}")
        }
        Some(Start { cursor, .. }) => format!("{route}?after={cursor}"),
        None => route.to_owned(),
    }
}
