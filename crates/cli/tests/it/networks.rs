//! Networks: who is in them, whom they reach, and what is said to all of them.

use rstest::rstest;
use serde_json::{Value, json};
use tandem_app::networks::{self, NewBroadcast, NewNetwork};
use tandem_app::tasks::{self, Defaults, NewTask};
use tandem_app::{Error, accounts, blocks, connections, pairing};
use tandem_core::{AgentId, NetworkId};

use crate::harness::{Agent, Db, Harness};

/// A network of the first agent's that the others have joined.
async fn network_of(owner: &Agent, others: &[&Agent]) -> String {
    let made = owner.post("/networks", json!({ "name": "Crew", "description": "for tests" })).await;
    made.ok(201);
    let id = made.text("id");
    let code = owner.post_empty(&format!("/networks/{id}/invites")).await.text("code");
    for other in others {
        other.post("/networks/join", json!({ "code": code.to_lowercase() })).await.ok(201);
    }
    id
}

#[rstest]
#[tokio::test]
async fn a_network_has_an_owner_members_and_invitations(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, eve) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Eve").await);
    let id = network_of(&ada, &[&bob]).await;
    let view = ada.get(&format!("/networks/{id}")).await.ok(200);
    assert_eq!(
        view,
        json!({
            "id": id, "name": "Crew", "description": "for tests", "ownerAgentId": ada.id,
            "ownerAgentName": "Ada", "role": "owner", "memberCount": 2,
            "createdAt": "2027-01-15T08:00:00.000Z",
        })
    );
    assert_eq!(bob.get("/networks").await.ok(200)[0]["role"], "member");
    assert_eq!(eve.get("/networks").await.ok(200), json!([]));
    let members = bob.get(&format!("/networks/{id}/members")).await.ok(200);
    let who: Vec<(&Value, &Value)> =
        members.as_array().unwrap().iter().map(|m| (&m["agentName"], &m["role"])).collect();
    assert_eq!(who, [(&json!("Ada"), &json!("owner")), (&json!("Bob"), &json!("member"))]);

    // For everybody else it does not exist; for members, the owner's things are the owner's.
    let routes = ["", "/members", "/messages"];
    for path in routes {
        eve.get(&format!("/networks/{id}{path}")).await.refused(404, "not_found");
    }
    for path in ["/invites", "/leave", "/broadcast"] {
        eve.post(&format!("/networks/{id}{path}"), json!({ "content": 7 })).await.refused(404, "not_found");
    }
    bob.post_empty(&format!("/networks/{id}/invites")).await.refused(403, "owner_only");
    bob.delete(&format!("/networks/{id}")).await.refused(403, "owner_only");
    bob.delete(&format!("/networks/{id}/members/{}", ada.id)).await.refused(403, "owner_only");
    ada.post_empty(&format!("/networks/{id}/leave")).await.refused(409, "owner_stays");
    ada.delete(&format!("/networks/{id}/members/{}", ada.id)).await.refused(409, "owner_stays");
    ada.delete(&format!("/networks/{id}/members/{}", eve.id)).await.refused(404, "not_found");
    for wrong in [json!({}), json!({ "name": "" }), json!({ "name": "x".repeat(65) }), json!({ "name": 1 })] {
        ada.post("/networks", wrong).await.refused(400, "validation");
    }

    bob.post_empty(&format!("/networks/{id}/leave")).await.ok(200);
    bob.get(&format!("/networks/{id}")).await.refused(404, "not_found");
    assert_eq!(ada.get(&format!("/networks/{id}")).await.ok(200)["memberCount"], 1);
    ada.delete(&format!("/networks/{id}")).await.ok(200);
    ada.get(&format!("/networks/{id}")).await.refused(404, "not_found");
}

#[rstest]
#[tokio::test]
async fn invitations_run_out(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, eve) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Eve").await);
    let id = network_of(&ada, &[]).await;
    let invites = format!("/networks/{id}/invites");
    let once = ada.post(&invites, json!({ "maxUses": 1, "expiresInSeconds": 60 })).await;
    assert_eq!(once.ok(201)["expiresAt"], "2027-01-15T08:01:00.000Z");
    let code = json!({ "code": once.text("code") });
    ada.post("/networks/join", code.clone()).await.refused(409, "already_member");
    bob.post("/networks/join", code.clone()).await.ok(201);
    eve.post("/networks/join", code.clone()).await.refused(404, "not_found");
    let short = ada.post(&invites, json!({ "expiresInSeconds": 60 })).await.text("code");
    hub.advance_ms(60_000);
    eve.post("/networks/join", json!({ "code": short })).await.refused(404, "not_found");
    for wrong in [json!({ "maxUses": 0 }), json!({ "maxUses": 1_001 }), json!({ "expiresInSeconds": 0 })] {
        ada.post(&invites, wrong).await.refused(400, "validation");
    }
    for wrong in [json!({}), json!({ "code": "" }), json!({ "code": "x".repeat(100) })] {
        eve.post("/networks/join", wrong).await.refused(400, "validation");
    }
    assert_eq!(ada.get(&format!("/networks/{id}")).await.ok(200)["memberCount"], 2);
}

#[rstest]
#[tokio::test]
async fn wrong_invitations_are_limited(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.pair_attempts_max = 3).await;
    let eve = hub.agent("Eve").await;
    for _ in 0..3 {
        eve.post("/networks/join", json!({ "code": "NET-0000-0000-0000" })).await.refused(404, "not_found");
    }
    eve.post("/networks/join", json!({ "code": "NET-0000-0000-0000" })).await.refused(429, "rate_limited");
}

#[rstest]
#[tokio::test]
async fn members_reach_each_other_without_pairing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, eve) = (hub.agent("Ada").await, hub.agent("Bob").await, hub.agent("Eve").await);
    let id = network_of(&ada, &[&bob]).await;
    let other = network_of(&eve, &[]).await;

    // They see each other, though neither is in the directory.
    let found = bob.get("/agents/discover").await.ok(200);
    assert_eq!((&found["total"], &found["agents"][0]["name"]), (&json!(1), &json!("Ada")));
    assert_eq!(eve.get("/agents/discover").await.ok(200)["total"], 0);

    let task = bob.task(&ada).await;
    assert_eq!(ada.view(&task).await["networkId"], json!(id), "a task sent inside one carries it");
    let named = bob.task_with(&ada, json!({ "networkId": id })).await;
    assert_eq!(bob.view(&named).await["networkId"], json!(id));
    let body =
        |to: &Agent, network: &str| json!({ "targetAgentId": to.id, "title": "T", "networkId": network });
    bob.post("/tasks", body(&ada, &other)).await.refused(404, "not_found");
    bob.post("/tasks", body(&ada, "net_unknown")).await.refused(404, "not_found");
    bob.post("/tasks", body(&eve, &id)).await.refused(403, "not_connected");
    bob.post("/tasks", body(&bob, &id)).await.refused(403, "not_connected");
    eve.post("/tasks", json!({ "targetAgentId": ada.id, "title": "T" })).await.refused(403, "not_connected");

    // The gate is asked as always.
    ada.patch("/agents/me", json!({ "defaultApprovalRule": "require" })).await.ok(200);
    let held = bob.task(&ada).await;
    assert_eq!(bob.view(&held).await["approvalStatus"], "pending");

    // And a block ends it all.
    ada.post("/agents/me/block", json!({ "agentId": bob.id })).await.ok(200);
    assert_eq!(bob.view(&task).await["status"], "cancelled");
    bob.post("/tasks", body(&ada, &id)).await.refused(403, "not_connected");
    assert_eq!(bob.get("/agents/discover").await.ok(200)["total"], 0);
    ada.delete(&format!("/agents/me/block/{}", bob.id)).await.ok(200);
    bob.post("/tasks", body(&ada, &id)).await.ok(201);

    // Who is out reaches nobody any more.
    ada.delete(&format!("/networks/{id}/members/{}", bob.id)).await.ok(200);
    bob.post("/tasks", json!({ "targetAgentId": ada.id, "title": "T" })).await.refused(403, "not_connected");
}

#[rstest]
#[tokio::test]
async fn a_broadcast_goes_to_every_other_member(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let bob = hub.agent_with(json!({ "name": "Bob", "capabilities": ["rust"] })).await;
    let (eve, out) = (hub.agent("Eve").await, hub.agent("Out").await);
    let id = network_of(&ada, &[&bob, &eve]).await;
    let path = format!("/networks/{id}/broadcast");
    let sent = ada.post(&path, json!({ "content": "Stand-up in five" })).await.ok(201);
    assert_eq!(sent["recipients"], 2);
    for agent in [&bob, &eve] {
        let event = agent.last_event().await;
        assert_eq!(
            event["data"],
            json!({
                "type": "broadcast.created", "networkId": id, "messageId": sent["messageId"],
                "fromAgentId": ada.id, "fromAgentName": "Ada",
            })
        );
        assert!(event.get("taskId").is_none_or(Value::is_null));
        let inbox = agent.get("/inbox").await.ok(200);
        let item = &inbox["items"][0];
        assert_eq!((&item["kind"], &item["title"]), (&json!("broadcast"), &json!("Crew")));
        assert_eq!((&item["messageId"], &item["fromAgentName"]), (&sent["messageId"], &json!("Ada")));
    }
    for agent in [&ada, &out] {
        assert!(!agent.event_kinds().await.contains(&"broadcast.created".to_owned()));
    }
    // Acknowledged, it no longer waits.
    let cursor = bob.last_event().await["id"].clone();
    bob.post("/events/ack", json!({ "cursor": cursor })).await.ok(200);
    assert_eq!(bob.get("/inbox").await.ok(200), json!({ "items": [], "hasMore": false }));

    // Narrowed by a tag, by who is there, and by who has blocked whom.
    let rust = json!({ "content": "x", "filter": { "capability": "rust" } });
    assert_eq!(ada.post(&path, rust).await.ok(201)["recipients"], 1);
    hub.advance_ms(61_000);
    bob.get("/agents/me").await.ok(200);
    let online = json!({ "content": "x", "filter": { "online": true } });
    assert_eq!(ada.post(&path, online).await.ok(201)["recipients"], 1);
    let offline = json!({ "content": "x", "filter": { "online": false } });
    assert_eq!(ada.post(&path, offline).await.ok(201)["recipients"], 1);
    bob.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
    assert_eq!(ada.post(&path, json!({ "content": "x" })).await.ok(201)["recipients"], 1);
    assert_eq!(bob.get(&format!("/networks/{id}/messages")).await.ok(200), json!([]));
    for wrong in
        [json!({}), json!({ "content": "" }), json!({ "content": "x", "filter": { "capability": "A" } })]
    {
        ada.post(&path, wrong).await.refused(400, "validation");
    }
    ada.post(&path, json!({ "content": "x".repeat(256 * 1024 + 1) })).await.refused(413, "too_large");

    let said = eve.get(&format!("/networks/{id}/messages?limit=4")).await;
    let page = said.ok(200);
    assert_eq!(page.as_array().unwrap().len(), 4);
    assert_eq!((&page[0]["kind"], &page[0]["senderAgentName"]), (&json!("broadcast"), &json!("Ada")));
    let older = eve.get(&said.next_link().unwrap()).await.ok(200);
    assert_eq!(older[0]["content"], "Stand-up in five");
}

#[rstest]
#[tokio::test]
async fn a_disconnect_leaves_what_belongs_to_a_network(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = (hub.agent("Ada").await, hub.agent("Bob").await);
    let connection = ada.pair_with(&bob).await;
    let id = network_of(&ada, &[&bob]).await;
    let own = ada.task(&bob).await;
    let shared = ada.task_with(&bob, json!({ "networkId": id })).await;
    ada.post(&format!("/networks/{id}/broadcast"), json!({ "content": "hi" })).await.ok(201);
    let ended = bob.delete(&format!("/connections/{connection}")).await.ok(200);
    assert_eq!(ended["cancelledTasks"], 1);
    assert_eq!(ada.view(&own).await["status"], "cancelled");
    assert_eq!(ada.view(&shared).await["status"], "submitted");
    // Who leaves the network has nothing of it in the inbox any more; the task goes on.
    bob.post_empty(&format!("/networks/{id}/leave")).await.ok(200);
    let inbox = bob.get("/inbox").await.ok(200);
    let kinds: Vec<&Value> = inbox["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect();
    assert_eq!(kinds, [&json!("task")]);
    bob.set(&shared, "working").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn broadcasts_are_limited_like_messages(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 2).await;
    let ada = hub.agent("Ada").await;
    let id = network_of(&ada, &[]).await;
    let path = format!("/networks/{id}/broadcast");
    for _ in 0..2 {
        ada.post(&path, json!({ "content": "x" })).await.ok(201);
    }
    let over = ada.post(&path, json!({ "content": "x" })).await;
    over.refused(429, "rate_limited");
    assert_eq!(over.header("retry-after"), Some("60"));
}

/// Whatever order a deletion and a request of the same agent commit in.
#[rstest]
#[tokio::test]
async fn a_deleted_account_adds_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    eve.patch("/agents/me", json!({ "autoAccept": true })).await.ok(200);
    let id = network_of(&ada, &[&bob, &eve]).await;
    let invite = ada.post_empty(&format!("/networks/{id}/invites")).await.text("code");
    let code = ada.post_empty("/pair/generate").await.text("code");
    let own_code = bob.post_empty("/pair/generate").await.text("code");
    let gone: AgentId = bob.id.parse().unwrap();
    let (to, network): (AgentId, NetworkId) = (eve.id.parse().unwrap(), id.parse().unwrap());

    // Its requests had been let in before: first while it is being removed, then after that.
    let by = gone.clone();
    hub.hub.db.write(move |tx, now| accounts::close(tx, &by, now)).await.unwrap();
    for removed in [false, true] {
        if removed {
            hub.hub.finish_batches().await.unwrap();
        }
        let (by, to, network) = (gone.clone(), to.clone(), network.clone());
        let (invite, code) = (invite.clone(), code.clone());
        let refused = hub.hub.db.write(move |tx, now| {
            let named = to.as_str().to_owned().try_into().unwrap();
            let task = NewTask::plain(named, "T".to_owned().try_into().unwrap());
            let defaults = Defaults { ttl_seconds: None, check_in_seconds: None, max_messages: 10 };
            let crew = NewNetwork { name: "Own".to_owned().try_into().unwrap(), description: None };
            let say = NewBroadcast {
                content: "x".to_owned().try_into().unwrap(),
                capability: None,
                only: None,
                limit: None,
            };
            Ok([
                networks::join(tx, &by, &invite.clone().try_into().unwrap(), now).err(),
                networks::create(tx, &by, &crew, now).err(),
                networks::broadcast(tx, &by, &network, &say, now).err(),
                pairing::generate(tx, &by, now).err(),
                pairing::connect(tx, &by, &code.clone().try_into().unwrap(), now).err(),
                connections::connect_directly(tx, &by, &to, now).err(),
                blocks::block(tx, &by, &to, now).err(),
                tasks::create(tx, &by, &task, &defaults, now).err(),
            ])
        });
        for (number, error) in refused.await.unwrap().into_iter().enumerate() {
            let expected =
                matches!(error, Some(Error::NotFound(_) | Error::AlreadyMember | Error::NotConnected));
            assert!(expected, "{number}, removed: {removed}: {error:?}");
        }
        eve.post("/pair/connect", json!({ "code": own_code })).await.refused(404, "not_found");
        eve.post("/agents/me/block", json!({ "agentId": gone.as_str() })).await.refused(404, "not_found");
        let said = ada.post(&format!("/networks/{id}/broadcast"), json!({ "content": "hi" })).await.ok(201);
        assert_eq!(said["recipients"], 1);
    }

    // A member that is gone, as a hub of before could have left one, does not keep others from being told.
    hub.hub
        .db
        .write(move |tx, now| Ok(tandem_store::networks::add_member(tx, &network, &gone, now.at)?))
        .await
        .unwrap();
    let said = ada.post(&format!("/networks/{id}/broadcast"), json!({ "content": "hi" })).await.ok(201);
    assert_eq!(said["recipients"], 1);
    assert_eq!(eve.last_event().await["type"], "broadcast.created");
}
