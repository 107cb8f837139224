//! What the operator sees, and what it never sees.

use rstest::rstest;
use serde_json::json;

use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn the_operator_sees_how_things_stand_and_no_content(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.webhook_allow_http = true).await;
    let (ada, bob) = hub.pair().await;
    bob.patch("/agents/me", json!({ "webhookUrl": "http://192.0.2.1/a-secret-path" })).await;
    let first = ada.task_with(&bob, json!({ "title": "secret", "description": "secret" })).await;
    hub.advance_ms(1);
    let second = ada.task_with(&bob, json!({ "title": "secret" })).await;
    ada.post(&format!("/tasks/{first}/messages"), json!({ "content": "secret" })).await.ok(201);

    let page = hub.admin("GET", "/admin/tasks?limit=1").await;
    let tasks = page.ok(200);
    assert_eq!((&tasks[0]["id"], &tasks[0]["status"]), (&json!(second), &json!("submitted")));
    let rest = hub.admin("GET", &page.next_link().unwrap()).await.ok(200);
    assert_eq!((&rest[0]["id"], &rest[0]["messageCount"]), (&json!(first), &json!(1)));
    let events = hub.admin("GET", &format!("/admin/events?agentId={}", bob.id)).await.ok(200);
    assert_eq!(events.as_array().unwrap().len(), bob.events().await.len());
    assert_eq!((&events[0]["type"], &events[0]["agentId"]), (&json!("message.created"), &json!(bob.id)));
    let deliveries = hub.admin("GET", "/admin/deliveries").await.ok(200);
    let settings = hub.admin("GET", "/admin/settings").await.ok(200);
    assert_eq!((&settings["rate_limit_max"], &settings["admin_token"]), (&json!(0), &json!("(hidden)")));
    for shown in [&tasks, &rest, &events, &deliveries, &settings] {
        assert!(!shown.to_string().contains("secret"), "{shown}");
    }
    let everybodys = hub.admin("GET", "/admin/events?limit=3").await;
    let next = hub.admin("GET", &everybodys.next_link().unwrap()).await.ok(200);
    assert!(
        everybodys.ok(200).as_array().unwrap().iter().all(|event| !next.as_array().unwrap().contains(event))
    );
    hub.admin("GET", "/admin/events?cursor=x").await.refused(400, "validation");
    hub.admin("GET", "/admin/events?agentId=agent_x").await.refused(404, "not_found");
    hub.admin("GET", "/admin/tasks?cursor=!").await.refused(400, "validation");
    for path in ["tasks", "events", "deliveries", "settings"] {
        ada.get(&format!("/admin/{path}")).await.refused(403, "admin_only");
        hub.client.send("GET", &format!("/admin/{path}"), None, None).await.refused(401, "unauthorized");
    }
}
