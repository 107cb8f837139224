//! Answers that take long. What their reader may see is checked again and again, not only when they begin.

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::files::{upload, upload_form};
use crate::harness::{ADMIN_TOKEN, Agent, Db, Harness, PATIENCE, eventually};

/// More than the buffers between the hub and a reader hold.
const LARGE: usize = 30_000_000;
/// What those buffers hold, and what is sent between two checks.
const BUFFERED_MAX: usize = 16_000_000;

/// An answer that is read only when the test says so.
struct Slow {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Slow {
    async fn get(agent: &Agent, path: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(64 * 1024).unwrap();
        let mut stream = socket.connect(agent.client.address).await.unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            agent.client.address, agent.key
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut slow = Self { stream, read: Vec::new() };
        slow.until("HTTP/1.1 200 OK").await;
        slow
    }

    /// Reads until a text has come.
    async fn until(&mut self, text: &str) {
        let mut piece = [0; 4096];
        while !self.text().contains(text) {
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut piece)).await;
            let count = read.unwrap_or_else(|_| panic!("{text} does not come")).unwrap();
            assert!(count > 0, "no {text} in {} bytes", self.read.len());
            self.read.extend_from_slice(&piece[..count]);
        }
    }

    fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.read)
    }

    /// Reads the rest.
    async fn rest(mut self) -> String {
        // A connection that is cut off may end with an error.
        let _ =
            tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut self.read)).await.expect("it ends");
        self.text().into_owned()
    }
}

/// Ada's task for Bob, with a message of hers.
async fn task_with_message(ada: &Agent, bob: &Agent, content: &str) -> String {
    let task = ada.task(bob).await;
    ada.post(&format!("/tasks/{task}/messages"), json!({ "content": content })).await.ok(201);
    task
}

/// The task goes to Carol, who writes on it and adds a file.
async fn hand_over(ada: &Agent, carol: &Agent, task: &str) {
    ada.post(&format!("/tasks/{task}/reassign"), json!({ "targetAgentId": carol.id })).await.ok(200);
    carol.post(&format!("/tasks/{task}/messages"), json!({ "content": "for-ada-alone" })).await.ok(201);
    let secret = upload("for-ada-alone.txt", "text/plain", b"secret");
    carol.post(&format!("/tasks/{task}/files/json"), secret).await.ok(201);
}

async fn three(hub: &Harness) -> (Agent, Agent, Agent) {
    let (ada, bob) = hub.pair().await;
    let carol = hub.agent("Carol").await;
    ada.pair_with(&carol).await;
    (ada, bob, carol)
}

#[rstest]
#[tokio::test]
async fn an_export_shows_no_messages_of_a_task_that_was_taken_away(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let (ada, bob, carol) = three(&hub).await;
    let lost = task_with_message(&ada, &bob, "before-the-change").await;
    hub.advance_ms(1_000);
    // Newer tasks come first, and fill all that is between the hub and its reader.
    let filler = "x".repeat(250_000);
    for _ in 0..60 {
        task_with_message(&ada, &bob, &filler).await;
    }
    let mut export = Slow::get(&bob, "/agents/me/export").await;
    export.until("\"messages\":[").await;
    hand_over(&ada, &carol, &lost).await;
    let export = export.rest().await;
    assert!(export.contains("__exportComplete"), "a task less is no reason to stop");
    assert!(!export.contains("for-ada-alone"), "what Carol wrote is not Bob's");
    assert!(!export.contains("before-the-change"), "nor is the rest of the task any more");
}

#[rstest]
#[tokio::test]
async fn an_export_shows_no_files_of_a_task_that_was_taken_away(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, carol) = three(&hub).await;
    let lost = ada.task(&bob).await;
    let file = upload("before-the-change.txt", "text/plain", b"old");
    ada.post(&format!("/tasks/{lost}/files/json"), file).await.ok(201);
    hub.advance_ms(1_000);
    let newer = ada.task(&bob).await;
    upload_form(&ada, &newer, "large.txt", "text/plain", &vec![b'x'; LARGE]).await.ok(201);
    let mut export = Slow::get(&bob, "/agents/me/export").await;
    export.until("\"base64Content\":\"").await;
    hand_over(&ada, &carol, &lost).await;
    let export = export.rest().await;
    assert!(export.contains("__exportComplete"), "a task less is no reason to stop");
    let files = &export[export.find("\"files\":[").unwrap()..];
    assert!(!export.contains("for-ada-alone"), "what Carol sent is not Bob's");
    assert!(!files.contains("before-the-change"), "nor are the other files of the task any more");
}

/// The task is taken away while one of its files is being written into the export.
#[rstest]
#[tokio::test]
async fn an_export_stops_within_a_file_that_was_taken_away(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, carol) = three(&hub).await;
    let lost = ada.task(&bob).await;
    upload_form(&ada, &lost, "large.txt", "text/plain", &vec![b'x'; LARGE]).await.ok(201);
    let small = upload("before-the-change.txt", "text/plain", b"old");
    ada.post(&format!("/tasks/{lost}/files/json"), small).await.ok(201);
    let mut export = Slow::get(&bob, "/agents/me/export").await;
    export.until("\"base64Content\":\"").await;
    hand_over(&ada, &carol, &lost).await;
    let export = export.rest().await;
    assert!(export.len() < BUFFERED_MAX, "{} bytes came", export.len());
    assert!(!export.contains("for-ada-alone"), "what Carol sent is not Bob's");
    let files = &export[export.find("\"files\":[").unwrap()..];
    assert!(!files.contains("before-the-change"), "nor are the other files of the task any more");
    // The body came in chunks; without their marks it is JSON again.
    let (_, body) = export.split_once("\r\n\r\n").unwrap();
    let whole: Value = serde_json::from_slice(&unchunked(body.as_bytes())).unwrap();
    assert_eq!(
        (&whole["__exportComplete"], &whole["files"][0]["contentOmitted"]),
        (&json!(true), &json!(true))
    );
}

/// A body without the marks of its chunks.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return whole;
        }
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
}

/// How a key ends.
#[derive(Debug, Clone, Copy)]
enum KeyEnd {
    Rotated,
    Suspended,
}

impl KeyEnd {
    async fn apply(self, agent: &Agent) {
        match self {
            Self::Rotated => drop(agent.post_empty("/agents/me/rotate-key").await.ok(200)),
            Self::Suspended => {
                let path = format!("/admin/agents/{}", agent.id);
                let body = Some(json!({ "suspended": true }));
                agent.client.send("PATCH", &path, Some(ADMIN_TOKEN), body).await.ok(200);
            }
        }
    }
}

#[rstest]
#[tokio::test]
async fn exports_and_downloads_end_with_the_key(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(KeyEnd::Rotated, KeyEnd::Suspended)] end: KeyEnd,
) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let task = ada.task(&bob).await;
    let file = upload_form(&ada, &task, "large.txt", "text/plain", &vec![b'x'; LARGE]).await.text("id");
    let download = Slow::get(&bob, &format!("/files/{file}")).await;
    let mut export = Slow::get(&bob, "/agents/me/export").await;
    export.until("\"base64Content\":\"").await;
    end.apply(&bob).await;
    let (download, export) = (download.rest().await, export.rest().await);
    assert!(download.len() < BUFFERED_MAX, "{} bytes of the file came", download.len());
    assert!(export.len() < BUFFERED_MAX, "{} bytes of the export came", export.len());
    assert!(!export.contains("__exportComplete"));
}

#[rstest]
#[tokio::test]
async fn a_download_ends_when_the_task_is_taken_away(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob, carol) = three(&hub).await;
    let task = ada.task(&bob).await;
    let file = upload_form(&ada, &task, "large.txt", "text/plain", &vec![b'x'; LARGE]).await.text("id");
    let download = Slow::get(&bob, &format!("/files/{file}")).await;
    hand_over(&ada, &carol, &task).await;
    let download = download.rest().await;
    assert!(download.len() < BUFFERED_MAX, "{} bytes of the file came", download.len());
}

/// Who waits for news must not get any with a key that has ended meanwhile.
#[rstest]
#[tokio::test]
async fn a_wait_ends_with_the_key(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(KeyEnd::Rotated, KeyEnd::Suspended)] end: KeyEnd,
) {
    let hub = Harness::start(db).await;
    let (ada, bob, carol) = three(&hub).await;
    // What there is already would be given at once.
    carol.tool("wait_for_updates", json!({ "seconds": 1, "acknowledge": true })).await;
    let (poller, waiter) = (bob.clone(), carol.clone());
    let polling = tokio::spawn(async move { poller.get("/events?after=1&wait=60").await });
    let waiting =
        tokio::spawn(async move { waiter.refused_by("wait_for_updates", json!({ "seconds": 50 })).await });
    let (status, code) = match end {
        KeyEnd::Rotated => (401, "unauthorized"),
        KeyEnd::Suspended => (403, "suspended"),
    };
    for agent in [&bob, &carol] {
        let id = agent.id.parse().unwrap();
        eventually(async || hub.reach(&id)).await;
        end.apply(agent).await;
        // With news, which is not for whoever waits with the old key.
        ada.task(agent).await;
    }
    polling.await.unwrap().refused(status, code);
    assert_eq!(waiting.await.unwrap(), code);
}
