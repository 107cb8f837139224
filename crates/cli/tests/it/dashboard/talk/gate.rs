//! Approvals: what is shown of a request, and what becomes of a decision.

use rstest::rstest;
use serde_json::json;

use super::person::Person;
use crate::encryption::Pair;
use crate::harness::{Agent, Db, Harness};

/// A sender, and an agent that asks its owner about each task.
async fn gate(db: Db) -> (Harness, Agent, Agent, Person) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let person = Person::sign_in(&hub, &bob).await;
    (hub, ada, bob, person)
}

async fn approval_of(agent: &Agent, task: &str) -> (String, String) {
    let view = agent.view(task).await;
    (view["status"].as_str().unwrap().to_owned(), view["approvalStatus"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_card_says_who_asks_for_what() {
    let (hub, ada, _bob, person) = gate(Db::Sqlite).await;
    person.get("/approvals").await.has("Nothing waits for you");
    let more = json!({ "description": "Please **review**", "ttlSeconds": 660, "maxMessages": 200, "priority": "high" });
    let first = ada.task_with(&_bob, more).await;
    hub.advance_ms(1_000);
    let second = ada.task_with(&_bob, json!({ "title": "Another one" })).await;
    let page = person.get("/approvals").await;
    page.has("Please <strong>review</strong>").has("Ada</span> wrote this. It is data, not an order");
    page.has(&ada.id)
        .has("First decision about this sender.")
        .has("at most 200 messages")
        .has("High priority");
    page.has("data-left").has("class=\"left soon\"").has("No key: nothing can be encrypted for it");
    page.lacks("autofocus").has("<b>0</b> approved, <b>0</b> rejected before");
    let place = |task: &str| page.html.find(&format!("id=\"approval-{task}\"")).unwrap();
    assert!(place(&first) < place(&second), "the oldest comes first");
    // Nobody but the agent's own owner sees them.
    let elsewhere = Person { agent: ada.id.clone(), ..person.clone() };
    assert_eq!(elsewhere.get("/approvals").await.status, 303);

    let seen = page.hidden("seen");
    let done = person.post(&format!("/approvals/{first}/approve"), &[("seen", &seen)]).await;
    person.done(&done, "approved");
    assert_eq!(approval_of(&ada, &first).await, ("submitted".into(), "approved".into()));
    let done = person.post(&format!("/approvals/{second}/reject"), &[("reason", "not <now>")]).await;
    person.done(&done, "rejected");
    assert_eq!(ada.view(&second).await["statusReason"], "not <now>");
    let page = person.get("/approvals?done=rejected").await;
    page.has("Just decided")
        .has("Approved, now Submitted")
        .has("“<span class=\"name\">not &#60;now&#62;</span>”");
    page.has("Rejected. The sender is told why.");
    ada.task(&_bob).await;
    person.get("/approvals").await.has("<b>1</b> approved, <b>1</b> rejected before").lacks("First decision");
}

#[tokio::test]
async fn the_second_decision_learns_of_the_first() {
    let (hub, ada, bob, person) = gate(Db::Sqlite).await;
    let task = ada.task(&bob).await;
    bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    hub.advance_ms(2_000);
    let late = person.post(&format!("/approvals/{task}/reject"), &[("reason", "no")]).await;
    assert_eq!(late.status, 409);
    late.has("It was approved 2.0 s before you.").has("Open the task");
    assert_eq!(approval_of(&ada, &task).await.1, "approved");

    let task = ada.task(&bob).await;
    ada.post(&format!("/tasks/{task}/cancel"), json!({ "reason": "too slow" })).await.ok(200);
    let late = person.post(&format!("/approvals/{task}/approve"), &[]).await;
    late.has("“Ada” cancelled it just before you: “too slow”.");

    let task = ada.task(&bob).await;
    bob.post(&format!("/approvals/{task}/reject"), json!({ "reason": "mine" })).await.ok(200);
    person
        .post(&format!("/approvals/{task}/approve"), &[])
        .await
        .has("It was rejected just before you: “mine”.");

    let task = ada.task_with(&bob, json!({ "ttlSeconds": 5 })).await;
    hub.advance_ms(6_000);
    person.post(&format!("/approvals/{task}/approve"), &[]).await.has("It expired");

    // A decision is about the terms that were seen.
    let task = ada.task(&bob).await;
    let seen = person.get("/approvals").await.hidden("seen");
    ada.patch(&format!("/tasks/{task}"), json!({ "maxMessages": 9_999 })).await.ok(200);
    let late = person.post(&format!("/approvals/{task}/approve"), &[("seen", &seen)]).await;
    assert_eq!(late.status, 412);
    late.has("Its terms changed while you looked.").has("at most 9,999 messages");
    assert_eq!(approval_of(&ada, &task).await.1, "pending");
    // Taken away.
    let carol = hub.agent("Carol").await;
    ada.pair_with(&carol).await;
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": carol.id })).await.ok(200);
    let late = person.post(&format!("/approvals/{task}/approve"), &[]).await;
    assert_eq!(late.status, 404);
    late.has("This task is not yours any more.");
}

#[tokio::test]
async fn a_rule_is_for_one_sender() {
    let (_hub, ada, bob, person) = gate(Db::Sqlite).await;
    let task = ada.task(&bob).await;
    let connection = person.get("/approvals").await.hidden("connection");
    for (word, stored) in [("auto", json!("auto")), ("require", json!("require")), ("default", json!(null))] {
        let fields = [("connection", connection.as_str()), ("approval", word)];
        person.done(&person.post(&format!("/approvals/{task}/rule"), &fields).await, "rule");
        assert_eq!(bob.get("/connections").await.ok(200)[0]["approval"], stored);
        assert_eq!(approval_of(&ada, &task).await.1, "pending", "this task still waits");
    }
    let wrong = person
        .post(&format!("/approvals/{task}/rule"), &[("connection", "other"), ("approval", "auto")])
        .await;
    assert_eq!(wrong.status, 404);
    let wrong = person
        .post(&format!("/approvals/{task}/rule"), &[("connection", &connection), ("approval", "always")])
        .await;
    assert_eq!(wrong.status, 400);
    // The other side's connection is not this agent's to change, but it has the same id: only this side changes.
    assert_eq!(ada.get("/connections").await.ok(200)[0]["approval"], json!(null));
}

#[rstest]
#[tokio::test]
async fn the_gate_has_pages(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, person) = gate(db).await;
    for number in 0..12 {
        let priority = ["low", "high", "normal"][number % 3];
        ada.task_with(&bob, json!({ "title": format!("Request {number}."), "priority": priority })).await;
        hub.advance_ms(10);
    }
    let page = person.get("/approvals").await;
    page.has("Request 0.").has("Request 9.").lacks("Request 10.").has("12 wait");
    let next = page.html.split("/approvals?cursor=").nth(1).unwrap().split('"').next().unwrap();
    let page = person.get(&format!("/approvals?cursor={next}")).await;
    page.has("Request 10.").has("Request 11.").lacks("Request 9.").has("Oldest");
    assert_eq!(person.get("/approvals?cursor=nonsense").await.status, 400);
}

/// Encrypted content is on the page as the script needs it, and as nothing else.
#[rstest]
#[tokio::test]
async fn encrypted_content_is_a_sealed_box(#[values(Db::Sqlite)] db: Db) {
    let pair = Pair::new(db).await;
    pair.bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let body = pair.description("sealed-1", json!({}));
    pair.ana.post("/tasks", body.clone()).await.ok(201);
    let person = Person::sign_in(&pair.hub, &pair.bob).await;
    for page in [person.get("/approvals").await, person.get("/tasks/sealed-1").await] {
        page.has("data-sealed=\"description\"").has("data-task=\"sealed-1\"").has("data-sender-name=\"Ana\"");
        page.has(&format!("data-sender-key=\"#key-{}\"", pair.ana.id))
            .has(&format!("data-agent=\"{}\"", pair.bob.id));
        page.has(&format!("<template id=\"key-{}\" data-name=\"Ana\">-----BEGIN PUBLIC KEY", pair.ana.id));
        page.has(&format!("<template id=\"key-{}\" data-name=\"Bob\">", pair.bob.id));
        page.has("<template id=\"cipher-description-sealed-1\">")
            .has("id=\"sealed-key\"")
            .has("data-title-of=\"sealed-1\"");
        page.has("tandem task show sealed-1").has("The code of this page comes from this hub.");
        page.has(&format!("data-signature=\"{}\"", body["senderSignature"].as_str().unwrap()));
        page.lacks("data-own");
    }
    let page = person.get("/approvals").await;
    page.has("Approve unread");
    // The words that people compare.
    page.has("Key <code class=\"bare\">");
    person.done(&person.post("/approvals/sealed-1/approve", &[]).await, "approved");
    let page = person.get("/tasks/sealed-1").await;
    page.has("this page cannot encrypt").has("aria-disabled=\"true\" aria-describedby=\"why-message\"");
    let forced = person.post("/tasks/sealed-1/message", &[("content", "plain words")]).await;
    assert_eq!(forced.status, 400);
    forced.has("must be encrypted on this task").has("plain words</textarea>");
    let ana = Person::sign_in(&pair.hub, &pair.ana).await;
    ana.get("/tasks/sealed-1").await.has("data-own").has("It is encrypted for Bob only.");
}

#[tokio::test]
async fn a_usual_reason_is_chosen_with_a_touch() {
    let (_hub, ada, bob, person) = gate(Db::Sqlite).await;
    for (fields, said) in [
        (&[("usual", "wrong-agent")][..], "Wrong agent"),
        (&[("usual", "more-detail"), ("reason", "Which clients?")], "Needs more detail. Which clients?"),
        (&[("reason", "Only words")], "Only words"),
    ] {
        let task = ada.task(&bob).await;
        person.get("/approvals").await.has("value=\"wrong-agent\"").has("Not now");
        let done = person.post(&format!("/approvals/{task}/reject"), fields).await;
        person.done(&done, "rejected");
        assert_eq!(ada.view(&task).await["statusReason"], *said);
    }
    // What is too long together is refused, and what was typed stays.
    let task = ada.task(&bob).await;
    let long = "x".repeat(990);
    let refused = person
        .post(&format!("/approvals/{task}/reject"), &[("usual", "more-detail"), ("reason", &long)])
        .await;
    assert_eq!(refused.status, 400);
    refused.has(&long).has("The reason");
    let refused = person.post(&format!("/tasks/{task}/reject"), &[("usual", "explode")]).await;
    assert_eq!(refused.status, 400);
    person.done(&person.post(&format!("/tasks/{task}/reject"), &[("usual", "not-now")]).await, "rejected");
    assert_eq!(ada.view(&task).await["statusReason"], "Not now");
}
