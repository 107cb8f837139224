//! Sessions of a hub with several nodes: each lives on one of them, and works through all.

use rstest::rstest;
use serde_json::json;

use super::{Session, Stream, post};
use crate::harness::{Agent, Harness, Nodes, eventually};

impl Session {
    /// The same session, through another node.
    fn at(&self, node: &Harness) -> Self {
        Self { agent: self.agent.at(node), id: self.id.clone() }
    }
}

const PING: &str = r#"{ "jsonrpc": "2.0", "id": 1, "method": "ping" }"#;

/// A node that does not know another yet does not know its sessions either.
async fn know_each_other(one: &Harness, other: &Harness) {
    let know = || [one, other].iter().all(|node| node.hub.cluster.live_nodes() == 2);
    eventually(async || know().then_some(())).await;
}

#[rstest]
#[tokio::test]
async fn a_session_works_through_every_node_on_postgres() {
    let nodes = Nodes::new();
    let (a, b) = (nodes.start("a", |_| {}).await, nodes.start("b", |_| {}).await);
    know_each_other(&a, &b).await;
    let (ada, bob) = a.pair().await;
    let here = Session::begin(&bob, json!({})).await;
    assert!(here.id.starts_with("node_"), "{}", here.id);
    let there = here.at(&b);
    assert_eq!((a.sessions.count(), b.sessions.count()), (1, 0));
    for session in [&here, &there] {
        assert_eq!(session.send(&serde_json::from_str(PING).unwrap()).await.status, 200);
        let called = json!({ "name": "get_inbox", "arguments": {} });
        assert_eq!(session.ask("tools/call", called).await["result"]["isError"], false);
    }
    // A large message goes through, and one that is too large is refused by the node of the session.
    let long = "x".repeat(200_000);
    let task = ada.task(&bob).await;
    let message = json!({ "name": "send_message", "arguments": { "taskId": task, "content": long } });
    assert_eq!(there.ask("tools/call", message).await["result"]["isError"], false);
    let mut large = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    large["params"] = json!({ "x": "x".repeat(100_000) });
    there.send(&large).await.refused(413, "too_large");

    // The stream of the session, opened through the other node.
    let subscribed = there.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let mut stream = there.stream().await;
    ada.task(&bob).await;
    assert_eq!(stream.next().await.unwrap()["method"], "notifications/resources/updated");

    assert_eq!(there.plain("DELETE").await.status, 200);
    // It ends with the session. The first task was waiting when it opened, so it may have told of each task alone.
    while let Some(told) = stream.next().await {
        assert_eq!(told["method"], "notifications/resources/updated");
    }
    assert_eq!(a.sessions.count(), 0);
    for session in [&here, &there] {
        session.send(&serde_json::from_str(PING).unwrap()).await.refused(404, "not_found");
    }
}

#[rstest]
#[tokio::test]
async fn a_session_is_guarded_through_every_node_on_postgres() {
    let nodes = Nodes::new();
    let (a, b) = (nodes.start("a", |_| {}).await, nodes.start("b", |_| {}).await);
    know_each_other(&a, &b).await;
    let (ada, bob) = a.pair().await;
    let session = Session::begin(&bob, json!({})).await.at(&b);
    let ping = serde_json::from_str(PING).unwrap();
    session.send_as(&ada.at(&b), &ping).await.refused(403, "foreign_session");
    let nobody = Agent { key: "tdm_nobody".into(), ..bob.at(&b) };
    session.send_as(&nobody, &ping).await.refused(401, "unauthorized");
    // Who is no node cannot say that it is one.
    let made_up = [
        ("mcp-session-id", session.id.as_str()),
        ("x-tandem-client", "192.0.2.1"),
        ("x-tandem-node-signature", "c2lnbmF0dXJl"),
    ];
    assert_eq!(
        post(&session.agent, "/mcp", &made_up, &ping).await.status,
        200,
        "it is passed on like any other"
    );
    for unknown in ["node_unknown.x", "node_unknown.", ".x", "."] {
        let unknown = Session { agent: bob.at(&b), id: unknown.into() };
        unknown.send(&ping).await.refused(404, "not_found");
    }
}

#[rstest]
#[tokio::test]
async fn a_request_that_is_passed_on_is_counted_once_on_postgres() {
    let nodes = Nodes::new();
    let limited = |config: &mut tandem_hub::Config| config.rate_limit_max = 100;
    let (a, b) = (nodes.start("a", limited).await, nodes.start("b", limited).await);
    // Without a bus, each takes its share of the limit as soon as it knows of the other.
    know_each_other(&a, &b).await;
    let bob = a.agent("Bob").await;
    let here = Session::begin(&bob, json!({})).await;
    let ping = serde_json::from_str(PING).unwrap();
    let left =
        |reply: &crate::harness::Reply| reply.header("ratelimit-remaining").unwrap().parse::<i64>().unwrap();
    let before = left(&here.send(&ping).await);
    let through_b: Vec<i64> =
        [here.at(&b).send(&ping).await, here.at(&b).send(&ping).await].iter().map(left).collect();
    assert_eq!(through_b[0] - through_b[1], 1);
    // Whatever nodes tell each other of their counts, each request counts once.
    assert!(left(&here.send(&ping).await) >= before - 3);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_with_its_node_on_postgres() {
    let nodes = Nodes::new();
    let (a, b) = (nodes.start("a", |_| {}).await, nodes.start("b", |_| {}).await);
    know_each_other(&a, &b).await;
    let bob = a.agent("Bob").await;
    let session = Session::begin(&bob, json!({})).await.at(&b);
    let mut stream = session.stream().await;
    tokio::task::spawn_blocking(move || drop(a)).await.unwrap();
    while stream.next().await.is_some() {}
    let ping = serde_json::from_str(PING).unwrap();
    eventually(async || (session.send(&ping).await.status == 404).then_some(())).await;
    // The node is there again, and its sessions are not.
    let a = nodes.start("a", |_| {}).await;
    eventually(async || (session.send(&ping).await.status == 404).then_some(())).await;
    let again = Session::begin(&session.agent, json!({})).await;
    assert_eq!(again.at(&a).send(&ping).await.status, 200);
}

#[rstest]
#[tokio::test]
async fn a_client_that_leaves_leaves_the_other_node_too_on_postgres() {
    let nodes = Nodes::new();
    let (a, b) = (nodes.start("a", |_| {}).await, nodes.start("b", |_| {}).await);
    know_each_other(&a, &b).await;
    let bob = a.agent("Bob").await;
    let session = Session::begin(&bob, json!({})).await.at(&b);
    let id: tandem_core::AgentId = bob.id.parse().unwrap();
    let connections = || a.hub.metrics.connections.get();
    eventually(async || (connections() == 0).then_some(())).await;
    let stream: Stream = session.stream().await;
    assert!(a.hub.liveness.bus.reach(&id).is_some() && connections() == 1);
    drop(stream);
    eventually(async || (connections() == 0).then_some(())).await;
}
