//! The addresses that a hub advertises for MCP work, and unknown host names are refused with a reason.

use std::process::{Command, Stdio};

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::NEW;
use crate::harness::{Client, Db, Place, Reply};
use crate::serve::Process;

/// A hub that listens on all addresses.
fn start(place: &Place) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.args(["serve", "--listen", "0.0.0.0:0", "--data"]).arg(&place.folder);
    Process::start({
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    })
}

async fn discover(client: &Client, key: &str, host: &str) -> Reply {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {} });
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } });
    let request = Request::post("/mcp")
        .header("host", host)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", NEW)
        .header("mcp-method", "server/discover");
    client.raw(request.body(Full::new(Bytes::from(message.to_string()))).unwrap()).await
}

/// The MCP address on the start page, as a client with this `Host` sees the page.
async fn advertised(client: &Client, host: &str) -> (String, String) {
    let request = Request::get("/").header("host", host).body(Full::default()).unwrap();
    let page = String::from_utf8(client.raw(request).await.bytes.to_vec()).unwrap();
    let url = page.split("serves MCP at <code>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    (url, page)
}

fn host_of(url: &str) -> &str {
    url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
}

#[tokio::test]
async fn a_hub_on_all_addresses_serves_what_it_advertises() {
    let place = Place::new(Db::Sqlite);
    let hub = start(&place);
    let port = hub.client.address.port();
    let client = Client { address: ([127, 0, 0, 1], port).into() };
    let ada = client.send("POST", "/agents", None, Some(json!({ "name": "Ada" }))).await;
    let key = ada.text("apiKey");

    let line = hub.greeting.lines().find(|line| line.starts_with("MCP ")).unwrap();
    let printed = line.split_whitespace().nth(1).unwrap();
    assert_eq!(printed, format!("http://127.0.0.1:{port}/mcp"));
    // Addresses of the machine, of a container's host, and the one that is listened on.
    for host in [host_of(printed), "192.168.7.20:3000", "[fd00::7]:3000", "0.0.0.0:3000"] {
        let (url, page) = advertised(&client, host).await;
        assert_eq!(host_of(&url), host);
        assert!(!page.contains("mcp_hosts"));
        assert_eq!(discover(&client, &key, host_of(&url)).await.status, 200, "{host}");
    }

    let (url, page) = advertised(&client, "box.local:3000").await;
    assert_eq!(discover(&client, &key, host_of(&url)).await.status, 200, "{url}");
    assert!(page.contains("<code>box.local</code>") && page.contains("<code>mcp_hosts</code>"));
    let refused: Value = discover(&client, &key, "box.local:3000").await.refused(403, "foreign_host").clone();
    let why = refused["error"].as_str().unwrap();
    assert!(why.contains("box.local") && why.contains("mcp_hosts"), "{why}");

    hub.signal("TERM");
    let (_, log) = hub.end();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("mcp_hosts")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains("box.local"), "{log}");
}

/// Two tools with one key are one agent: the page shows a key for each.
#[tokio::test]
async fn the_start_page_connects_each_tool_with_a_key_of_its_own() {
    let place = Place::new(Db::Sqlite);
    let hub = start(&place);
    let client = Client { address: ([127, 0, 0, 1], hub.client.address.port()).into() };
    let (url, page) = advertised(&client, "localhost:3000").await;
    for part in [
        format!("codex mcp add tandem --url {url} --bearer-token-env-var CODEX_TANDEM_KEY"),
        "Bearer $CLAUDE_TANDEM_KEY".to_owned(),
        "Bearer $GEMINI_TANDEM_KEY".to_owned(),
        "Each tool needs an agent of its own".to_owned(),
    ] {
        assert!(page.contains(&part), "{part}: {page}");
    }
}
