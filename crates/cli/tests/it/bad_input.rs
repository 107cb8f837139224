//! Whatever comes in, the answer is the contract's 4xx in its shape, and nothing is written.

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::harness::{Agent, Db, Harness, PATIENCE, Reply};

async fn raw(
    agent: &Agent,
    method: &str,
    path: &str,
    content_type: Option<&str>,
    body: impl Into<Bytes>,
) -> Reply {
    let mut request =
        Request::builder().method(method).uri(path).header("authorization", format!("Bearer {}", agent.key));
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    agent.client.raw(request.body(Full::new(body.into())).unwrap()).await
}

/// Everything that is stored, as far as its parties can see it.
async fn picture(ada: &Agent, bob: &Agent) -> Vec<Value> {
    let mut seen = Vec::new();
    for agent in [ada, bob] {
        for path in ["/agents/me", "/connections", "/tasks", "/approvals", "/updates", "/agents/me/blocks"] {
            seen.push(agent.get(path).await.ok(200));
        }
        seen.push(json!(agent.events().await));
    }
    seen
}

#[rstest]
#[tokio::test]
async fn broken_bodies_change_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let connection = ada.get("/connections").await.ok(200)[0]["id"].as_str().unwrap().to_owned();
    // The first look leaves its mark: the task has been fetched.
    picture(&ada, &bob).await;
    let before = picture(&ada, &bob).await;
    let routes = [
        ("POST", "/agents".to_owned()),
        ("PATCH", "/agents/me".to_owned()),
        ("POST", "/agents/me/block".to_owned()),
        ("POST", "/pair/connect".to_owned()),
        ("PATCH", format!("/connections/{connection}")),
        ("POST", "/tasks".to_owned()),
        ("PATCH", format!("/tasks/{task}")),
        ("POST", format!("/tasks/{task}/cancel")),
        ("POST", format!("/tasks/{task}/messages")),
        ("POST", format!("/approvals/{task}/reject")),
        ("POST", "/updates/ack".to_owned()),
        ("POST", "/events/ack".to_owned()),
    ];
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let nested =
        format!("{{\"metadata\":{}{}}}", "{\"a\":".repeat(5_000), "1".to_owned() + &"}".repeat(5_000));
    let bodies: [&[u8]; 14] = [
        b"{",
        b"}",
        b"nonsense",
        b"[]",
        b"7",
        b"null",
        b"true",
        b"\"text\"",
        b"{\"a\":1}}",
        b"{\"a\":\"\xff\xfe\"}",
        b"{\"name\":\"\\ud800\",\"title\":\"\\ud800\",\"content\":\"\\ud800\",\"reason\":\"\\ud800\",\"cursor\":\"\\ud800\",\"code\":\"\\ud800\",\"agentId\":\"\\ud800\",\"alias\":\"\\ud800\"}",
        b"{\"name\":[],\"title\":{},\"content\":[],\"reason\":[],\"cursor\":[],\"code\":[],\"agentId\":[],\"alias\":[]}",
        deep.as_bytes(),
        nested.as_bytes(),
    ];
    for (method, path) in &routes {
        for body in bodies {
            // Metadata belongs to profiles only; elsewhere it is a field nobody knows.
            if body == nested.as_bytes() && !path.starts_with("/agents") {
                continue;
            }
            let reply = raw(&ada, method, path, Some("application/json"), body.to_vec()).await;
            let refused = reply.refused(400, "validation");
            assert!(
                refused["details"].as_object().is_some_and(|details| !details.is_empty()),
                "{method} {path}: {refused}"
            );
        }
        for kind in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "nonsense"]
        {
            raw(&ada, method, path, Some(kind), "{}").await.refused(415, "unsupported_media_type");
        }
        let huge = format!("{{\"x\":\"{}\"}}", "x".repeat(1024 * 1024));
        raw(&ada, method, path, Some("application/json"), huge).await.refused(413, "too_large");
    }
    assert_eq!(picture(&ada, &bob).await, before);
    assert_eq!(hub.admin("GET", "/admin/overview").await.ok(200)["agents"], 2);
}

#[rstest]
#[tokio::test]
async fn a_body_of_exactly_one_mebibyte_is_read(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let shell = json!({ "name": "Ada 2", "x": "" }).to_string().len();
    let mut body = json!({ "name": "Ada 2", "x": "x".repeat(1024 * 1024 - shell) }).to_string();
    assert_eq!(body.len(), 1024 * 1024);
    raw(&ada, "PATCH", "/agents/me", Some("application/json"), body.clone()).await.ok(200);
    body.push(' ');
    raw(&ada, "PATCH", "/agents/me", Some("application/json"), body).await.refused(413, "too_large");
}

#[rstest]
#[tokio::test]
async fn a_body_may_be_missing_and_a_get_may_claim_one(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    raw(&ada, "POST", "/pair/generate", None, "").await.ok(201);
    raw(&ada, "POST", "/pair/generate", Some("application/json"), "").await.ok(201);
    raw(&ada, "POST", "/pair/generate", Some("application/json; charset=utf-8"), "{}").await.ok(201);
    raw(&ada, "POST", "/pair/generate", Some("text/plain"), "").await.ok(201);
    raw(&ada, "PATCH", "/agents/me", None, "{\"name\":\"Ada 2\"}").await.ok(200);
    raw(&ada, "GET", "/agents/me", Some("application/json"), "").await.ok(200);
    raw(&ada, "GET", "/tasks", Some("application/json"), "").await.ok(200);
    let refused = raw(&ada, "POST", "/tasks", None, "").await.refused(400, "validation");
    assert!(refused["details"]["targetAgentId"].is_array(), "{refused}");
}

#[rstest]
#[tokio::test]
async fn unknown_addresses_and_methods_have_the_shape_too(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    for path in [
        "/nothing",
        "/api/v1/nothing",
        "/api/v2/tasks",
        "/tasks/a/b/c",
        "/..%2f",
        "/tasks/",
        "/api/v1x/tasks",
    ] {
        ada.get(path).await.refused(404, "not_found");
    }
    for (method, path) in [
        ("PUT", "/tasks"),
        ("DELETE", "/tasks"),
        ("POST", "/agents/me"),
        ("PATCH", "/events"),
        ("TRACE", "/tasks"),
        ("ODD", "/tasks"),
    ] {
        let reply = raw(&ada, method, path, None, "").await;
        reply.refused(405, "method_not_allowed");
        assert!(reply.header("allow").is_some());
    }
}

#[rstest]
#[tokio::test]
async fn both_path_forms_are_one(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    for path in
        ["/agents/me", "//agents/me", "/api/v1/agents/me", "//api/v1/agents/me", "///api/v1//agents/me"]
    {
        assert_eq!(ada.get(path).await.ok(200)["id"], ada.id.as_str(), "{path}");
    }
    hub.client.send("GET", "/api/v1/health", None, None).await.ok(200);
    assert_eq!(hub.client.send("GET", "/api/v1", None, None).await.status, 200);
}

#[rstest]
#[tokio::test]
async fn long_targets_and_large_headers_are_turned_away(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    ada.get(&format!("/tasks?q={}", "x".repeat(9_000))).await.refused(414, "too_large");
    ada.get(&format!("/tasks/{}", "x".repeat(5_000))).await.refused(404, "not_found");
    for bytes in [40_000, 100_000, 300_000] {
        let request = Request::get("/agents/me")
            .header("authorization", format!("Bearer {}", ada.key))
            .header("x-large", "x".repeat(bytes))
            .body(Full::new(Bytes::new()))
            .unwrap();
        ada.client.raw(request).await.refused(431, "too_large");
    }
    let odd = Request::get("/agents/me")
        .header("authorization", hyper::header::HeaderValue::from_bytes(b"Bearer \xff\xfe").unwrap())
        .header("x-request-id", "bad id \t")
        .body(Full::new(Bytes::new()))
        .unwrap();
    let reply = ada.client.raw(odd).await;
    reply.refused(401, "unauthorized");
    assert!(reply.header("x-request-id").unwrap().starts_with("req_"));
    let named =
        Request::get("/health").header("x-request-id", "my.request-1").body(Full::new(Bytes::new())).unwrap();
    assert_eq!(ada.client.raw(named).await.header("x-request-id"), Some("my.request-1"));
}

/// A refusal that comes before the body was read must not cost the client its connection.
#[rstest]
#[tokio::test]
async fn a_connection_goes_on_after_an_early_refusal(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    for target in ["POST /tasks", "POST /nowhere", "PUT /tasks", "DELETE /tasks/x"] {
        let mut stream = tokio::net::TcpStream::connect(hub.client.address).await.unwrap();
        let head = format!(
            "{target} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        tokio::task::yield_now().await;
        stream.write_all(&vec![b' '; 60_000]).await.unwrap();
        stream.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut answers = String::new();
        tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answers)).await.unwrap().unwrap();
        assert_eq!(answers.matches("HTTP/1.1 4").count(), 1, "{target}: {answers}");
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{target}: {answers}");
    }
}

#[rstest]
#[tokio::test]
async fn a_body_announced_too_large_is_refused_at_once(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    for expect in ["", "expect: 100-continue\r\n"] {
        let mut stream = tokio::net::TcpStream::connect(hub.client.address).await.unwrap();
        let head = format!(
            "POST /tasks HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{expect}content-length: 99999999999\r\n\r\n",
            ada.key
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let started = std::time::Instant::now();
        tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("connection: close"), "{answer}");
        assert!(started.elapsed() < std::time::Duration::from_secs(3));
    }
    // One that is sent whole gets its answer, too.
    let huge = vec![b'x'; 30 * 1024 * 1024];
    raw(&ada, "POST", "/tasks", Some("application/json"), huge).await.refused(413, "too_large");
    let request = Request::post("/pair/generate")
        .header("authorization", format!("Bearer {}", ada.key))
        .header("content-encoding", "gzip")
        .body(Full::from("{}"))
        .unwrap();
    ada.client.raw(request).await.refused(415, "unsupported_media_type");
}

/// Sends bytes that are no HTTP at all, or not all of it, and hangs up.
#[rstest]
#[tokio::test]
async fn broken_http_harms_nobody(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let cases: [&[u8]; 6] = [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost",
        b"POST /tasks HTTP/1.1\r\ncontent-length: 100\r\n\r\n{",
        b"POST /tasks HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /tasks HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
    ];
    for bytes in cases {
        let mut stream = tokio::net::TcpStream::connect(hub.client.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // The hub may answer or hang up; it does not hang.
        let read =
            tokio::time::timeout(std::time::Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
        assert!(read.is_ok(), "{bytes:?}");
        assert!(!answer.starts_with(b"HTTP/1.1 5"), "{}", String::from_utf8_lossy(&answer));
    }
    ada.get("/agents/me").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn ids_reveal_nothing_to_who_may_not_see_them(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    for (method, path) in [
        ("POST", "/connect/%ff"),
        ("PATCH", "/connections/%ff"),
        ("POST", "/networks/%ff/leave"),
        ("POST", "/tasks/%ff/read"),
    ] {
        hub.client.send(method, path, None, Some(json!({}))).await.refused(401, "unauthorized");
        ada.client.send(method, path, Some(&ada.key), Some(json!({}))).await.refused(404, "not_found");
    }
    let (eve, task) = (hub.agent("Eve").await, ada.task(&bob).await);
    let request = Request::builder()
        .method("POST")
        .uri(format!("/tasks/{task}/files/json"))
        .header("authorization", format!("Bearer {}", eve.key))
        .header("idempotency-key", "x".repeat(300))
        .body(Full::new(Bytes::from_static(b"{}")))
        .unwrap();
    hub.client.raw(request).await.refused(404, "not_found");
}

#[rstest]
#[tokio::test]
async fn a_link_stays_on_this_host(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    ada.task(&bob).await;
    ada.task(&bob).await;
    let page = ada.get("//api/v1/tasks?limit=1").await;
    page.ok(200);
    assert!(page.header("link").unwrap().starts_with("</api/v1/tasks?"), "{page:?}");
}
