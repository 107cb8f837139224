//! A chain over WebSockets.

use anyhow::Context as _;
use futures_util::StreamExt as _;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::Message;

use super::Chain;
use crate::node::Node;

pub(super) async fn follow(chain: &Chain, node: &Node) -> anyhow::Result<()> {
    let url = format!("ws://{}/ws?after={}", node.address, chain.last());
    let mut request = url.into_client_request()?;
    request.headers_mut().insert("authorization", format!("Bearer {}", chain.agent.key()).parse()?);
    let stream = TcpStream::connect(node.address).await?;
    let (mut socket, _) = client_async(request, stream).await?;
    chain.set_connected(Some(node.number));
    loop {
        match socket.next().await.context("the socket ended")?? {
            Message::Text(text) => chain.receive_frame(&text),
            Message::Close(_) => return Ok(()),
            _ => {}
        }
    }
}
