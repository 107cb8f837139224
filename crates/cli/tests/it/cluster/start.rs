//! Which nodes may run beside each other.

use std::sync::Arc;

use rstest::rstest;
use tandem_hub::start::open;
use tandem_hub::token::TokenPlace;
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};

use crate::harness::{ADMIN_TOKEN, Client, Db, Harness, Node, Place, cluster, eventually};

async fn refused(config: Config) -> String {
    open(config, Clock::System, Resolver::system()).await.unwrap_err().to_string()
}

async fn node(config: Config) -> Node {
    Node::start(config, Clock::System, Resolver::system(), None).await
}

/// Settings of a node, and what the sentence says if it is started beside the first.
#[rstest]
#[case::no_bus(|config: &mut Config| config.bus = None, "--bus")]
#[case::other_bus(|config: &mut Config| config.bus = Some("none".into()), "another --bus")]
#[case::own_files(|config: &mut Config| config.shared_files = None, "--shared-files")]
#[tokio::test]
async fn a_node_that_does_not_fit_is_refused(#[case] change: fn(&mut Config), #[case] word: &str) {
    let place = Arc::new(Place::new(Db::Postgres));
    let mut first = node(cluster::config(&place, &place.config(), 0)).await;
    let mut second = cluster::config(&place, &place.config(), 1);
    change(&mut second);
    let error = refused(second).await;
    assert!(error.contains(word) && error.contains("another node"), "{error}");
    first.join().unwrap();
}

#[tokio::test]
async fn a_node_beside_one_that_is_alone_is_refused() {
    let place = Arc::new(Place::new(Db::Postgres));
    let mut first = node(place.config()).await;
    let error = refused(cluster::config(&place, &place.config(), 1)).await;
    assert!(error.contains("without --bus"), "{error}");
    first.join().unwrap();
    // It has left, so there is nothing to wait for.
    let mut second = node(cluster::config(&place, &place.config(), 1)).await;
    second.join().unwrap();
}

#[tokio::test]
async fn a_folder_that_is_not_the_shared_one_is_refused() {
    let place = Arc::new(Place::new(Db::Postgres));
    let mut first = node(cluster::config(&place, &place.config(), 0)).await;
    let mut second = cluster::config(&place, &place.config(), 1);
    let other = place.node_folder(2);
    std::fs::create_dir_all(&other).unwrap();
    second.shared_files = Some(other.clone());
    let error = refused(second.clone()).await;
    assert!(error.contains("mount the same folder"), "{error}");
    second.shared_files = Some(other.join("missing"));
    let error = refused(second).await;
    assert!(error.contains("there is no such folder"), "{error}");
    first.join().unwrap();
}

#[tokio::test]
async fn the_operator_has_one_token_on_all_nodes() {
    let place = Arc::new(Place::new(Db::Postgres));
    let config = |number| Config { admin_token: None, ..cluster::config(&place, &place.config(), number) };
    let mut first = node(config(0)).await;
    let token = std::fs::read_to_string(place.folder.join("admin-token")).unwrap();
    let started = open(config(1), Clock::System, Resolver::system()).await.unwrap();
    assert_eq!(started.token, TokenPlace::OtherNode);
    assert!(!place.node_folder(1).join("admin-token").exists());
    drop(started);
    let mut second = node(config(1)).await;
    for node in [&first, &second] {
        node.client.send("GET", "/admin/overview", Some(token.trim()), None).await.ok(200);
        node.client
            .send("GET", "/admin/overview", Some(ADMIN_TOKEN), None)
            .await
            .refused(401, "unauthorized");
    }
    second.join().unwrap();
    first.join().unwrap();
}

#[tokio::test]
async fn a_cluster_survives_the_restart_of_each_node() {
    let mut hub = Harness::start_cluster(|_, _| {}).await;
    let (ada, bob) = hub.pair().await;
    for number in 0..cluster::NODES {
        hub.nodes[number].join().unwrap();
        let config = cluster::config(&hub.place, &hub.place.config(), number);
        let clock = Clock::Manual(Arc::clone(&hub.clock));
        hub.nodes[number] = Node::start(config, clock, Resolver::system(), None).await;
        cluster::settle(&hub.nodes).await;
        super::at(&hub, &ada, number).task(&bob).await;
    }
}

#[tokio::test]
async fn a_copy_of_a_node_is_noticed() {
    let hub = Harness::start_cluster(|_, _| {}).await;
    let mut config = cluster::config(&hub.place, &hub.place.config(), 1);
    let twin = hub.place.folder.join("twin");
    std::fs::create_dir_all(&twin).unwrap();
    for entry in std::fs::read_dir(&config.data).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), twin.join(entry.file_name())).unwrap();
        }
    }
    config.data = twin;
    let mut copy = node(config).await;
    let warns = async |client: &Client| {
        let ready = client.send("GET", "/ready", None, None).await.ok(200);
        ready["warnings"].to_string().contains("id of this node").then_some(())
    };
    eventually(async || warns(&hub.nodes[1].client).await).await;
    copy.join().unwrap();
    eventually(async || warns(&hub.nodes[1].client).await.is_none().then_some(())).await;
    eventually(async || {
        let nodes = hub.client.send("GET", "/admin/nodes", Some(ADMIN_TOKEN), None).await.ok(200);
        (nodes.as_array().unwrap().len() == 3).then_some(())
    })
    .await;
}
