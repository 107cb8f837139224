//! What a page says is so: who did it, when, whether it is deleted, and what a decision is about.

use rstest::rstest;
use serde_json::json;

use super::person::Person;
use super::safety::{MULTIPART, multipart};
use crate::harness::{Db, Harness, Held};

#[tokio::test]
async fn a_decision_on_the_page_of_a_task_is_about_what_was_seen() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let person = Person::sign_in(&hub, &bob).await;
    let task = ada.task(&bob).await;
    let page = format!("/tasks/{task}");
    let before = person.get(&page).await;
    ada.patch(&page, json!({ "maxMessages": 9_999 })).await.ok(200);
    for action in ["approve", "reject"] {
        let fields = [("expectedStatus", "submitted"), ("seen", &*before.hidden("seen"))];
        let late = person.post(&format!("{page}/{action}"), &fields).await;
        assert_eq!(late.status, 412);
        late.has("It has changed while you looked.").has("9,999 messages");
        assert_eq!(ada.view(&task).await["approvalStatus"], "pending");
    }
    let now = person.get(&page).await;
    let fields = [("expectedStatus", "submitted"), ("seen", &*now.hidden("seen"))];
    person.done(&person.post(&format!("{page}/approve"), &fields).await, "approved");
}

#[tokio::test]
async fn a_peer_is_never_taken_for_the_owner_or_the_hub() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let person = Person::sign_in(&hub, &bob).await;
    for name in ["You", "The hub"] {
        let eve = hub.agent(name).await;
        eve.pair_with(&bob).await;
        let task = eve.task(&bob).await;
        eve.set(&task, "working").await.ok(200);
        let page = person.get(&format!("/tasks/{task}")).await;
        page.has(&format!("“<span class=\"name\">{name}</span>”:<span class=\"name\">Working"));
        page.lacks("by-own").lacks("by-hub");
        let fields = [("expectedStatus", "submitted"), ("status", "working")];
        let late = person.post(&format!("/tasks/{task}/status"), &fields).await;
        late.has(&format!("“{name}” set it to Working"));
        bob.set(&task, "input-required").await.ok(200);
        person.get(&format!("/tasks/{task}")).await.has("<span class=\"by by-own\">You</span>");
        eve.delete(&format!(
            "/connections/{}",
            eve.get("/connections").await.ok(200)[0]["id"].as_str().unwrap()
        ))
        .await
        .ok(200);
        person.get("/events?type=task.*").await.has(&format!("<span class=\"name\">{name}</span>"));
    }
}

#[tokio::test]
async fn a_text_that_says_deleted_is_a_text() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &bob).await;
    let task = ada.task(&bob).await;
    let messages = format!("/tasks/{task}/messages");
    let typed = ada.post(&messages, json!({ "content": "[deleted]" })).await.ok(201)["id"].clone();
    let page = person.get(&format!("/tasks/{task}")).await;
    page.has("<p>[deleted]</p>").lacks("This message was deleted.");
    ada.delete(&format!("{messages}/{}", typed.as_str().unwrap())).await.ok(200);
    let page = person.get(&format!("/tasks/{task}")).await;
    page.lacks("<p>[deleted]</p>").has("This message was deleted.");
}

#[rstest]
#[tokio::test]
async fn each_change_of_status_is_on_the_page_of_its_time(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 0).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let say = async |count: usize| {
        for _ in 0..count {
            hub.advance_ms(1_000);
            ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "Hello" })).await.ok(201);
        }
        hub.advance_ms(1_000);
    };
    say(5).await;
    bob.set(&task, "working").await.ok(200);
    say(20).await;
    bob.set(&task, "input-required").await.ok(200);
    say(20).await;
    bob.patch(&format!("/tasks/{task}"), json!({ "status": "failed", "reason": "Late" })).await.ok(200);
    let person = Person::sign_in(&hub, &bob).await;
    let moves = |html: &str| -> Vec<&'static str> {
        let thread = html.split("id=\"thread\"").nth(1).unwrap().split("</section>").next().unwrap();
        let words = ["Working", "Input required", "Failed"];
        words
            .into_iter()
            .filter(|word| thread.contains(&format!("<span class=\"name\">{word}</span>")))
            .collect()
    };
    let newest = person.get(&format!("/tasks/{task}")).await;
    assert_eq!(moves(&newest.html), ["Input required", "Failed"]);
    let older = newest.html.split("?before=").nth(1).unwrap().split('"').next().unwrap();
    let older = person.get(&format!("/tasks/{task}?before={older}")).await;
    assert_eq!(moves(&older.html), ["Working"]);
}

/// The page is read in two steps, and something happens between them.
#[tokio::test]
async fn a_page_misses_nothing_that_happens_while_it_is_read() {
    let hub = Harness::start_with(Db::Sqlite, |config| config.database_readers = 1).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &bob).await;
    let task = ada.task(&bob).await;
    // Lets the first read behind it go on, and holds up the next one.
    let step = async |held: Held| {
        let release = async {
            held.wait_for(2).await;
            drop(held);
        };
        tokio::join!(Held::reader(&hub), release).0
    };
    let held = Held::reader(&hub).await;
    let path = format!("/tasks/{task}");
    let loading = tokio::spawn(async move { person.get(&path).await });
    held.wait_for(1).await;
    // The session, then the frame, then the thread.
    let held = step(held).await;
    held.wait_for(1).await;
    let held = step(held).await;
    held.wait_for(1).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "In between" })).await.ok(201);
    drop(held);
    let page = loading.await.unwrap();
    let cursor: i64 =
        page.html.split("data-cursor=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let event = bob.last_event().await;
    assert_eq!(event["type"], "message.created");
    assert!(cursor < event["id"].as_i64().unwrap(), "the page follows events from {cursor}");
}

#[rstest]
#[tokio::test]
async fn a_file_that_is_sent_twice_is_attached_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &ada).await;
    let task = ada.task(&bob).await;
    let page = person.get(&format!("/tasks/{task}")).await;
    let form = page.html.split("/file\"").nth(1).unwrap().split("</form>").next().unwrap();
    let once = form.split("name=\"once\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let mut body =
        format!("--XX\r\nContent-Disposition: form-data; name=\"once\"\r\n\r\n{once}\r\n").into_bytes();
    body.extend(multipart(Some(&page.csrf()), "a.txt", "text/plain", b"hello"));
    let path = format!("/tasks/{task}/file");
    let send = || person.send(&path, MULTIPART, body.clone());
    let (one, other) = tokio::join!(send(), send());
    person.done(&one, "attached");
    person.done(&other, "attached");
    person.done(&send().await, "attached");
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200).as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_task_may_have_any_id() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let person = Person::sign_in(&hub, &ada).await;
    for id in ["new", "file", "admin"] {
        ada.task_with(&bob, json!({ "id": id, "title": format!("The task {id}") })).await;
        person.get(&format!("/tasks/{id}")).await.has(&format!("The task {id}</span>"));
    }
    person.get("/new-task").await.has("name=\"title\"");
}
