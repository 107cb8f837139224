//! Host names of webhooks: the hosts file, a name server, and one that does not answer.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use rstest::rstest;
use serde_json::json;
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::webhooks::dns::Dns;
use tokio::net::UdpSocket;

use crate::harness::{Db, Harness, Place, eventually};
use crate::webhooks::{Receiver, Reply, deliveries};

/// A name server that says that every name is this machine, and never answers for names with `silent` in them.
#[derive(Debug, Clone)]
struct NameServer {
    address: SocketAddr,
    unanswered: Arc<AtomicUsize>,
}

impl NameServer {
    async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let server = Self { address: socket.local_addr().unwrap(), unanswered: Arc::default() };
        let unanswered = Arc::clone(&server.unanswered);
        tokio::spawn(async move {
            let mut query = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut query).await.unwrap();
                if query[..length].windows(6).any(|part| part.eq_ignore_ascii_case(b"silent")) {
                    unanswered.fetch_add(1, Ordering::SeqCst);
                } else {
                    socket.send_to(&answer(&query[..length]), from).await.unwrap();
                }
            }
        });
        server
    }
}

/// Repeats the question of a query, with an address for type A and nothing for others.
fn answer(query: &[u8]) -> Vec<u8> {
    let name = query[12..].iter().position(|byte| *byte == 0).unwrap() + 13;
    let is_a = query[name..name + 2] == [0, 1];
    let mut answer = query[..2].to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    answer.extend(&query[12..name + 4]);
    if is_a {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        answer.extend(Ipv4Addr::LOCALHOST.octets());
    }
    answer
}

async fn start(db: Db, server: &NameServer) -> Harness {
    let place = Arc::new(Place::new(db));
    let mut config = place.config();
    (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    let hosts = place.folder.join("hosts");
    std::fs::write(&hosts, "127.0.0.1 listed.silent.example Other # comment\n").unwrap();
    let names = Resolver::Dns(Arc::new(Dns::with(server.address, hosts)));
    Harness::start_named(place, config, Arc::new(AtomicI64::new(1_800_000_000_000)), names).await
}

#[rstest]
#[tokio::test]
async fn names_are_resolved_by_the_hosts_file_and_by_dns(#[values(Db::Sqlite)] db: Db) {
    let server = NameServer::start().await;
    let hub = start(db, &server).await;
    let bob = hub.agent("Bob").await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let names =
        ["localhost", "below.localhost", "listed.silent.example", "other", "hook.example", "hook.example."];
    for (number, name) in names.into_iter().enumerate() {
        let url = receiver.url().replace("127.0.0.1", name);
        bob.patch("/agents/me", json!({ "webhookUrl": url })).await.ok(200);
        bob.post_empty("/webhooks/ping").await.ok(201);
        receiver.wait_for(number + 1).await;
    }
    assert_eq!(server.unanswered.load(Ordering::SeqCst), 0);
    // A change of the hosts file counts at once.
    std::fs::write(hub.place.folder.join("hosts"), "127.0.0.1 new.silent.example\n").unwrap();
    let url = receiver.url().replace("127.0.0.1", "new.silent.example");
    bob.patch("/agents/me", json!({ "webhookUrl": url })).await.ok(200);
    bob.post_empty("/webhooks/ping").await.ok(201);
    receiver.wait_for(names.len() + 1).await;
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_name_server_delays_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let server = NameServer::start().await;
    let hub = start(db, &server).await;
    let (ada, bob) = hub.pair().await;
    let mut silent = Vec::new();
    for number in 0..40 {
        let agent = hub.agent("Silent").await;
        let url = format!("http://silent{number}.example/");
        let setting = async move {
            agent.patch("/agents/me", json!({ "webhookUrl": url })).await.ok(200);
            agent.post_empty("/webhooks/ping").await.ok(201);
            agent
        };
        silent.push(tokio::spawn(setting));
    }
    eventually(async || (server.unanswered.load(Ordering::SeqCst) >= 40).then_some(())).await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    let url = receiver.url().replace("127.0.0.1", "hook.example");
    bob.patch("/agents/me", json!({ "webhookUrl": url })).await.ok(200);
    let task = ada.task(&bob).await;
    receiver.wait_for(1).await;
    // Files need threads, which no lookup holds.
    let upload = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": "aGk=" });
    let file = ada.post(&format!("/tasks/{task}/files/json"), upload).await.text("fileId");
    assert_eq!(bob.get(&format!("/files/{file}")).await.bytes, "hi");
    let mut silent = futures_util::future::join_all(silent).await;
    let unresolved = silent.remove(0).unwrap();
    let error =
        eventually(async || deliveries(&unresolved).await[0]["error"].as_str().map(str::to_owned)).await;
    assert!(error.starts_with("cannot resolve the host"), "{error}");
}
