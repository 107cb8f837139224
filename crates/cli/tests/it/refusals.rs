//! Refused requests write nothing. In a debug build, a job that is refused after it has written is answered with 500, so
//! each kind of refusal of a write is met here or where its topic is.

use rstest::rstest;
use serde_json::{Value, json};

use crate::files::upload;
use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness, Held, Reply};

fn figure(hub: &Harness, name: &str) -> u64 {
    let figures = hub.hub.db.store().stats().figures();
    figures.iter().find(|(of, _)| *of == name).unwrap().1
}

/// Whoever is over a limit has its own requests refused, and nobody else's run again.
#[rstest]
#[tokio::test]
async fn one_agent_over_its_limit_stops_nobody(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 1).await.at_one_node();
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    cy.pair_with(&bob).await;
    let network = ada.post("/networks", json!({ "name": "Guild" })).await.text("id");
    let task = ada.task(&bob).await;
    let over = [
        (format!("/tasks/{task}/messages"), json!({ "content": "hi" })),
        (format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", b"a")),
        (format!("/networks/{network}/broadcast"), json!({ "content": "hi" })),
    ];
    ada.post(&over[0].0, over[0].1.clone()).await.ok(201);
    ada.post(&over[2].0, over[2].1.clone()).await.ok(201);
    let before = figure(&hub, "group_reruns");
    for (path, body) in over {
        let held = Held::writer(&hub).await;
        let (by, others) = (ada.clone(), (cy.clone(), bob.clone()));
        let refused = tokio::spawn(async move { by.post(&path, body).await });
        held.wait_for(1).await;
        let others: Vec<_> = (0..3)
            .map(|_| {
                let (cy, bob) = others.clone();
                tokio::spawn(async move { cy.task(&bob).await })
            })
            .collect();
        held.wait_for(4).await;
        drop(held);
        let reply = refused.await.unwrap();
        reply.refused(429, "rate_limited");
        assert_eq!(reply.header("retry-after"), Some("60"));
        for other in others {
            other.await.unwrap();
        }
    }
    assert_eq!(figure(&hub, "group_reruns"), before, "no group was rolled back");
}

/// Agents, and what they have to do with each other.
struct Scene {
    hub: Harness,
    ada: Agent,
    bob: Agent,
    /// Connected to nobody.
    cy: Agent,
}

impl Scene {
    async fn new(db: Db) -> Self {
        let hub = Harness::start_with(db, |config| config.file_quota_mb = 1).await;
        let (ada, bob) = hub.pair().await;
        let cy = hub.agent("Cy").await;
        Self { hub, ada, bob, cy }
    }

    async fn once(&self, by: &Agent, path: &str, body: Value) -> Reply {
        let request = hyper::Request::post(path)
            .header("authorization", format!("Bearer {}", by.key))
            .header("content-type", "application/json")
            .header("idempotency-key", "k")
            .body(body.to_string().into())
            .unwrap();
        by.client.raw(request).await
    }
}

#[rstest]
#[tokio::test]
async fn refusals_about_tasks_come_before_writes(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let Scene { hub, ada, bob, cy } = &Scene::new(db).await;
    let task = ada.task(bob).await;
    let path = format!("/tasks/{task}");
    let say = json!({ "content": "hi" });
    let thread = format!("{path}/messages");
    cy.post(&thread, say.clone()).await.refused(404, "not_found");
    let answer = json!({ "content": "hi", "inReplyTo": "msg_none" });
    ada.post(&thread, answer).await.refused(400, "validation");
    ada.set(&task, "completed").await.refused(400, "invalid_transition");
    ada.set(&task, "rejected").await.refused(403, "role_not_allowed");
    ada.delete(&path).await.refused(409, "task_live");
    ada.post_empty(&format!("{path}/retry")).await.refused(409, "invalid_state");
    ada.patch(&path, json!({ "status": "working", "expectedStatus": "working" }))
        .await
        .refused(409, "conflict");
    let same = json!({ "targetAgentId": bob.id });
    ada.post(&format!("{path}/reassign"), same).await.refused(400, "validation");
    let stranger = json!({ "targetAgentId": cy.id });
    ada.post(&format!("{path}/reassign"), stranger.clone()).await.refused(403, "not_connected");
    let said = ada.post(&thread, say.clone()).await.text("id");
    bob.delete(&format!("{thread}/{said}")).await.refused(403, "not_sender");
    let exe = upload("a.exe", "application/x-msdownload", b"a");
    ada.post(&format!("{path}/files/json"), exe).await.refused(415, "unsupported_media_type");
    let large = upload("a.txt", "text/plain", &vec![b'a'; 1_100_000]);
    ada.post(&format!("{path}/files/json"), large).await.refused(413, "file_quota");
    bob.post(&format!("{path}/usage"), json!({ "cost": -1 })).await.refused(400, "validation");
    ada.post(&format!("{path}/usage"), json!({ "cost": 1 })).await.refused(403, "role_not_allowed");
    ada.set(&task, "cancelled").await.ok(200);
    ada.post(&thread, say.clone()).await.refused(409, "task_terminal");
    bob.post(&format!("{path}/reply"), say.clone()).await.refused(409, "task_terminal");

    let spent = ada.task_with(bob, json!({ "maxMessages": 1 })).await;
    ada.post(&format!("/tasks/{spent}/messages"), say.clone()).await.ok(201);
    for how in ["messages", "reply"] {
        bob.post(&format!("/tasks/{spent}/{how}"), say.clone()).await.refused(409, "message_budget");
    }
    let reviewed = ada.task_with(bob, json!({ "requiresReview": true })).await;
    bob.set(&reviewed, "working").await.ok(200);
    bob.set(&reviewed, "completed").await.refused(403, "review_required");
    let draft = ada.task_with(bob, json!({ "draft": true })).await;
    ada.post(&format!("/tasks/{draft}/messages"), say.clone()).await.refused(409, "task_draft");

    let new = |more: Value| {
        let mut body = json!({ "targetAgentId": bob.id, "title": "T" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    ada.post("/tasks", new(json!({ "id": task }))).await.refused(409, "id_taken");
    ada.post("/tasks", new(json!({ "parentTaskId": "task_none" }))).await.refused(404, "not_found");
    let unreached = json!({ "targetAgentId": cy.id, "title": "T" });
    ada.post("/tasks", unreached).await.refused(403, "not_connected");

    // By a network, with no row of the two yet: what a refusal must not leave behind either.
    let network = ada.post("/networks", json!({ "name": "Guild" })).await.text("id");
    let code = ada.post_empty(&format!("/networks/{network}/invites")).await.text("code");
    cy.post("/networks/join", json!({ "code": code })).await.ok(201);
    let terms = json!({ "costsCredits": true });
    hub.client
        .send("PATCH", &format!("/admin/agents/{}", cy.id), Some(ADMIN_TOKEN), Some(terms))
        .await
        .ok(200);
    let poor = json!({ "credits": 0 });
    hub.client
        .send("PATCH", &format!("/admin/agents/{}", ada.id), Some(ADMIN_TOKEN), Some(poor))
        .await
        .ok(200);
    let costly = json!({ "targetAgentId": cy.id, "title": "T" });
    let draft = ada.task_with(cy, json!({ "draft": true })).await;
    let live = ada.task(bob).await;
    ada.post("/tasks", costly).await.refused(402, "no_credits");
    ada.set(&draft, "submitted").await.refused(402, "no_credits");
    ada.post(&format!("/tasks/{live}/reassign"), stranger).await.refused(402, "no_credits");
    bob.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = ada.task(bob).await;
    ada.post(&format!("/tasks/{held}/messages"), say.clone()).await.refused(409, "approval_pending");
    ada.post_empty(&format!("/approvals/{held}/approve")).await.refused(403, "role_not_allowed");
}

#[rstest]
#[tokio::test]
async fn refusals_about_agents_come_before_writes(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let scene = Scene::new(db).await;
    let Scene { hub, ada, bob, cy } = &scene;
    cy.post_empty(&format!("/connect/{}", ada.id)).await.refused(403, "not_auto_accept");
    ada.patch("/agents/me", json!({ "autoAccept": true })).await.ok(200);
    bob.post_empty(&format!("/connect/{}", ada.id)).await.refused(409, "already_connected");
    let code = ada.post_empty("/pair/generate").await.text("code");
    bob.post("/pair/connect", json!({ "code": code })).await.refused(409, "already_connected");
    ada.post("/pair/connect", json!({ "code": code })).await.refused(400, "validation");
    ada.post("/pair/connect", json!({ "code": "BLUE-TIGER-0000" })).await.refused(404, "not_found");
    ada.post("/agents/me/block", json!({ "agentId": cy.id })).await.ok(200);
    cy.post_empty(&format!("/connect/{}", ada.id)).await.refused(403, "blocked");
    cy.post("/pair/connect", json!({ "code": code })).await.refused(403, "blocked");
    let dee = hub.agent("Dee").await;
    ada.pair_with(&dee).await;
    let sides = ada.get("/connections").await.ok(200);
    let path = |number: usize| format!("/connections/{}", sides[number]["id"].as_str().unwrap());
    ada.patch(&path(0), json!({ "alias": "x" })).await.ok(200);
    ada.patch(&path(1), json!({ "alias": "x" })).await.refused(409, "alias_taken");
    ada.patch(&path(1), json!({ "alias": "agent_x" })).await.refused(400, "validation");

    let network = ada.post("/networks", json!({ "name": "Guild" })).await.text("id");
    let path = format!("/networks/{network}");
    let invite = ada.post_empty(&format!("{path}/invites")).await.text("code");
    ada.post_empty(&format!("{path}/leave")).await.refused(409, "owner_stays");
    ada.post("/networks/join", json!({ "code": invite })).await.refused(409, "already_member");
    bob.post("/networks/join", json!({ "code": invite })).await.ok(201);
    bob.post_empty(&format!("{path}/invites")).await.refused(403, "owner_only");
    hub.place.execute("update networks set member_count = 1000");
    let full = ada.post_empty(&format!("{path}/invites")).await.text("code");
    dee.post("/networks/join", json!({ "code": full })).await.refused(429, "network_full");

    ada.post_empty("/webhooks/ping").await.refused(409, "no_webhook");
    let task = json!({ "targetAgentId": bob.id, "title": "T" });
    scene.once(ada, "/tasks", task).await.ok(201);
    let other = json!({ "targetAgentId": bob.id, "title": "Other" });
    scene.once(ada, "/tasks", other).await.refused(409, "idempotency_conflict");
    let taken = tandem_client::ApiKey::from(bob.key.clone()).hash();
    ada.post("/agents/me/rotate-key", json!({ "apiKeyHash": taken })).await.refused(409, "key_taken");
    for _ in 0..99 {
        ada.post_empty("/pair/generate").await.ok(201);
    }
    ada.post_empty("/pair/generate").await.refused(429, "too_many_codes");
    hub.place.execute("update pairs set live_tasks = 10000");
    let task = json!({ "targetAgentId": bob.id, "title": "T" });
    ada.post("/tasks", task).await.refused(429, "too_many_open_tasks");
    let suspended = Some(json!({ "suspended": true }));
    hub.client
        .send("PATCH", &format!("/admin/agents/{}", dee.id), Some(ADMIN_TOKEN), suspended)
        .await
        .ok(200);
    dee.post_empty("/pair/generate").await.refused(403, "suspended");
}
