//! The log of decisions: by every way, kept when the task is gone, searched, exported, and removed in the end.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_app::housekeeping;
use tandem_core::Timestamp;

use super::person::Person;
use crate::harness::{Agent, Db, Harness};
use crate::writes::picture::Picture;

async fn gate(db: Db) -> (Harness, Agent, Agent, Person) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let person = Person::sign_in(&hub, &bob).await;
    (hub, ada, bob, person)
}

async fn logged(person: &Person, query: &str) -> Vec<Value> {
    let file = person.get(&format!("/approvals/decided/decisions.json?since=all{query}")).await;
    assert_eq!(file.status, 200, "{}", file.html);
    let whole: Value = serde_json::from_slice(&file.reply.bytes).unwrap();
    assert_eq!(whole["complete"], true);
    whole["decisions"].as_array().unwrap().clone()
}

#[rstest]
#[tokio::test]
async fn each_way_to_decide_is_logged(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, person) = gate(db).await;
    let ask = async |title: &str, more: Value| {
        hub.advance_ms(1_000);
        let mut body = json!({ "title": title, "description": "what to do" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ada.task_with(&bob, body).await
    };
    let by_page = ask("By page", json!({})).await;
    person.done(
        &person.post(&format!("/approvals/{by_page}/approve"), &[("note", "only \"staging\"")]).await,
        "approved",
    );
    let by_thread = ask("By thread", json!({})).await;
    person.done(
        &person.post(&format!("/tasks/{by_thread}/reject"), &[("reason", "=not now")]).await,
        "rejected",
    );
    let by_rest = ask("By REST", json!({})).await;
    bob.post_empty(&format!("/approvals/{by_rest}/approve")).await.ok(200);
    let by_mcp = ask("By MCP", json!({})).await;
    bob.told("reject_task", json!({ "taskId": by_mcp, "reason": "by a tool" })).await;
    let late = ask("Nobody", json!({ "ttlSeconds": 5 })).await;
    hub.advance_ms(6_000);
    assert_eq!(ada.view(&late).await["status"], "expired");
    // What was refused is no decision.
    assert_eq!(person.post(&format!("/approvals/{late}/approve"), &[]).await.status, 409);

    let log = logged(&person, "").await;
    let facts: Vec<_> = log
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or("–").to_owned();
            (text("taskId"), text("verdict"), text("way"), text("note"))
        })
        .collect();
    let row = |task: &str, verdict: &str, way: &str, note: &str| {
        (task.to_owned(), verdict.to_owned(), way.to_owned(), note.to_owned())
    };
    assert_eq!(
        facts,
        [
            row(&late, "expired", "–", "–"),
            row(&by_mcp, "rejected", "mcp", "by a tool"),
            row(&by_rest, "approved", "rest", "–"),
            row(&by_thread, "rejected", "page", "=not now"),
            row(&by_page, "approved", "page", "only \"staging\""),
        ]
    );
    assert_eq!(log[4]["senderAgentName"], "Ada");
    assert_eq!(log[4]["session"].as_str().unwrap().len(), 8);
    assert_eq!(log[4]["contentSha256"].as_str().unwrap().len(), 64);
    assert_ne!(log[3]["contentSha256"], log[4]["contentSha256"], "the titles differ");
    assert!(log[4]["address"].as_str().unwrap().contains("127.0.0.1"));

    // Filters, and the page.
    for (query, titles) in [
        ("&verdict=rejected", vec!["By MCP", "By thread"]),
        ("&q=STAGING", vec!["By page"]),
        ("&q=by+rest", vec!["By REST"]),
        ("&verdict=approved&q=mcp", vec![]),
        (&*format!("&sender={}", bob.id), vec![]),
    ] {
        let found: Vec<String> = logged(&person, query)
            .await
            .iter()
            .map(|one| one["title"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(found, titles, "{query}");
    }
    let page = person.get("/approvals/decided").await;
    page.has("By page").has("only &#34;staging&#34;").has("sha256:").has("by MCP").has("Nobody");
    let csv = person.get("/approvals/decided/decisions.csv?since=all").await;
    csv.has("\"'=not now\"").has("\"only \"\"staging\"\"\"");
    assert!(csv.reply.header("content-disposition").unwrap().contains("decisions.csv"));
    assert_eq!(person.get("/approvals/decided/decisions.exe").await.status, 404);
    assert_eq!(person.get(&format!("/approvals/decided?q={}", "x".repeat(300))).await.status, 400);
    // Nobody but the owner of the gate.
    let at_ada = Person::sign_in(&hub, &ada).await;
    assert_eq!(logged(&at_ada, "").await, Vec::<Value>::new());
    let elsewhere = Person { agent: bob.id.clone(), ..at_ada };
    assert_eq!(elsewhere.get("/approvals/decided").await.status, 303);

    // It outlives the task, and is part of what the agent takes along.
    ada.delete(&format!("/tasks/{by_thread}")).await.ok(200);
    assert_eq!(logged(&person, "").await.len(), 5);
    let export = bob.get("/agents/me/export").await.ok(200);
    assert_eq!(export["decisions"].as_array().unwrap().len(), 5);
    assert_eq!(export["decisions"][4]["title"], "By page");
}

#[rstest]
#[tokio::test]
async fn each_attempt_is_decided_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (_hub, ada, bob, person) = gate(db).await;
    let task = ada.task(&bob).await;
    for attempt in 1..=3 {
        bob.post(&format!("/approvals/{task}/reject"), json!({ "reason": "no" })).await.ok(200);
        ada.post(&format!("/tasks/{task}/retry"), json!({})).await.ok(200);
        assert_eq!(logged(&person, "").await.len(), attempt);
    }
    let attempts: Vec<i64> =
        logged(&person, "").await.iter().map(|one| one["attempt"].as_i64().unwrap()).collect();
    assert_eq!(attempts, [3, 2, 1]);
}

#[tokio::test]
async fn a_phone_is_led_from_request_to_request() {
    let (_hub, ada, bob, person) = gate(Db::Sqlite).await;
    let (first, second) = (ada.task(&bob).await, ada.task_with(&bob, json!({ "title": "Second" })).await);
    let (first, second) = if person.get("/approvals").await.html.find(&first)
        < person.get("/approvals").await.html.find(&second)
    {
        (first, second)
    } else {
        (second, first)
    };
    // Home leads to the card itself.
    let home = person.get("").await;
    home.has(&format!("/approvals?task={second}#approval-{second}"));
    let current = |task: &str| format!("class=\"card approval current\" id=\"approval-{task}\"");
    person.get("/approvals").await.has(&current(&first)).has("1 of 2");
    let page = person.get(&format!("/approvals?task={second}")).await;
    page.has(&current(&second)).lacks(&current(&first));
    page.has(&format!("data-self=\"/app/{}/approvals?task={second}#approval-{second}\"", bob.id));
    // After a decision, the next one has the focus.
    let next = [("next", &*first)];
    let done = person.post(&format!("/approvals/{second}/approve"), &next).await;
    let location = done.reply.header("location").unwrap().to_owned();
    assert!(location.ends_with(&format!("?done=approved&task={first}#approval-{first}")), "{location}");
    let bad = person.post(&format!("/approvals/{second}/approve"), &[("next", "//evil.example")]).await;
    assert_eq!(bad.status, 409);
    // A request that somebody else decided is not replaced by another one under the finger.
    let page = person.get(&format!("/approvals?task={second}")).await;
    page.has("This request does not wait any more.").lacks("approval current").has("Next request");
    bob.post_empty(&format!("/approvals/{first}/approve")).await.ok(200);
    person.get("/approvals").await.lacks("This request does not wait").has("Nothing waits for you");
}

#[rstest]
#[tokio::test]
async fn decisions_go_with_time_and_with_the_account(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, person) = gate(db).await;
    let decide = async || {
        let task = ada.task(&bob).await;
        bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    };
    decide().await;
    let until = logged(&person, "").await[0]["decidedAt"].as_str().unwrap().to_owned();
    hub.advance_ms(1);
    decide().await;
    decide().await;
    let until: Timestamp = serde_json::from_value(json!(until)).unwrap();
    let trim =
        async |until| hub.hub.db.write(move |tx, _| housekeeping::trim_decisions(tx, until)).await.unwrap();
    assert_eq!(trim(Timestamp(until.0 - 1)).await, 0);
    assert_eq!(trim(until).await, 1, "the one that is old enough");
    assert_eq!(logged(&person, "").await.len(), 2);
    bob.delete("/agents/me").await.ok(200);
    hub.hub.finish_batches().await.unwrap();
    assert_eq!(Picture::take(&hub).await.texts("decisions", "task_id").len(), 0);
}
