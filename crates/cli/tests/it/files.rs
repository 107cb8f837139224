//! Files: in and out, who may, how large, and what a crash leaves.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::Request;
use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Agent, Db, Harness, Reply, eventually};

pub fn upload(name: &str, mime: &str, bytes: &[u8]) -> Value {
    json!({ "filename": name, "mimeType": mime, "base64Content": STANDARD.encode(bytes) })
}

/// A form with a file, as browsers and curl send it.
pub async fn upload_form(agent: &Agent, task: &str, name: &str, mime: &str, bytes: &[u8]) -> Reply {
    let mut body = format!(
        "--XX\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--XX\r\nContent-Disposition: form-data; \
         name=\"file\"; filename=\"{name}\"\r\nContent-Type: {mime}\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--XX--\r\n");
    let request = Request::post(format!("/tasks/{task}/files"))
        .header("authorization", format!("Bearer {}", agent.key))
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(Full::from(body))
        .unwrap();
    agent.client.raw(request).await
}

pub async fn part(agent: &Agent, path: &str, range: &str) -> Reply {
    let request = Request::get(path)
        .header("authorization", format!("Bearer {}", agent.key))
        .header("range", range)
        .body(Full::default())
        .unwrap();
    agent.client.raw(request).await
}

/// How many files lie below the data folder.
fn stored(hub: &Harness) -> usize {
    let root = hub.hub.config.data.join("files");
    let Ok(folders) = std::fs::read_dir(root) else { return 0 };
    folders.flatten().filter_map(|folder| Some(std::fs::read_dir(folder.path()).ok()?.count())).sum()
}

#[rstest]
#[tokio::test]
async fn a_file_goes_in_and_comes_out(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
    let sent = ada
        .post(&format!("/tasks/{task}/files/json"), upload("../../e\u{7}tc/pa\"ss.png", "image/PNG", &bytes))
        .await;
    let made = sent.ok(201);
    let id = made["id"].as_str().unwrap();
    assert!(id.len() < 30 && made["fileId"] == made["id"] && made["url"] == format!("/files/{id}"), "{made}");
    assert_eq!((&made["filename"], &made["mimeType"]), (&json!("pa\"ss.png"), &json!("image/png")));
    assert_eq!(made["sizeBytes"], 200_000);
    let message = &bob.get(&format!("/tasks/{task}/messages")).await.ok(200)[0];
    assert_eq!((&message["id"], &message["content"]), (&made["messageId"], &made["id"]));
    assert_eq!((&message["contentType"], &message["kind"]), (&json!("file"), &json!("message")));
    let told = bob.last_event().await;
    assert_eq!((&told["type"], &told["data"]["messageId"]), (&json!("message.created"), &made["messageId"]));

    let path = format!("/files/{id}");
    let got = bob.get(&path).await;
    assert_eq!((got.status, &got.bytes[..]), (200, &bytes[..]));
    assert_eq!(got.header("content-type"), Some("image/png"));
    assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
    assert!(got.header("content-disposition").unwrap().starts_with("attachment; filename=\"pa_ss.png\""));
    assert_eq!(got.header("content-length"), Some("200000"));
    for (range, from, to) in
        [("bytes=0-9", 0, 10), ("bytes=199990-", 199_990, 200_000), ("bytes=-5", 199_995, 200_000)]
    {
        let got = part(&bob, &path, range).await;
        assert_eq!((got.status, &got.bytes[..]), (206, &bytes[from..to]), "{range}");
        assert_eq!(got.header("content-range").unwrap(), format!("bytes {from}-{}/200000", to - 1));
    }
    let beyond = part(&bob, &path, "bytes=200000-").await;
    beyond.refused(416, "no_such_range");
    assert_eq!(beyond.header("content-range"), Some("bytes */200000"));
    assert_eq!(part(&bob, &path, "bytes=1-2,4-5").await.status, 200);

    let form = upload_form(&bob, &task, "notes.txt", "text/plain; charset=utf-8", b"from bob").await.ok(201);
    let got = ada.get(form["url"].as_str().unwrap()).await;
    assert_eq!((&got.bytes[..], got.header("content-type")), (&b"from bob"[..], Some("text/plain")));
    let eve = hub.agent("Eve").await;
    eve.get(&path).await.refused(404, "not_found");
    eve.delete(&path).await.refused(404, "not_found");
    eve.post(&format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", b"x"))
        .await
        .refused(404, "not_found");
    assert_eq!(stored(&hub), 2);
}

#[rstest]
#[tokio::test]
async fn what_is_not_a_file_is_refused_and_leaves_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/files/json");
    for mime in ["text/html", "application/zip", "application/x-sh"] {
        ada.post(&path, upload("a", mime, b"x")).await.refused(415, "unsupported_media_type");
        upload_form(&ada, &task, "a", mime, b"x").await.refused(415, "unsupported_media_type");
    }
    let mut broken = upload("a.txt", "text/plain", b"x");
    broken["base64Content"] = json!("not base64!");
    ada.post(&path, broken).await.refused(400, "validation");
    ada.post(&path, json!({ "filename": "a.txt" })).await.refused(400, "validation");
    ada.post(&path, upload("a.txt", "nonsense", b"x")).await.refused(400, "validation");
    ada.post(&path, upload("\u{7}", "text/plain", b"x")).await.refused(400, "validation");
    for name in ["", " ", "../", "a/b/", ".."] {
        let refused = ada.post(&path, upload(name, "text/plain", b"x")).await.refused(400, "validation");
        assert_eq!(refused["error"], "Validation failed: filename must not be empty");
        let refused = upload_form(&ada, &task, name, "text/plain", b"x").await.refused(400, "validation");
        assert!(refused["details"]["filename"][0].is_string(), "{refused}");
        let mut arguments = upload(name, "text/plain", b"x");
        arguments["taskId"] = json!(task);
        assert_eq!(ada.refused_by("upload_file", arguments).await, "validation");
    }
    ada.post(&format!("/tasks/{task}/files"), json!({})).await.refused(415, "unsupported_media_type");
    let missing = Request::post(format!("/tasks/{task}/files"))
        .header("authorization", format!("Bearer {}", ada.key))
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(Full::from("--XX\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nhi\r\n--XX--\r\n"))
        .unwrap();
    ada.client.raw(missing).await.refused(400, "validation");
    let large = vec![b'x'; 50 * 1024 * 1024 + 1];
    let refused = upload_form(&ada, &task, "a.txt", "text/plain", &large).await.refused(413, "too_large");
    assert_eq!(refused["status"], "submitted");
    ada.post(&path, upload("a.txt", "text/plain", &large)).await.refused(413, "too_large");
    ada.set(&task, "cancelled").await.ok(200);
    ada.post(&path, upload("a.txt", "text/plain", b"x")).await.refused(409, "task_terminal");
    upload_form(&ada, &task, "a.txt", "text/plain", b"x").await.refused(409, "task_terminal");
    let thread = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
    assert_eq!(thread, json!([]));
    let left = std::fs::read_dir(hub.hub.config.data.join("files/arriving")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[rstest]
#[tokio::test]
async fn exactly_fifty_megabytes_fit(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let most = vec![b'x'; 50 * 1024 * 1024];
    let form = upload_form(&ada, &task, "a.txt", "text/plain", &most).await.ok(201);
    assert_eq!(form["sizeBytes"], 50 * 1024 * 1024);
    ada.post(&format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", &most)).await.ok(201);
    assert_eq!(bob.get(form["url"].as_str().unwrap()).await.bytes.len(), most.len());
}

#[rstest]
#[tokio::test]
async fn a_file_is_taken_back_by_its_uploader(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/files/json");
    let file = ada.post(&path, upload("a.txt", "text/plain", b"secret")).await.ok(201);
    let url = file["url"].as_str().unwrap();
    assert_eq!(bob.delete(url).await.refused(403, "not_sender")["status"], "submitted");
    assert_eq!(ada.delete(url).await.ok(200)["deleted"], true);
    bob.get(url).await.refused(404, "not_found");
    let told = bob.last_event().await;
    assert_eq!((&told["type"], &told["data"]["fileId"]), (&json!("file.deleted"), &file["id"]));
    assert_eq!(told["data"]["fromAgentId"], json!(ada.id));
    let message = &bob.get(&format!("/tasks/{task}/messages")).await.ok(200)[0];
    assert_eq!((&message["content"], &message["contentType"]), (&json!("[deleted]"), &json!("text")));
    assert_eq!(bob.view(&task).await["unreadCount"], 0);
    // A message that is taken back takes its file with it, and so does a task.
    let file = ada.post(&path, upload("a.txt", "text/plain", b"one")).await.ok(201);
    let message = file["messageId"].as_str().unwrap();
    ada.delete(&format!("/tasks/{task}/messages/{message}")).await.ok(200);
    ada.get(file["url"].as_str().unwrap()).await.refused(404, "not_found");
    ada.post(&path, upload("a.txt", "text/plain", b"two")).await.ok(201);
    ada.set(&task, "cancelled").await.ok(200);
    let gone = ada.delete(&format!("/tasks/{task}")).await.ok(200);
    assert_eq!(gone["deletedFiles"], 1);
    eventually(async || (stored(&hub) == 0).then_some(())).await;
}

#[rstest]
#[tokio::test]
async fn an_upload_happens_once_for_a_key(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let send = async |bytes: &[u8]| {
        let request = Request::post(format!("/tasks/{task}/files/json"))
            .header("authorization", format!("Bearer {}", ada.key))
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(Full::from(upload("a.txt", "text/plain", bytes).to_string()))
            .unwrap();
        ada.client.raw(request).await
    };
    let first = send(b"x").await.ok(201);
    let second = send(b"x").await;
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(second.ok(201), first);
    send(b"y").await.refused(409, "idempotency_conflict");
    assert_eq!(stored(&hub), 1);
    // Whatever has become of the task since.
    ada.set(&task, "cancelled").await.ok(200);
    assert_eq!(send(b"x").await.ok(201), first);
}

#[rstest]
#[tokio::test]
async fn files_count_against_a_quota(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.file_quota_mb = 1).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/files/json");
    let file = ada.post(&path, upload("a.txt", "text/plain", &vec![b'x'; 600_000])).await.ok(201);
    ada.post(&path, upload("b.txt", "text/plain", &vec![b'x'; 400_001])).await.refused(413, "file_quota");
    ada.post(&path, upload("b.txt", "text/plain", &vec![b'x'; 400_000])).await.ok(201);
    ada.post(&path, upload("c.txt", "text/plain", b"x")).await.refused(413, "file_quota");
    bob.post(&path, upload("c.txt", "text/plain", b"x")).await.ok(201);
    ada.delete(file["url"].as_str().unwrap()).await.ok(200);
    ada.post(&path, upload("c.txt", "text/plain", b"x")).await.ok(201);
}

#[rstest]
#[tokio::test]
async fn what_a_crash_left_is_swept_at_the_next_start(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    use crate::harness::Place;
    use std::sync::Arc;
    use std::sync::atomic::AtomicI64;
    let place = Arc::new(Place::new(db));
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
    let hub = Harness::start_at(Arc::clone(&place), place.config(), Arc::clone(&clock)).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/files/json");
    let file = ada.post(&path, upload("a.txt", "text/plain", b"kept")).await.ok(201);
    drop(hub);
    // Killed between the bytes and their row; and in the midst of an upload.
    let root = place.folder.join("files");
    std::fs::create_dir_all(root.join("zz")).unwrap();
    std::fs::write(root.join("zz/file_06gy46etej1h0xc0aq56fzz"), b"leaked").unwrap();
    std::fs::write(root.join("arriving/file_06gy46etej1h0xc0aq56f5j7"), b"half").unwrap();
    let hub = Harness::start_at(Arc::clone(&place), place.config(), clock).await;
    let ada = Agent { client: hub.client.clone(), ..ada };
    eventually(async || (stored(&hub) == 1).then_some(())).await;
    assert_eq!(&ada.get(file["url"].as_str().unwrap()).await.bytes[..], b"kept");
}

/// A file is a message: too many of them are refused, and nothing of them stays behind.
/// A disk or a bucket may have lost a part of a file.
#[tokio::test]
async fn a_file_that_is_not_whole_is_not_given_as_a_file() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let sent =
        ada.post(&format!("/tasks/{task}/files/json"), upload("a.txt", "text/plain", b"hello")).await.ok(201);
    let id = sent["id"].as_str().unwrap();
    let path = hub.hub.config.data.join("files").join(&id[id.len() - 2..]).join(id);
    // One export each: they are rare.
    for (damaged, agent) in [("hell", &bob), ("hello, Bob", &ada)] {
        std::fs::write(&path, damaged).unwrap();
        let got = agent.tool("download_file", json!({ "fileId": id })).await;
        assert_eq!(got["isError"], true, "{got}");
        let export = agent.get("/agents/me/export").await.ok(200);
        let file = &export["files"][0];
        assert_eq!(
            (&file["contentOmitted"], &export["__exportComplete"]),
            (&json!(true), &json!(true)),
            "{file}"
        );
    }
}

#[rstest]
#[tokio::test]
async fn files_count_as_messages(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start_with(db, |config| config.max_messages_per_minute = 2).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let path = format!("/tasks/{task}/files/json");
    ada.post(&path, upload("a.txt", "text/plain", b"a")).await.ok(201);
    ada.post(&path, upload("a.xyz", "application/x-unknown", b"a"))
        .await
        .refused(415, "unsupported_media_type");
    upload_form(&ada, &task, "b.txt", "text/plain", b"b").await.ok(201);
    let refused = ada.post(&path, upload("c.txt", "text/plain", b"c")).await;
    refused.refused(429, "rate_limited");
    assert_eq!(refused.json()["status"], "submitted");
    upload_form(&ada, &task, "d.txt", "text/plain", b"d").await.refused(429, "rate_limited");
    eventually(async || (stored(&hub) == 2).then_some(())).await;
}
