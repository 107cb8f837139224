//! Two bridges exchange an encrypted task. The models see clear text; the hub never does.

use rstest::rstest;
use serde_json::{Value, json};

use super::{Tool, fenced, keyed_pair};
use crate::harness::{Db, Harness};

/// Words that must not be found anywhere at the hub.
const SECRETS: [&str; 6] =
    ["Zebra title", "Yak description", "Xylophone question", "Walrus file", "walrus-name", "Vulture result"];

#[rstest]
#[tokio::test]
async fn a_task_a_question_a_file_and_a_result_stay_secret(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (cli, ada_agent, bob_agent) = keyed_pair(&hub).await;
    let (work_of_ada, work_of_bob) = (cli.home.join("of-ada"), cli.home.join("of-bob"));
    for folder in [&work_of_ada, &work_of_bob] {
        std::fs::create_dir(folder).unwrap();
    }
    let mut ada = Tool::old(&cli, "ada", "test", &["--folder", work_of_ada.to_str().unwrap()]).await;
    let more = ["--folder", work_of_bob.to_str().unwrap(), "--tools", "all"];
    let mut bob = Tool::new(&cli, "bob", &more);
    let task =
        json!({ "targetAgentId": bob_agent.id, "title": "Zebra title", "description": "Yak description" });
    let made = ada.call("create_task", task).await;
    assert_eq!((&made["encrypted"], &made["title"]), (&json!(true), &json!("Zebra title")));
    let id = made["id"].as_str().unwrap().to_owned();

    let news = bob.call("wait_for_updates", json!({})).await;
    assert_eq!(news["pendingTasks"][0]["title"], fenced("Zebra title"), "the title is opened");
    let listed = bob.call("list_tasks", json!({})).await;
    assert_eq!(listed["tasks"][0]["title"], fenced("Zebra title"));
    let seen = bob.call("get_task", json!({ "taskId": id })).await;
    assert_eq!(seen["title"], fenced("Zebra title"));
    assert_eq!(seen["description"], fenced("Yak description"));
    bob.call("update_task_status", json!({ "taskId": id, "status": "working" })).await;
    bob.call("send_message", json!({ "taskId": id, "content": "Xylophone question" })).await;
    let why = json!({ "taskId": id, "status": "input-required", "reason": "Xylophone question" });
    assert!(bob.refused("update_task_status", why).await.contains("reason"));
    let note = json!({ "taskId": id, "note": "Xylophone question" });
    assert!(bob.refused("heartbeat", note).await.contains("note"));

    let thread = ada.call("get_task", json!({ "taskId": id })).await;
    assert_eq!(thread["messages"][0]["content"], fenced("Xylophone question"));
    assert_eq!(thread["title"], "Zebra title", "the own title is no peer's");
    std::fs::write(work_of_ada.join("walrus-name.txt"), "Walrus file").unwrap();
    let sent = ada.call("upload_file", json!({ "taskId": id, "path": "walrus-name.txt" })).await;
    let file = json!({ "taskId": id, "fileId": sent["fileId"], "path": "got.txt" });
    let got = bob.call("download_file", file).await;
    assert_eq!((&got["path"], &got["filename"]), (&json!("got.txt"), &json!(fenced("walrus-name.txt"))));
    assert_eq!(std::fs::read_to_string(work_of_bob.join("got.txt")).unwrap(), "Walrus file");
    let unread = bob.call("task_read", json!({ "taskId": id })).await;
    assert_eq!(unread["messages"][0]["content"], sent["fileId"]);
    bob.call("send_reply", json!({ "taskId": id, "content": "Vulture result" })).await;

    let done = ada.call("get_task", json!({ "taskId": id })).await;
    assert_eq!((&done["status"], &done["result"]), (&json!("completed"), &json!(fenced("Vulture result"))));
    let resource = ada.ask("resources/read", json!({ "uri": format!("tandem://tasks/{id}") })).await;
    assert!(resource.to_string().contains("Vulture result"), "{resource}");
    let prompt = json!({ "name": "review_result", "arguments": { "taskId": id } });
    assert!(ada.ask("prompts/get", prompt).await.to_string().contains("Vulture result"));
    // The hub itself shows nothing of it.
    let raw: Value = ada_agent.view(&id).await;
    assert_eq!(raw["title"], "Encrypted Task");
    let export = ada_agent.get("/agents/me/export").await;
    let dump = [everything(&hub).await, String::from_utf8_lossy(&export.bytes).into_owned()].concat();
    assert!(dump.contains(&id), "what was searched is the right place");
    for secret in SECRETS {
        assert!(!dump.contains(secret), "{secret} is at the hub");
    }
}

/// All that the hub has stored, as text.
async fn everything(hub: &Harness) -> String {
    let mut all = String::new();
    let mut folders = vec![hub.place.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
            }
        }
    }
    if let Some(url) = &hub.place.database {
        all.push_str(&rows(url).await);
    }
    all
}

/// All rows of a PostgreSQL database, as text. Bytes are shown as the characters that they are.
async fn rows(url: &str) -> String {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute("set bytea_output = 'escape'").await.unwrap();
    let tables = "select tablename::text from pg_tables where schemaname = 'public'";
    let mut all = String::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let name: String = table.get(0);
        for row in client.query(&format!("select t::text from \"{name}\" t"), &[]).await.unwrap() {
            all.push_str(row.get(0));
        }
    }
    drop(client);
    driver.await.unwrap().unwrap();
    all
}

#[tokio::test]
async fn a_changed_key_stops_everything() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, _, bob_agent) = keyed_pair(&hub).await;
    let mut ada = Tool::old(&cli, "ada", "test", &[]).await;
    let task = |more: Value| {
        let mut task = json!({ "targetAgentId": bob_agent.id, "title": "Secret" });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        task
    };
    ada.call("create_task", task(json!({}))).await;
    let old = tandem_seal::PublicKey::from_pem(&super::key("bob").1).unwrap();
    let new = tandem_seal::PublicKey::from_pem(&super::key("cyd").1).unwrap();
    let sql = format!("update agents set public_key = '{}' where id = '{}'", new.to_pem(), bob_agent.id);
    hub.place.execute(&sql);
    let why = ada.refused("create_task", task(json!({}))).await;
    assert!(why.contains("tandem trust") && why.contains(&old.fingerprint().words()), "{why}");
    assert!(why.contains(&new.fingerprint().words()), "{why}");
    // A hub that hides the key gets nothing in the clear either.
    hub.place.execute(&format!("update agents set public_key = null where id = '{}'", bob_agent.id));
    assert!(ada.refused("create_task", task(json!({}))).await.contains("no public key"));
    // The owner accepts, and the bridge that runs goes on.
    hub.place.execute(&sql);
    cli.ok(&["trust", "bob", "--accept", &new.fingerprint().words(), "--agent", "ada"]).await;
    assert_eq!(ada.call("create_task", task(json!({}))).await["encrypted"], true);
    let plain = ada.call("create_task", task(json!({ "encrypt": false }))).await;
    assert_ne!(plain["encrypted"], true);
    let id = json!({ "id": "mine", "encrypted": true });
    assert!(ada.refused("create_task", task(id)).await.contains("must be left out"));
    let typed = json!({ "taskId": plain["id"], "content": "x", "encryptedKeys": {} });
    assert!(ada.refused("send_message", typed).await.contains("encryptedKeys"));
}

#[tokio::test]
async fn agents_without_keys_exchange_plain_tasks() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, _, bob_agent) = super::plain_pair(&hub).await;
    let mut ada = Tool::old(&cli, "ada", "test", &[]).await;
    let mut bob = Tool::old(&cli, "bob", "test", &[]).await;
    let task = json!({ "targetAgentId": bob_agent.id, "title": "Count", "description": "to three" });
    let id = ada.call("create_task", task.clone()).await["id"].clone();
    let mut sealed = task;
    sealed["encrypt"] = json!(true);
    assert!(ada.refused("create_task", sealed).await.contains("key"));
    assert_eq!(bob.call("check_updates", json!({})).await["pendingTasks"][0]["id"], id);
    bob.call("update_task_status", json!({ "taskId": id, "status": "working", "reason": "on it" })).await;
    bob.call("send_message", json!({ "taskId": id, "content": "one, two" })).await;
    bob.call("send_reply", json!({ "taskId": id, "content": "three" })).await;
    let done = ada.call("get_task", json!({ "taskId": id })).await;
    assert_eq!((&done["status"], &done["result"]), (&json!("completed"), &json!(fenced("three"))));
}
