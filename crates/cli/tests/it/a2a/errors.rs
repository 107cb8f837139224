//! What is refused, and how.

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use rstest::rstest;
use serde_json::{Value, json};

use super::{BINDINGS, Binding, Calls, at_once, message};
use crate::harness::{Agent, Db, Harness, Reply};

/// A request of JSON-RPC, byte for byte.
async fn rpc(caller: &Agent, host: &Agent, body: impl Into<Bytes>) -> Reply {
    let request = Request::post(format!("/a2a/agents/{}/", host.id))
        .header("host", "hub")
        .header("a2a-version", "1.0")
        .header("authorization", format!("Bearer {}", caller.key));
    caller.client.raw(request.body(Full::new(body.into())).unwrap()).await
}

#[tokio::test]
async fn what_is_no_request_has_the_errors_of_json_rpc() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    for (body, id, code) in [
        ("", Value::Null, -32700),
        ("{\"jsonrpc\"", Value::Null, -32700),
        ("\u{7b}\"a\":\"\\ud800\"}x", Value::Null, -32700),
        ("[]", Value::Null, -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ListTasks\"}]", Value::Null, -32600),
        ("7", Value::Null, -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ListTasks\"}", json!(1), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ListTasks\"}", Value::Null, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", json!("a"), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":7}", json!("a"), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"message/send\"}", json!("a"), -32601),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ListTasks\",\"params\":[]}", json!("a"), -32602),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"GetTask\",\"params\":{\"id\":7}}", json!(1.5), -32602),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"x\"}}", json!(1), -32001),
    ] {
        let reply = rpc(&ada, &bob, body).await;
        let json = reply.ok(200);
        assert_eq!((&json["id"], &json["error"]["code"]), (&id, &json!(code)), "{body}: {json}");
    }
    let reply = rpc(&ada, &bob, vec![0xff, 0xfe]).await;
    assert_eq!(reply.ok(200)["error"]["code"], -32700);
    let fine = rpc(&ada, &bob, "{\"jsonrpc\":\"2.0\",\"method\":\"ListTasks\"}").await;
    assert_eq!(fine.ok(200)["result"]["totalSize"], 0);
}

#[rstest]
#[tokio::test]
async fn a_wrong_field_is_named(#[values(Binding::Rpc, Binding::Http)] binding: Binding) {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let calls = Calls::new(&ada, &bob, binding);
    let with = |field: &str, value: Value| {
        let mut params = at_once(message("Hello"));
        params["message"][field] = value;
        params
    };
    let mut tenant = at_once(message("Hello"));
    tenant["tenant"] = json!("agent_other");
    for (params, field) in [
        (with("messageId", json!("")), "message.messageId"),
        (with("role", json!("ROLE_AGENT")), "message.role"),
        (with("parts", json!([])), "message.parts"),
        (with("parts", json!([{ "text": "a", "data": 1 }])), "message.parts[0]"),
        (with("parts", json!([{ "raw": "no base64" }])), "message.parts[0].raw"),
        (with("contextId", json!("c".repeat(129))), "message.contextId"),
        (tenant, "tenant"),
    ] {
        let reply = calls.reply("SendMessage", params).await;
        let json = reply.json();
        let (code, details) = match binding {
            Binding::Rpc => (json!(-32602), &json["error"]["data"]),
            Binding::Http => (json!(400), &json["error"]["details"]),
        };
        assert_eq!(json["error"]["code"], code, "{json}");
        assert_eq!(details[1]["@type"], "type.googleapis.com/google.rpc.BadRequest");
        assert_eq!(details[1]["fieldViolations"][0]["field"], field, "{json}");
        assert_eq!(details[0]["metadata"]["code"], "validation");
    }
    let mut own = at_once(message("Hello"));
    own["tenant"] = json!(bob.id);
    calls.ok("SendMessage", own).await;
}

#[tokio::test]
async fn a_client_of_another_version_is_told_so() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    for binding in BINDINGS {
        let calls = Calls::new(&ada, &bob, binding);
        for version in ["", "0.3", "2.0", "1", "1.x", "10.0", "1.0.x", "1.0.0.0", "1."] {
            let refused = calls.with("a2a-version", version).refused("ListTasks", json!({})).await;
            assert_eq!(refused, "VERSION_NOT_SUPPORTED", "{version}");
        }
        for version in ["1.0", "1.1", "1.23", "1.0.7"] {
            calls.with("a2a-version", version).ok("ListTasks", json!({})).await;
        }
    }
    let path = format!("/a2a/agents/{}/tasks", bob.id);
    let reply = ada.get(&path).await;
    assert_eq!(
        (reply.status, reply.json()["error"]["details"][0]["reason"].clone()),
        (400, json!("VERSION_NOT_SUPPORTED"))
    );
    assert_eq!(ada.get(&format!("{path}?A2A-Version=1.0")).await.ok(200)["totalSize"], 0);
    // The agent once more, as a tenant.
    assert_eq!(
        ada.get(&format!("/a2a/agents/{0}/{0}/tasks?A2A-Version=1.0", bob.id)).await.ok(200)["totalSize"],
        0
    );
}

#[tokio::test]
async fn some_refusals_have_a_status_in_both_bindings() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.rate_limit_max = 20).await;
    let (ada, bob) = hub.pair().await;
    let carol = hub.agent("Carol").await;
    for binding in BINDINGS {
        let calls = Calls::new(&ada, &bob, binding);
        let keyless = calls.keyless().reply("ListTasks", json!({})).await;
        assert_eq!((keyless.status, keyless.header("www-authenticate")), (401, Some("Bearer")));
        let stranger =
            Calls::new(&carol, &bob, binding).reply("SendMessage", at_once(message("Hello"))).await;
        assert_eq!(stranger.status, 403);
        let mut large = at_once(message("Hello"));
        large["message"]["parts"][0]["text"] = json!("x".repeat(1024 * 1024));
        assert_eq!(calls.reply("SendMessage", large).await.status, 413);
    }
    for binding in BINDINGS {
        let calls = Calls::new(&ada, &bob, binding);
        let limited = loop {
            let reply = calls.reply("ListTasks", json!({})).await;
            if reply.status != 200 {
                break reply;
            }
        };
        assert_eq!(limited.status, 429);
        assert!(limited.header("retry-after").is_some());
        let json = limited.json();
        let details =
            if binding == Binding::Rpc { &json["error"]["data"] } else { &json["error"]["details"] };
        assert_eq!(
            (&details[0]["domain"], &details[0]["reason"]),
            (&json!("tandem"), &json!("RESOURCE_EXHAUSTED"))
        );
    }
}

#[tokio::test]
async fn paths_and_types_that_are_not_known_are_refused() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let base = format!("/a2a/agents/{}", bob.id);
    for path in ["/tasks/t:run", "/other", "/tasks/t/u", "//"] {
        let reply = ada.get(&format!("{base}{path}?A2A-Version=1.0")).await;
        let json = reply.json();
        assert_eq!(
            (reply.status, &json["error"]["details"][0]["reason"]),
            (404, &json!("METHOD_NOT_FOUND")),
            "{path}"
        );
    }
    let calls = Calls::new(&ada, &bob, Binding::Http);
    let request = calls.head("POST", "/message:send").header("content-type", "text/plain");
    let reply = hub.client.raw(request.body(Full::new(Bytes::from("Hello"))).unwrap()).await;
    let reason = reply.json()["error"]["details"][0]["reason"].clone();
    assert_eq!((reply.status, reason), (400, json!("CONTENT_TYPE_NOT_SUPPORTED")));
    let plain = calls.head("GET", "/tasks").header("accept", "application/json");
    let reply = hub.client.raw(plain.body(Full::default()).unwrap()).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
}
