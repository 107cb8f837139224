//! An agent's WebSocket.

use super::{Agent, Client, PATIENCE};
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// An open WebSocket.
pub struct Socket(pub tokio_tungstenite::WebSocketStream<TcpStream>);

impl Socket {
    pub async fn open(client: &Client, path: &str, key: Option<&str>) -> Result<Self, (u16, Value)> {
        use tokio_tungstenite::tungstenite::{Error, client::IntoClientRequest as _};
        let mut request = format!("ws://{}{path}", client.address).into_client_request().unwrap();
        if let Some(key) = key {
            request.headers_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
        }
        // A hub that is killed or stops may take the connection with it, or answer that it closes instead of upgrading.
        let gone = || (0, Value::Null);
        let stream = TcpStream::connect(client.address).await.map_err(|_| gone())?;
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err((response.status().as_u16(), serde_json::from_slice(body).unwrap_or_default()))
            }
            Err(Error::Io(_) | Error::Protocol(_)) => Err(gone()),
            Err(other) => panic!("{other}"),
        }
    }

    /// The next frame of text, or the code and reason of the end.
    pub async fn next(&mut self) -> Result<Value, (u16, String)> {
        use futures_util::StreamExt as _;
        use tokio_tungstenite::tungstenite::Message;
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.0.next()).await.expect("a frame comes");
            match frame {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(Some(close)))) => {
                    return Err((close.code.into(), close.reason.to_string()));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("{other:?}"),
                Some(Err(_)) | None => return Err((1006, String::new())),
            }
        }
    }
}

impl Agent {
    /// A socket that has said hello.
    pub async fn socket(&self, query: &str) -> Socket {
        let mut socket = Socket::open(&self.client, &format!("/ws{query}"), Some(&self.key)).await.unwrap();
        let hello = socket.next().await.unwrap();
        assert_eq!((&hello["type"], &hello["agentId"]), (&json!("connected"), &json!(self.id)));
        socket
    }
}
