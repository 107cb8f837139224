//! Every documented route has a method of the client, and that method works.

use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::{Value, json};
use tandem_api::agents::{RegisterAgent, ReportReach};
use tandem_api::tasks::{ApproveTask, CreateTask, PageQuery};
use tandem_client::{ApiKey, Client, DownloadOptions, Method, Transport, Upload};
use tandem_core::wake::Rung;
use tandem_core::{AgentId, TaskId};

use super::{client_at, wire};
use crate::backup::Shelf;
use crate::harness::{ADMIN_TOKEN, Db, Harness};
use crate::remotes::Elsewhere;
use crate::webhooks::{Receiver, Reply};

/// Routes without a method.
const WITHOUT: [(&str, &str); 8] = [
    // A page of the operator's browser; the client's stream is an agent's.
    ("GET", "/debug/events"),
    // Other names of /approvals/{taskId}/approve and reject.
    ("POST", "/tasks/{id}/approve"),
    ("POST", "/tasks/{id}/reject"),
    // MCP has clients of its own.
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    // For people and generators.
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
];

/// The routes of the OpenAPI document.
async fn documented(client: &Client) -> BTreeSet<(String, String)> {
    let bytes = client.request(Method::GET, "/openapi.json", None).await.unwrap();
    let document: Value = serde_json::from_slice(&bytes).unwrap();
    let mut routes = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            routes.insert((method.to_uppercase(), path.clone()));
        }
    }
    routes
}

/// The routes that were called with success, by the hub's own count.
async fn called(client: &Client) -> BTreeSet<(String, String)> {
    let page = client.metrics().await.unwrap();
    let label = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    page.lines()
        .filter(|line| line.starts_with("tandem_http_requests_total{"))
        .filter(|line| ["1", "2"].contains(&&label(line, "status")[..1]))
        .map(|line| (label(line, "method"), label(line, "route")))
        .collect()
}

struct Walk {
    guest: Client,
    admin: Client,
    ada: Client,
    bob: Client,
    ada_id: AgentId,
    bob_id: AgentId,
}

impl Walk {
    async fn task(&self, more: Value) -> TaskId {
        let mut task = json!({ "targetAgentId": self.bob_id, "title": "T" });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ada.create_task(&wire::<CreateTask>(task)).await.unwrap().id
    }
}

async fn agent(guest: &Client, name: &str) -> (Client, AgentId) {
    let agent: RegisterAgent = wire(json!({ "name": name }));
    let (profile, key) = guest.register(&agent, &ApiKey::generate().unwrap()).await.unwrap();
    (guest.clone().with_key(key.as_str()), profile.id)
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_documented_route_is_called_through_the_client(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| {
        (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    })
    .await;
    let guest = client_at(hub.client.address, "");
    let admin = guest.clone().with_key(ADMIN_TOKEN);
    let ((ada, ada_id), (bob, bob_id)) = (agent(&guest, "Ada").await, agent(&guest, "Bob").await);
    let walk = Walk { guest, admin, ada, bob, ada_id, bob_id };
    Box::pin(connections(&walk)).await;
    Box::pin(tasks(&walk)).await;
    Box::pin(messages_and_files(&walk)).await;
    Box::pin(approvals(&walk)).await;
    Box::pin(networks(&walk)).await;
    Box::pin(events(&walk)).await;
    Box::pin(webhooks(&walk)).await;
    Box::pin(operator(&walk)).await;
    Box::pin(last_things(&walk)).await;

    let mut missing = documented(&walk.admin).await;
    for (method, path) in WITHOUT {
        assert!(missing.remove(&(method.to_owned(), path.to_owned())), "{method} {path} does not exist");
    }
    // Once more, because a request is counted after it is answered.
    walk.admin.metrics().await.unwrap();
    for node in &hub.nodes {
        let called = called(&client_at(node.client.address, "").with_key(ADMIN_TOKEN)).await;
        missing.retain(|route| !called.contains(route));
    }
    assert!(missing.is_empty(), "the client has no method, or this test does not call it: {missing:?}");
}

async fn connections(walk: &Walk) {
    let Walk { ada, bob, ada_id, bob_id, .. } = walk;
    walk.guest.challenge().await.unwrap();
    assert_eq!(json!(ada.profile().await.unwrap())["id"], json!(ada_id));
    let change = json!({ "discoverable": true, "autoAccept": true });
    bob.change_profile(&wire(change)).await.unwrap();
    assert_eq!(ada.discover(&wire(json!({}))).await.unwrap().agents.len(), 1);
    let code = ada.create_pairing_code().await.unwrap();
    let connected = bob.redeem_pairing_code(&wire(json!({ "code": code.code }))).await.unwrap();
    assert_eq!(&connected.agent_id, ada_id);
    assert_eq!(ada.connections(&PageQuery::default()).await.unwrap().items.len(), 1);
    ada.change_connection(&connected.id, &wire(json!({ "alias": "bob" }))).await.unwrap();
    ada.disconnect(&connected.id).await.unwrap();
    ada.block(bob_id).await.unwrap();
    assert_eq!(ada.blocks(&PageQuery::default()).await.unwrap().items.len(), 1);
    ada.unblock(bob_id).await.unwrap();
    let guest = ada.create_guest(&wire(json!({ "name": "Guest" }))).await.unwrap().guest.agent_id;
    assert_eq!(ada.guests().await.unwrap()[0].agent_id, guest);
    ada.delete_guest(&guest).await.unwrap();
    let elsewhere = Elsewhere::start().await;
    let remote = wire(json!({ "cardUrl": elsewhere.card_url() }));
    let remote = ada.create_remote(&remote).await.unwrap().agent_id;
    assert_eq!(ada.remotes().await.unwrap()[0].agent_id, remote);
    ada.change_remote(&remote, &wire(json!({ "alias": "far" }))).await.unwrap();
    ada.delete_remote(&remote).await.unwrap();
    let connected = ada.connect(bob_id).await.unwrap();
    bob.change_connection(&connected.id, &wire(json!({ "approval": "auto" }))).await.unwrap();
}

async fn tasks(walk: &Walk) {
    let Walk { ada, bob, .. } = walk;
    let task = walk.task(json!({})).await;
    assert_eq!(ada.tasks(&wire(json!({}))).await.unwrap().items.len(), 1);
    assert_eq!(bob.task(&task).await.unwrap().id, task);
    bob.change_task(&task, &wire(json!({ "status": "working" }))).await.unwrap();
    bob.heartbeat(&task, &wire(json!({ "progress": 50 }))).await.unwrap();
    bob.report_usage(&task, &wire(json!({ "cost": 0.01 }))).await.unwrap();
    bob.add_artifact(&task, &wire(json!({ "parts": [{ "text": "half" }] }))).await.unwrap();
    bob.reply(&task, &wire(json!({ "content": "done" }))).await.unwrap();
    assert!(ada.task_log(&task, &PageQuery::default()).await.unwrap().items.len() > 1);
    ada.task_tree(&task).await.unwrap();
    ada.delete_task(&task).await.unwrap();
    let task = walk.task(json!({})).await;
    ada.cancel_task(&task, &wire(json!({ "reason": "no" }))).await.unwrap();
    ada.retry_task(&task, &wire(json!({}))).await.unwrap();
    let (eve, eve_id) = agent(&walk.guest, "Eve").await;
    let code = eve.create_pairing_code().await.unwrap();
    ada.redeem_pairing_code(&wire(json!({ "code": code.code }))).await.unwrap();
    ada.reassign_task(&task, &wire(json!({ "targetAgentId": eve_id }))).await.unwrap();
    walk.task(json!({})).await;
    assert!(!bob.inbox(&PageQuery::default()).await.unwrap().items.is_empty());
}

async fn messages_and_files(walk: &Walk) {
    let Walk { ada, bob, ada_id, .. } = walk;
    let task = walk.task(json!({})).await;
    let message = ada.send_message(&task, &wire(json!({ "content": "hello" }))).await.unwrap();
    assert_eq!(bob.messages(&task, &PageQuery::default()).await.unwrap().items.len(), 1);
    assert_eq!(bob.read_messages(&task).await.unwrap().messages.len(), 1);
    bob.acknowledge(&task).await.unwrap();
    ada.delete_message(&task, &message.id).await.unwrap();
    bob.send_to_agent(&wire(json!({ "agentId": ada_id, "content": "hello" }))).await.unwrap();
    let file = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": "aGVsbG8=" });
    let small = ada.upload_json(&task, &serde_json::from_str(&file.to_string()).unwrap()).await.unwrap();
    let shelf = Shelf::new();
    let path = shelf.file("b.txt");
    std::fs::write(&path, "hello").unwrap();
    let upload = Upload { path, filename: "b.txt".into(), mime_type: "text/plain".into() };
    let streamed = ada.upload(&task, &upload, |_| {}).await.unwrap();
    let to = shelf.file("c.txt");
    bob.download(&streamed.id, &to, DownloadOptions::default(), |_, _| {}).await.unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), b"hello");
    ada.delete_file(&small.id).await.unwrap();
}

async fn approvals(walk: &Walk) {
    let Walk { bob, .. } = walk;
    let connection = bob.connections(&PageQuery::default()).await.unwrap().items.remove(0);
    let held = json!({ "approval": "require" });
    bob.change_connection(&connection.connected.id, &wire(held)).await.unwrap();
    let (first, second) = (walk.task(json!({})).await, walk.task(json!({})).await);
    assert_eq!(bob.approvals(&PageQuery::default()).await.unwrap().items.len(), 2);
    bob.approve(&first, &ApproveTask::default()).await.unwrap();
    bob.reject(&second, &wire(json!({ "reason": "no" }))).await.unwrap();
}

async fn networks(walk: &Walk) {
    let Walk { ada, bob, bob_id, .. } = walk;
    let network = ada.create_network(&wire(json!({ "name": "Crew" }))).await.unwrap().id;
    assert_eq!(ada.networks().await.unwrap().len(), 1);
    for _ in 0..2 {
        let invite = ada.invite(&network, &wire(json!({}))).await.unwrap();
        bob.join_network(&wire(json!({ "code": invite.code }))).await.unwrap();
        assert_eq!(ada.members(&network, &PageQuery::default()).await.unwrap().items.len(), 2);
        ada.broadcast(&network, &wire(json!({ "content": "all" }))).await.unwrap();
        assert!(!bob.broadcasts(&network, &PageQuery::default()).await.unwrap().items.is_empty());
        match bob.network(&network).await.unwrap().member_count {
            // The first time the member leaves, the second time it is removed.
            2 if bob.broadcasts(&network, &PageQuery::default()).await.unwrap().items.len() == 1 => {
                bob.leave_network(&network).await.unwrap();
            }
            _ => {
                ada.remove_member(&network, bob_id).await.unwrap();
            }
        }
    }
    ada.delete_network(&network).await.unwrap();
}

async fn events(walk: &Walk) {
    let Walk { bob, .. } = walk;
    let page = bob.events(&wire(json!({ "after": 0, "wait": 1 }))).await.unwrap();
    assert!(!page.events.is_empty());
    bob.acknowledge_events(page.cursor).await.unwrap();
    let updates = bob.updates().await.unwrap();
    bob.acknowledge_updates(updates.cursor).await.unwrap();
    bob.ticket().await.unwrap();
    for transport in [Transport::WebSocket, Transport::ServerSentEvents] {
        let event = bob.follow(Some(0)).only(transport).next_event().await.unwrap();
        assert_eq!(event.cursor, page.events[0].id);
    }
}

async fn webhooks(walk: &Walk) {
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let change = json!({ "webhookUrl": receiver.url(), "webhookSecret": "a secret of sixteen" });
    walk.bob.change_profile(&wire(change)).await.unwrap();
    let sent = walk.bob.ping_webhook().await.unwrap();
    receiver.wait_for(1).await;
    walk.bob.replay_delivery(&sent.id).await.unwrap();
    assert!(!walk.bob.deliveries(&PageQuery::default()).await.unwrap().items.is_empty());
    receiver.wait_for(2).await;
}

async fn operator(walk: &Walk) {
    let Walk { admin, guest, bob_id, .. } = walk;
    guest.health().await.unwrap();
    guest.ready().await.unwrap();
    admin.admin_overview().await.unwrap();
    assert!(!admin.admin_nodes().await.unwrap().is_empty());
    assert!(admin.admin_setup_link().await.unwrap().path.as_str().starts_with("/setup#"));
    assert_eq!(admin.admin_agents(&PageQuery::default()).await.unwrap().items.len(), 3);
    admin.admin_change_agent(bob_id, &wire(json!({ "credits": 1.5 }))).await.unwrap();
    assert!(!admin.admin_tasks(&PageQuery::default()).await.unwrap().items.is_empty());
    assert!(!admin.admin_events(&wire(json!({}))).await.unwrap().items.is_empty());
    assert!(!admin.admin_deliveries(&PageQuery::default()).await.unwrap().items.is_empty());
    assert!(admin.admin_settings().await.unwrap().is_object());
}

async fn last_things(walk: &Walk) {
    let mut export = walk.ada.export().await.unwrap();
    let mut document = Vec::new();
    while let Some(piece) = export.next().await.unwrap() {
        document.extend_from_slice(&piece);
    }
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["__exportComplete"], true);
    walk.ada.report_reach(&ReportReach::provided(Rung::Runner, true)).await.unwrap();
    assert_eq!(walk.ada.reach().await.unwrap().rungs.len(), Rung::ALL.len());
    let key = walk.ada.rotate_key(&ApiKey::generate().unwrap()).await.unwrap();
    let ada = walk.ada.clone().with_key(key.as_str());
    ada.delete_agent().await.unwrap();
}
