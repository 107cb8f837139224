//! Tasks that are handed over, and what comes back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rstest::rstest;
use serde_json::{Value, json};

use super::{Answer, Elsewhere, Seen, becomes, becomes_by, said, send, shown, start, task, telling};
use crate::files::upload;
use crate::harness::{Db, eventually};

const SECRET: &str = "secret-of-the-far-agent";

#[rstest]
#[tokio::test]
async fn a_remote_is_an_agent_without_a_key_and_its_secret_is_never_shown(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = start(db).await;
    let (ada, bob) = hub.pair().await;
    let far = Elsewhere::start().await;
    let auth = json!({ "type": "apiKey", "value": SECRET, "header": "X-Far-Key" });
    let id = far.add(&ada, json!({ "auth": auth, "alias": "far" })).await;
    let connections = ada.get("/connections").await.ok(200);
    let connection =
        connections.as_array().unwrap().iter().find(|one| one["agentId"] == id.as_str()).unwrap();
    assert_eq!(
        (&connection["reach"], &connection["alias"], &connection["name"]),
        (&json!("a2a"), &json!("far"), &json!("Far agent"))
    );
    let remote = shown(&ada).await;
    assert_eq!(
        (&remote["authType"], &remote["signature"], &remote["paused"]),
        (&json!("apiKey"), &json!("unsigned"), &Value::Null)
    );
    for (agent, path) in
        [(&ada, "/a2a/remotes"), (&ada, "/agents/me/export"), (&ada, "/connections"), (&bob, "/a2a/remotes")]
    {
        let text = String::from_utf8_lossy(&agent.get(path).await.bytes).into_owned();
        assert!(!text.contains(SECRET), "{path}: {text}");
    }
    // Nobody else can reach it, and nothing that it could not read goes there.
    bob.post("/tasks", json!({ "targetAgentId": id, "title": "No" })).await.refused(403, "not_connected");
    ada.post("/a2a/remotes", json!({ "cardUrl": far.card_url(), "alias": "far" }))
        .await
        .refused(409, "alias_taken");
    bob.patch(&format!("/a2a/remotes/{id}"), json!({ "alias": "mine" })).await.refused(404, "not_found");
    let work = send(&ada, "far", json!({})).await;
    becomes(&hub, &ada, &work, "completed").await;
    assert_eq!(far.calls("SendMessage")[0].header("x-far-key").as_deref(), Some(SECRET));
    ada.delete(&format!("/a2a/remotes/{id}")).await.ok(200);
    assert_eq!(ada.get("/a2a/remotes").await.ok(200), json!([]));
    assert_eq!(ada.get("/connections").await.ok(200).as_array().unwrap().len(), 1);
}

/// Asks a question first, and completes with an artifact after the answer.
fn curious() -> impl FnMut(&Seen) -> Answer + Send {
    let mut answered = false;
    move |seen| match seen.method.as_str() {
        "SendMessage" => {
            answered |= seen.params["message"]["taskId"] == "far";
            Answer::Result(json!({ "task": task("far", "WORKING") }))
        }
        "GetTask" if answered => {
            let mut task = task("far", "COMPLETED");
            task["artifacts"] = json!([
                { "artifactId": "table", "parts": [{ "raw": "YSxi", "mediaType": "text/csv", "filename": "a.csv" }] },
                { "artifactId": "answer", "parts": [{ "text": "July was best" }] },
            ]);
            Answer::Result(task)
        }
        _ => Answer::Result(telling("far", "INPUT_REQUIRED", "Which year?")),
    }
}

#[rstest]
#[tokio::test]
async fn a_task_goes_there_and_comes_back(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let far = Elsewhere::start_with(curious()).await;
    let auth = json!({ "type": "bearer", "value": SECRET });
    let remote = far.add(&ada, json!({ "auth": auth })).await;
    let draft = send(&ada, &remote, json!({ "draft": true })).await;
    let file = upload("in.csv", "text/csv", b"1,2");
    ada.post(&format!("/tasks/{draft}/files/json"), file).await.ok(201);
    ada.set(&draft, "submitted").await.ok(200);
    becomes(&hub, &ada, &draft, "input-required").await;
    assert_eq!(said(&ada, &draft).await.last().unwrap(), "Which year?");
    ada.post(&format!("/tasks/{draft}/messages"), json!({ "content": "2026" })).await.ok(201);
    let done = becomes(&hub, &ada, &draft, "completed").await;
    assert_eq!(done["result"], "July was best");
    assert!(done["delivery"]["pushedAt"].is_string() && done["acknowledgedAt"].is_string());
    let files = ada.get(&format!("/tasks/{draft}/messages")).await.ok(200);
    let made = files
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["contentType"] == "file" && one["senderAgentId"] == remote.as_str());
    let made = made.unwrap()["content"].as_str().unwrap().to_owned();
    assert_eq!(ada.get(&format!("/files/{made}")).await.bytes.as_ref(), b"a,b");

    let sent = far.calls("SendMessage");
    assert_eq!(sent.len(), 2);
    let message = &sent[0].params["message"];
    assert_eq!((&message["messageId"], &message["role"]), (&json!(draft), &json!("ROLE_USER")));
    assert_eq!(message["parts"][0]["text"], "Look it up\n\nAll of it");
    assert_eq!(message["parts"][1], json!({ "raw": "MSwy", "filename": "in.csv", "mediaType": "text/csv" }));
    assert_eq!(message["metadata"]["urn:tandem:a2a:hub:v1"]["hops"], 1);
    assert_eq!(sent[0].params["configuration"]["returnImmediately"], true);
    assert_eq!(sent[0].header("idempotency-key"), Some(draft));
    assert_eq!(sent[0].header("a2a-version").as_deref(), Some("1.0"));
    assert_eq!(sent[0].header("authorization"), Some(format!("Bearer {SECRET}")));
    assert_eq!(
        (&sent[1].params["message"]["taskId"], &sent[1].params["message"]["contextId"]),
        (&json!("far"), &json!("c"))
    );
}

#[rstest]
#[tokio::test]
async fn what_fails_is_tried_again_with_the_same_ids(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let far = Elsewhere::start_with(move |seen| match seen.method.as_str() {
        "SendMessage" => match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Answer::Status(429, "retry-after: 1\r\n".into()),
            1 => Answer::Status(503, String::new()),
            2 => Answer::HangUp,
            _ => Answer::Result(json!({ "message":
                { "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "words" }] } })),
        },
        _ => Answer::Error(-32001, "no such task"),
    })
    .await;
    let remote = far.add(&ada, json!({})).await;
    let work = send(&ada, &remote, json!({})).await;
    let done = becomes_by(&hub, &ada, &work, ("completed", 5_000)).await;
    assert_eq!((&done["result"], shown(&ada).await["failingSince"].is_null()), (&json!("words"), true));
    let sent = far.calls("SendMessage");
    // Where nodes share the work, one may take over from another while the time flies.
    assert!(sent.len() >= 4);
    assert!(sent.iter().all(|seen| seen.params == sent[0].params));

    // Who does not want that is told so.
    ada.patch(&format!("/a2a/remotes/{remote}"), json!({ "onUnclear": "fail" })).await.ok(200);
    count.store(2, Ordering::SeqCst);
    let work = send(&ada, &remote, json!({})).await;
    let failed = becomes(&hub, &ada, &work, "failed").await;
    assert!(failed["statusReason"].as_str().unwrap().contains("nobody knows"), "{failed}");
}

#[rstest]
#[tokio::test]
async fn an_end_here_is_an_end_there_and_the_other_way_round(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let far = Elsewhere::start_with(|seen| match seen.method.as_str() {
        "SendMessage" => Answer::Result(json!({ "task": task("far", "SUBMITTED") })),
        "CancelTask" => Answer::Result(task("far", "CANCELED")),
        _ => Answer::Result(task("far", "SUBMITTED")),
    })
    .await;
    let remote = far.add(&ada, json!({})).await;
    let work = send(&ada, &remote, json!({})).await;
    eventually(async || ada.view(&work).await["acknowledgedAt"].is_string().then_some(())).await;
    ada.post_empty(&format!("/tasks/{work}/cancel")).await.ok(200);
    eventually(async || {
        hub.advance_ms(500);
        (!far.calls("CancelTask").is_empty()).then_some(())
    })
    .await;
    for (state, text, status) in [
        ("REJECTED", Some("not mine"), "rejected"),
        ("FAILED", Some("broken"), "failed"),
        ("CANCELED", None, "cancelled"),
        ("AUTH_REQUIRED", Some("sign in"), "auth-required"),
    ] {
        far.set_script(move |seen| match (seen.method.as_str(), text) {
            ("SendMessage", _) => Answer::Result(json!({ "task": task("other", "WORKING") })),
            (_, Some(text)) => Answer::Result(telling("other", state, text)),
            (_, None) => Answer::Result(task("other", state)),
        });
        let work = send(&ada, &remote, json!({})).await;
        becomes(&hub, &ada, &work, status).await;
    }
    far.set_script(|_| Answer::Error(-32602, "I take no such thing"));
    let work = send(&ada, &remote, json!({})).await;
    let failed = becomes(&hub, &ada, &work, "failed").await;
    assert_eq!(failed["statusReason"], "I take no such thing");
}

#[rstest]
#[tokio::test]
async fn who_pushes_is_asked_only_when_it_rings(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = start(db).await;
    let ada = hub.agent("Ada").await;
    let done = Arc::new(Mutex::new(false));
    let is_done = Arc::clone(&done);
    let far = Elsewhere::start_with(move |seen| match (seen.method.as_str(), *is_done.lock().unwrap()) {
        ("SendMessage", _) => Answer::Result(json!({ "task": task("far", "WORKING") })),
        (_, true) => Answer::Result(telling("far", "COMPLETED", "done")),
        (_, false) => Answer::Result(task("far", "WORKING")),
    })
    .await;
    far.set_card(|card| card["capabilities"]["pushNotifications"] = json!(true));
    let remote = far.add(&ada, json!({})).await;
    let work = send(&ada, &remote, json!({})).await;
    becomes(&hub, &ada, &work, "working").await;
    let config = &far.calls("SendMessage")[0].params["configuration"]["taskPushNotificationConfig"];
    let path = config["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:1").unwrap().to_owned();
    let token = config["token"].as_str().unwrap().to_owned();
    *done.lock().unwrap() = true;
    hub.advance_ms(60_000);
    let ring = async |token: &str| {
        let request = hyper::Request::post(&path)
            .header("host", "hub")
            .header("x-a2a-notification-token", token)
            .header("content-type", "application/json")
            .body(http_body_util::Full::from("{}"))
            .unwrap();
        hub.client.raw(request).await.status
    };
    assert_eq!((ring("wrong").await, ring(&token).await), (404, 200));
    let finished = eventually(async || {
        hub.advance_ms(20);
        let view = ada.view(&work).await;
        (view["status"] == "completed").then_some(view)
    });
    assert_eq!(finished.await["result"], "done");
}
