//! Credits: who pays, and where work stops.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness};

async fn terms(hub: &Harness, agent: &Agent, body: Value) -> Value {
    let path = format!("/admin/agents/{}", agent.id);
    hub.client.send("PATCH", &path, Some(ADMIN_TOKEN), Some(body)).await.ok(200)
}

#[rstest]
#[tokio::test]
async fn work_of_an_agent_that_costs_is_paid(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    terms(&hub, &bob, json!({ "costsCredits": true })).await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/usage");
    ada.post(&path, json!({ "cost": 0.1 })).await.refused(403, "role_not_allowed");
    for wrong in [json!({}), json!({ "cost": -1 }), json!({ "cost": "1" }), json!({ "cost": 0.000_000_1 })] {
        bob.post(&path, wrong).await.refused(400, "validation");
    }
    bob.set(&task, "working").await.ok(200);
    let usage = bob.post(&path, json!({ "cost": 0.1 })).await.ok(200);
    assert_eq!(
        usage,
        json!({
            "deducted": 0.1, "credits": 0.4, "balance": 0.4, "usageReported": 0.1, "status": "working",
            "paused": false,
        })
    );
    let usage = bob.post(&path, json!({ "cost": 0.200_001 })).await.ok(200);
    assert_eq!((&usage["credits"], &usage["usageReported"]), (&json!(0.199_999), &json!(0.300_001)));
    // More than there is: what is left is taken, the whole is reported, and the work pauses.
    let usage = bob.post(&path, json!({ "cost": 1 })).await.ok(200);
    assert_eq!((&usage["deducted"], &usage["balance"]), (&json!(0.199_999), &json!(0.0)));
    assert_eq!((&usage["status"], &usage["paused"]), (&json!("input-required"), &json!(true)));
    assert_eq!(ada.get("/agents/me").await.ok(200)["credits"], 0.0);
    let view = ada.view(&task).await;
    assert_eq!((&view["status"], &view["usageReported"]), (&json!("input-required"), &json!(1.300_001)));
    assert_eq!(view["statusReason"], "the initiator has no credits left");
    let told = ada.last_event().await;
    assert_eq!((&told["type"], &told["data"]["status"]), (&json!("task.updated"), &json!("input-required")));

    // What is reported after that is added, and pauses nothing again.
    let log = ada.get(&format!("/tasks/{task}/events")).await.ok(200);
    for _ in 0..2 {
        let usage = bob.post(&path, json!({ "cost": 0.1 })).await.ok(200);
        assert_eq!((&usage["deducted"], &usage["credits"]), (&json!(0.0), &json!(0.0)));
        assert_eq!((&usage["status"], &usage["paused"]), (&json!("input-required"), &json!(false)));
    }
    assert_eq!(ada.last_event().await, told);
    assert_eq!(ada.get(&format!("/tasks/{task}/events")).await.ok(200), log);
    assert_eq!(ada.get(&format!("/tasks/{task}/messages")).await.ok(200), json!([]));
    let paused = ada.view(&task).await;
    assert_eq!(paused["usageReported"], 1.500_001);
    assert_eq!(paused["statusReason"], view["statusReason"]);

    // Without credits nothing new is published for that agent, in whatever way.
    let body = json!({ "targetAgentId": bob.id, "title": "T" });
    ada.post("/tasks", body).await.refused(402, "no_credits");
    let draft = ada.task_with(&bob, json!({ "draft": true })).await;
    ada.set(&draft, "submitted").await.refused(402, "no_credits");
    ada.set(&task, "cancelled").await.ok(200);
    ada.post_empty(&format!("/tasks/{task}/retry")).await.refused(402, "no_credits");
    let eve = hub.agent("Eve").await;
    ada.pair_with(&eve).await;
    let other = ada.task(&eve).await;
    let to_bob = json!({ "targetAgentId": bob.id });
    ada.post(&format!("/tasks/{other}/reassign"), to_bob).await.refused(402, "no_credits");
    assert_eq!(ada.view(&other).await["targetAgentId"], json!(eve.id), "a refusal changes nothing");
    terms(&hub, &ada, json!({ "credits": 2.5 })).await;
    ada.set(&draft, "submitted").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn a_task_may_cost_only_so_much(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_task_usage = 0.3).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    bob.set(&task, "working").await.ok(200);
    let path = format!("/tasks/{task}/usage");
    assert_eq!(bob.post(&path, json!({ "cost": 0.299_999 })).await.ok(200)["paused"], false);
    // One that costs nothing takes nothing, but reports all the same.
    let usage = bob.post(&path, json!({ "cost": 0.000_001 })).await.ok(200);
    assert_eq!((&usage["deducted"], &usage["credits"]), (&json!(0.0), &json!(0.5)));
    assert_eq!((&usage["usageReported"], &usage["paused"]), (&json!(0.3), &json!(true)));
    assert_eq!(bob.post(&path, json!({ "cost": 1 })).await.ok(200)["paused"], false);
    // A task that waits for an answer is not paused; it says what else stops it.
    let asked = ada.task(&bob).await;
    bob.set(&asked, "working").await.ok(200);
    bob.set(&asked, "input-required").await.ok(200);
    let told = ada.last_event().await;
    let usage = bob.post(&format!("/tasks/{asked}/usage"), json!({ "cost": 1 })).await.ok(200);
    assert_eq!((&usage["status"], &usage["paused"]), (&json!("input-required"), &json!(false)));
    assert_eq!(ada.last_event().await, told);
    let why = ada.view(&asked).await["statusReason"].as_str().unwrap().to_owned();
    assert!(why.contains("0.3"), "{why}");
    // Reopened work is paid for anew.
    ada.set(&task, "completed").await.ok(200);
    bob.post(&path, json!({ "cost": 0.1 })).await.refused(409, "task_terminal");
    assert_eq!(ada.set(&task, "working").await.ok(200)["usageReported"], 0.0);
}

#[rstest]
#[tokio::test]
async fn who_is_suspended_may_not_ask_for_ever(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start_with(db, |config| config.rate_limit_max = 4).await;
    let ada = hub.agent("Ada").await;
    terms(&hub, &ada, json!({ "suspended": true })).await;
    for _ in 0..3 {
        ada.get("/agents/me").await.refused(403, "suspended");
    }
    ada.get("/agents/me").await.refused(429, "rate_limited");
}

#[rstest]
#[tokio::test]
async fn the_operator_suspends_an_agent(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "discoverable": true })).await.ok(200);
    let mut socket = bob.socket("").await;
    assert_eq!(terms(&hub, &bob, json!({ "suspended": true })).await["suspended"], true);
    bob.get("/agents/me").await.refused(403, "suspended");
    assert!(socket.next().await.is_err(), "its socket ends");
    assert_eq!(ada.get("/agents/discover").await.ok(200)["total"], 0);
    terms(&hub, &bob, json!({ "suspended": false })).await;
    bob.get("/agents/me").await.ok(200);
    let path = format!("/admin/agents/{}", bob.id);
    for wrong in
        [json!({}), json!({ "credits": -1 }), json!({ "credits": 0.000_000_5 }), json!({ "suspended": 1 })]
    {
        hub.client.send("PATCH", &path, Some(ADMIN_TOKEN), Some(wrong)).await.refused(400, "validation");
    }
    bob.patch(&path, json!({ "credits": 100 })).await.refused(403, "admin_only");
    let unknown =
        hub.client.send("PATCH", "/admin/agents/agent_x", Some(ADMIN_TOKEN), Some(json!({ "credits": 1 })));
    unknown.await.refused(404, "not_found");
}
