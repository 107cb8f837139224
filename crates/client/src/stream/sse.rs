//! Events as server-sent events.

use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::event::Start;
use super::source::{greeting, push_path};
use crate::call::Method;
use crate::connection::Connection;
use crate::{Client, Error};

/// Size limit of one event. The hub's are far smaller.
const EVENT_BYTES_MAX: usize = 1024 * 1024;

/// An open stream.
#[derive(Debug)]
pub(super) struct ServerSentEvents {
    body: Incoming,
    /// What has arrived; the bytes before `read` are done with.
    received: Vec<u8>,
    read: usize,
    /// Ends the stream when it is dropped.
    _connection: Connection,
}

impl ServerSentEvents {
    /// Opens a stream and reads the greeting.
    pub(super) async fn open(client: &Client, after: Option<&Start>) -> Result<(Self, Start), Error> {
        let request = client.head(&Method::GET, &push_path("/events/stream", after))?;
        let (response, connection) = client.send(request).await?;
        let mut stream =
            Self { body: response.into_body(), received: Vec::new(), read: 0, _connection: connection };
        loop {
            if let Some(text) = stream.next(client).await? {
                let start = greeting(client, &text)?;
                return Ok((stream, start));
            }
        }
    }

    /// The data of the next event; `None` for a comment. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self, client: &Client) -> Result<Option<String>, Error> {
        loop {
            if let Some(block) = self.take_block() {
                let block = String::from_utf8(block).map_err(|cause| client.not_a_hub(cause.to_string()))?;
                return Ok(data(&block));
            }
            if self.received.len() - self.read > EVENT_BYTES_MAX {
                return Err(client.not_a_hub(format!("an event of more than {EVENT_BYTES_MAX} bytes")));
            }
            let frame = match self.body.frame().await {
                Some(frame) => frame.map_err(|cause| client.lost(&cause))?,
                None => {
                    let cause = "the hub ended the stream".to_owned();
                    return Err(Error::Lost { hub: client.hub().to_string(), cause });
                }
            };
            if let Ok(bytes) = frame.into_data() {
                self.received.drain(..self.read);
                self.read = 0;
                self.received.extend_from_slice(&bytes);
            }
        }
    }

    /// The lines up to the next empty one.
    fn take_block(&mut self) -> Option<Vec<u8>> {
        let unread = self.received.get(self.read..)?;
        let end = unread.windows(2).position(|pair| pair == b"\n\n")?;
        let block = unread.get(..end)?.to_vec();
        self.read += end + 2;
        Some(block)
    }
}

/// The data of an event.
fn data(block: &str) -> Option<String> {
    let mut data: Option<String> = None;
    for line in block.lines() {
        let Some(part) = line.strip_prefix("data:") else { continue };
        let part = part.strip_prefix(' ').unwrap_or(part);
        match &mut data {
            Some(data) => data.extend(["\n", part]),
            None => data = Some(part.to_owned()),
        }
    }
    data
}
