//! A key that ends while a request is under way: what the request asks for must not happen any more.

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::disconnect::receiver;
use super::picture::Picture;
use super::{Era, Operation, Prepared, answer, each, operations};
use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness, Held, PATIENCE, eventually};

/// How a key ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyEnd {
    Rotated,
    Suspended,
    Deleted,
}

/// Nobody's key, and the operator's.
const NO_AGENT: [&str; 3] = ["POST /agents", "PATCH /admin/agents/{id}", "POST /admin/setup-link"];

impl KeyEnd {
    const ALL: [Self; 3] = [Self::Rotated, Self::Suspended, Self::Deleted];

    async fn apply(self, agent: &Agent) {
        match self {
            Self::Rotated => drop(agent.post_empty("/agents/me/rotate-key").await.ok(200)),
            Self::Suspended => {
                let (path, body) = (format!("/admin/agents/{}", agent.id), json!({ "suspended": true }));
                agent.client.send("PATCH", &path, Some(ADMIN_TOKEN), Some(body)).await.ok(200);
            }
            Self::Deleted => drop(agent.delete("/agents/me").await.ok(200)),
        }
    }

    /// How whoever still uses the key is answered.
    fn refusal(self) -> (u16, &'static str) {
        match self {
            Self::Rotated | Self::Deleted => (401, "unauthorized"),
            Self::Suspended => (403, "suspended"),
        }
    }
}

/// A request of which the head and half of the body have been sent.
struct Half {
    stream: TcpStream,
    rest: Vec<u8>,
}

/// Sends the head, waits until the hub has let the request in and wants its body, and sends half of that.
async fn send_half(prepared: &Prepared) -> Half {
    // A request without a body may have an empty one.
    let body = prepared.body.clone().unwrap_or_else(|| b"{}".to_vec());
    let (head, body) = prepared.bytes_with("connection: close\r\nexpect: 100-continue\r\n", Some(body));
    let mut stream = TcpStream::connect(prepared.address).await.unwrap();
    stream.write_all(&head).await.unwrap();
    let mut begun = [0; 25];
    let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut begun)).await;
    read.unwrap_or_else(|_| panic!("{}: the hub does not ask for the body", prepared.operation)).unwrap();
    assert_eq!(String::from_utf8_lossy(&begun), "HTTP/1.1 100 Continue\r\n\r\n", "{}", prepared.operation);
    let (first, rest) = body.split_at(body.len() / 2);
    stream.write_all(first).await.unwrap();
    Half { stream, rest: rest.to_vec() }
}

/// Whether a request of this kind has a body that the hub waits for. The others are over once their head is there.
fn is_slow(operation: &Operation) -> bool {
    const AT_ONCE: [&str; 2] = ["POST /agents/me/rotate-key", "POST /ws/ticket"];
    match operation {
        Operation::Route(route, _) => {
            !route.starts_with("DELETE ") && !AT_ONCE.contains(&&**route) && !NO_AGENT.contains(&&**route)
        }
        Operation::Tool(..) => true,
    }
}

/// What an answer refuses with: its status, or that of the tool's result in it.
fn refusal(status: u16, text: &str) -> (u16, String) {
    // An answer of MCP may come as a stream.
    let text = text.lines().find_map(|line| line.strip_prefix("data: {").map(|_| &line[6..])).unwrap_or(text);
    let json: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("not JSON: {status} {text}"));
    if json["result"]["isError"] != true {
        return (status, json["code"].as_str().unwrap_or(text).to_owned());
    }
    let machine: Value =
        serde_json::from_str(json["result"]["content"][1]["text"].as_str().unwrap()).unwrap();
    let status = match machine["code"].as_str() {
        Some("suspended") => 403,
        Some("unauthorized") => 401,
        _ => status,
    };
    (status, machine["code"].as_str().unwrap().to_owned())
}

/// A hub with one writer, so that requests are handled in the order in which they come.
async fn start(db: Db) -> Harness {
    let set = |config: &mut tandem_hub::Config| {
        (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
        config.database_writers = 1;
    };
    // What was sent first is done first only on one node.
    Harness::start_with(db, set).await.at_one_node()
}

/// Every request is refused as its key's end demands.
fn check_answers(all: &[(&Operation, KeyEnd)], answers: Vec<(u16, String)>) {
    let mut wrong = Vec::new();
    for ((operation, end), (status, text)) in all.iter().zip(answers) {
        let (status, code) = refusal(status, &text);
        if (status, code.as_str()) != end.refusal() {
            wrong.push(format!("{operation}, {end:?}: {status} {code}"));
        }
    }
    assert!(wrong.is_empty(), "answered wrongly: {wrong:#?}");
}

async fn prepare(hub: &Harness, all: &[(&Operation, KeyEnd)]) -> Vec<Prepared> {
    let (receiver, _) = receiver().await;
    each(all.iter().enumerate(), async |(number, (operation, _))| {
        let era = if number.is_multiple_of(2) { Era::Session } else { Era::Stateless };
        Prepared::new(hub, operation, era, format!("Scene {number}"), receiver).await
    })
    .await
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_ends_while_the_body_arrives_changes_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let operations = operations(&hub).await;
    let slow = operations.iter().filter(|operation| is_slow(operation));
    let all: Vec<_> = slow.flat_map(|operation| KeyEnd::ALL.map(|end| (operation, end))).collect();
    let scenes = prepare(&hub, &all).await;
    let halves = each(&scenes, send_half).await;
    each(scenes.iter().zip(&all), async |(scene, (_, end))| end.apply(scene.caller.as_ref().unwrap()).await)
        .await;
    hub.marks_are_written().await;
    let before = Picture::take(&hub).await;
    let answers = each(halves, async |mut half| {
        half.stream.write_all(&half.rest).await.unwrap();
        answer(&mut half.stream).await
    })
    .await;
    let after = Picture::take(&hub).await;
    check_answers(&all, answers);
    assert_eq!(before.all_changes(&after), [] as [String; 0], "nothing may change");
    after.check_counters();

    // Nobody who is gone has joined a network: a broadcast there reaches everybody who is in it.
    let joins = scenes.iter().filter(|scene| scene.operation.to_string() == "POST /networks/join");
    for ada in joins.map(|scene| &scene.agents[0]) {
        let networks = ada.get("/networks").await.ok(200);
        assert_eq!(networks[0]["memberCount"], 1, "{networks}");
        let path = format!("/networks/{}/broadcast", networks[0]["id"].as_str().unwrap());
        assert_eq!(ada.post(&path, json!({ "content": "Hear!" })).await.ok(201)["recipients"], 0);
    }
}

/// The end of the key is committed after the request was admitted and before its own transaction.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_checks_the_key_in_its_transaction(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    // These write nothing.
    const NO_WRITE: [&str; 3] = ["POST /mcp", "DELETE /mcp", "POST /ws/ticket"];
    let hub = start(db).await;
    let operations = operations(&hub).await;
    let of_agents = operations.iter().filter(|operation| {
        let name = operation.to_string();
        // Of large bodies, few are in memory at once: the others would not come to their transaction.
        !NO_AGENT.contains(&name.as_str()) && !NO_WRITE.contains(&name.as_str()) && !name.ends_with("(large)")
    });
    let all: Vec<_> = of_agents.flat_map(|operation| KeyEnd::ALL.map(|end| (operation, end))).collect();
    let scenes = prepare(&hub, &all).await;
    let held = Held::writer(&hub).await;
    let ends = scenes.iter().zip(&all).map(|(scene, (_, end))| {
        let (agent, end) = (scene.caller.clone().unwrap(), *end);
        tokio::spawn(async move { end.apply(&agent).await })
    });
    let ends: Vec<_> = ends.collect();
    held.wait_for(all.len()).await;
    let mut streams = Vec::new();
    for scene in &scenes {
        let (head, body) = scene.bytes_with("connection: close\r\n", scene.body.clone());
        let mut stream = TcpStream::connect(scene.address).await.unwrap();
        stream.write_all(&[head, body].concat()).await.unwrap();
        streams.push(stream);
    }
    held.wait_for(all.len() * 2).await;
    drop(held);
    for end in ends {
        end.await.unwrap();
    }
    let mut answers = Vec::new();
    for stream in &mut streams {
        answers.push(answer(stream).await);
    }
    check_answers(&all, answers);
    Picture::take(&hub).await.check_counters();
}

/// A ticket stands for the key that bought it, not for the one that took that key's place.
#[rstest]
#[tokio::test]
async fn a_ticket_is_not_for_a_newer_key(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.database_readers = 1).await.at_one_node();
    let bob = hub.agent("Bob").await;
    bob.get("/agents/me").await.ok(200);
    let held = Held::reader(&hub).await;
    let buyer = bob.clone();
    let buying = tokio::spawn(async move { buyer.post_empty("/ws/ticket").await });
    held.wait_for(1).await;
    bob.post_empty("/agents/me/rotate-key").await.ok(200);
    drop(held);
    buying.await.unwrap().refused(401, "unauthorized");
}

/// The ticket is used and the key rotated in one commit. What is opened with the ticket must end with the key.
#[rstest]
#[tokio::test]
async fn a_socket_that_opens_while_its_key_ends_is_closed(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values("/ws", "/events/stream")] path: &'static str,
) {
    let hub = start(db).await;
    let bob = hub.agent("Bob").await;
    let ticket = bob.post_empty("/ws/ticket").await.text("ticket");
    let held = Held::writer(&hub).await;
    let mut stream = TcpStream::connect(hub.client.address).await.unwrap();
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let headers = if path == "/ws" { upgrade } else { "connection: close\r\n" };
    let head =
        format!("GET {path}?ticket={ticket} HTTP/1.1\r\nhost: {}\r\n{headers}\r\n", hub.client.address);
    stream.write_all(head.as_bytes()).await.unwrap();
    held.wait_for(1).await;
    let rotating = bob.clone();
    let rotating = tokio::spawn(async move { rotating.post_empty("/agents/me/rotate-key").await.ok(200) });
    held.wait_for(2).await;
    drop(held);
    rotating.await.unwrap();
    let id = bob.id.parse().unwrap();
    let mut begun = [0; 12];
    stream.read_exact(&mut begun).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&begun), "HTTP/1.1 401");
    eventually(async || hub.reach(&id).is_none().then_some(())).await;
}

/// The key ends after the request was admitted and before the hub has begun to wait: nothing would end the wait.
#[rstest]
#[tokio::test]
async fn a_poll_that_begins_while_its_key_ends_does_not_wait(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.database_readers = 1).await.at_one_node();
    let bob = hub.agent("Bob").await;
    bob.get("/agents/me").await.ok(200);
    let held = Held::reader(&hub).await;
    let poller = bob.clone();
    let polling = tokio::spawn(async move { poller.get("/events?wait=60").await });
    held.wait_for(1).await;
    bob.post_empty("/agents/me/rotate-key").await.ok(200);
    drop(held);
    tokio::time::timeout(PATIENCE, polling).await.unwrap().unwrap().refused(401, "unauthorized");
}
