//! Guests: keys that are good at one address only.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_core::a2a::TaskState;
use tandem_hub::ops::a2a;

use super::{Visitor, code, message, text};
use crate::harness::{Agent, Db, Harness};

async fn invite(host: &Agent, body: Value) -> Agent {
    let made = host.post("/a2a/guests", body).await.ok(201);
    let field = |name: &str| made[name].as_str().unwrap().to_owned();
    assert_eq!(field("address"), format!("https://hub.example/a2a/agents/{}", host.id));
    Agent { id: field("agentId"), name: field("name"), key: field("apiKey"), client: host.client.clone() }
}

async fn open(db: Db) -> Harness {
    Harness::start_with(db, |config| config.public_url = Some("https://hub.example/".into())).await
}

#[rstest]
#[tokio::test]
async fn a_guest_reaches_its_host_and_nothing_else(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = open(db).await;
    let (ada, bob) = hub.pair().await;
    let guest = invite(&bob, json!({ "name": "Travel" })).await;
    for path in [
        "/agents/me",
        "/api/v1/tasks",
        "/events",
        "/events/stream",
        "/ws",
        "/mcp",
        "/a2a/guests",
        "/a2a/agents",
    ] {
        guest.get(path).await.refused(403, "guest_only");
        guest.post(path, json!({})).await.refused(403, "guest_only");
    }
    // Below an A2A address, refusals are in the words of A2A.
    for path in [
        format!("/a2a/agents/{}", ada.id),
        format!("/a2a/agents/{}x", bob.id),
        format!("/a2a/agents/{}/../{}", ada.id, bob.id),
    ] {
        for refused in [guest.get(&path).await, guest.post(&path, json!({})).await] {
            let words = refused.json().to_string();
            assert!(refused.status == 403 && words.contains("guest_only"), "{path}: {words}");
        }
    }
    for path in [format!("/a2a/agents/{}/nothing", bob.id), format!("/api/v1/a2a/agents/{}/nothing", bob.id)]
    {
        let words = guest.get(&path).await.json().to_string();
        assert!(!words.contains("guest_only"), "{path}: {words}");
    }
    let form = format!("key={}", guest.key);
    let request = hyper::Request::post("/app/sign-in")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(http_body_util::Full::from(form))
        .unwrap();
    let signed_in = hub.client.raw(request).await;
    assert_eq!((signed_in.status, signed_in.header("set-cookie")), (403, None));

    let visitor = Visitor::new(&hub, &guest, &bob);
    let task = visitor.start("Book a trip").await;
    assert_eq!(bob.view(task.as_str()).await["initiatorAgentName"], "Travel");
    let elsewhere = Visitor::new(&hub, &guest, &ada);
    assert_eq!(code(elsewhere.send(message("m", text("Hi"))).await), "not_connected");
    assert!(a2a::terms(&visitor.hub, &visitor.caller, &visitor.host).await.unwrap().is_some());
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = visitor.start("And a hotel").await;
    assert_eq!(bob.view(held.as_str()).await["approvalStatus"], "pending", "the gate holds for guests");

    let found = ada.get("/agents/discover").await.ok(200).to_string();
    assert!(!found.contains(&guest.id));
    ada.post(&format!("/connect/{}", guest.id), json!({})).await.refused(403, "not_auto_accept");
}

#[rstest]
#[tokio::test]
async fn a_guest_ends_with_its_key_and_its_tasks(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = open(db).await;
    let (ada, bob) = hub.pair().await;
    let guest = invite(&bob, json!({ "name": "Travel" })).await;
    let visitor = Visitor::new(&hub, &guest, &bob);
    let task = visitor.start("Book a trip").await;
    let listed = bob.get("/a2a/guests").await.ok(200);
    assert_eq!(
        (&listed[0]["agentId"], &listed[0]["apiKey"], &listed[0]["expiresAt"]),
        (&json!(guest.id), &json!(null), &json!(null))
    );
    assert_eq!(ada.get("/a2a/guests").await.ok(200), json!([]));
    let path = format!("/a2a/guests/{}", guest.id);
    ada.delete(&path).await.refused(404, "not_found");
    bob.delete(&format!("/a2a/guests/{}", ada.id)).await.refused(404, "not_found");
    assert_eq!(bob.delete(&path).await.ok(200), json!({ "deleted": true, "agentId": guest.id }));
    bob.delete(&path).await.refused(404, "not_found");
    guest.get("/agents/me").await.refused(401, "unauthorized");
    // A request that was admitted before.
    assert_eq!(code(visitor.send(message("m", text("Hi"))).await), "unauthorized");
    assert_eq!(code(visitor.get(&task).await), "unauthorized");
    assert_eq!(bob.get("/a2a/guests").await.ok(200), json!([]));
    bob.get(&format!("/tasks/{task}")).await.refused(404, "not_found");
    assert_eq!(bob.last_event().await["type"], "agent.disconnected");
}

#[rstest]
#[tokio::test]
async fn a_guest_ends_with_its_time_or_its_host(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = open(db).await;
    let bob = hub.agent("Bob").await;
    for seconds in [0, 31_536_001] {
        let body = json!({ "name": "No", "expiresInSeconds": seconds });
        bob.post("/a2a/guests", body).await.refused(400, "validation");
    }
    invite(&bob, json!({ "name": "Long", "expiresInSeconds": 31_536_000 })).await;
    let short = invite(&bob, json!({ "name": "Short", "expiresInSeconds": 1 })).await;
    let visitor = Visitor::new(&hub, &short, &bob);
    let task = visitor.start("Quick").await;
    hub.advance_ms(999);
    hub.timer_has_looked().await;
    assert_eq!(visitor.get(&task).await.unwrap().state, TaskState::Submitted);
    hub.advance_ms(1);
    hub.timer_has_looked().await;
    assert_eq!(code(visitor.get(&task).await), "unauthorized");
    assert_eq!(bob.get("/a2a/guests").await.ok(200).as_array().unwrap().len(), 1);

    let last = invite(&bob, json!({ "name": "Last" })).await;
    bob.delete("/agents/me").await.ok(200);
    last.get("/agents/me").await.refused(401, "unauthorized");
    hub.hub.finish_batches().await.unwrap();
    let left = hub.admin("GET", "/admin/agents").await.ok(200);
    assert_eq!(left, json!([]), "nothing of host and guests is left");
}

#[rstest]
#[tokio::test]
async fn an_agent_has_a_hundred_guests(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = open(db).await;
    let bob = hub.agent("Bob").await;
    let mut last = None;
    for number in 0..100 {
        last = Some(invite(&bob, json!({ "name": format!("Guest {number}") })).await);
    }
    bob.post("/a2a/guests", json!({ "name": "One more" })).await.refused(429, "too_many_guests");
    assert_eq!(bob.get("/a2a/guests").await.ok(200).as_array().unwrap().len(), 100);
    bob.delete(&format!("/a2a/guests/{}", last.unwrap().id)).await.ok(200);
    invite(&bob, json!({ "name": "One more" })).await;
}

/// Without a public URL, a guest is told the address to which its host has connected.
#[tokio::test]
async fn the_address_of_a_guest_is_one_that_works() {
    let hub = Harness::start(Db::Sqlite).await;
    let bob = hub.agent("Bob").await;
    let made = bob.post("/a2a/guests", json!({ "name": "Travel" })).await.ok(201);
    let address = format!("http://{}/a2a/agents/{}", hub.client.address, bob.id);
    assert_eq!(
        (&made["address"], &bob.get("/a2a/guests").await.ok(200)[0]["address"]),
        (&json!(address), &json!(address))
    );
}
