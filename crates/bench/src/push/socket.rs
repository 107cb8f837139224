//! A WebSocket of the bench, with small buffers, so that ten thousand fit.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::Error as Refused;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long a frame may take before the measurement is given up.
const FRAME_MAX: Duration = Duration::from_secs(20);
/// How often a socket is asked for while earlier ones still count.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);
/// The library's default would be 128 KiB.
const BUFFER_BYTES: usize = 1_024;

pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    pub(super) async fn open(address: SocketAddr, path: &str, key: &str) -> anyhow::Result<Self> {
        for _ in 0..TRIES {
            match Self::try_open(address, path, key).await? {
                Some(socket) => return Ok(socket),
                None => sleep(PAUSE).await,
            }
        }
        bail!("no socket: the hub counts those that are closed for too long")
    }

    /// A socket, unless the hub has not noticed yet that the agent's earlier ones are closed.
    async fn try_open(address: SocketAddr, path: &str, key: &str) -> anyhow::Result<Option<Self>> {
        let mut request = format!("ws://{address}{path}").into_client_request()?;
        request.headers_mut().insert("authorization", format!("Bearer {key}").parse()?);
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let config = WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(0);
        match client_async_with_config(request, stream, Some(config)).await {
            Ok((socket, _)) => Ok(Some(Self(socket))),
            Err(Refused::Http(response)) if response.status() == StatusCode::TOO_MANY_REQUESTS => Ok(None),
            Err(error) => Err(error).context("no socket"),
        }
    }

    /// Opens a socket at the hub and reads its greeting.
    pub(crate) async fn greeted(address: SocketAddr, key: &str) -> anyhow::Result<Self> {
        let mut socket = Self::open(address, "/ws", key).await?;
        let hello = socket.next().await?;
        if !hello.contains("\"connected\"") {
            bail!("instead of a greeting came {hello}");
        }
        Ok(socket)
    }

    /// The next frame of text.
    pub(super) async fn next(&mut self) -> anyhow::Result<String> {
        tokio::time::timeout(FRAME_MAX, self.wait()).await.context("no frame came")?
    }

    /// The same, however long it takes.
    pub(crate) async fn wait(&mut self) -> anyhow::Result<String> {
        loop {
            match self.0.next().await.context("the socket ended")?? {
                Message::Text(text) => return Ok(text.to_string()),
                Message::Close(close) => bail!("the socket was closed: {close:?}"),
                _ => {}
            }
        }
    }

    /// The id of the task that the next frame is about.
    pub(super) async fn next_task(&mut self) -> anyhow::Result<String> {
        let frame: Value = serde_json::from_str(&self.next().await?)?;
        Ok(frame["taskId"].as_str().context("a frame without a task")?.to_owned())
    }

    pub(super) async fn send(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(self.0.send(Message::Text(text.into())).await?)
    }

    pub(crate) async fn close(mut self) {
        // The other side may have closed it already.
        let _ = self.0.close(None).await;
    }
}
