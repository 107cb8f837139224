//! Clients that do not read what they asked for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::{OLD, Tool, plain_pair};
use crate::command::Cli;
use crate::harness::{Db, Harness, PATIENCE};

/// How long the bridge may take to read a line before it counts as one that reads no more.
const FULL: Duration = Duration::from_secs(2);
const MB: u64 = 1 << 20;

/// Writes a line; false if the bridge does not read it.
async fn write(tool: &mut Tool, message: &Value) -> bool {
    let line = format!("{message}\n");
    let writing = tool.stdin.as_mut().unwrap().write_all(line.as_bytes());
    tokio::time::timeout(FULL, writing).await.is_ok()
}

/// A bridge whose client has introduced itself and never reads again.
async fn unread(cli: &Cli) -> Tool {
    let mut tool = Tool::start(cli, "ada", &["--tools", "all"]);
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    assert!(write(&mut tool, &hello).await);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert!(write(&mut tool, &ready).await);
    tool
}

fn list_tools(id: usize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {} })
}

#[tokio::test]
async fn a_client_that_never_reads_is_left_when_it_leaves() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = unread(&cli).await;
    // Until even the errors about too many requests find no room.
    let mut id = 0;
    while write(&mut tool, &list_tools(id)).await {
        id += 1;
    }
    drop(tool.stdin.take());
    // Its standard output is still open, and nobody reads it.
    let ended = tokio::time::timeout(PATIENCE, tool.child.wait()).await;
    ended.expect("the bridge ends").unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn answers_that_nobody_reads_take_little_memory() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = unread(&cli).await;
    // Each request is cancelled at once, as if that gave its place back.
    for id in 0..5_000 {
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } });
        if !write(&mut tool, &list_tools(id)).await || !write(&mut tool, &cancel).await {
            break;
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", tool.child.id().unwrap())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak * 1024 < 150 * MB, "{} MB", peak / 1024);
}
