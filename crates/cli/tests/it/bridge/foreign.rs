//! The official MCP client starts two bridges, which exchange an encrypted task.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{fenced, keyed_pair};
use crate::command::Cli;
use crate::foreign::{installed, script};
use crate::harness::{Db, Harness, PATIENCE};

/// The official client with a bridge.
struct Foreign {
    _child: Child,
    orders: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Foreign {
    async fn start(cli: &Cli, agent: &str) -> Self {
        let folder = cli.home.join(agent);
        std::fs::create_dir(&folder).unwrap();
        let bridge = json!([env!("CARGO_BIN_EXE_tandem"), "mcp", "--agent", agent, "--folder", folder]);
        let mut child = Command::new(installed().join("node_modules/node/bin/node"))
            .arg(script("mcp-stdio.mjs"))
            .env("FOREIGN", installed())
            .env("COMMAND", bridge.to_string())
            .env("XDG_CONFIG_HOME", cli.home.join("config"))
            .env("XDG_STATE_HOME", cli.home.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut foreign = Self { orders: child.stdin.take().unwrap(), lines, _child: child };
        assert_eq!(foreign.line().await["connected"], "tandem");
        foreign
    }

    async fn line(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a line comes");
        serde_json::from_str(&line.unwrap().expect("the client goes on")).unwrap()
    }

    /// A tool's data; the client itself has checked it against the tool's schema.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let order = json!({ "call": tool, "arguments": arguments });
        self.orders.write_all(format!("{order}\n").as_bytes()).await.unwrap();
        let result = self.line().await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }
}

#[tokio::test]
async fn the_official_client_exchanges_an_encrypted_task() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada_agent, bob_agent) = keyed_pair(&hub).await;
    let (mut ada, mut bob) = (Foreign::start(&cli, "ada").await, Foreign::start(&cli, "bob").await);
    let task =
        json!({ "targetAgentId": bob_agent.id, "title": "Zebra title", "description": "Yak description" });
    let id = ada.call("create_task", task).await["id"].clone();
    let news = bob.call("wait_for_updates", json!({})).await;
    assert_eq!(news["pendingTasks"][0]["title"], fenced("Zebra title"));
    assert_eq!(bob.call("get_task", json!({ "taskId": id })).await["description"], fenced("Yak description"));
    bob.call("update_task_status", json!({ "taskId": id, "status": "working" })).await;
    bob.call("send_message", json!({ "taskId": id, "content": "Which one?" })).await;
    let thread = ada.call("get_task", json!({ "taskId": id })).await;
    assert_eq!(thread["messages"][0]["content"], fenced("Which one?"));
    std::fs::write(cli.home.join("ada/this.txt"), "This one").unwrap();
    let file = ada.call("upload_file", json!({ "taskId": id, "path": "this.txt" })).await["fileId"].clone();
    bob.call("download_file", json!({ "taskId": id, "fileId": file, "path": "that.txt" })).await;
    assert_eq!(std::fs::read_to_string(cli.home.join("bob/that.txt")).unwrap(), "This one");
    bob.call("send_reply", json!({ "taskId": id, "content": "Vulture result" })).await;
    assert_eq!(ada.call("get_task", json!({ "taskId": id })).await["result"], fenced("Vulture result"));
    let raw = ada_agent.view(id.as_str().unwrap()).await.to_string();
    for secret in ["Zebra title", "Yak description", "Which one?", "Vulture result"] {
        assert!(!raw.contains(secret), "{raw}");
    }
}
