//! Whose a session is, and when it ends.

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use rstest::rstest;
use serde_json::{Value, json};

use super::{NEW, OLD, Session, messages, post, raw};
use crate::harness::{Agent, Db, Harness, eventually};

#[rstest]
#[tokio::test]
async fn a_session_belongs_to_the_key_that_began_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let session = Session::begin(&ada, json!({})).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(session.send(&ping).await.status, 200);

    session.send_as(&bob, &ping).await.refused(403, "foreign_session");
    let stolen = Session { agent: bob.clone(), id: session.id.clone() };
    stolen.plain("GET").await.refused(403, "foreign_session");
    stolen.plain("DELETE").await.refused(403, "foreign_session");
    let nobody = Agent { key: "tdm_nobody".into(), ..bob.clone() };
    session.send_as(&nobody, &ping).await.refused(401, "unauthorized");

    let unknown = Session { agent: ada.clone(), id: "unknown".into() };
    for reply in [unknown.send(&ping).await, unknown.plain("GET").await, unknown.plain("DELETE").await] {
        reply.refused(404, "not_found");
    }
    assert_eq!(session.plain("DELETE").await.status, 200);
    session.send(&ping).await.refused(404, "not_found");
}

#[rstest]
#[tokio::test]
async fn sessions_end_with_their_key(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let session = Session::begin(&ada, json!({})).await;
    let mut stream = session.stream().await;
    let (words, data) = ada.told("rotate_api_key", json!({ "confirm": true })).await;
    let key = data["apiKey"].as_str().unwrap().to_owned();
    assert!(words.contains(&key));
    while stream.next().await.is_some() {}
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    session.send(&ping).await.refused(401, "unauthorized");
    let renewed = Agent { key, ..ada };
    session.send_as(&renewed, &ping).await.refused(404, "not_found");
    assert_eq!(hub.sessions.count(), 0);
}

/// The new key must arrive: nobody else has it.
#[tokio::test]
async fn a_session_that_ends_itself_is_answered_first() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_register_max = 0).await;
    for _ in 0..30 {
        let ada = hub.agent("Ada").await;
        let session = Session::begin(&ada, json!({})).await;
        let rotated = session
            .ask("tools/call", json!({ "name": "rotate_api_key", "arguments": { "confirm": true } }))
            .await;
        let key =
            rotated["result"]["structuredContent"]["apiKey"].as_str().unwrap_or_else(|| panic!("{rotated}"));
        let renewed = Agent { key: key.to_owned(), ..ada };
        let session = Session::begin(&renewed, json!({})).await;
        let gone = session
            .ask("tools/call", json!({ "name": "delete_account", "arguments": { "confirm": true } }))
            .await;
        assert_eq!(gone["result"]["structuredContent"]["deleted"], true, "{gone}");
    }
    eventually(async || (hub.sessions.worker_count().await == 0).then_some(())).await;
}

/// Whoever asks a session that ends at the same time is told to begin a new one.
#[tokio::test]
async fn a_request_that_meets_the_end_of_its_session_is_no_failure() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_max = 0).await;
    let ada = hub.agent("Ada").await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for _ in 0..100 {
        let session = Session::begin(&ada, json!({})).await;
        let (asked, ended) = tokio::join!(session.send(&ping), session.plain("DELETE"));
        assert_eq!(ended.status, 200);
        assert!([200, 404].contains(&asked.status), "{asked:?}");
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_no_session_that_nobody_knows() {
    use tokio::io::AsyncWriteExt as _;
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_max = 0).await;
    let ada = hub.agent("Ada").await;
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": OLD,
        "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } })
    .to_string();
    for _ in 0..100 {
        let mut stream = tokio::net::TcpStream::connect(ada.client.address).await.unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            ada.client.address,
            ada.key,
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
    }
    eventually(async || {
        hub.advance_ms(3_600_000);
        hub.end_idle_sessions();
        (hub.sessions.count() == 0 && hub.sessions.worker_count().await == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_session_cannot_be_entered_by_another_era() {
    let hub = Harness::start(Db::Sqlite).await;
    let (bob, eve) = (hub.agent("Bob").await, hub.agent("Eve").await);
    let session = Session::begin(&bob, json!({})).await;
    let params =
        json!({ "protocolVersion": NEW, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let headers = [("mcp-session-id", session.id.as_str()), ("mcp-protocol-version", NEW)];
    let reply = post(&eve, "/mcp", &headers, &message).await;
    assert_ne!(reply.header("mcp-session-id"), None, "{reply:?}");
    assert_ne!(reply.header("mcp-session-id"), Some(session.id.as_str()));
    assert_eq!(hub.sessions.count(), 2, "she got one of her own");
}

/// Two large requests that never come to an end must not keep others from uploading.
#[tokio::test]
async fn requests_that_do_not_come_hold_up_nobody() {
    use tokio::io::AsyncWriteExt as _;
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = tokio::net::TcpStream::connect(bob.client.address).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: 60000000\r\n\r\n{{",
            bob.client.address, bob.key
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let upload =
        json!({ "taskId": task, "filename": "a.txt", "mimeType": "text/plain", "base64Content": "YQ==" });
    ada.told("upload_file", upload).await;
}

/// Room in memory is for files; whatever else is so large is refused.
#[tokio::test]
async fn large_requests_that_are_no_uploads_are_refused() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let padding = "x".repeat(1024 * 1024);
    let params = json!({ "name": "wait_for_updates", "arguments": { "acknowledge": true }, "_meta": { "x": padding } });
    let wait = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let session = Session::begin(&ada, json!({})).await;
    session.send(&wait).await.refused(413, "too_large");
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": padding, "version": "1" },
    });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    post(&ada, "/mcp", &[], &begin).await.refused(413, "too_large");
    assert_eq!(hub.sessions.count(), 1);
}

/// However it is spelt, a session is known that was begun.
#[tokio::test]
async fn no_session_begins_unknown() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let body = r#"{ "jsonrpc": "2.0", "id": 0, "method": "initi\u0061lize", "params": { "protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }"#;
    let request = hyper::Request::builder()
        .method("POST")
        .uri("/mcp")
        .header("authorization", format!("Bearer {}", ada.key))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("host", ada.client.address.to_string());
    let reply = ada.client.raw(request.body(body.as_bytes().to_vec().into()).unwrap()).await;
    assert_eq!(reply.header("mcp-session-id").is_some(), hub.sessions.count() == 1, "{reply:?}");
    assert_eq!(hub.sessions.worker_count().await, hub.sessions.count());
}

/// Nor may such as come to a stop when they have got room in memory.
#[tokio::test]
async fn large_requests_that_stop_are_cut_off() {
    use tokio::io::AsyncWriteExt as _;
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let mut stopped = Vec::new();
    for path in ["/mcp", &format!("/tasks/{task}/files/json")] {
        let mut stream = tokio::net::TcpStream::connect(bob.client.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: 60000000\r\n\r\n",
            bob.client.address, bob.key
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&[b' '; 1_100_000]).await.unwrap();
        stopped.push(stream);
    }
    let large = "YWFh".repeat(400_000);
    let upload =
        json!({ "taskId": task, "filename": "a.txt", "mimeType": "text/plain", "base64Content": large });
    ada.told("upload_file", upload).await;
}

#[tokio::test]
async fn sessions_that_nobody_uses_are_collected() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let idle = Session::begin(&ada, json!({})).await;
    let read = Session::begin(&ada, json!({})).await;
    let stream = read.stream().await;
    hub.advance_ms(1_799_999);
    hub.end_idle_sessions();
    assert_eq!(hub.sessions.count(), 2);
    hub.advance_ms(1);
    hub.end_idle_sessions();
    assert_eq!(hub.sessions.count(), 1, "one whose stream is read stays");
    idle.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await.refused(404, "not_found");
    drop(stream);
    eventually(async || {
        hub.end_idle_sessions();
        (hub.sessions.count() == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_thirty_third_session_takes_the_place_of_the_one_used_longest_ago() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_max = 0).await;
    let ada = hub.agent("Ada").await;
    let mut sessions = Vec::new();
    for _ in 0..32 {
        sessions.push(Session::begin(&ada, json!({})).await);
        hub.advance_ms(1);
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    sessions[0].send(&ping).await.ok_or_stream();
    hub.advance_ms(1);
    Session::begin(&ada, json!({})).await;
    assert_eq!(hub.sessions.count(), 32);
    sessions[0].send(&ping).await.ok_or_stream();
    sessions[1].send(&ping).await.refused(404, "not_found");
}

impl crate::harness::Reply {
    fn ok_or_stream(&self) {
        assert_eq!(self.status, 200, "{self:?}");
    }
}

#[tokio::test]
async fn host_and_origin_are_checked() {
    let hub = Harness::start_with(Db::Sqlite, |config| {
        config.public_url = Some("https://hub.example.com".into());
        config.mcp_hosts = "inside.example, other.example:8080".into();
    })
    .await;
    let ada = hub.agent("Ada").await;
    let discover = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    let new = [("mcp-protocol-version", NEW), ("mcp-method", "server/discover")];
    let with =
        async |more: &[(&str, &str)]| post(&ada, "/mcp", &[&new[..], more].concat(), &discover).await.status;
    for host in [
        "hub.example.com",
        "localhost:3000",
        "127.0.0.1",
        "[::1]:3000",
        "inside.example",
        "other.example:8080",
    ] {
        assert_eq!(with(&[("host", host)]).await, 200, "{host}");
    }
    for host in ["evil.example", "other.example", "hub.example.com.evil.example"] {
        assert_eq!(with(&[("host", host)]).await, 403, "{host}");
    }
    for origin in [
        "https://hub.example.com",
        "http://localhost:5173",
        "http://127.0.0.1:80",
        "https://inside.example",
        "http://inside.example",
        "http://other.example:8080",
    ] {
        assert_eq!(with(&[("origin", origin)]).await, 200, "{origin}");
    }
    let session = Session::begin(&ada, json!({})).await;
    for origin in [
        "http://evil.example",
        "http://hub.example.com",
        "null",
        "https://hub.example.com:444",
        "https://other.example",
    ] {
        assert_eq!(with(&[("origin", origin)]).await, 403, "{origin}");
        session.plain_with("DELETE", &[("origin", origin)]).await.refused(403, "foreign_host");
    }
    assert_eq!(session.plain("DELETE").await.ok(200), json!({ "ended": true }));
    session.plain("DELETE").await.refused(404, "not_found");
}

#[tokio::test]
async fn a_session_that_is_ended_answers_what_it_was_asked() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    let wait = json!({ "name": "wait_for_updates", "arguments": {} });
    let (waited, task) = tokio::join!(session.ask("tools/call", wait), async {
        eventually(async || hub.reach(&bob.id.parse().unwrap()).is_some().then_some(())).await;
        session.plain_with("DELETE", &[("host", "no host")]).await.refused(400, "validation");
        session.plain("DELETE").await.ok(200);
        ada.task(&bob).await
    });
    assert_eq!(waited["result"]["structuredContent"]["pendingTasks"][0]["id"], task.as_str(), "{waited}");
}

#[tokio::test]
async fn an_id_belongs_to_one_unanswered_request() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let session = Session::begin(&bob, json!({})).await;
    let wait = json!({ "name": "wait_for_updates", "arguments": { "acknowledge": true } });
    let (waited, ()) = tokio::join!(session.ask("tools/call", wait), async {
        eventually(async || hub.reach(&bob.id.parse().unwrap()).is_some().then_some(())).await;
        let refused = session.ask("ping", json!({})).await;
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        ada.task(&bob).await;
    });
    assert_eq!(waited["result"]["isError"], false, "{waited}");
    assert_eq!(session.ask("ping", json!({})).await["result"], json!({}), "it is free again");
}

#[tokio::test]
async fn what_is_no_message_is_refused() {
    let hub = Harness::start(Db::Sqlite).await;
    let ada = hub.agent("Ada").await;
    let session = Session::begin(&ada, json!({})).await;
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for body in
        ["", "{", "[]", "null", "\"text\"", &deep, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}"]
    {
        for key in ["mcp-session-id", "x-none"] {
            let request = hyper::Request::builder()
                .method("POST")
                .uri("/mcp")
                .header("host", ada.client.address.to_string())
                .header("authorization", format!("Bearer {}", ada.key))
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header(key, &session.id)
                .body(http_body_util::Full::new(hyper::body::Bytes::copy_from_slice(body.as_bytes())))
                .unwrap();
            let reply = ada.client.raw(request).await;
            assert!((400..500).contains(&reply.status), "{body}: {reply:?}");
            let told = reply.json();
            assert!(told["code"].is_string() || told["error"]["code"].is_i64(), "{body}: {told}");
        }
    }
    let unknown = session.ask("no/such/method", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    let old = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let version = [("mcp-session-id", session.id.as_str()), ("mcp-protocol-version", "1999-01-01")];
    assert_eq!(post(&ada, "/mcp", &version, &old).await.status, 400);
    // Without a session, only a beginning or the new era is understood.
    assert_eq!(post(&ada, "/mcp", &[("mcp-protocol-version", OLD)], &old).await.status, 400);
    let mismatch = [("mcp-protocol-version", NEW), ("mcp-method", "tools/list")];
    let reply = post(
        &ada,
        "/mcp",
        &mismatch,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover",
        "params": { "_meta": { "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {} } } }),
    )
    .await;
    assert_eq!((reply.status, messages(&reply)[0]["error"]["code"].clone()), (400, json!(-32020)));
}

/// What is no message gets an error of JSON-RPC, with and without a session.
#[tokio::test]
async fn broken_messages_are_refused_as_json_rpc_says() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let session = Session::begin(&bob, json!({})).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let batch = format!("[{ping},{ping}]");
    for (body, code) in [
        ("{", -32700),
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("", -32700),
        (batch.as_str(), -32600),
        ("[]", -32600),
        ("\"hello\"", -32600),
        ("{\"id\":7}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", -32600),
    ] {
        let headers: [&[(&str, &str)]; 2] = [&[], &[("mcp-session-id", &session.id)]];
        for headers in headers {
            let refused = raw(&bob, "/mcp", headers, Bytes::from(body.to_owned())).await;
            assert_eq!(refused.status, 400, "{body}: {refused:?}");
            let said = refused.json();
            assert_eq!((&said["jsonrpc"], &said["id"]), (&json!("2.0"), &Value::Null), "{said}");
            assert_eq!(said["error"]["code"], code, "{body}: {said}");
        }
    }
    // Other content is refused before anybody looks for JSON in it.
    let request = Request::post("/mcp").header("authorization", format!("Bearer {}", bob.key));
    let request = request
        .header("host", bob.client.address.to_string())
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "text/plain");
    let text = bob.client.raw(request.body(Full::new(Bytes::from("hello"))).unwrap()).await;
    text.refused(415, "unsupported_media_type");
    let put = session.plain("PUT").await;
    put.refused(405, "method_not_allowed");
    assert!(put.header("allow").unwrap().contains("POST"), "{put:?}");
}
