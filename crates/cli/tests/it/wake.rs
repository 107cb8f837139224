//! The wake ladder: what programs report about waking an agent, and what others see of it.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Db, Harness, eventually};

const MINUTE_MS: i64 = 60_000;
/// How long a report holds, and that of a hook.
const HOLDS_MS: i64 = 75_000;
const HOOK_HOLDS_MS: i64 = 600_000;

fn rung<'a>(reach: &'a Value, name: &str) -> &'a Value {
    reach["rungs"].as_array().unwrap().iter().find(|rung| rung["rung"] == name).unwrap()
}

#[rstest]
#[tokio::test]
async fn a_rung_counts_while_its_program_is_there(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let seen = async || ada.get("/connections").await.ok(200)[0]["reach"].as_str().unwrap().to_owned();
    let report = async |rung: &str, provided: bool| {
        bob.post("/agents/me/reach", json!({ "rung": rung, "provided": provided })).await.ok(200)
    };

    // Without an open connection the program that reported a channel is gone.
    assert_eq!(report("channel", true).await["reach"], "polling");
    let socket = bob.socket("").await;
    assert_eq!(seen().await, "channel");
    report("runner", true).await;
    assert_eq!(seen().await, "channel", "the best rung");
    report("channel", false).await;
    assert_eq!(seen().await, "runner");
    hub.advance_ms(HOLDS_MS - 1);
    assert_eq!(seen().await, "runner");
    hub.advance_ms(1);
    assert_eq!(seen().await, "socket", "a runner that was killed is gone, whatever else is connected");

    // After the hub's clock was set back, nobody knows how old a report is.
    report("runner", true).await;
    hub.advance_ms(-1);
    assert_eq!(seen().await, "socket");
    hub.advance_ms(1 + HOLDS_MS);

    // A bridge whose tool takes no channel: its socket wakes nobody.
    let reach = report("pull", true).await;
    assert_eq!(reach["reach"], "polling");
    assert!(rung(&reach, "pull")["providedUntil"].is_string());
    assert!(rung(&reach, "channel")["providedUntil"].is_null());
    assert_eq!(seen().await, "polling");
    report("hook", true).await;
    assert_eq!(seen().await, "hook");
    drop(socket);
    hub.advance_ms(HOOK_HOLDS_MS - 1);
    assert_eq!(seen().await, "hook", "a hook runs only while somebody works");
    hub.advance_ms(1);
    assert_eq!(seen().await, "polling");
    assert_eq!(bob.get("/agents/me/reach").await.ok(200)["reach"], "polling");
}

#[rstest]
#[tokio::test]
async fn a_task_is_surfaced_when_a_model_has_seen_it(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let (shown, other) = (ada.task(&bob).await, ada.task(&bob).await);
    let surfaced = async |task: &str| {
        let delivery = ada.view(task).await["delivery"].clone();
        (delivery["surfacedAt"].as_str().map(str::to_owned), delivery["surfacedBy"].clone())
    };
    bob.get(&format!("/tasks/{shown}")).await.ok(200);
    assert_eq!(surfaced(&shown).await, (None, Value::Null), "a program that fetches it is not a model");

    let report = json!({ "rung": "hook", "provided": true, "surfaced": [shown, "task_unknown"] });
    let reach = bob.post("/agents/me/reach", report).await.ok(200);
    let at = rung(&reach, "hook")["lastWorkedAt"].as_str().unwrap().to_owned();
    assert_eq!(reach["reachConfirmedAt"], at);
    assert_eq!(surfaced(&shown).await, (Some(at.clone()), json!("hook")));
    assert_eq!(surfaced(&other).await, (None, Value::Null));
    let side = ada.get("/connections").await.ok(200)[0].clone();
    assert_eq!((&side["reach"], &side["reachConfirmedAt"]), (&json!("hook"), &json!(at)));

    // The first time counts, and only the target can say so.
    hub.advance_ms(MINUTE_MS);
    ada.post("/agents/me/reach", json!({ "rung": "pull", "surfaced": [other] })).await.ok(200);
    bob.post("/agents/me/reach", json!({ "rung": "pull", "surfaced": [shown] })).await.ok(200);
    assert_eq!(surfaced(&shown).await, (Some(at), json!("hook")));
    assert_eq!(surfaced(&other).await, (None, Value::Null));

    // A channel can claim what the model has asked for because of it, for a minute.
    let claim = async |task: &str| {
        let report = json!({ "rung": "channel", "surfaced": [task] });
        bob.post("/agents/me/reach", report).await.ok(200);
        surfaced(task).await.1
    };
    assert_eq!(claim(&shown).await, "hook");
    for (later_ms, expected) in [(MINUTE_MS, "channel"), (MINUTE_MS + 1, "pull")] {
        let task = ada.task(&bob).await;
        bob.post("/agents/me/reach", json!({ "rung": "pull", "surfaced": [task] })).await.ok(200);
        let (at, _) = surfaced(&task).await;
        hub.advance_ms(later_ms);
        assert_eq!(claim(&task).await, expected);
        assert_eq!(surfaced(&task).await.0, at, "the first time counts");
    }

    // A new attempt begins without it.
    ada.set(&shown, "cancelled").await.ok(200);
    ada.post_empty(&format!("/tasks/{shown}/retry")).await.ok(200);
    assert_eq!(surfaced(&shown).await, (None, Value::Null));
}

#[rstest]
#[tokio::test]
async fn the_hubs_own_tools_surface_tasks(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    bob.tool("check_updates", json!({})).await;
    let delivery = eventually(async || {
        let delivery = ada.view(&task).await["delivery"].clone();
        delivery["surfacedAt"].is_string().then_some(delivery)
    })
    .await;
    assert_eq!(delivery["surfacedBy"], "pull");
    eventually(async || {
        let reach = bob.get("/agents/me/reach").await.ok(200);
        rung(&reach, "pull")["lastWorkedAt"].is_string().then_some(())
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn a_report_is_checked(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let bob = hub.agent("Bob").await;
    let tasks: Vec<String> = (0..101).map(|number| format!("task-{number}")).collect();
    bob.post("/agents/me/reach", json!({ "rung": "pull", "surfaced": tasks[..100] })).await.ok(200);
    for wrong in [
        json!({}),
        json!({ "rung": "telepathy" }),
        json!({ "rung": "pull", "provided": "yes" }),
        json!({ "rung": "pull", "surfaced": "task" }),
        json!({ "rung": "pull", "surfaced": ["not an id"] }),
        json!({ "rung": "pull", "surfaced": tasks }),
    ] {
        bob.post("/agents/me/reach", wrong).await.refused(400, "validation");
    }
    hub.client.send("GET", "/agents/me/reach", None, None).await.refused(401, "unauthorized");
}
