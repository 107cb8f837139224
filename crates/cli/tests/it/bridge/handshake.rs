//! How a client and the bridge meet, and how they part.

use serde_json::{Value, json};

use super::{NEW, Tool, about, plain_pair, store};
use crate::command::Cli;
use crate::harness::{Agent, Client, Db, Harness, PATIENCE, eventually};

#[tokio::test]
async fn both_eras_are_served() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut old = Tool::start(&cli, "ada", &[]);
    let met = old.initialize("test").await;
    assert_eq!(met["serverInfo"]["name"], "tandem");
    assert_eq!(met["capabilities"]["experimental"], json!({ "claude/channel": {} }));
    assert!(met["instructions"].as_str().unwrap().contains("download_file"));
    let tools = old.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let mut new = Tool::new(&cli, "ada", &[]);
    let found = new.ask("server/discover", json!({})).await;
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!(NEW)), "{found}");
    assert_eq!(new.ask("tools/list", json!({})).await["result"]["tools"], tools);
    for tool in [&mut old, &mut new] {
        assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
        let inbox = tool.ask("resources/read", json!({ "uri": "tandem://inbox" })).await;
        assert_eq!(inbox["result"]["contents"][0]["uri"], "tandem://inbox", "{inbox}");
        let prompts = tool.ask("prompts/list", json!({})).await;
        assert_eq!(prompts["result"]["prompts"].as_array().unwrap().len(), 3);
        let prompt = tool.ask("prompts/get", json!({ "name": "pair_with_agent" })).await;
        assert!(prompt["result"]["messages"].is_array(), "{prompt}");
    }
}

/// Claude Code takes channel notifications only from a server that it met by `initialize`.
#[tokio::test]
async fn claude_code_is_led_to_the_era_with_sessions() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = Tool::start(&cli, "ada", &[]);
    tool.about = Some(about("claude-code"));
    assert_eq!(tool.ask("server/discover", json!({})).await["error"]["code"], -32601);
    tool.about = None;
    tool.initialize("claude-code").await;
    assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
}

#[tokio::test]
async fn lines_that_are_no_messages_change_nothing() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = Tool::start(&cli, "ada", &[]);
    // A notification before the client has introduced itself is no reason to give up.
    tool.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" })).await;
    tool.send_text("this is not JSON").await;
    assert_eq!(tool.line().await["error"]["code"], -32700);
    tool.initialize("test").await;
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{\"id\": 7}", -32600),
        ("\"hello\"", -32600),
        (&format!("{{\"jsonrpc\":\"2.0\",\"x\":\"{}\"}}", "x".repeat(5 << 20)), -32600),
    ] {
        tool.send_text(line).await;
        assert_eq!(tool.line().await["error"]["code"], code, "{}", &line[..line.len().min(40)]);
    }
    let unknown = tool.ask("tools/call", json!({ "name": "delete_account", "arguments": {} })).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(tool.ask("no/such/method", json!({})).await["error"]["code"], -32601);
    assert!(tool.refused("get_task", json!({ "taskId": 7 })).await.contains("taskId"));
    assert!(tool.refused("create_task", json!({})).await.contains("is required"));
    assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
}

#[tokio::test]
async fn it_reports_itself_and_ends_with_its_input() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, _) = plain_pair(&hub).await;
    let pull = async || {
        let reach = ada.get("/agents/me/reach").await.ok(200);
        let rungs = reach["rungs"].as_array().unwrap().clone();
        rungs.into_iter().find(|rung| rung["rung"] == "pull").map(|rung| rung["providedUntil"].is_string())
    };
    let mut tool = Tool::old(&cli, "ada", "test", &[]).await;
    eventually(async || pull().await.filter(|provided| *provided)).await;
    // Not even a call that waits keeps it.
    tool.request("tools/call", json!({ "name": "wait_for_updates", "arguments": {} })).await;
    let took = tool.end().await;
    assert!(took < PATIENCE, "{took:?}");
    assert_ne!(pull().await, Some(true));
    // A client that looks and leaves.
    let took = Tool::start(&cli, "ada", &[]).end().await;
    assert!(took < PATIENCE, "{took:?}");
}

#[tokio::test]
async fn a_hub_that_is_down_is_an_answer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let cli = Cli::at(&format!("http://{address}"));
    let text = |text: &str| text.to_owned();
    let client = Client { address };
    store(&cli, "ada", &Agent { id: text("agent_x"), name: text("ada"), key: text("tdm_x"), client }, None);
    let mut tool = Tool::old(&cli, "ada", "test", &[]).await;
    let tools = tool.ask("tools/list", json!({})).await;
    assert!(tools["result"]["tools"].as_array().unwrap().len() > 10);
    let why = tool.refused("check_updates", json!({})).await;
    assert!(why.contains("Cannot reach the hub") && why.contains("tandem serve"), "{why}");
    assert!(tool.end().await < PATIENCE);
}

#[tokio::test]
async fn a_wait_ends_when_it_is_cancelled() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "ada", "test", &[]).await;
    let wait = json!({ "name": "wait_for_updates", "arguments": {} });
    // More than the bridge takes at once, if the cancelled ones counted.
    for _ in 0..40 {
        let id = tool.request("tools/call", wait.clone()).await;
        let cancel = json!({ "requestId": id, "reason": "enough" });
        tool.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel })).await;
    }
    assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
}

/// A client that asks and never reads is not served for ever.
#[tokio::test]
async fn unanswered_requests_are_limited() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "ada", "test", &[]).await;
    let wait = json!({ "name": "wait_for_updates", "arguments": {} });
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(tool.request("tools/call", wait.clone()).await);
    }
    let mut refused = 0;
    while refused < 8 {
        let line: Value = tool.line().await;
        assert_eq!(line["error"]["code"], -32600, "{line}");
        refused += 1;
    }
}

/// The owner replaces the key, and the bridge that runs goes on with the new one.
#[tokio::test]
async fn a_new_key_is_taken_at_once() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "bob", "claude-code", &[]).await;
    tool.call("check_updates", json!({})).await;
    cli.ok(&["rotate", "--agent", "bob"]).await;
    bob.get("/agents/me").await.refused(401, "unauthorized");
    assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
    let task = ada.task(&bob).await;
    assert_eq!(tool.call("get_task", json!({ "taskId": task })).await["status"], "submitted");
}
