//! End-to-end encryption, as far as the hub has a part in it: every message here is sealed by Python's
//! `cryptography`, which shares no code with the hub.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness, Reply};

const SECRET: &str = "the eagle has landed";

fn from_root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Key pairs made beforehand: making one takes a while.
fn keys() -> Value {
    let text = std::fs::read_to_string(from_root("crates/seal/tests/vectors/keys.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["keys"].clone()
}

fn python(ask: &Value) -> Value {
    let place = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| from_root("target"), PathBuf::from);
    let mut child = Command::new(place.join("foreign/venv/bin/python"))
        .arg(from_root("crates/seal/tests/foreign/seal.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("scripts/foreign-clients installs Python's cryptography");
    child.stdin.take().unwrap().write_all(ask.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Two agents with keys, and what they seal.
pub struct Pair {
    pub hub: Harness,
    pub ana: Agent,
    pub bob: Agent,
    keys: Value,
}

impl Pair {
    pub async fn new(db: Db) -> Self {
        let (hub, keys) = (Harness::start(db).await, keys());
        let ana = hub.agent_with(json!({ "name": "Ana", "publicKey": keys["ana"]["public"] })).await;
        let bob = hub.agent_with(json!({ "name": "Bob", "publicKey": keys["bob"]["public"] })).await;
        ana.pair_with(&bob).await;
        Self { hub, ana, bob, keys }
    }

    /// What one of the two seals for both.
    fn seal(&self, task: &str, by: &str, plaintext: &str) -> Value {
        python(&json!({
            "do": "seal", "taskId": task, "sender": self.keys[by]["private"],
            "recipients": {
                (self.ana.id.as_str()): self.keys["ana"]["public"],
                (self.bob.id.as_str()): self.keys["bob"]["public"],
            },
            "plaintext": STANDARD.encode(plaintext),
        }))
    }

    /// What one of the two reads in it.
    pub fn open(&self, task: &str, sealed: &Value, reader: (&str, &Agent), sender: &str) -> String {
        let opened = python(&json!({
            "do": "open", "taskId": task, "sealed": sealed, "agent": reader.1.id,
            "key": self.keys[reader.0]["private"], "sender": self.keys[sender]["public"],
        }));
        String::from_utf8(STANDARD.decode(opened["plaintext"].as_str().unwrap()).unwrap()).unwrap()
    }

    pub fn description(&self, task: &str, more: Value) -> Value {
        let sealed = self.seal(task, "ana", &json!({ "title": SECRET, "description": SECRET }).to_string());
        let mut body = json!({
            "targetAgentId": self.bob.id, "id": task, "title": "Encrypted Task", "encrypted": true,
            "description": sealed["content"], "descriptionKeys": sealed["keys"],
            "senderSignature": sealed["signature"],
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    }

    pub fn message(&self, task: &str, by: &str) -> Value {
        let sealed = self.seal(task, by, &json!({ "contentType": "text", "body": SECRET }).to_string());
        json!({
            "content": sealed["content"], "contentType": "encrypted", "encryptedKeys": sealed["keys"],
            "senderSignature": sealed["signature"],
        })
    }
}

#[track_caller]
fn refused_field(reply: &Reply, field: &str) {
    let refused = reply.refused(400, "validation");
    assert!(refused["details"][field].is_array(), "{field}: {refused}");
}

#[rstest]
#[tokio::test]
async fn only_the_parties_can_read_what_they_say(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let pair = Pair::new(db).await;
    let (ana, bob) = (&pair.ana, &pair.bob);
    let body = pair.description("enc-1", json!({ "title": "my own title" }));
    let task = ana.post("/tasks", body.clone()).await.ok(201);
    assert_eq!((&task["encrypted"], &task["title"]), (&json!(true), &json!("Encrypted Task")));
    let seen = bob.view("enc-1").await;
    assert_eq!(seen["descriptionKeys"], body["descriptionKeys"]);
    let sealed = json!({
        "content": seen["description"], "keys": seen["descriptionKeys"], "signature": seen["senderSignature"],
    });
    assert!(pair.open("enc-1", &sealed, ("bob", bob), "ana").contains(SECRET));

    let path = "/tasks/enc-1/messages";
    let sent = bob.post(path, pair.message("enc-1", "bob")).await.ok(201);
    let got = &ana.get(path).await.ok(200)[0];
    assert_eq!((&got["id"], &got["contentType"]), (&sent["id"], &json!("encrypted")));
    let sealed = json!({
        "content": got["content"], "keys": got["encryptedKeys"], "signature": got["senderSignature"],
    });
    assert!(pair.open("enc-1", &sealed, ("ana", ana), "bob").contains(SECRET));

    // A file: the stored bytes are the ciphertext, and nobody else learns its name.
    let inside = json!({ "filename": SECRET, "mimeType": "text/html", "data": STANDARD.encode(SECRET) });
    let sealed = pair.seal("enc-1", "ana", &inside.to_string());
    let upload = json!({
        "filename": SECRET, "mimeType": "text/html", "base64Content": sealed["content"],
        "encryptedKeys": sealed["keys"], "senderSignature": sealed["signature"],
    });
    let file = ana.post("/tasks/enc-1/files/json", upload).await.ok(201);
    assert_eq!(
        (&file["filename"], &file["mimeType"]),
        (&json!("encrypted_file"), &json!("application/octet-stream"))
    );
    let bytes = bob.get(file["url"].as_str().unwrap()).await.bytes;
    let again = json!({ "content": STANDARD.encode(&bytes), "keys": sealed["keys"], "signature": sealed["signature"] });
    assert!(pair.open("enc-1", &again, ("bob", bob), "ana").contains(SECRET));
    let message = ana.get(path).await.ok(200).as_array().unwrap().last().unwrap().clone();
    assert_eq!((&message["contentType"], &message["content"]), (&json!("encrypted"), &file["id"]));
    assert_eq!(message["encryptedKeys"], sealed["keys"]);

    // Everything else that leaves a trace: a reply, a tombstone, a draft, an end.
    let draft = pair.description("enc-2", json!({ "draft": true }));
    ana.post("/tasks", draft).await.ok(201);
    let other = pair.description("enc-2", json!({}));
    let change = json!({
        "description": other["description"], "descriptionKeys": other["descriptionKeys"],
        "senderSignature": other["senderSignature"], "title": SECRET,
    });
    assert_eq!(ana.patch("/tasks/enc-2", change).await.ok(200)["title"], "Encrypted Task");
    bob.delete(&format!("{path}/{}", sent["id"].as_str().unwrap())).await.ok(200);
    let tombstone = &ana.get(path).await.ok(200)[0];
    assert!(tombstone["encryptedKeys"].is_null() && tombstone["senderSignature"].is_null(), "{tombstone}");
    bob.post("/tasks/enc-1/reply", pair.message("enc-1", "bob")).await.ok(200);
    let eve = pair.hub.agent("Eve").await;
    ana.pair_with(&eve).await;

    // Nowhere on the disk.
    let needle = SECRET.as_bytes();
    let mut folders = vec![pair.hub.hub.config.data.clone()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            looked_at += bytes.len();
            assert!(!bytes.windows(needle.len()).any(|part| part == needle), "{:?}", entry.path());
        }
    }
    assert!(looked_at > 100, "there was something to look at");
}

#[rstest]
#[tokio::test]
async fn every_flaw_of_a_description_is_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let pair = Pair::new(db).await;
    let good = pair.description("enc-1", json!({}));
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    for (field, value, blamed) in flaws(&pair, &good, ["description", "descriptionKeys", "id"]) {
        refused_field(&pair.ana.post("/tasks", with(field, value)).await, blamed);
    }
    // One without a key of its own, on either side.
    let eve = pair.hub.agent("Eve").await;
    pair.ana.pair_with(&eve).await;
    refused_field(&pair.ana.post("/tasks", with("targetAgentId", json!(eve.id))).await, "encrypted");
    assert_eq!(pair.ana.get("/tasks").await.ok(200), json!([]), "nothing was written");
    pair.ana.post("/tasks", good.clone()).await.ok(201);
    // It cannot go to another agent, and keys say nothing on a plain task.
    let to_eve = json!({ "targetAgentId": eve.id });
    pair.ana.post("/tasks/enc-1/reassign", to_eve).await.refused(409, "task_encrypted");
    let mut plain = with("encrypted", json!(false));
    plain["id"] = json!("plain-1");
    refused_field(&pair.ana.post("/tasks", plain).await, "descriptionKeys");
}

/// Everything that can be wrong with something sealed: the field, its value, and which field is to blame.
fn flaws(
    pair: &Pair,
    good: &Value,
    [content, keys, id]: [&'static str; 3],
) -> Vec<(&'static str, Value, &'static str)> {
    let wrapped: BTreeMap<String, String> = serde_json::from_value(good[keys].clone()).unwrap();
    let text = good[content].as_str().unwrap();
    let signature = good["senderSignature"].as_str().unwrap();
    let altered = |text: &str| {
        let mut bytes = STANDARD.decode(text).unwrap();
        bytes[20] ^= 1;
        STANDARD.encode(bytes)
    };
    let mut strange = wrapped.clone();
    let first = strange.pop_first().unwrap();
    strange.insert("agent_strange".into(), first.1.clone());
    let one: BTreeMap<_, _> = wrapped.iter().take(1).collect();
    let mut three = wrapped.clone();
    three.insert("agent_third".into(), first.1.clone());
    let mut short = wrapped.clone();
    short.insert(pair.bob.id.clone(), STANDARD.encode([7; 100]));
    let mut found = vec![
        (content, json!("hello, in the clear"), content),
        (content, json!(format!(" {text}")), content),
        (content, json!(text.trim_end_matches('=').to_owned() + "!"), content),
        (content, json!(STANDARD.encode([1; 28])), content),
        (content, json!(altered(text)), "senderSignature"),
        (keys, Value::Null, keys),
        (keys, json!(strange), keys),
        (keys, json!(one), keys),
        (keys, json!(three), keys),
        (keys, json!(short), keys),
        ("senderSignature", Value::Null, "senderSignature"),
        ("senderSignature", json!("AAAA"), "senderSignature"),
        ("senderSignature", json!("not base64"), "senderSignature"),
        ("senderSignature", json!(altered(signature)), "senderSignature"),
    ];
    if id == "id" {
        found.extend([
            // Signed for another task.
            ("id", json!("enc-9"), "senderSignature"),
            ("id", Value::Null, "id"),
            (content, Value::Null, content),
        ]);
    }
    found
}

#[rstest]
#[tokio::test]
async fn every_flaw_of_a_message_is_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let pair = Pair::new(db).await;
    let (ana, bob) = (&pair.ana, &pair.bob);
    ana.post("/tasks", pair.description("enc-1", json!({}))).await.ok(201);
    ana.post("/tasks", pair.description("enc-2", json!({}))).await.ok(201);
    let good = pair.message("enc-1", "bob");
    let path = "/tasks/enc-1/messages";
    for (field, value, blamed) in flaws(&pair, &good, ["content", "encryptedKeys", "none"]) {
        for route in ["/tasks/enc-1/messages", "/tasks/enc-1/reply"] {
            let mut body = good.clone();
            body[field] = value.clone();
            refused_field(&bob.post(route, body).await, blamed);
        }
    }
    // In the clear; by the wrong sender; signed for another task.
    refused_field(&bob.post(path, json!({ "content": SECRET })).await, "contentType");
    refused_field(&bob.post("/tasks/enc-1/reply", json!({ "content": SECRET })).await, "contentType");
    refused_field(
        &bob.post("/messages", json!({ "agentId": ana.id, "content": SECRET })).await,
        "contentType",
    );
    refused_field(&ana.post(path, good.clone()).await, "senderSignature");
    refused_field(&bob.post("/tasks/enc-2/messages", good.clone()).await, "senderSignature");
    assert_eq!(ana.get(path).await.ok(200), json!([]), "nothing was written");
    // Once, and not again: not as a message, nor as a reply.
    bob.post(path, good.clone()).await.ok(201);
    bob.post(path, good.clone()).await.refused(409, "signature_replayed");
    bob.post("/tasks/enc-1/reply", good.clone()).await.refused(409, "signature_replayed");
    assert_eq!(ana.get(path).await.ok(200).as_array().unwrap().len(), 1);
    // A plain task takes nothing encrypted.
    let plain = ana.task(bob).await;
    refused_field(&bob.post(&format!("/tasks/{plain}/messages"), good).await, "contentType");
}

#[rstest]
#[tokio::test]
async fn every_flaw_of_a_file_is_refused(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let pair = Pair::new(db).await;
    let ana = &pair.ana;
    ana.post("/tasks", pair.description("enc-1", json!({}))).await.ok(201);
    let sealed = pair.seal("enc-1", "ana", "{}");
    let good = json!({
        "filename": "x", "mimeType": "x/y", "base64Content": sealed["content"], "encryptedKeys": sealed["keys"],
        "senderSignature": sealed["signature"],
    });
    for (field, value, blamed) in flaws(&pair, &good, ["base64Content", "encryptedKeys", "none"]) {
        let mut body = good.clone();
        body[field] = value;
        refused_field(&ana.post("/tasks/enc-1/files/json", body).await, blamed);
    }
    ana.post("/tasks/enc-1/files/json", good.clone()).await.ok(201);
    ana.post("/tasks/enc-1/files/json", good).await.refused(409, "signature_replayed");
    let left = pair.hub.hub.config.data.join("files");
    let folders = std::fs::read_dir(left).unwrap().flatten();
    let files: usize =
        folders.filter_map(|folder| Some(std::fs::read_dir(folder.path()).ok()?.count())).sum();
    assert_eq!(files, 1, "what was refused left no bytes");
}
