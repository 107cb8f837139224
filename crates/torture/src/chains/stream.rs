//! A chain over server-sent events.

use anyhow::{Context as _, ensure};
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::body::Bytes;
use tandem_client::Connection;

use super::Chain;
use crate::node::Node;

pub(super) async fn follow(chain: &Chain, node: &Node) -> anyhow::Result<()> {
    let request = Request::builder()
        .uri("/events/stream")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", chain.agent.key()))
        .header("last-event-id", chain.last().to_string())
        .body(Empty::<Bytes>::new())?;
    let mut connection = Connection::open(&format!("http://{}", node.address).parse()?).await?;
    let response = connection.send(request).await?;
    ensure!(response.status().as_u16() == 200, "a stream was refused with {}", response.status());
    chain.set_connected(Some(node.number));
    let mut body = response.into_body();
    let mut text = Vec::new();
    loop {
        let frame = body.frame().await.context("the stream ended")??;
        if let Ok(bytes) = frame.into_data() {
            text.extend_from_slice(&bytes);
        }
        // A chunk may hold part of an event.
        while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = text.drain(..end + 2).collect();
            for line in String::from_utf8_lossy(&event).lines() {
                if let Some(data) = line.strip_prefix("data:") {
                    chain.receive_frame(data.trim_start());
                }
            }
        }
    }
}
