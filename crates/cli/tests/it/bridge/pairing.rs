//! The bridge pins the key of an agent when the two are connected, as `tandem pair` does.

use serde_json::json;

use super::{Tool, key, store};
use crate::command::Cli;
use crate::harness::{Db, Harness, eventually};

#[tokio::test]
async fn keys_are_pinned_on_both_sides_of_a_pairing() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    let (mut agents, mut tools) = (Vec::new(), Vec::new());
    for (name, key_name) in [("ada", "ana"), ("bob", "bob")] {
        let (private, public) = key(key_name);
        let agent = hub.agent_with(json!({ "name": name, "publicKey": public })).await;
        store(&cli, name, &agent, Some(&private));
        tools.push(Tool::old(&cli, name, "test", &[]).await);
        super::waking::followed(&agent).await;
        agents.push(agent);
    }
    let code = tools[0].call("generate_pairing_code", json!({})).await["code"].clone();
    let made = tools[1].call("connect_with_agent", json!({ "code": code })).await;
    assert_eq!(made["agentId"], agents[0].id.as_str());
    let pins = |name: &str| std::fs::read_to_string(cli.config().join(format!("agents/{name}.pins")));
    assert!(pins("bob").unwrap().contains(&agents[0].id), "whoever redeems the code pins at once");
    let offered = || pins("ada").is_ok_and(|pins| pins.contains(&agents[1].id));
    eventually(async || offered().then_some(())).await;
    // A hub that swaps the keys afterwards is found out, although nothing was encrypted before.
    let other = tandem_seal::PublicKey::from_pem(&key("cyd").1).unwrap().to_pem();
    hub.place.execute(&format!("update agents set public_key = '{other}'"));
    for (from, to) in [(0, 1), (1, 0)] {
        let task = json!({ "targetAgentId": agents[to].id, "title": "Secret" });
        let why = tools[from].refused("create_task", task).await;
        assert!(why.contains("tandem trust") && why.contains("has changed"), "{why}");
    }
}
