//! What the operator sees of nodes.

use serde_json::json;

use crate::harness::{ADMIN_TOKEN, Db, Harness, eventually_ok};
use rstest::rstest;

#[tokio::test]
async fn the_operator_sees_all_nodes() {
    let hub = Harness::start_cluster(|_, _| {}).await;
    let bob = hub.agent("Bob").await;
    let _socket = super::at(&hub, &bob, 1).socket("").await;
    eventually_ok(async || {
        let nodes = hub.nodes[0].client.send("GET", "/admin/nodes", Some(ADMIN_TOKEN), None).await.ok(200);
        let listed = nodes.as_array().unwrap();
        let sockets: u64 = listed.iter().map(|node| node["openSockets"].as_u64().unwrap()).sum();
        let hears = listed.iter().all(|node| node["bus"] == "hearing");
        let answering = listed.iter().filter(|node| node["answers"] == json!(true)).count();
        if (listed.len(), sockets, hears, answering) == (3, 1, true, 1) {
            Ok(())
        } else {
            Err(nodes.to_string())
        }
    })
    .await;
    let overview = hub.nodes[0].client.send("GET", "/admin/overview", Some(ADMIN_TOKEN), None).await.ok(200);
    assert_eq!((&overview["nodes"], &overview["openSockets"]), (&json!(3), &json!(1)));
    let page = hub.nodes[2].client.send("GET", "/metrics", Some(ADMIN_TOKEN), None).await;
    let page = String::from_utf8(page.bytes.to_vec()).unwrap();
    for line in ["tandem_nodes 3", "tandem_bus_connected 1", "tandem_bus_hearing 1"] {
        assert!(page.contains(line), "{line} is not in {page}");
    }
    hub.client.send("GET", "/admin/nodes", None, None).await.refused(401, "unauthorized");
}

#[rstest]
#[tokio::test]
async fn a_hub_of_one_process_is_one_node(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let nodes = hub.admin("GET", "/admin/nodes").await.ok(200);
    let expected = if hub.nodes.len() == 1 { "alone" } else { "hearing" };
    assert_eq!(nodes.as_array().unwrap().len(), hub.nodes.len(), "{nodes}");
    let answering = nodes.as_array().unwrap().iter().find(|node| node["answers"] == json!(true)).unwrap();
    assert_eq!(answering["bus"], expected);
}
