//! The tools of the bridge: their names and schemas, and what they cost a model to read.

use serde_json::{Value, json};

use super::{Tool, plain_pair};
use crate::harness::{Db, Harness};

/// The most bytes of what a model reads of the tools: names, descriptions, arguments.
const ALL_READ_BYTES_MAX: usize = 18_000;
const CORE_READ_BYTES_MAX: usize = 8_500;

async fn list(set: &str) -> Vec<Value> {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ..) = plain_pair(&hub).await;
    let mut tool = Tool::old(&cli, "ada", "test", &["--tools", set]).await;
    let answer = tool.ask("tools/list", json!({})).await;
    answer["result"]["tools"].as_array().unwrap().clone()
}

fn read_bytes(tools: &[Value]) -> usize {
    let read = |tool: &Value| json!([tool["name"], tool["description"], tool["inputSchema"]]);
    tools.iter().map(|tool| read(tool).to_string().len()).sum()
}

#[tokio::test]
async fn the_core_tools_are_these() {
    let tools = list("core").await;
    insta::assert_json_snapshot!("bridge_core_tools", tools);
    for tool in &tools {
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true, "{tool}");
    }
    let bytes = read_bytes(&tools);
    assert!((CORE_READ_BYTES_MAX * 4 / 5..CORE_READ_BYTES_MAX).contains(&bytes), "{bytes} bytes");
}

#[tokio::test]
async fn all_tools_are_those_of_the_hub() {
    let tools = list("all").await;
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    insta::assert_json_snapshot!("bridge_all_tools", names);
    for tool in &tools {
        let schema = tool["inputSchema"].to_string();
        for field in ["descriptionKeys", "encryptedKeys", "senderSignature", "base64Content", "publicKey"] {
            assert!(!schema.contains(field), "{field} in {tool}");
        }
    }
    let bytes = read_bytes(&tools);
    assert!((ALL_READ_BYTES_MAX * 4 / 5..ALL_READ_BYTES_MAX).contains(&bytes), "{bytes} bytes");
}
