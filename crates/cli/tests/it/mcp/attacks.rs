//! Clients that hang up, abandon and lie: what they leave behind, and what others notice of it.

use futures_util::future::join_all;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{NEW, OLD, Session, post};
use crate::harness::{Agent, Db, Harness, eventually};

/// The head of a request in a session.
fn head(session: &Session, method: &str, more: &str) -> String {
    format!(
        "{method} /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nmcp-session-id: {}\r\n\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n{more}\r\n",
        session.agent.client.address, session.agent.key, session.id
    )
}

/// Sends a request and does not wait for anything.
async fn cast(session: &Session, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(session.agent.client.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// Waits until nothing of the requests of a hub is left: no connection, no memory, no session.
async fn is_empty(hub: &Harness) {
    eventually(async || {
        hub.advance_ms(3_600_000);
        hub.end_idle_sessions();
        let sessions = hub.sessions.count() + hub.sessions.worker_count().await;
        (sessions == 0 && hub.hub.metrics.connections.get() == 0 && hub.hub.budget.used() == 0).then_some(())
    })
    .await;
}

fn unlimited(config: &mut tandem_hub::Config) {
    config.rate_limit_max = 0;
}

/// Streams that are opened and left at once, some of them at the same time, leave the session as it was.
#[tokio::test]
async fn streams_that_are_left_while_they_open_keep_nobody_from_the_next() {
    let hub = Harness::start_with(Db::Sqlite, unlimited).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    session.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    for _ in 0..20 {
        let open = head(&session, "GET", "");
        let opened = join_all((0..4).map(|_| cast(&session, &open))).await;
        drop(opened);
    }
    let mut stream = session.stream().await;
    ada.task(&bob).await;
    assert_eq!(stream.next().await.unwrap()["method"], "notifications/resources/updated");
    drop(stream);
    eventually(async || hub.reach(&bob.id.parse().unwrap()).is_none().then_some(())).await;
    drop(session);
    is_empty(&hub).await;
}

/// Requests of every kind whose clients hang up before, during and after the answer.
#[tokio::test]
async fn clients_that_hang_up_leave_nothing() {
    let hub = Harness::start_with(Db::Sqlite, unlimited).await;
    let (ada, bob) = hub.pair().await;
    ada.task(&bob).await;
    for number in 0..10 {
        let session = Session::begin(&bob, json!({ "sampling": {} })).await;
        let stream = session.stream().await;
        for (id, body) in [
            json!({ "method": "tools/call", "params": { "name": "get_inbox", "arguments": {} } }),
            json!({ "method": "tools/call", "params": { "name": "no_such_tool", "arguments": {} } }),
            json!({ "method": "resources/read", "params": { "uri": "tandem://inbox" } }),
            json!({ "method": "tools/list" }),
        ]
        .into_iter()
        .enumerate()
        {
            let mut message = body;
            (message["jsonrpc"], message["id"]) = (json!("2.0"), json!(id));
            let body = message.to_string();
            let text =
                format!("{}{body}", head(&session, "POST", &format!("content-length: {}\r\n", body.len())));
            // Before the body is there, when it is there, and when the answer begins.
            drop(cast(&session, &text[..text.len() - 5]).await);
            drop(cast(&session, &text).await);
            let mut asked = cast(&session, &text.replace("\"id\":", "\"id\":1")).await;
            let _ = asked.read(&mut [0; 16]).await.unwrap();
        }
        drop(stream);
        if number % 2 == 0 {
            session.plain("DELETE").await.ok(200);
        }
    }
    is_empty(&hub).await;
}

/// Sessions that nobody comes back to: some without the end of the handshake, some with an open request.
#[tokio::test]
async fn abandoned_sessions_take_no_room_from_others() {
    let hub = Harness::start_with(Db::Sqlite, unlimited).await;
    let (ada, bob) = hub.pair().await;
    let params =
        json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let begun = join_all((0..200).map(|_| post(&bob, "/mcp", &[], &begin))).await;
    assert!(begun.iter().all(|reply| [200, 429, 503].contains(&reply.status)));
    assert!(hub.sessions.count() <= 32, "{}", hub.sessions.count());
    eventually(async || (hub.sessions.worker_count().await == hub.sessions.count()).then_some(())).await;
    // Bob can still begin one, and Ada has her own.
    for agent in [&bob, &ada] {
        let session = Session::begin(agent, json!({})).await;
        let called = session.ask("tools/call", json!({ "name": "get_inbox", "arguments": {} })).await;
        assert_eq!(called["result"]["isError"], false, "{called}");
    }
    is_empty(&hub).await;
}

#[tokio::test]
async fn a_session_does_not_believe_what_a_client_says_of_it() {
    let hub = Harness::start(Db::Sqlite).await;
    let (bob, eve) = (hub.agent("Bob").await, hub.agent("Eve").await);
    let session = Session::begin(&bob, json!({})).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    // Ids that are none, and two of them, of which the first counts.
    for id in ["none", "", "../x", &"x".repeat(8_000)] {
        post(&bob, "/mcp", &[("mcp-session-id", id)], &ping).await.refused(404, "not_found");
    }
    let two = [("mcp-session-id", "none"), ("mcp-session-id", session.id.as_str())];
    post(&bob, "/mcp", &two, &ping).await.refused(404, "not_found");
    post(&eve, "/mcp", &[two[1], two[0]], &ping).await.refused(403, "foreign_session");
    // Revisions that do not exist, or have no sessions.
    for (version, statuses) in
        [("1999-01-01", [400, 400, 400]), (NEW, [400, 405, 404]), ("x", [400, 400, 404])]
    {
        let headers = [("mcp-session-id", session.id.as_str()), ("mcp-protocol-version", version)];
        let posted = post(&bob, "/mcp", &headers, &ping).await.status;
        let [got, deleted] = [
            session.plain_with("GET", &headers[1..]).await,
            session.plain_with("DELETE", &headers[1..]).await,
        ]
        .map(|reply| reply.status);
        assert_eq!([posted, got, deleted], statuses, "{version}");
    }
    // Streams to go on with that never were.
    for id in ["x", "99999999999999999999", "7/7", "0/x", "-1", "/"] {
        let headers = [("last-event-id", id)];
        let reply = session.plain_with("GET", &headers);
        let reply = tokio::time::timeout(std::time::Duration::from_millis(200), reply).await;
        assert!(reply.is_err() || reply.is_ok_and(|reply| reply.status == 200), "{id}");
    }
    assert_eq!(session.send(&ping).await.status, 200, "it goes on for whom it belongs to");
    assert_eq!(hub.sessions.count(), 1);
}

/// Origins beside each other do not make a strange one known.
#[tokio::test]
async fn every_origin_of_a_request_is_checked() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let session = Session::begin(&bob, json!({})).await;
    let (known, strange) = (("origin", "http://localhost:5173"), ("origin", "http://evil.example"));
    for origins in [[known, strange], [strange, known]] {
        session.plain_with("DELETE", &origins).await.refused(403, "foreign_host");
    }
    for origin in
        ["", "http://", "localhost", "file:///", "http://localhost.evil.example", "https://localhost"]
    {
        session.plain_with("GET", &[("origin", origin)]).await.refused(403, "foreign_host");
    }
    assert_eq!(session.plain_with("DELETE", &[known]).await.status, 200);
}

/// A key that ends while a request comes in does nothing more, in both eras.
#[rstest]
#[tokio::test]
async fn a_key_that_ends_within_a_request_does_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let session = Session::begin(&bob, json!({})).await;
    let arguments = json!({ "taskId": task, "content": "too late" });
    let mut params = json!({ "name": "send_message", "arguments": arguments });
    let old = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {} });
    let new = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let version =
        format!("mcp-protocol-version: {NEW}\r\nmcp-method: tools/call\r\nmcp-name: send_message\r\n");
    let mut begun = Vec::new();
    for (body, more) in [(old, String::new()), (new, version)] {
        let more = format!("{more}connection: close\r\ncontent-length: {}\r\n", body.len());
        let (first, rest) = body.split_at(body.len() / 2);
        let stream = cast(&session, &format!("{}{first}", head(&session, "POST", &more))).await;
        begun.push((stream, rest.to_owned()));
    }
    let stream = session.stream().await;
    bob.post_empty("/agents/me/rotate-key").await.ok(200);
    for (mut stream, rest) in begun {
        let _ = stream.write_all(rest.as_bytes()).await;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200), json!([]));
    drop(stream);
    is_empty(&hub).await;
}

/// Streams that open while the key ends do not outlive it.
#[tokio::test]
async fn no_stream_outlives_its_key() {
    let hub = Harness::start_with(Db::Sqlite, unlimited).await;
    let mut bob = hub.agent("Bob").await;
    for _ in 0..15 {
        let session = Session::begin(&bob, json!({})).await;
        let (stream, rotated) = tokio::join!(session.try_stream(), bob.post_empty("/agents/me/rotate-key"));
        let key = rotated.text("apiKey");
        if let Some(mut stream) = stream {
            while stream.next().await.is_some() {}
        }
        bob = Agent { key, ..bob };
    }
    eventually(async || hub.reach(&bob.id.parse().unwrap()).is_none().then_some(())).await;
    is_empty(&hub).await;
}

/// A client that does not take part any more holds up neither another session of its agent nor another agent.
#[tokio::test]
async fn a_stream_that_is_not_read_holds_up_nobody() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        unlimited(config);
        config.max_messages_per_minute = 0;
    })
    .await;
    let (ada, bob) = hub.pair().await;
    let deaf = Session::begin(&bob, json!({ "sampling": {} })).await;
    deaf.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    let _unread = cast(&deaf, &head(&deaf, "GET", "")).await;
    eventually(async || hub.reach(&bob.id.parse().unwrap()).map(drop)).await;
    let heard = Session::begin(&bob, json!({})).await;
    heard.ask("resources/subscribe", json!({ "uri": "tandem://inbox" })).await;
    let mut stream = heard.stream().await;
    for _ in 0..30 {
        let task: Value = json!({ "title": "x", "description": "long ".repeat(2_000) });
        ada.task_with(&bob, task).await;
        assert_eq!(stream.next().await.unwrap()["method"], "notifications/resources/updated");
    }
    for session in [&deaf, &heard] {
        let called = session.ask("tools/call", json!({ "name": "get_inbox", "arguments": {} })).await;
        assert_eq!(called["result"]["isError"], false, "{called}");
    }
}
