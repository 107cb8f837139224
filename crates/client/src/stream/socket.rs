//! Events over a WebSocket.

use std::fmt;

use futures_util::StreamExt as _;
use http::HeaderValue;
use http::header::{AUTHORIZATION, USER_AGENT};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::event::Start;
use super::source::{greeting, push_path};
use crate::connection::Stream;
use crate::{Client, Error};

/// Size limit of a frame. The hub's are far smaller.
const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// Room for many small frames per read.
const BUFFER_BYTES: usize = 32 * 1024;

/// An open socket.
pub(super) struct Socket(WebSocketStream<Box<dyn Stream>>);

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Socket")
    }
}

impl Socket {
    /// Opens a socket and reads the greeting.
    pub(super) async fn open(client: &Client, after: Option<&Start>) -> Result<(Self, Start), Error> {
        let address = client.hub().socket(&push_path("/ws", after));
        let mut request =
            address.into_client_request().map_err(|cause| client.not_a_hub(cause.to_string()))?;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(crate::client::USER_AGENT_VALUE));
        if let Some(key) = client.key() {
            headers.insert(AUTHORIZATION, key);
        }
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let stream = client.connector().open().await?;
        let (socket, _) = client_async_with_config(request, stream, Some(config))
            .await
            .map_err(|cause| failure(client, &cause))?;
        let mut socket = Self(socket);
        loop {
            if let Some(text) = socket.next(client).await? {
                let start = greeting(client, &text)?;
                return Ok((socket, start));
            }
        }
    }

    /// The next text; `None` for a frame without one.
    pub(super) async fn next(&mut self, client: &Client) -> Result<Option<Utf8Bytes>, Error> {
        let lost = |cause: String| Error::Lost { hub: client.hub().to_string(), cause };
        match self.0.next().await {
            Some(Ok(Message::Text(text))) => Ok(Some(text)),
            Some(Ok(Message::Close(Some(close)))) => {
                Err(lost(format!("the hub closed the stream: {}", close.reason)))
            }
            Some(Ok(Message::Close(None))) | None => Err(lost("the hub closed the stream".to_owned())),
            Some(Ok(_)) => Ok(None),
            Some(Err(cause)) => Err(failure(client, &cause)),
        }
    }
}

fn failure(client: &Client, cause: &SocketError) -> Error {
    match cause {
        SocketError::Http(response) => {
            let body = response.body().as_deref().unwrap_or_default();
            client.refusal(response.status(), response.headers(), body)
        }
        cause => client.lost(cause),
    }
}
