//! The page of a task: every action through its form, and why others are refused.

use rstest::rstest;
use serde_json::{Value, json};

use super::person::Person;
use crate::harness::{Agent, Db, Harness};

/// Both sides of a connection, at their browsers.
struct Table {
    hub: Harness,
    ada: Agent,
    bob: Agent,
    at_ada: Person,
    at_bob: Person,
}

impl Table {
    async fn new(db: Db) -> Self {
        let hub = Harness::start(db).await;
        let (ada, bob) = hub.pair().await;
        let (at_ada, at_bob) = (Person::sign_in(&hub, &ada).await, Person::sign_in(&hub, &bob).await);
        Self { hub, ada, bob, at_ada, at_bob }
    }

    async fn status(&self, task: &str) -> String {
        self.ada.view(task).await["status"].as_str().unwrap().to_owned()
    }
}

/// Presses a button on a task's page.
async fn press(who: &Person, task: &str, action: &str, fields: &[(&str, &str)], done: &str) {
    let seen = who.post(&format!("/tasks/{task}/{action}"), fields).await;
    who.done(&seen, done);
}

#[rstest]
#[tokio::test]
async fn a_task_goes_its_whole_way_by_forms(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let t = Table::new(db).await;
    let task = t
        .ada
        .task_with(&t.bob, json!({ "requiresReview": true, "priority": "high", "maxMessages": 5, "description": "Look at `a`" }))
        .await;
    let page = t.at_bob.get(&format!("/tasks/{task}")).await;
    page.has("Look at <code>a</code>")
        .has("High priority")
        .has("0 of 5 messages")
        .has("Ada</span> wrote this.");
    page.has("Start work").lacks(">Accept result<");
    press(&t.at_bob, &task, "status", &[("status", "working"), ("expectedStatus", "submitted")], "status")
        .await;
    press(&t.at_bob, &task, "message", &[("content", "one\r\ntwo")], "sent").await;
    let messages = t.ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
    assert_eq!(messages[0]["content"], "one\ntwo");
    let page = t.at_ada.get(&format!("/tasks/{task}")).await;
    page.has("one<br>").has("1 of 5 messages").has("Unread by your agent").has("data-refresh=\"5\"");
    press(&t.at_ada, &task, "read", &[], "read").await;
    press(&t.at_ada, &task, "ack", &[], "acknowledged").await;
    assert_eq!(t.ada.view(&task).await["unreadCount"], 0);
    press(&t.at_ada, &task, "budget", &[("maxMessages", "9")], "budget").await;
    let reply = [("content", "**Done**"), ("outcome", "completed"), ("expectedStatus", "working")];
    press(&t.at_bob, &task, "reply", &reply, "replied").await;
    assert_eq!(t.status(&task).await, "input-required");
    let page = t.at_ada.get(&format!("/tasks/{task}")).await;
    page.has("Accept result").has("<strong>Done</strong>").has("Result</span>").has("2 of 9 messages");
    press(&t.at_ada, &task, "accept", &[("expectedStatus", "input-required")], "accepted").await;
    let page = t.at_ada.get(&format!("/tasks/{task}")).await;
    page.has("A reviewed task cannot be reopened.").has("Completed</span>").lacks("data-refresh");
    press(&t.at_ada, &task, "delete", &[], "deleted").await;
    assert_eq!(t.at_ada.get(&format!("/tasks/{task}")).await.status, 404);
}

#[tokio::test]
async fn tasks_are_cancelled_retried_reassigned_and_reopened() {
    let t = Table::new(Db::Sqlite).await;
    let carol = t.hub.agent("Carol").await;
    t.ada.pair_with(&carol).await;
    let task = t.ada.task(&t.bob).await;
    press(
        &t.at_ada,
        &task,
        "cancel",
        &[("reason", "not needed"), ("expectedStatus", "submitted")],
        "cancelled",
    )
    .await;
    assert_eq!(t.bob.view(&task).await["statusReason"], "not needed");
    t.at_bob.get(&format!("/tasks/{task}")).await.has("not needed").has("Only Ada may do that.");
    press(&t.at_ada, &task, "retry", &[("expectedStatus", "cancelled")], "retried").await;
    let page = t.at_ada.get(&format!("/tasks/{task}")).await;
    page.has(&format!("<option value=\"{}\"", carol.id)).lacks(&format!("<option value=\"{}\"", t.bob.id));
    press(&t.at_ada, &task, "reassign", &[("targetAgentId", &carol.id)], "reassigned").await;
    assert_eq!(t.bob.get(&format!("/tasks/{task}")).await.status, 404);
    carol.set(&task, "working").await.ok(200);
    carol.set(&task, "completed").await.ok(200);
    press(&t.at_ada, &task, "reopen", &[("expectedStatus", "completed")], "reopened").await;
    assert_eq!(t.status(&task).await, "working");
    press(&t.at_ada, &task, "status", &[("status", "failed"), ("reason", "why not")], "status").await;
    assert_eq!(t.status(&task).await, "failed");
    // A draft.
    let draft = t.ada.task_with(&t.bob, json!({ "draft": true })).await;
    t.at_ada.get(&format!("/tasks/{draft}")).await.has("Publish").has("It is a draft. Publish it first.");
    assert_eq!(t.at_bob.get(&format!("/tasks/{draft}")).await.status, 404);
    press(&t.at_ada, &draft, "publish", &[("expectedStatus", "draft")], "published").await;
    assert_eq!(t.status(&draft).await, "submitted");
    // The gate, on the task's own page.
    t.bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let (held, other) = (t.ada.task(&t.bob).await, t.ada.task(&t.bob).await);
    t.at_ada
        .get(&format!("/tasks/{held}"))
        .await
        .has("Only Bob decides at its gate.")
        .has("Held for approval");
    press(&t.at_bob, &held, "approve", &[], "approved").await;
    press(&t.at_bob, &other, "reject", &[("reason", "no")], "rejected").await;
    assert_eq!((t.status(&held).await, t.status(&other).await), ("submitted".into(), "cancelled".into()));
}

/// Each action that the page shows as impossible is refused when its form is sent anyway.
#[tokio::test]
async fn what_is_disabled_is_refused() {
    let t = Table::new(Db::Sqlite).await;
    let task = t.ada.task(&t.bob).await;
    t.bob.set(&task, "working").await.ok(200);
    let page = t.at_bob.get(&format!("/tasks/{task}")).await;
    type Fields = &'static [(&'static str, &'static str)];
    let cases: [(&str, Fields, &str, &str); 6] = [
        ("retry", &[], "why-retry", "Only Ada may do that."),
        ("reassign", &[("targetAgentId", "x")], "why-reassign", "Only Ada may do that."),
        ("approve", &[], "why-approve", "Nobody holds it at a gate."),
        ("delete", &[], "why-delete", "It is still live. Cancel it first."),
        ("budget", &[("maxMessages", "9")], "why-budget", "Only Ada may do that."),
        ("reopen", &[], "why-reopen", "Only after completed."),
    ];
    let before = t.ada.view(&task).await;
    for (action, fields, id, why) in cases {
        page.has(&format!("<dd id=\"{id}\">{why}</dd>"));
        assert!(!page.has_form(&t.at_bob.path(&format!("/tasks/{task}/{action}"))), "{action}");
        let forced = t.at_bob.post(&format!("/tasks/{task}/{action}"), fields).await;
        assert!(matches!(forced.status, 400 | 403 | 409), "{action}: {}", forced.status);
        forced.has("role=\"alert\"").has("Nothing was changed");
    }
    assert_eq!(t.ada.view(&task).await, before);
    // The same table of moves serves the page and the operation: what is offered is what `nextStatuses` says.
    for (who, agent) in [(&t.at_ada, &t.ada), (&t.at_bob, &t.bob)] {
        let page = who.get(&format!("/tasks/{task}")).await;
        let next: Vec<String> =
            serde_json::from_value(agent.view(&task).await["nextStatuses"].clone()).unwrap();
        for status in ["completed", "failed", "input-required", "auth-required", "rejected"] {
            let offered = page.html.contains(&format!("name=\"status\" value=\"{status}\""));
            assert_eq!(offered, next.iter().any(|one| one == status), "{status} for {}", agent.name);
        }
    }
    assert_eq!(t.at_bob.post(&format!("/tasks/{task}/explode"), &[]).await.status, 404);
}

#[tokio::test]
async fn a_lost_race_keeps_what_was_typed() {
    let t = Table::new(Db::Sqlite).await;
    let task = t.ada.task(&t.bob).await;
    let cancel = json!({ "reason": "changed my mind" });
    t.ada.post(&format!("/tasks/{task}/cancel"), cancel).await.ok(200);
    t.hub.advance_ms(2_000);
    let late = t.at_bob.post(&format!("/tasks/{task}/message"), &[("content", "my <long> answer")]).await;
    assert_eq!(late.status, 409);
    late.has("“Ada” set it to Cancelled 2.0 s before you: “changed my mind”.")
        .has("my &#60;long&#62; answer</textarea>");
    let late = t
        .at_bob
        .post(&format!("/tasks/{task}/reply"), &[("content", "my result"), ("outcome", "failed")])
        .await;
    assert_eq!(late.status, 409);
    late.has("my result</textarea>").has("value=\"failed\" checked");
    let task = t.ada.task(&t.bob).await;
    t.bob.set(&task, "working").await.ok(200);
    let stale = [("status", "failed"), ("reason", "kept reason"), ("expectedStatus", "submitted")];
    let late = t.at_bob.post(&format!("/tasks/{task}/status"), &stale).await;
    assert_eq!(late.status, 409);
    late.has("set it to Working just before you")
        .has("kept reason</textarea>")
        .has("id=\"ask-status-failed\" open");
    assert_eq!(t.status(&task).await, "working");
    // A form that is not filled in right.
    let wrong = t.at_ada.post(&format!("/tasks/{task}/budget"), &[("maxMessages", "many")]).await;
    assert_eq!(wrong.status, 400);
    wrong.has("value=\"many\"").has("The number of messages must be");
    let wrong = t.at_ada.post(&format!("/tasks/{task}/message"), &[("content", "")]).await;
    assert_eq!(wrong.status, 400);
    wrong.has("The text is required.");
    let long = "x".repeat(300 * 1024);
    let wrong = t.at_ada.post(&format!("/tasks/{task}/message"), &[("content", &long)]).await;
    assert_eq!(wrong.status, 413);
    wrong.has("larger than 256 KiB").has(&long);
}

/// A form that is sent twice takes effect once.
#[tokio::test]
async fn a_message_sent_twice_is_one() {
    let t = Table::new(Db::Sqlite).await;
    let task = t.ada.task(&t.bob).await;
    let once = t.at_ada.get(&format!("/tasks/{task}")).await.hidden("once");
    for _ in 0..2 {
        press(&t.at_ada, &task, "message", &[("once", &once), ("content", "hello")], "sent").await;
    }
    let messages: Value = t.bob.get(&format!("/tasks/{task}/messages")).await.ok(200);
    assert_eq!(messages.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn long_threads_have_pages() {
    let t = Table::new(Db::Sqlite).await;
    let task = t.ada.task_with(&t.bob, json!({ "description": "what to do" })).await;
    t.bob.set(&task, "working").await.ok(200);
    for number in 0..35 {
        let message = json!({ "content": format!("message number {number}.") });
        t.ada.post(&format!("/tasks/{task}/messages"), message).await.ok(201);
    }
    let page = t.at_bob.get(&format!("/tasks/{task}")).await;
    page.has("number 34.").has("number 5.").lacks("number 4.").has("Older messages").has("what to do");
    let older = page.html.split("?before=").nth(1).unwrap().split('"').next().unwrap();
    let page = t.at_bob.get(&format!("/tasks/{task}?before={older}")).await;
    page.has("number 4.")
        .has("number 0.")
        .lacks("number 5.")
        .lacks("Older messages")
        .has("To the newest messages");
    // A long text is cut, and all of it is there as plain text.
    let long = format!("{}the **end**", "word ".repeat(5_000));
    let sent = t.ada.post(&format!("/tasks/{task}/messages"), json!({ "content": long })).await;
    let id = sent.text("id");
    let page = t.at_bob.get(&format!("/tasks/{task}")).await;
    page.has("Show all, as plain text").lacks("the <strong>end</strong>");
    t.at_bob.get(&format!("/tasks/{task}?whole={id}")).await.has("the **end**</pre>");
}

/// The way of the task with times, named gaps and progress.
#[tokio::test]
async fn the_way_of_a_task_is_shown() {
    let t = Table::new(Db::Sqlite).await;
    let more = json!({ "ttlSeconds": 600, "leaseSeconds": 3_600, "onStall": "retry" });
    let task = t.ada.task_with(&t.bob, more).await;
    let page = t.at_ada.get(&format!("/tasks/{task}")).await;
    page.has("data-left").has("attempt 1 of 3").has("“Bob” has not taken it yet").has("until it expires.");
    t.hub.advance_ms(200_000);
    t.at_ada.get(&format!("/tasks/{task}")).await.has("On its way").has("<b>3 min</b>");
    t.bob.view(&task).await;
    t.bob.set(&task, "working").await.ok(200);
    t.hub.advance_ms(17 * 60_000);
    let beat = json!({ "progress": 60, "note": "reading <b>codes</b>" });
    t.bob.post(&format!("/tasks/{task}/heartbeat"), beat).await.ok(200);
    t.bob.set(&task, "input-required").await.ok(200);
    let page = t.at_ada.get(&format!("/tasks/{task}")).await;
    page.has("<li class=\"gap\"><span>17 min</span></li>").has("60 %").has("width=\"60%\"");
    page.has("reading &#60;b&#62;codes&#60;/b&#62;").has("Fetched").has("Acknowledged");
    page.has("by “<span class=\"name\">Bob</span>”");
}
