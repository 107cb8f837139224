//! A chain over long polls, which acknowledges every page.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::Chain;
use crate::http::{Answer, Ask};
use crate::log::Logged;
use crate::node::Node;

/// How long the hub holds an empty answer, and how long the answer may take.
const WAIT_SECONDS: u64 = 5;
const ANSWER_MAX: Duration = Duration::from_secs(9);

pub(super) async fn follow(chain: &Chain, node: &Node) -> anyhow::Result<()> {
    let key = chain.agent.key();
    loop {
        let ask = Ask::get(format!("/events?after={}&wait={WAIT_SECONDS}", chain.last()));
        let page = match ask.send_within(node.address, Some(&key), ANSWER_MAX).await {
            Answer::Status(200, page) => page,
            other => bail!("{other}"),
        };
        chain.set_connected(Some(node.number));
        for event in page["events"].as_array().context("a page without events")? {
            chain.receive(Logged::of_log(event));
        }
        let cursor = page["cursor"].as_i64().context("a page without a cursor")?;
        Ask::post("/events/ack", json!({ "cursor": cursor })).send(node.address, Some(&key)).await;
    }
}
