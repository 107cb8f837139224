//! Presence, files and rate limits over several nodes.

use serde_json::json;

use super::at;
use crate::files::upload;
use crate::harness::{Harness, eventually, eventually_ok};

#[tokio::test]
async fn every_node_knows_who_is_connected_to_another() {
    let mut hub = Harness::start_cluster(|_, _| {}).await;
    let (ada, bob) = hub.pair().await;
    hub.advance_ms(120_000);
    let socket = at(&hub, &bob, 2).socket("").await;
    let seen = async |node: usize| {
        let found = at(&hub, &ada, node).get("/connections").await.ok(200)[0].clone();
        (found["online"].clone(), found["reach"].clone())
    };
    for node in 0..3 {
        eventually_ok(async || match seen(node).await {
            (online, reach) if (&online, &reach) == (&json!(true), &json!("socket")) => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .await;
    }
    let overview =
        hub.nodes[0].client.send("GET", "/admin/overview", Some(crate::harness::ADMIN_TOKEN), None).await;
    assert_eq!(overview.ok(200)["nodes"], 3);
    // The socket ends with its node.
    drop(socket);
    hub.nodes[2].join().unwrap();
    hub.advance_ms(120_000);
    for node in 0..2 {
        let agent = at(&hub, &ada, node);
        eventually(async || {
            (agent.get("/connections").await.ok(200)[0]["online"] == json!(false)).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_file_that_one_node_took_is_given_by_all() {
    let hub = Harness::start_cluster(|_, _| {}).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    for node in 0..3 {
        let path = format!("/tasks/{task}/files/json");
        let file = at(&hub, &ada, node).post(&path, upload("a.txt", "text/plain", b"bytes")).await.text("id");
        for other in 0..3 {
            let got = at(&hub, &bob, other).get(&format!("/files/{file}")).await;
            assert_eq!((got.status, &got.bytes[..]), (200, &b"bytes"[..]));
        }
    }
}

#[tokio::test]
async fn nodes_count_requests_together() {
    let hub = Harness::start_cluster(|_, config| config.rate_limit_max = 60).await;
    let ada = hub.agent("Ada").await;
    for _ in 0..18 {
        for node in 0..3 {
            at(&hub, &ada, node).get("/agents/me").await.ok(200);
        }
    }
    // 54 of 60 are used. Each node learns of it.
    for node in 0..3 {
        let mut asked = 0;
        eventually(async || {
            asked += 1;
            let reply = at(&hub, &ada, node).get("/agents/me").await;
            let remaining: i64 = reply.header("ratelimit-remaining").unwrap().parse().unwrap();
            (remaining <= 6).then_some(())
        })
        .await;
        assert!(asked < 60, "each node counted alone");
    }
    eventually(async || (at(&hub, &ada, 0).get("/agents/me").await.status == 429).then_some(())).await;
    for node in 0..3 {
        eventually(async || (at(&hub, &ada, node).get("/agents/me").await.status == 429).then_some(())).await;
    }
}
