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
    let (hub, requests) = hub_with_clock("Tue, 01 Jan 2030 00:00:00 GMT", "2030-01-01T00:00:04.000Z").await;
    someone(&hub).run(&["pair", "--json"]).await.failed(5, "nobody redeemed");
    // It answers at once instead of waiting, and is not asked without a pause.
    let asked = requests.lock().unwrap().len();
    assert!(asked < 200, "{asked} requests in four seconds");
}

/// A colleague has a code and no agent yet.
#[tokio::test]
async fn a_code_is_redeemed_on_a_machine_without_an_agent() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, url) = (hub.agent("Ada").await, format!("http://{}", hub.client.address));
    let code = async || ada.post_empty("/pair/generate").await.text("code");
    let cli = Cli::at("http://127.0.0.1:1");
    let count = async || hub.admin("GET", "/admin/overview").await.ok(200)["agents"].clone();
    let before = count().await;
    // Nothing is made for what cannot be a code, nor without a name.
    cli.run(&["pair", "no code!", "--hub", &url, "--name", "Carol"]).await.failed(2, "the code");
    cli.run(&["pair", &code().await, "--hub", &url]).await.failed(2, "--name NAME");
    assert_eq!(count().await, before);
    // A code that has ended leaves the agent, and the same command goes on with it.
    let carol = ["--hub", url.as_str(), "--name", "Carol C"];
    cli.run(&[&["pair", "BLUE-TIGER-0000"], &carol[..]].concat()).await.failed(3, "Ask for a new one");
    let profile = cli.json(&["whoami", "--hub", &url]).await;
    assert_eq!((&profile["agentName"], profile["fingerprint"].is_string()), (&json!("Carol C"), true));
    let made = cli.json(&[&["pair", &code().await], &carol[..]].concat()).await;
    assert_eq!(made["agentId"], ada.id.as_str());
    assert_eq!(cli.json(&["agents", "--hub", &url]).await["agentName"], "Ada");
    // On a terminal it asks for the name. The agent of another hub is none for this one.
    let cli = Cli::at(&url);
    let text =
        "hub = \"http://127.0.0.1:1\"\nagent_id = \"agent_x\"\nagent_name = \"x\"\napi_key = \"tdm_x\"\n";
    write_private(&cli.config().join("agents/x.toml"), text);
    let ran = cli.in_terminal_with(120, &["pair", &code().await], "dee\n").await;
    assert!(
        ran.code == 0 && ran.stdout.contains("Registered") && ran.stdout.contains("Connected with"),
        "{ran:?}"
    );
    assert_eq!(cli.json(&["agents"]).await["agentId"], ada.id.as_str());
}

/// What the other owner has to type, as `tandem pair` says it.
async fn said(cli: &Cli) -> String {
    let mut pairing = cli.command(&["pair"]).spawn().unwrap();
    let mut lines = BufReader::new(pairing.stderr.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains("--hub") {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
        said.push_str(&line.unwrap().unwrap());
    }
    said
}

#[tokio::test]
async fn the_command_for_the_other_owner_has_the_public_address() {
    let public = "https://hub.example.com/team";
    for (url, is_local) in [(Some(public), false), (Some("https://a/$(reboot)"), true), (None, true)] {
        let hub = Harness::start_with(Db::Sqlite, |config| config.public_url = url.map(Into::into)).await;
        let cli = Cli::new(&hub);
        cli.profile("ada", &hub.agent("Ada").await);
        let health: Value = hub.client.send("GET", "/health", None, None).await.ok(200);
        assert_eq!(health["publicUrl"], json!(url));
        let said = said(&cli).await;
        let own = format!("http://{}", hub.client.address);
        assert!(said.contains(&format!("--hub {}", if is_local { &own } else { public })), "{said}");
        assert_eq!(said.contains("Only this machine"), is_local, "{said}");
    }
}

/// `tandem setup` offers it for the tools of this machine.
#[tokio::test]
async fn agents_of_one_machine_are_connected_with_each_other() {
    let hub = Harness::start(Db::Sqlite).await;
    let key = tandem_seal::PrivateKey::from_pem(&super::foreign_key()).unwrap();
    let one = hub.agent_with(json!({ "name": "me-claude", "publicKey": key.public().to_pem() })).await;
    let other = hub.agent("me-gemini").await;
    let cli = Cli::new(&hub);
    write_private(&cli.config().join("agents/me-claude.pem"), &super::foreign_key());
    cli.profile("me-claude", &one);
    cli.profile("me-gemini", &other);
    let setup = ["setup", "--tool", "claude,gemini", "--name", "me"];
    let connections = async || one.get("/connections").await.ok(200).as_array().unwrap().len();
    // The first question is about rules for the tools.
    cli.in_terminal_with(200, &setup, "n\ny\nn\n").await;
    assert_eq!(connections().await, 0);
    let ran = cli.in_terminal_with(200, &setup, "n\ny\n").await;
    assert!(ran.stdout.contains("Connected me-"), "{ran:?}");
    assert_eq!(connections().await, 1);
    assert_eq!(
        cli.json(&["trust", "me-claude", "--agent", "me-gemini"]).await["state"],
        "same",
        "it is pinned"
    );
    let ran = cli.in_terminal_with(200, &setup, "n\n").await;
    assert!(!ran.stdout.contains("Connect these"), "{ran:?}");
}

/// The name comes from the other owner: a command to copy has it only if it means that agent alone.
#[tokio::test]
async fn advice_after_pairing_names_the_agent_that_was_connected() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let pair = async |name: &str| {
        let other = hub.agent(name).await;
        let code = other.post_empty("/pair/generate").await.text("code");
        (cli.ok(&["pair", &code]).await.stderr, other.id)
    };
    let (said, _) = pair("bob").await;
    assert!(said.contains("tandem send bob ") && said.contains("connections remove bob\n"), "{said}");
    for name in ["Bob", "agent_1", "-x", "a b", "bo\u{43e}b"] {
        let (said, id) = pair(name).await;
        assert!(said.contains(&format!("tandem send {id} ")), "{name}: {said}");
        assert!(said.contains(&format!("connections remove {id}\n")), "{name}: {said}");
    }
}
