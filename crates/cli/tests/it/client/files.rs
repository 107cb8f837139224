//! Streamed files: large, interrupted, refused.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use tandem_api::error::Code;
use tandem_client::{Client, DownloadOptions, Error, Upload};
use tandem_core::{FileId, TaskId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::relay::{Mode, Relay};
use super::{client_at, client_of};
use crate::backup::Shelf;
use crate::harness::{Agent, Db, Harness, PATIENCE};

const SIZE: usize = 20 * 1024 * 1024;

fn bytes(size: usize) -> Vec<u8> {
    (0..size).map(|n| (n.wrapping_mul(31).wrapping_add(n >> 9) % 251) as u8).collect()
}

/// A file on the shelf, as an upload.
fn upload(shelf: &Shelf, name: &str, bytes: &[u8]) -> Upload {
    let path = shelf.file(name);
    std::fs::write(&path, bytes).unwrap();
    Upload { path, filename: name.to_owned(), mime_type: "text/plain".to_owned() }
}

async fn task(ada: &Agent, bob: &Agent) -> TaskId {
    ada.task(bob).await.parse().unwrap()
}

/// What the task has: messages with files, and what lies in the folder of the download.
async fn messages(agent: &Agent, task: &TaskId) -> usize {
    agent.get(&format!("/tasks/{task}/messages")).await.ok(200).as_array().unwrap().len()
}

fn names(shelf: &Shelf) -> Vec<String> {
    let folder = shelf.file("").read_dir().unwrap();
    folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

async fn download(client: &Client, file: &FileId, to: &Path) -> Result<tandem_client::Downloaded, Error> {
    client.download(file, to, DownloadOptions::default(), |_, _| {}).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_file_goes_up_and_down_with_progress() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf, content) = (task(&ada, &bob).await, Shelf::new(), bytes(SIZE));
    let mut file = upload(&shelf, "a.txt", &content);
    file.filename = "Zürich \"7\"\r\n.txt".to_owned();
    let mut reports = Vec::new();
    let sent = client_of(&ada).upload(&task, &file, |bytes| reports.push(bytes)).await.unwrap();
    assert!(reports.len() > 10 && reports.is_sorted(), "{reports:?}");
    assert_eq!((reports.last(), sent.size_bytes), (Some(&(SIZE as u64)), SIZE as i64));
    assert_eq!(json!(sent.filename), "Zürich \"7\".txt");

    let (to, folder) = (Shelf::new(), Shelf::new());
    let mut reports = Vec::new();
    let client = client_of(&bob);
    let got = client
        .download(&sent.id, &to.file("b.txt"), DownloadOptions::default(), |bytes, size| {
            reports.push(bytes);
            assert_eq!(size, Some(SIZE as u64));
        })
        .await
        .unwrap();
    assert!(reports.len() > 10 && reports.is_sorted() && reports.last() == Some(&(SIZE as u64)));
    assert_eq!((got.filename.as_deref(), got.size_bytes), (Some("Zürich \"7\".txt"), SIZE as u64));
    assert_eq!(got.mime_type.as_deref(), Some("text/plain"));
    assert!(std::fs::read(to.file("b.txt")).unwrap() == content);
    assert_eq!(names(&to), ["b.txt"]);
    let (small, about) = client.download_bytes(&sent.id, SIZE).await.unwrap();
    assert!(small == content && about == got);
    let refused = client.download_bytes(&sent.id, SIZE - 1).await.unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");

    // What exists stays, unless the caller says otherwise.
    let existing = folder.file("b.txt");
    std::fs::write(&existing, "mine").unwrap();
    let refused = download(&client, &sent.id, &existing).await.unwrap_err();
    assert!(refused.to_string().contains("exists"), "{refused}");
    assert_eq!(std::fs::read(&existing).unwrap(), b"mine");
    let overwrite = DownloadOptions { overwrite: true };
    client.download(&sent.id, &existing, overwrite, |_, _| {}).await.unwrap();
    assert!(std::fs::read(&existing).unwrap() == content);
    // A private file stays private, and what is no file stays what it is.
    std::fs::set_permissions(&existing, std::fs::Permissions::from_mode(0o600)).unwrap();
    client.download(&sent.id, &existing, overwrite, |_, _| {}).await.unwrap();
    assert_eq!(std::fs::metadata(&existing).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = client.download(&sent.id, &to.file("."), overwrite, |_, _| {}).await.unwrap_err();
    assert!(refused.to_string().contains("not a regular file"), "{refused}");
    let nowhere = folder.file("no-such-folder").join("b.txt");
    let refused = download(&client, &sent.id, &nowhere).await.unwrap_err();
    assert!(matches!(&refused, Error::File { .. }), "{refused}");
    assert_eq!(names(&folder), ["b.txt"]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_file_is_a_file_too() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf) = (task(&ada, &bob).await, Shelf::new());
    match client_of(&ada).upload(&task, &upload(&shelf, "a.txt", b""), |_| {}).await {
        Ok(sent) => assert_eq!(client_of(&bob).download_bytes(&sent.id, 10).await.unwrap().0.len(), 0),
        Err(refused) => assert_eq!(refused.code(), Some(Code::Validation), "{refused}"),
    }
}

/// The network is cut in the middle of the bytes, and once more after the last of them, before the answer arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_during_an_upload_adds_the_file_once() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf, content) = (task(&ada, &bob).await, Shelf::new(), bytes(SIZE));
    let file = upload(&shelf, "a.txt", &content);
    let relay = Relay::start(hub.client.address).await;
    let client = client_at(relay.address, &ada.key);
    client.health().await.unwrap();
    relay.cut_after_bytes_up(SIZE as i64 / 3);
    let (mut reports, mut restarts, outage) = (Vec::new(), 0, relay.clone());
    let sent = client.upload(&task, &file, |bytes| {
        if reports.last().is_some_and(|last| bytes < *last) {
            restarts += 1;
            if restarts == 1 {
                // The answer of the second attempt is lost.
                outage.cut_after_bytes_down(10);
            }
        }
        reports.push(bytes);
    });
    let sent = tokio::time::timeout(PATIENCE, sent).await.unwrap().unwrap();
    assert!(relay.has_cut());
    assert_eq!((restarts, relay.connections()), (2, 3), "three attempts, the first over an idle connection");
    assert_eq!(messages(&bob, &task).await, 1);
    assert!(client_of(&bob).download_bytes(&sent.id, SIZE).await.unwrap().0 == content);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_during_a_download_is_resumed() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf, content) = (task(&ada, &bob).await, Shelf::new(), bytes(SIZE));
    let sent = client_of(&ada).upload(&task, &upload(&shelf, "a.txt", &content), |_| {}).await.unwrap();
    let relay = Relay::start(hub.client.address).await;
    let client = client_at(relay.address, &bob.key);
    relay.cut_after_bytes_down(SIZE as i64 / 3);
    let (mut reports, outage) = (Vec::new(), relay.clone());
    let to = Shelf::new();
    let path = to.file("b.txt");
    let getting = client.download(&sent.id, &path, DownloadOptions::default(), |bytes, _| {
        if bytes > 2 * SIZE as u64 / 3 && outage.has_cut() && outage.connections() == 2 {
            outage.cut();
        }
        reports.push(bytes);
    });
    tokio::time::timeout(PATIENCE, getting).await.unwrap().unwrap();
    assert!(relay.connections() == 3, "{} connections", relay.connections());
    assert!(reports.is_sorted(), "no byte is fetched twice");
    assert!(std::fs::read(&path).unwrap() == content);
    assert_eq!(names(&to), ["b.txt"]);
}

/// A hub that cannot be reached for a while, which is less than the patience of a transfer and more than that of a
/// call.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_waits_longer_than_a_call() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf) = (task(&ada, &bob).await, Shelf::new());
    let file = upload(&shelf, "a.txt", &bytes(100_000));
    let relay = Relay::start(hub.client.address).await;
    let client = client_at(relay.address, &ada.key).with_patience(Duration::from_millis(1));
    client.health().await.unwrap();
    relay.set(Mode::Down);
    client.health().await.unwrap_err();
    let before = relay.connections();
    let back = async {
        crate::harness::eventually(async || (relay.connections() >= before + 3).then_some(())).await;
        relay.set(Mode::Pass);
    };
    let (sent, ()) = tokio::join!(client.upload(&task, &file, |_| {}), back);
    assert_eq!(sent.unwrap().size_bytes, 100_000);
    assert_eq!(messages(&bob, &task).await, 1);
    // Without patience there is one attempt.
    relay.set(Mode::Down);
    let client = client.with_patience(Duration::ZERO);
    client.upload(&task, &file, |_| {}).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_of_an_upload_are_reported_as_such() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf) = (task(&ada, &bob).await, Shelf::new());
    let client = client_of(&ada);
    let mut large = upload(&shelf, "large.txt", b"");
    std::fs::File::options().write(true).open(&large.path).unwrap().set_len(60 * 1024 * 1024).unwrap();
    let refused = client.upload(&task, &large, |_| {}).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::TooLarge), "{refused}");
    large.mime_type = "text/html".to_owned();
    std::fs::write(&large.path, bytes(2_000_000)).unwrap();
    let refused = client.upload(&task, &large, |_| {}).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::UnsupportedMediaType), "{refused}");
    let refused = client.upload(&"no-such-task".parse().unwrap(), &large, |_| {}).await.unwrap_err();
    assert!(refused.is_not_found(), "{refused}");
    assert_eq!(messages(&bob, &task).await, 0);
    let missing = Upload { path: shelf.file("none"), filename: "a".into(), mime_type: "text/plain".into() };
    let refused = client.upload(&task, &missing, |_| {}).await.unwrap_err();
    assert!(matches!(&refused, Error::File { .. }) && refused.to_string().contains("none"), "{refused}");
    let missing: FileId = "none".parse().unwrap();
    let refused = download(&client, &missing, &shelf.file("b")).await.unwrap_err();
    assert!(refused.is_not_found() && names(&shelf) == ["large.txt"], "{refused}");
}

/// A hub that answers and closes although most of the body is still to come.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_in_the_middle_of_an_upload_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = vec![0; 300_000];
            stream.read_exact(&mut read).await.unwrap();
            let body = json!({ "error": "your files are too large", "code": "file_quota" }).to_string();
            let head = format!("HTTP/1.1 413 Too Large\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            // With unread bytes, the system resets the connection.
        }
    });
    let (shelf, task) = (Shelf::new(), "task".parse().unwrap());
    let file = upload(&shelf, "a.txt", &bytes(SIZE));
    // One attempt: a repetition would hide that an answer was lost.
    let client = client_at(address, "tdm_x").with_patience(Duration::ZERO);
    for _ in 0..20 {
        let refused = client.upload(&task, &file, |_| {}).await.unwrap_err();
        assert_eq!(refused.code(), Some(Code::FileQuota), "{refused}");
    }
}

/// A network that is cut may still take some bytes. The attempts must become rarer all the same, or they are used up
/// before the network is back.
#[tokio::test]
async fn bytes_that_never_arrive_are_no_progress() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Relaxed);
            let _ = stream.read_exact(&mut vec![0; 300_000]).await;
        }
    });
    let (shelf, task) = (Shelf::new(), "task".parse().unwrap());
    let file = upload(&shelf, "a.txt", &bytes(SIZE));
    let client = client_at(address, "tdm_x");
    let uploading = client.upload(&task, &file, |_| {});
    tokio::time::timeout(Duration::from_secs(4), uploading).await.expect_err("it goes on trying");
    let attempts = attempts.load(Relaxed);
    assert!((1..=8).contains(&attempts), "{attempts} attempts in four seconds");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_is_not_sent() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let (task, shelf) = (task(&ada, &bob).await, Shelf::new());
    let file = upload(&shelf, "a.txt", &bytes(SIZE));
    let relay = Relay::start(hub.client.address).await;
    let client = client_at(relay.address, &ada.key);
    // Between two attempts.
    relay.cut_after_bytes_up(SIZE as i64 / 2);
    let path = file.path.clone();
    let mut is_changed = false;
    let refused = client
        .upload(&task, &file, |bytes| {
            if bytes > SIZE as u64 / 3 && !std::mem::replace(&mut is_changed, true) {
                std::fs::File::options().write(true).open(&path).unwrap().set_len(SIZE as u64 + 1).unwrap();
            }
        })
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("a.txt"), "{refused}");
    // While it is sent.
    let refused = client
        .upload(&task, &file, |_| {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(70_000).unwrap();
        })
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, Error::File { cause, .. } if cause.to_string().contains("changed")),
        "{refused}"
    );
    assert_eq!(messages(&bob, &task).await, 0);
}

#[tokio::test]
async fn a_file_without_measure_is_not_written() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n".to_owned();
    let server = super::server::Server::start(&[super::server::Answer::Cut(head)]).await;
    let shelf = Shelf::new();
    let to = shelf.file("large");
    let failed = download(&server.client(), &"file_1".parse().unwrap(), &to).await.unwrap_err();
    assert!(matches!(failed, Error::TooLarge { size: 1_000_000_000_000, .. }), "{failed:?}");
    assert_eq!((server.count(), names(&shelf)), (1, Vec::new()));
}
