//! `tandem pair` while it waits: whose connection it takes for its own, and how long it waits.

use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;

use super::Cli;
use super::ops::write_private;
use crate::harness::{Db, Harness, PATIENCE, eventually};

#[tokio::test]
async fn only_the_connection_of_its_code_ends_pairing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob, cy) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Cy").await);
    ada.patch("/agents/me", json!({ "autoAccept": true })).await.ok(200);
    let cli = Cli::new(&hub);
    cli.profile("ada", &ada);
    let mut pairing = cli.command(&["pair", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(pairing.stdout.take().unwrap()).lines();
    let mut line = async || -> Value {
        let read = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
        serde_json::from_str(&read.unwrap().unwrap()).unwrap()
    };
    let code = line().await["code"].clone();
    // One without a code, and one with the code of another terminal.
    cy.post_empty(&format!("/connect/{}", ada.id)).await.ok(201);
    ada.pair_with(&hub.agent("Dee").await).await;
    bob.post("/pair/connect", json!({ "code": code })).await.ok(201);
    assert_eq!(line().await["agentId"], json!(bob.id));
    let ended = tokio::time::timeout(PATIENCE, pairing.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
}

/// A hub whose clock stands at this time, and whose codes end at that.
async fn hub_with_clock(date: &'static str, expires_at: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let body = match request.uri().path() {
                    "/pair/generate" => {
                        json!({ "pairingId": "pair_1", "code": "BLUE-TIGER-4231", "expiresAt": expires_at })
                    }
                    _ => json!({ "events": [], "cursor": 0, "hasMore": false }),
                };
                seen.lock().unwrap().push(request.uri().to_string());
                let body = Full::new(Bytes::from(body.to_string()));
                let response = hyper::Response::builder().header("date", date).body(body);
                async move { response }
            });
            let connection = hyper::server::conn::http1::Builder::new();
            tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
        }
    });
    (format!("http://{address}"), requests)
}

fn someone(hub: &str) -> Cli {
    let cli = Cli::at(hub);
    let profile = format!("hub = {hub:?}\nagent_id = \"agent_a\"\nagent_name = \"a\"\napi_key = \"tdm_a\"\n");
    write_private(&cli.config().join("agents/a.toml"), &profile);
    cli
}

#[tokio::test]
async fn a_code_is_waited_for_by_the_clock_of_the_hub() {
    // By our clock this code has ended long ago.
    let (hub, requests) = hub_with_clock("Sat, 01 Jan 2022 00:00:00 GMT", "2022-01-01T00:10:00.000Z").await;
    let cli = someone(&hub);
    let mut pairing = cli.command(&["pair", "--json"]).spawn().unwrap();
    let waits = |request: &String| request.contains("wait=5");
    eventually(async || requests.lock().unwrap().iter().any(waits).then_some(())).await;
    assert!(pairing.try_wait().unwrap().is_none());
    // By our clock this one would be valid for years.
    let (hub, _) = hub_with_clock("Tue, 01 Jan 2030 00:00:00 GMT", "2030-01-01T00:00:04.000Z").await;
    someone(&hub).run(&["pair", "--json"]).await.failed(5, "nobody redeemed");
}
