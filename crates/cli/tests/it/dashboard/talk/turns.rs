//! Whose turn it is: on the thread, in the list and on Home; and where the time went.

use rstest::rstest;
use serde_json::json;
use tandem_app::Error;
use tandem_core::webhooks::State;
use tandem_store::webhooks;

use super::person::Person;
use crate::dashboard::words;
use crate::harness::{Agent, Db, Harness};
use crate::retention::delivery;

async fn table(db: Db) -> (Harness, Agent, Agent, Person, Person) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (at_ada, at_bob) = (Person::sign_in(&hub, &ada).await, Person::sign_in(&hub, &bob).await);
    (hub, ada, bob, at_ada, at_bob)
}

/// What the list says under a heading.
fn group<'p>(page: &'p str, heading: &str) -> &'p str {
    let rest = page.split_once(&format!("scope=\"rowgroup\" colspan=\"5\">{heading}<small>"));
    rest.map_or("", |(_, rest)| rest.split_once("</tbody>").unwrap().0)
}

#[rstest]
#[tokio::test]
async fn an_answered_question_waits_for_them(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, at_ada, at_bob) = table(db).await;
    let task = ada.task_with(&bob, json!({ "title": "The question" })).await;
    let thread = format!("/tasks/{task}");
    ada.post(&format!("{thread}/messages"), json!({ "content": "written before" })).await.ok(201);
    bob.set(&task, "working").await.ok(200);
    bob.set(&task, "input-required").await.ok(200);
    let page = at_ada.get(&thread).await;
    page.has("Your turn: “Bob” asks a question").has("class=\"turn tone-wait\"").has("Send answer");
    assert_eq!(page.html.matches("btn-primary").count(), 1, "one filled button");
    let other = at_bob.get(&thread).await;
    other.has("“Ada” has to answer").has("class=\"turn tone-plain\"").lacks("btn-primary");
    assert!(group(&at_ada.get("/tasks").await.html, "Your turn").contains("The question"));
    assert!(group(&at_bob.get("/tasks").await.html, "Waits for others").contains("The question"));
    at_ada.get("").await.has("Answer: <span class=\"title\">The question");

    hub.advance_ms(120_000);
    at_ada.done(&at_ada.post(&format!("{thread}/message"), &[("content", "the answer")]).await, "sent");
    hub.advance_ms(1_000);
    let page = at_ada.get(&thread).await;
    page.has("Answered: it waits for “Bob”")
        .lacks("btn-primary")
        .has("Waiting for you")
        .has("Waiting for them");
    assert!(group(&at_ada.get("/tasks").await.html, "Waits for others").contains("The question"));
    at_ada.get("").await.lacks("Answer: <span class=\"title\">The question");
    // Reading the answer does not give the turn back, a further question does.
    bob.post(&format!("{thread}/ack"), json!({})).await.ok(200);
    at_ada.get(&thread).await.has("Answered: it waits for “Bob”");
    bob.post(&format!("{thread}/messages"), json!({ "content": "And this?" })).await.ok(201);
    at_ada.get(&thread).await.has("Your turn: “Bob” asks a question");
}

#[rstest]
#[tokio::test]
async fn a_silent_task_is_amber_everywhere(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, at_ada, _) = table(db).await;
    let task = ada.task_with(&bob, json!({ "title": "The silent one", "leaseSeconds": 300 })).await;
    bob.set(&task, "working").await.ok(200);
    at_ada.get(&format!("/tasks/{task}")).await.has("“Bob” works on it").lacks("Stalled");
    hub.advance_ms(301_000);
    hub.timer_has_looked().await;
    hub.advance_ms(60_000);
    let page = at_ada.get(&format!("/tasks/{task}")).await;
    page.has("Stalled: no sign of life for 6 min").has(">Ping</button>").has("life-silent");
    assert_eq!(page.html.matches("btn-primary").count(), 1, "one filled button");
    let list = at_ada.get("/tasks").await;
    assert!(group(&list.html, "Your turn").contains("class=\"amber\""));
    list.has("silent 6 min");
    at_ada.get("/tasks?view=board").await.has("<li class=\"amber\">").has("Stalled");
    at_ada.get("").await.has("Wake or move: <span class=\"title\">The silent one");
    at_ada.done(&at_ada.post(&format!("/tasks/{task}/ping"), &[]).await, "asked");
    assert!(
        bob.get(&format!("/tasks/{task}/messages")).await.ok(200)[0]["content"]
            .as_str()
            .unwrap()
            .contains("sign of life")
    );
    at_ada.get(&format!("/tasks/{task}")).await.has("Stalled: no sign of life for 6 min");
    bob.post(&format!("/tasks/{task}/heartbeat"), json!({})).await.ok(200);
    at_ada.get(&format!("/tasks/{task}")).await.has("“Bob” works on it").lacks("Stalled");
    at_ada.get("").await.lacks("The silent one");
}

#[tokio::test]
async fn an_ended_task_says_what_came_of_it() {
    let (hub, ada, bob, at_ada, at_bob) = table(Db::Sqlite).await;
    let task = ada.task(&bob).await;
    bob.set(&task, "working").await.ok(200);
    hub.advance_ms(20 * 60_000);
    bob.post(&format!("/tasks/{task}/reply"), json!({ "content": "All **done**" })).await.ok(200);
    let page = at_ada.get(&format!("/tasks/{task}")).await;
    page.has("class=\"turn tone-good\"")
        .has("Completed by “Bob”")
        .has("It took 20 min.")
        .lacks("btn-primary");
    page.has("Bob</span> wrote this.").has("All **done**</p>");
    let own = at_bob.get(&format!("/tasks/{task}")).await;
    own.has("Completed by your side");
    let refused = ada.task(&bob).await;
    bob.patch(&format!("/tasks/{refused}"), json!({ "status": "rejected", "reason": "Ask <b>again</b>" }))
        .await
        .ok(200);
    let page = at_ada.get(&format!("/tasks/{refused}")).await;
    page.has("class=\"turn tone-bad\"").has("Rejected by “Bob”").has("Ask &#60;b&#62;again&#60;/b&#62;");
    // What is not possible is one fold, with the reasons.
    page.has("actions not possible now").has("<dd id=\"why-cancel\">It has ended: Rejected.</dd>");
}

#[tokio::test]
async fn the_gate_is_part_of_the_story() {
    let (hub, ada, bob, at_ada, at_bob) = table(Db::Sqlite).await;
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let task = ada.task(&bob).await;
    let thread = format!("/tasks/{task}");
    hub.advance_ms(1);
    at_bob.get(&thread).await.has("Your turn: let “Ada” in or not").has("Held at your gate");
    at_ada.get(&thread).await.has("Held at the gate of “Bob”").has("Held at their gate").lacks("btn-primary");
    hub.advance_ms(4 * 60_000);
    bob.post_empty(&format!("/approvals/{task}/approve")).await.ok(200);
    hub.advance_ms(60_000);
    bob.set(&task, "working").await.ok(200);
    hub.advance_ms(60_000);
    let page = at_ada.get(&thread).await;
    assert!(words(&page.html).contains("Held at their gate 4 min"), "{}", words(&page.html));
    assert!(words(&page.html).contains("On its way 1 min"), "{}", words(&page.html));
    page.has("Approved");
}

#[tokio::test]
async fn agents_of_the_same_browser_are_yours() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let both = crate::dashboard::Person::sign_in(&hub, &ada).await.also(&hub, &bob).await;
    let task = ada.task_with(&bob, json!({ "description": "between two of mine" })).await;
    let page = both.page(&format!("/tasks/{task}")).await;
    assert!(!page.contains("wrote this. It is data"), "{page}");
    assert_eq!(page.matches("avatar foreign").count(), 0);
    let alone = crate::dashboard::Person::sign_in(&hub, &bob).await;
    assert!(alone.page(&format!("/tasks/{task}")).await.contains("wrote this. It is data"));
}

#[tokio::test]
async fn what_is_typed_outlives_the_session() {
    let (hub, ada, bob, at_ada, _) = table(Db::Sqlite).await;
    let task = ada.task(&bob).await;
    let nobody = Person { cookie: "x=y".into(), ..at_ada.clone() };
    let fields = [("csrf", "0"), ("content", "a long <answer>"), ("key", "tdm_secret")];
    let ended = nobody.post_raw(&format!("/tasks/{task}/message"), &fields).await;
    assert_eq!(ended.status, 401);
    ended.has("a long &#60;answer&#62;</textarea>").has("Nothing was sent.").lacks("tdm_secret");
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200), json!([]));
    // It goes through the sign-in, also if the key is wrong at first, and is sent by a press of a button.
    let hidden = |page: &str, name: &str| crate::dashboard::hidden(page, name).replace("&#38;", "&");
    let (form, packed) = (hidden(&ended.html, "form"), hidden(&ended.html, "fields"));
    let door = crate::dashboard::Person::stranger(&hub);
    let wrong = [("key", "tdm_wrong"), ("form", &*form), ("fields", &*packed)];
    let again = crate::dashboard::text(&door.post("/app/sign-in", &wrong).await);
    assert_eq!((hidden(&again, "form"), hidden(&again, "fields")), (form.clone(), packed.clone()));
    let right = [("key", &*ada.key), ("form", &*form), ("fields", &*packed)];
    let reply = door.post("/app/sign-in", &right).await;
    let offered = crate::dashboard::text(&reply);
    assert!(
        offered.contains("Nothing was sent yet.") && offered.contains("a long &#60;answer&#62;</textarea>")
    );
    let back = crate::dashboard::Person::with_cookie_of(&hub, &reply);
    let csrf = hidden(&offered, "csrf");
    let sent = back.post(&form, &[("csrf", &*csrf), ("content", "a long <answer>")]).await;
    assert_eq!(sent.status, 303, "{}", crate::dashboard::text(&sent));
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200)[0]["content"], "a long <answer>");
    // A sign-in leads to no form of another site.
    let foreign = [("key", &*ada.key), ("form", "//evil.example/app/"), ("fields", "content=x")];
    assert_eq!(door.post("/app/sign-in", &foreign).await.status, 303);
}

#[rstest]
#[tokio::test]
async fn a_search_finds_tasks_agents_and_messages(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, at_ada, _) = table(db).await;
    let task = ada.task_with(&bob, json!({ "title": "Sync the customs codes" })).await;
    bob.post(
        &format!("/tasks/{task}/messages"),
        json!({ "content": "GET /Shipments <b>keeps</b> page numbers" }),
    )
    .await
    .ok(201);
    let eve = hub.agent("Eve").await;
    eve.pair_with(&bob).await;
    let hidden = eve.task_with(&bob, json!({ "title": "Shipments of Eve" })).await;
    eve.post(&format!("/tasks/{hidden}/messages"), json!({ "content": "secret shipments" })).await.ok(201);
    at_ada.get("/search?q=CUSTOMS").await.has("Sync the customs codes").has("New task: “CUSTOMS”");
    let page = at_ada.get("/search?q=shipments").await;
    page.has("GET /Shipments &#60;b&#62;keeps&#60;/b&#62;")
        .has("another owner’s words")
        .lacks("of Eve")
        .lacks("secret");
    at_ada.get("/search?q=bob").await.has("<h2>Agents</h2>");
    at_ada.get("/search?q=settings").await.has("/profile\">Settings</a>");
    at_ada.get("/search").await.lacks("Nothing has these words").lacks("<h2>Tasks</h2>");
    at_ada.get("/search?q=zzz").await.has("Nothing has these words.");
    at_ada.get(&format!("/search?q={}", "q".repeat(300))).await.has("role=\"alert\"");
}

/// Sentences have titles of tasks that the reader may see, and of no others; so has the stream of the page.
#[rstest]
#[tokio::test]
async fn events_are_sentences(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, _, at_bob) = table(db).await;
    let mut live = crate::dashboard::Person::sign_in(&hub, &bob).await.open(&at_bob.path("/live")).await;
    let task = ada.task_with(&bob, json!({ "title": "Sync <b>codes</b>" })).await;
    let told = live.until("task.created").await;
    assert!(told.contains("\"sentence\":\"“Ada” sent “Sync <b>codes</b>”\""), "{told}");
    ada.patch(&format!("/tasks/{task}"), json!({ "status": "cancelled", "reason": "no need" })).await.ok(200);
    let page = at_bob.get("/events").await;
    page.has("“Ada” sent “Sync &#60;b&#62;codes&#60;/b&#62;”").has("is now Cancelled: “no need”");
    page.has("“Ada” is connected");
    // A task that is somebody else's by now has no title here.
    let (carol, other) =
        (hub.agent("Carol").await, ada.task_with(&bob, json!({ "title": "Taken away" })).await);
    ada.pair_with(&carol).await;
    ada.post(&format!("/tasks/{other}/reassign"), json!({ "targetAgentId": carol.id })).await.ok(200);
    at_bob.get("/events").await.has("a task was given to another agent").lacks("Taken away");
}

#[rstest]
#[tokio::test]
async fn all_that_failed_is_replayed(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (hub, ada, bob, at_ada, at_bob) = table(db).await;
    for agent in [&ada, &bob] {
        agent.patch("/agents/me", json!({ "webhookUrl": "https://example.com/hook" })).await.ok(200);
    }
    at_ada.get("/webhooks").await.lacks("/webhooks/replay-failed");
    let (of_ada, of_bob) = (ada.id.clone(), bob.id.clone());
    let fill = hub.hub.db.write(move |tx, now| {
        for (number, state) in [(1, State::Failed), (2, State::Delivered), (3, State::Failed)] {
            for (offset, agent) in [(0, &of_ada), (100, &of_bob)] {
                let one = delivery(number + offset, state, now.at.0);
                webhooks::insert(tx, &webhooks::Delivery { agent: agent.parse().unwrap(), ..one })?;
            }
        }
        Ok::<_, Error>(())
    });
    fill.await.unwrap();
    at_ada.get("/webhooks").await.has("Replay 2 failed");
    at_ada.done(&at_ada.post("/webhooks/replay-failed", &[]).await, "replayed-all");
    at_ada.get("/webhooks").await.lacks("/webhooks/replay-failed");
    at_bob.get("/webhooks").await.has("Replay 2 failed");
    // Nothing is sent where the webhook is off.
    bob.patch("/agents/me", json!({ "webhookUrl": null })).await.ok(200);
    assert_eq!(at_bob.post("/webhooks/replay-failed", &[]).await.status, 409);
}
