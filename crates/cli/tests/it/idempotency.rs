//! Requests that may be sent twice.

use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::{Value, json};
use tandem_client::ApiKey;

use crate::harness::{Agent, Db, Harness, Reply};
use crate::writes::picture::Picture;

async fn post(agent: &Agent, path: &str, key: &str, body: Value) -> Reply {
    let request = Request::post(path)
        .header("authorization", format!("Bearer {}", agent.key))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(Full::from(body.to_string()))
        .unwrap();
    agent.client.raw(request).await
}

/// Sending it again costs nothing, neither within the limit nor above it; nor does what is refused.
#[rstest]
#[tokio::test]
async fn what_does_not_happen_is_not_counted(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 3).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/messages");
    for _ in 0..5 {
        post(&ada, &path, "k1", json!({ "content": "once" })).await.ok(201);
        ada.post(&path, json!({ "content": "" })).await.refused(400, "validation");
        hub.agent("Eve").await.post(&path, json!({ "content": "hello" })).await.refused(404, "not_found");
        post(&ada, "/messages", "k2", json!({ "agentId": bob.id, "content": "twice" })).await.ok(201);
    }
    ada.post(&path, json!({ "content": "thrice" })).await.ok(201);
    let refused = ada.post(&path, json!({ "content": "too much" })).await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.json()["status"], "submitted", "an error about a task tells where it stands");
    assert!(refused.header("retry-after").is_some() && refused.header("ratelimit-limit") == Some("3"));
    post(&ada, &path, "k1", json!({ "content": "once" })).await.ok(201);
    let ended = ada.task(&bob).await;
    bob.set(&ended, "rejected").await.ok(200);
    for _ in 0..4 {
        let late = ada.post(&format!("/tasks/{ended}/messages"), json!({ "content": "late" })).await;
        late.refused(409, "task_terminal");
    }
    // An answer is given again although its task has ended.
    bob.set(&task, "rejected").await.ok(200);
    post(&ada, "/messages", "k2", json!({ "agentId": bob.id, "content": "twice" })).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn the_same_request_happens_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({ "targetAgentId": bob.id, "title": "Once" });
    let first = post(&ada, "/tasks", "k1", body.clone()).await;
    first.ok(201);
    assert!(first.header("idempotent-replayed").is_none());
    hub.advance_ms(24 * 3_600_000 - 1);
    let second = post(&ada, "/tasks", "k1", body.clone()).await;
    assert_eq!((second.ok(201), second.header("idempotent-replayed")), (first.json(), Some("true")));
    let other = json!({ "targetAgentId": bob.id, "title": "Another" });
    post(&ada, "/tasks", "k1", other).await.refused(409, "idempotency_conflict");
    let task = first.text("id");
    post(&ada, &format!("/tasks/{task}/messages"), "k1", body.clone()).await.refused(400, "validation");
    let hello = json!({ "content": "hi" });
    post(&ada, &format!("/tasks/{task}/messages"), "k1", hello.clone())
        .await
        .refused(409, "idempotency_conflict");
    // Keys are the caller's own.
    let back = json!({ "targetAgentId": ada.id, "title": "Once" });
    post(&bob, "/tasks", "k1", back).await.ok(201);
    hub.advance_ms(1);
    let third = post(&ada, "/tasks", "k1", body).await;
    assert_ne!(third.ok(201)["id"], first.json()["id"], "kept for a day, not for ever");

    let sent = post(&ada, &format!("/tasks/{task}/messages"), "m1", hello.clone()).await.ok(201);
    assert_eq!(post(&ada, &format!("/tasks/{task}/messages"), "m1", hello).await.ok(201), sent);
    assert_eq!(bob.view(&task).await["unreadCount"], 1);
}

#[rstest]
#[tokio::test]
async fn refusals_are_not_kept(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let body = json!({ "targetAgentId": bob.id, "title": "T" });
    post(&ada, "/tasks", "k", body.clone()).await.refused(403, "not_connected");
    ada.pair_with(&bob).await;
    post(&ada, "/tasks", "k", body).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn the_same_request_many_times_at_once_happens_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({ "targetAgentId": bob.id, "title": "Once" });
    let sent = (0..12).map(|_| post(&ada, "/tasks", "k", body.clone()));
    let replies = futures_util::future::join_all(sent).await;
    let fresh = replies.iter().filter(|reply| reply.header("idempotent-replayed").is_none()).count();
    assert_eq!(fresh, 1);
    assert!(replies.iter().all(|reply| reply.ok(201) == replies[0].json()));
    assert_eq!(ada.get("/tasks").await.ok(200).as_array().unwrap().len(), 1);
}

#[rstest]
#[tokio::test]
async fn answers_with_a_key_are_never_kept(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let first = post(&ada, "/agents", "k", json!({ "name": "New" })).await;
    let second = post(&ada, "/agents", "k", json!({ "name": "New" })).await;
    assert_ne!(first.ok(201)["apiKey"], second.ok(201)["apiKey"]);
    let rotated = post(&ada, "/agents/me/rotate-key", "k", json!({})).await.ok(200);
    post(&ada, "/agents/me/rotate-key", "k", json!({})).await.refused(401, "unauthorized");
    assert!(rotated["apiKey"].is_string());
}

#[rstest]
#[tokio::test]
async fn a_key_must_be_sane(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let body = json!({ "targetAgentId": bob.id, "title": "T" });
    post(&ada, "/tasks", "", body.clone()).await.refused(400, "validation");
    post(&ada, "/tasks", &"k".repeat(256), body.clone()).await.refused(400, "validation");
    post(&ada, "/tasks", &"k".repeat(255), body).await.ok(201);
}

/// A repetition shows what the caller may see now: text that was deleted stays deleted, and who is no longer a party
/// gets nothing. So the database keeps no text of an answer either.
#[rstest]
#[tokio::test]
async fn a_stored_answer_holds_no_text(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cat = hub.agent("Cat").await;
    ada.pair_with(&cat).await;
    let body = json!({ "targetAgentId": bob.id, "title": "Secret title", "description": "secret words" });
    let task = post(&ada, "/tasks", "k1", body.clone()).await;
    let task = task.ok(201)["id"].as_str().unwrap().to_owned();
    let said =
        post(&ada, &format!("/tasks/{task}/messages"), "k2", json!({ "content": "secret words" })).await;
    let said = said.ok(201)["id"].as_str().unwrap().to_owned();
    let read = post(&bob, &format!("/tasks/{task}/read"), "k3", json!({})).await;
    assert_eq!(read.ok(200)["messages"][0]["content"], "secret words");
    let again = post(&bob, &format!("/tasks/{task}/read"), "k3", json!({})).await;
    assert_eq!(again.ok(200), read.ok(200), "nothing has changed");
    bob.set(&task, "working").await.ok(200);
    let beat = post(&bob, &format!("/tasks/{task}/heartbeat"), "k4", json!({ "note": "secret words" })).await;
    beat.ok(200);

    let kept = Picture::take(&hub).await.texts("idempotency", "body");
    assert_eq!(kept.len(), 4);
    assert!(kept.iter().all(|body| body.len() < 200 && !body.to_lowercase().contains("secret")), "{kept:?}");

    ada.delete(&format!("/tasks/{task}/messages/{said}")).await.ok(200);
    let again = post(&bob, &format!("/tasks/{task}/read"), "k3", json!({})).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.ok(200)["messages"][0]["content"], "[deleted]");

    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": cat.id })).await.ok(200);
    for (path, key, body) in
        [("heartbeat", "k4", json!({ "note": "secret words" })), ("read", "k3", json!({}))]
    {
        post(&bob, &format!("/tasks/{task}/{path}"), key, body).await.refused(404, "not_found");
    }
    let first = post(&ada, "/tasks", "k1", body).await;
    assert_eq!(first.ok(201)["targetAgentId"], cat.id.as_str(), "the task as it is now");
}

/// The id of a deleted draft may be used by somebody else; a repetition does not show their task.
#[rstest]
#[tokio::test]
async fn a_repetition_is_about_the_same_task(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let draft = json!({ "targetAgentId": bob.id, "title": "Mine", "id": "same", "draft": true });
    post(&ada, "/tasks", "k", draft.clone()).await.ok(201);
    ada.delete("/tasks/same").await.ok(200);
    hub.advance_ms(1_000);
    let theirs = json!({ "targetAgentId": ada.id, "title": "Theirs", "id": "same" });
    bob.post("/tasks", theirs).await.refused(409, "id_taken");
    post(&ada, "/tasks", "k", draft).await.refused(404, "not_found");
}

/// Keys that the client made: nothing secret is in the answer, so it can be given again.
#[rstest]
#[tokio::test]
async fn a_registration_with_an_own_key_can_be_sent_twice(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let guest = hub.agent("Guest").await;
    let (key, other) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
    let body = json!({ "name": "New", "apiKeyHash": key.hash() });
    let sent = [post(&guest, "/agents", "k", body.clone()), post(&guest, "/agents", "k", body.clone())];
    let replies = futures_util::future::join_all(sent).await;
    let id = replies[0].ok(201)["id"].clone();
    assert!(replies.iter().all(|reply| reply.ok(201)["id"] == id && reply.json()["apiKey"].is_null()));
    let again = post(&guest, "/agents", "k", body.clone()).await;
    assert_eq!((again.header("idempotent-replayed"), &again.ok(201)["id"]), (Some("true"), &id));
    let get = async |key: &ApiKey| guest.client.send("GET", "/agents/me", Some(key.as_str()), None).await;
    assert_eq!(get(&key).await.ok(200)["id"], id);
    // Another request is refused, whatever its key: by the idempotency key, or by the key that is taken.
    let renamed = json!({ "name": "Else", "apiKeyHash": key.hash() });
    post(&guest, "/agents", "k", renamed.clone()).await.refused(409, "idempotency_conflict");
    post(&guest, "/agents", "other", renamed).await.refused(409, "key_taken");
    let others = json!({ "name": "New", "apiKeyHash": other.hash() });
    post(&guest, "/agents", "k", others).await.refused(409, "idempotency_conflict");
    for wrong in [json!("AB"), json!("A".repeat(64)), json!("g".repeat(64)), json!("a".repeat(65)), json!(1)]
    {
        let body = json!({ "name": "New", "apiKeyHash": wrong });
        post(&guest, "/agents", "wrong", body).await.refused(400, "validation");
    }
    // Once the key is replaced, the old registration says nothing about the agent.
    let rotate = json!({ "apiKeyHash": other.hash() });
    let agent = Agent { key: key.as_str().to_owned(), ..guest.clone() };
    post(&agent, "/agents/me/rotate-key", "r", rotate).await.ok(200);
    post(&guest, "/agents", "k", body).await.refused(401, "unauthorized");
}

#[rstest]
#[tokio::test]
async fn a_rotation_with_an_own_key_can_be_sent_twice(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let key = ApiKey::generate().unwrap();
    let body = json!({ "apiKeyHash": key.hash() });
    let path = "/agents/me/rotate-key";
    assert_eq!(post(&ada, path, "k", body.clone()).await.ok(200), json!({ "apiKey": null }));
    post(&ada, path, "k", body.clone()).await.refused(401, "unauthorized");
    let renewed = Agent { key: key.as_str().to_owned(), ..ada.clone() };
    let again = post(&renewed, path, "k", body.clone()).await;
    assert_eq!(
        (again.header("idempotent-replayed"), again.ok(200)),
        (Some("true"), json!({ "apiKey": null }))
    );
    // A key stands for one agent: neither another nor the same one can take it again.
    post(&bob, path, "k", body.clone()).await.refused(409, "key_taken");
    post(&renewed, path, "later", body).await.refused(409, "key_taken");
    // Nor can one that has ended: a machine that still has it would act for another agent.
    let deleted = hub.agent("Dee").await;
    deleted.delete("/agents/me").await.ok(200);
    for ended in [&ada.key, &deleted.key] {
        let body = json!({ "name": "Ada", "apiKeyHash": ApiKey::from(ended.clone()).hash() });
        post(&bob, "/agents", "stolen", body.clone()).await.refused(409, "key_taken");
        post(&bob, path, "stolen", body).await.refused(409, "key_taken");
    }
    let wrong = json!({ "apiKeyHash": "tdm_secret" });
    post(&bob, path, "k", wrong).await.refused(400, "validation");
    bob.get("/agents/me").await.ok(200);
    renewed.get("/agents/me").await.ok(200);
}

/// Once the key was replaced again, the stored answer would say that the earlier one is in force.
#[rstest]
#[tokio::test]
async fn a_rotation_is_repeated_only_with_its_own_key(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let (second, third) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
    let with = |key: &ApiKey| Agent { key: key.as_str().to_owned(), ..ada.clone() };
    let path = "/agents/me/rotate-key";
    let body = json!({ "apiKeyHash": second.hash() });
    post(&ada, path, "first", body.clone()).await.ok(200);
    let later = json!({ "apiKeyHash": third.hash() });
    post(&with(&second), path, "later", later.clone()).await.ok(200);
    for ended in [ada.clone(), with(&second)] {
        post(&ended, path, "first", body.clone()).await.refused(401, "unauthorized");
    }
    post(&with(&third), path, "first", body).await.refused(409, "key_taken");
    let again = post(&with(&third), path, "later", later).await;
    assert_eq!((again.header("idempotent-replayed"), again.status), (Some("true"), 200));
    with(&third).get("/agents/me").await.ok(200);
}
