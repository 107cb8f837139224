//! The memory budget: its bounds, and what draws from it.

use std::time::Duration;

use futures_util::SinkExt as _;
use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::json;
use tandem_core::AgentId;
use tandem_hub::budget::Exhausted;
use tandem_hub::{Address, Budget, Holder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{Db, Harness, eventually};

fn address(text: &str) -> Address {
    Address::new(text.parse().unwrap())
}

fn agent(name: &str) -> Holder {
    Holder::Agent(name.parse::<AgentId>().unwrap())
}

#[test]
fn each_bound_holds_at_its_edge_and_everything_is_given_back() {
    let budget = Budget::new(800);
    let (one, two) = (address("10.0.0.1"), address("10.0.0.2"));

    // Clients without a key have an eighth, and the first of them half of that.
    assert_eq!(budget.hold(&one, 51).unwrap_err(), Exhausted::Share);
    let first = budget.hold(&one, 50).unwrap();
    assert_eq!(budget.hold(&two, 26).unwrap_err(), Exhausted::Hub, "half of what the first one leaves");
    let guests = (first, budget.hold(&two, 25).unwrap());
    // Idle connections have three eighths. Those of a proxy belong to many clients.
    let of_one = || Holder::Connections(Some(one.key.clone()));
    assert_eq!(budget.hold(of_one(), 151).unwrap_err(), Exhausted::Share);
    let idle = budget.hold(of_one(), 100).unwrap();
    assert_eq!(budget.hold(Holder::Connections(None), 201).unwrap_err(), Exhausted::Hub);
    let proxied = budget.hold(Holder::Connections(None), 200).unwrap();
    // Agents have the other half.
    let mut ada = budget.hold(agent("ada"), 199).unwrap();
    assert_eq!(ada.grow(2).unwrap_err(), Exhausted::Share);
    ada.grow(1).unwrap();
    let bob = budget.hold(agent("bob"), 100).unwrap();
    assert_eq!(budget.hold(agent("cat"), 51).unwrap_err(), Exhausted::Hub);
    let cat = budget.hold(agent("cat"), 50).unwrap();

    drop((guests, idle, proxied, bob));
    ada.shrink_to(10);
    assert_eq!(budget.used(), 60);
    let tied = ada.tie(vec![1, 2, 3]);
    let part = tied.slice(1..2);
    drop((tied, cat));
    assert_eq!(budget.used(), 10, "a part keeps the whole");
    drop(part);
    assert_eq!(budget.used(), 0);
}

/// However many clients hold as much as they can, there is something left for one more.
#[test]
fn there_is_always_something_left() {
    let budget = Budget::new(160_000_000);
    let mut held = Vec::new();
    for number in 0..9 {
        let mut all = budget.hold(agent(&format!("greedy-{number}")), 0).unwrap();
        while all.grow(10_000).is_ok() {}
        held.push(all);
    }
    budget.hold(agent("modest"), 16_000).unwrap();
}

#[test]
fn a_refused_growth_changes_nothing() {
    let budget = Budget::new(160);
    let mut held = budget.hold(&address("::1"), 3).unwrap();
    assert!(held.grow_to(20).is_err());
    assert_eq!(budget.used(), 3);
    held.grow_to(5).unwrap();
    held.grow_to(1).unwrap();
    assert_eq!(budget.used(), 5);
}

async fn open(hub: &Harness) -> TcpStream {
    TcpStream::connect(hub.client.address).await.unwrap()
}

/// What the hub sends until it closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    String::from_utf8(answer).unwrap()
}

fn assert_refused(answer: &str, status: &str, code: &str) {
    let head = answer.to_lowercase();
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(answer.contains(&format!("\"code\":\"{code}\"")), "{answer}");
    for header in ["api-version: v1", "x-request-id: "] {
        assert!(head.contains(header), "{header} is missing: {answer}");
    }
    assert_eq!(head.contains("retry-after: "), ["429", "503"].contains(&status), "{answer}");
}

#[tokio::test]
async fn connections_without_a_slot_are_refused_at_once() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.max_connections = 6).await;
    let mut idle = vec![open(&hub).await, open(&hub).await, open(&hub).await];
    // The hub has accepted them when it answers on the last one.
    idle[2].write_all(b"GET /health HTTP/1.1\r\nhost: hub\r\n\r\n").await.unwrap();
    idle[2].readable().await.unwrap();
    assert_refused(&rest(&mut open(&hub).await).await, "429", "rate_limited");
    drop(idle);
    eventually(async || {
        let mut again = open(&hub).await;
        again.write_all(b"GET /health HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n").await.ok()?;
        rest(&mut again).await.starts_with("HTTP/1.1 200").then_some(())
    })
    .await;

    let all = Harness::start_with(Db::Sqlite, |config| {
        (config.max_connections, config.max_connections_per_address) = (2, 2);
    })
    .await;
    let mut idle = [open(&all).await, open(&all).await];
    idle[1].write_all(b"GET /health HTTP/1.1\r\nhost: hub\r\n\r\n").await.unwrap();
    idle[1].readable().await.unwrap();
    assert_refused(&rest(&mut open(&all).await).await, "503", "unavailable");
}

/// A WebSocket keeps the slot of its connection, and its frames are no request heads.
#[tokio::test]
async fn a_socket_keeps_its_slot_and_may_send_a_lot() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        (config.max_connections, config.max_connections_per_address) = (2, 2);
    })
    .await;
    let (ada, bob) = hub.pair().await;
    let mut socket = ada.socket("").await;
    for _ in 0..20 {
        socket.0.send(Message::Text("x".repeat(10_000).into())).await.unwrap();
    }
    bob.task(&ada).await;
    assert_eq!(socket.next().await.unwrap()["type"], "task.created");
    // The connection of the last request may be closing.
    let _other = eventually(async || {
        let mut other = open(&hub).await;
        other.write_all(b"GET /health HTTP/1.1\r\nhost: hub\r\n\r\n").await.ok()?;
        let mut status = [0; 12];
        other.read_exact(&mut status).await.ok()?;
        (&status == b"HTTP/1.1 200").then_some(other)
    })
    .await;
    assert_refused(&rest(&mut open(&hub).await).await, "503", "unavailable");
}

#[rstest]
#[tokio::test]
async fn a_form_may_not_hide_text_before_its_field(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    for before in [
        format!("--b\r\nx-large: {}\r\n", "x".repeat(200_000)),
        format!("{}\r\n--b\r\n", "x".repeat(200_000)),
    ] {
        let form = format!(
            "{before}Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
             Content-Type: text/plain\r\n\r\nhello\r\n--b--\r\n"
        );
        let request = Request::post(format!("/tasks/{task}/files"))
            .header("authorization", format!("Bearer {}", ada.key))
            .header("content-type", "multipart/form-data; boundary=b")
            .body(Full::from(form))
            .unwrap();
        let refused = ada.client.raw(request).await.refused(400, "validation");
        assert!(refused["error"].as_str().unwrap().contains("before a field"), "{refused}");
    }
}

/// Bytes that are still arriving at a node take disk space, so they count against the quota.
#[rstest]
#[tokio::test]
async fn uploads_in_progress_count_against_the_quota(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.file_quota_mb = 1).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let node = hub.nodes[0].client.address;
    let begin = format!(
        "POST /tasks/{task}/files HTTP/1.1\r\nhost: hub\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
         content-type: multipart/form-data; boundary=b\r\ncontent-length: 900000\r\n\r\n--b\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n",
        ada.key
    );
    let mut first = TcpStream::connect(node).await.unwrap();
    first.write_all(begin.as_bytes()).await.unwrap();
    first.write_all(&vec![b'x'; 600_000]).await.unwrap();
    // Whichever of the two comes last is refused, although neither is complete.
    let mut second = TcpStream::connect(node).await.unwrap();
    second.write_all(begin.as_bytes()).await.unwrap();
    second.write_all(&vec![b'x'; 600_000]).await.unwrap();
    let (mut one, mut two) = ([0; 12], [0; 12]);
    let refused = async {
        tokio::select! {
            read = first.read_exact(&mut one) => { read.unwrap(); one }
            read = second.read_exact(&mut two) => { read.unwrap(); two }
        }
    };
    assert_eq!(&timeout(Duration::from_secs(20), refused).await.unwrap(), b"HTTP/1.1 413");
    drop((first, second));
    let small = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": "aGVsbG8=" });
    eventually(async || {
        (ada.post(&format!("/tasks/{task}/files/json"), small.clone()).await.status == 201).then_some(())
    })
    .await;
}

#[tokio::test]
async fn invented_methods_are_one_label() {
    let hub = Harness::start(Db::Sqlite).await;
    for number in 0..3 {
        let method = hyper::Method::from_bytes(format!("METHOD{number}").as_bytes()).unwrap();
        let request = Request::builder().method(method).uri("/tasks").body(Full::default()).unwrap();
        hub.client.raw(request).await.refused(405, "method_not_allowed");
    }
    let page = hub.client.send("GET", "/metrics", None, None).await;
    let page = String::from_utf8(page.bytes.to_vec()).unwrap();
    assert!(page.contains("method=\"other\"") && !page.contains("METHOD"), "{page}");
}

/// One connection, many requests whose head and body come in one piece: a body is not part of the head.
#[tokio::test]
async fn large_bodies_follow_each_other_on_one_connection() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let body = json!({ "content": "x".repeat(200_000) }).to_string();
    let request = format!(
        "\r\nPOST /tasks/{task}/messages HTTP/1.1\r\nhost: hub\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        ada.key,
        body.len()
    );
    let mut stream = open(&hub).await;
    for number in 0..8 {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8(answer).unwrap(), "HTTP/1.1 201", "request {number}");
        let mut rest = Vec::new();
        while !rest.ends_with(b"}") {
            stream.read_buf(&mut rest).await.unwrap();
        }
    }
}

/// A head of 20 KB is accepted; the connection is closed after it, because its buffer would stay large.
#[tokio::test]
async fn a_large_head_ends_its_connection() {
    let hub = Harness::start(Db::Sqlite).await;
    let head = format!("GET /health HTTP/1.1\r\nhost: hub\r\nx-large: {}\r\n\r\n", "x".repeat(20_000));
    let mut stream = open(&hub).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200"));
    eventually(async || (hub.hub.budget.used() == 0).then_some(())).await;
}

/// The connections of one address leave room for others. Those of a proxy belong to many clients.
#[rstest]
#[tokio::test]
async fn a_proxy_is_not_an_address(#[values(false, true)] proxy: bool) {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        config.max_connections = 6;
        if proxy {
            config.trusted_proxies = "127.0.0.0/8".to_owned().try_into().unwrap();
        }
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..4 {
        idle.push(open(&hub).await);
    }
    let last = idle.last_mut().unwrap();
    last.write_all(b"GET /health HTTP/1.1\r\nhost: hub\r\nconnection: close\r\n\r\n").await.unwrap();
    let expected = if proxy { "HTTP/1.1 200" } else { "HTTP/1.1 429" };
    assert!(rest(last).await.starts_with(expected));
}

/// A repetition of an upload does not need room for its file, and base64 counts as the file that it holds.
#[rstest]
#[tokio::test]
async fn an_upload_that_fits_the_quota_is_not_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.file_quota_mb = 3).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let base64 = "eHh4".repeat(2_900_000 / 3);
    let file = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": base64 });
    let upload = || {
        let request = Request::post(format!("/tasks/{task}/files/json"))
            .header("authorization", format!("Bearer {}", ada.key))
            .header("content-type", "application/json")
            .header("idempotency-key", "k")
            .body(Full::from(file.to_string()))
            .unwrap();
        ada.client.raw(request)
    };
    let first = upload().await.ok(201);
    let again = upload().await;
    assert_eq!((again.ok(201), again.header("idempotent-replayed")), (first, Some("true")));
    ada.post(&format!("/tasks/{task}/files/json"), file).await.refused(413, "file_quota");
}

/// What was written is answered, even if the client has read nothing for a while; its next requests are refused.
#[tokio::test]
async fn a_write_is_answered_although_the_share_is_used_up() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.memory_budget_mb = 160).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "description": "x".repeat(250_000) })).await;
    let by: AgentId = bob.id.parse().unwrap();
    let share = hub.hub.config.budget_bytes() / 4; // Half of the agents' half.
    // The hub gives back what it held for a response shortly after the client has read it.
    let only = async |bytes| eventually(async || (hub.hub.budget.used() == bytes).then_some(())).await;
    only(0).await;
    // There is room for the request, but not for its response.
    let held = share - 100_000;
    let _held = hub.hub.budget.hold(Holder::Agent(by), held).unwrap();
    bob.patch(&format!("/tasks/{task}"), json!({ "status": "working" })).await.ok(200);
    only(held).await;
    bob.get(&format!("/tasks/{task}")).await.refused(429, "rate_limited");
    let refused = bob.post_empty(&format!("/tasks/{task}/read")).await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    only(held).await;
    bob.get("/agents/me").await.ok(200);
}
