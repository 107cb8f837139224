//! Everything of an agent's: taken along, and taken away.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness, eventually};

async fn upload(agent: &Agent, task: &str, bytes: &[u8]) -> Value {
    let body =
        json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": STANDARD.encode(bytes) });
    agent.post(&format!("/tasks/{task}/files/json"), body).await.ok(201)
}

fn stored(hub: &Harness) -> usize {
    let Ok(folders) = std::fs::read_dir(hub.hub.config.data.join("files")) else { return 0 };
    folders.flatten().filter_map(|folder| Some(std::fs::read_dir(folder.path()).ok()?.count())).sum()
}

#[rstest]
#[tokio::test]
async fn an_export_holds_everything_and_no_secret(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.webhook_allow_http = true).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    ada.post("/agents/me/block", json!({ "agentId": eve.id })).await.ok(200);
    let webhook =
        json!({ "webhookUrl": "http://example.com/", "webhookSecret": "whsec_c2VjcmV0LXNlY3JldA==" });
    ada.patch("/agents/me", webhook).await.ok(200);
    let task = ada.task(&bob).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": "one" })).await.ok(201);
    let file = upload(&bob, &task, b"bytes").await;
    let mine = ada.task_with(&bob, json!({ "draft": true, "title": "my draft" })).await;
    bob.task_with(&ada, json!({ "draft": true, "title": "his draft" })).await;

    let reply = ada.get("/agents/me/export").await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let export = reply.ok(200);
    assert_eq!(export["__exportComplete"], true);
    assert_eq!((&export["agent"]["id"], &export["agent"]["name"]), (&json!(ada.id), &json!("Ada")));
    assert_eq!(export["connections"][0]["agentId"], json!(bob.id));
    let ids: Vec<&Value> = export["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&&json!(task)) && ids.contains(&&json!(mine)), "own drafts only");
    let said: Vec<&Value> = export["messages"].as_array().unwrap().iter().map(|m| &m["content"]).collect();
    assert_eq!(said, [&json!("one"), &file["id"]]);
    assert_eq!(export["files"][0]["id"], file["id"]);
    assert_eq!(export["files"][0]["base64Content"], json!(STANDARD.encode(b"bytes")));
    assert_eq!(export["blocks"][0]["agentId"], json!(eve.id));
    assert_eq!(export["events"].as_array().unwrap().len(), ada.events().await.len());
    let text = export.to_string();
    for secret in [ada.key.as_str(), "whsec_", "his draft"] {
        assert!(!text.contains(secret), "{secret}");
    }
    // Once in ten minutes.
    let again = ada.get("/agents/me/export").await;
    again.refused(429, "rate_limited");
    assert_eq!(again.header("retry-after"), Some("600"));
    bob.get("/agents/me/export").await.ok(200);
    hub.advance_ms(600_000);
    ada.get("/agents/me/export").await.ok(200);
}

#[rstest]
#[tokio::test]
async fn an_export_has_room_for_so_many_bytes_of_files(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    for size in [30_000_000, 14_999_999, 2] {
        upload(&ada, &task, &vec![b'x'; size]).await;
    }
    let export = ada.get("/agents/me/export").await.ok(200);
    let files = export["files"].as_array().unwrap();
    let whole: Vec<bool> = files.iter().map(|file| file["base64Content"].is_string()).collect();
    assert_eq!(whole, [true, true, false]);
    assert_eq!((&files[2]["contentOmitted"], &files[2]["sizeBytes"]), (&json!(true), &json!(2)));
    assert_eq!(export["__exportComplete"], true);
}

#[rstest]
#[tokio::test]
async fn a_long_list_is_exported_whole(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task_with(&bob, json!({ "maxMessages": 2_000 })).await;
    let (by, id) = (ada.id.parse().unwrap(), task.parse().unwrap());
    let many = move |tx: &mut tandem_store::Tx<'_>, now: &tandem_core::Now| {
        let new = tandem_app::messages::NewMessage::plain("hi".to_owned().try_into().unwrap());
        for _ in 0..1_200 {
            tandem_app::messages::send(tx, &by, &id, &new, now)?;
        }
        Ok(())
    };
    hub.hub.db.write(many).await.unwrap();
    let export = bob.get("/agents/me/export").await.ok(200);
    let messages = export["messages"].as_array().unwrap();
    let ids: std::collections::BTreeSet<&str> = messages.iter().map(|m| m["id"].as_str().unwrap()).collect();
    assert_eq!((messages.len(), ids.len()), (1_200, 1_200));
    assert_eq!(export["events"].as_array().unwrap().len(), 1_202);
}

#[rstest]
#[tokio::test]
async fn a_deleted_agent_leaves_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let eve = hub.agent("Eve").await;
    ada.pair_with(&eve).await;
    bob.pair_with(&eve).await;
    let kept = bob.task(&eve).await;
    let mine = ada.task(&bob).await;
    let his = bob.task(&ada).await;
    ada.post(&format!("/tasks/{mine}/messages"), json!({ "content": "x" })).await.ok(201);
    upload(&ada, &mine, b"ada's").await;
    upload(&bob, &his, b"bob's").await;
    upload(&bob, &kept, b"kept").await;
    let network = ada.post("/networks", json!({ "name": "N" })).await.text("id");
    eve.post("/agents/me/block", json!({ "agentId": ada.id })).await.ok(200);
    let mut socket = ada.socket("").await;
    bob.task_with(&ada, json!({ "draft": true })).await;

    let gone = ada.delete("/agents/me").await.ok(200);
    assert_eq!(gone, json!({ "deleted": true, "connections": 1, "tasks": 2, "messages": 3, "files": 2 }));
    ada.get("/agents/me").await.refused(401, "unauthorized");
    assert!(socket.next().await.is_err(), "its socket ends");
    let last = bob.last_event().await;
    assert_eq!((&last["type"], &last["data"]["byAgentId"]), (&json!("agent.disconnected"), &json!(ada.id)));
    for task in [&mine, &his] {
        bob.get(&format!("/tasks/{task}")).await.refused(404, "not_found");
    }
    let events = bob.events().await;
    assert!(events.iter().all(|event| event["taskId"] != json!(mine) && event["taskId"] != json!(his)));
    assert_eq!(bob.get("/connections").await.ok(200).as_array().unwrap().len(), 1);
    assert_eq!(bob.view(&kept).await["status"], "submitted");
    // Its files are gone from the disk, and others' are not.
    eventually(async || (stored(&hub) == 1).then_some(())).await;
    assert_eq!(eve.get("/agents/me/blocks").await.ok(200), json!([]));
    bob.get(&format!("/networks/{network}")).await.refused(404, "not_found");
    let to_ada = json!({ "targetAgentId": ada.id, "title": "T" });
    bob.post("/tasks", to_ada).await.refused(403, "not_connected");
    let agents = hub.admin("GET", "/admin/agents").await.ok(200);
    assert_eq!(agents.as_array().unwrap().len(), 2);
}

#[rstest]
#[tokio::test]
async fn a_deletion_that_was_cut_off_goes_on(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let by: tandem_core::AgentId = ada.id.parse().unwrap();
    // As a process that ends right after the first step leaves it.
    hub.hub.db.write(move |tx, now| tandem_app::accounts::close(tx, &by, now)).await.unwrap();
    hub.hub.finish_batches().await.unwrap();
    bob.get(&format!("/tasks/{task}")).await.refused(404, "not_found");
    assert_eq!(bob.get("/connections").await.ok(200), json!([]));
    assert_eq!(hub.admin("GET", "/admin/agents").await.ok(200).as_array().unwrap().len(), 1);
}

#[rstest]
#[tokio::test]
async fn what_it_wrote_on_a_task_that_was_taken_from_it_goes_too(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let cy = hub.agent("Cy").await;
    ada.pair_with(&cy).await;
    let task = ada.task(&bob).await;
    let thread = format!("/tasks/{task}/messages");
    ada.post(&thread, json!({ "content": "from ada" })).await.ok(201);
    bob.post(&thread, json!({ "content": "from bob" })).await.ok(201);
    let file = upload(&bob, &task, b"bytes").await;
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": cy.id })).await.ok(200);
    cy.post(&thread, json!({ "content": "from cy" })).await.ok(201);
    assert_eq!(ada.view(&task).await["unreadCount"], 3);
    let gone = bob.delete("/agents/me").await.ok(200);
    assert_eq!((&gone["tasks"], &gone["messages"], &gone["files"]), (&json!(0), &json!(2), &json!(1)));
    let thread = ada.get(&thread).await.ok(200);
    let said: Vec<&Value> = thread.as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(said, ["from ada", "[deleted]", "[deleted]", "from cy"]);
    assert_eq!(ada.view(&task).await["unreadCount"], 1);
    ada.get(&format!("/files/{}", file["id"].as_str().unwrap())).await.refused(404, "not_found");
    eventually(async || (stored(&hub) == 0).then_some(())).await;
}

#[rstest]
#[tokio::test]
async fn head_of_an_export_is_no_export(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let ada = hub.agent("Ada").await;
    let head = async || ada.client.send("HEAD", "/agents/me/export", Some(&ada.key), None).await;
    for _ in 0..2 {
        let reply = head().await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    }
    ada.get("/agents/me/export").await.ok(200);
    assert_eq!(head().await.status, 429);
    ada.get("/agents/me/export").await.refused(429, "rate_limited");
}
