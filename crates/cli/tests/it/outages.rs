//! A database that cannot be written or does not answer, and a full disk: what works goes on, the rest is refused in
//! time, and `/ready` says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Agent, Client, Db, Harness, PATIENCE, Place, Reply, eventually};
use crate::serve::{Process, command};

/// A database that is not written until this is dropped.
struct Unwritable {
    place: Arc<Place>,
    lock: Option<rusqlite::Connection>,
}

impl Unwritable {
    fn new(place: &Arc<Place>) -> Self {
        let lock = place.database.is_none().then(|| {
            let lock = rusqlite::Connection::open(place.folder.join("tandem.db")).unwrap();
            lock.execute_batch("begin immediate").unwrap();
            lock
        });
        let unwritable = Self { place: Arc::clone(place), lock };
        unwritable.set_read_only(true);
        unwritable
    }

    fn set_read_only(&self, on: bool) {
        if let Some(url) = &self.place.database {
            let name = url.rsplit_once('/').unwrap().1.split('?').next().unwrap();
            // Whoever repairs a database that is read-only by default has to say so.
            self.place.execute(&format!(
                "begin read write; alter database {name} set default_transaction_read_only = {}; commit",
                if on { "on" } else { "off" }
            ));
            self.place.end_connections();
        }
    }
}

impl Drop for Unwritable {
    fn drop(&mut self) {
        self.lock.take();
        self.set_read_only(false);
    }
}

/// Asserts that a request was refused for now, and says when to try again.
fn assert_unavailable(reply: &Reply) {
    reply.refused(503, "unavailable");
    assert!(reply.header("retry-after").is_some(), "{reply:?}");
}

#[rstest]
#[tokio::test]
async fn a_hub_that_cannot_write_still_reads(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let (ada, bob) = hub.pair().await;
    let mut tasks = Vec::new();
    for _ in 0..5 {
        tasks.push(ada.task(&bob).await);
    }
    hub.client.send("GET", "/ready", None, None).await.ok(200);
    let unwritable = Unwritable::new(&hub.place);
    for path in [&format!("/tasks/{}", tasks[0]), "/events", "/updates", "/inbox", "/tasks"] {
        bob.get(path).await.ok(200);
    }
    for task in &tasks {
        assert!(
            ada.view(task).await["delivery"]["fetchedAt"].is_string(),
            "a mark shows before it is written"
        );
    }
    let listed = ada.get("/tasks").await.ok(200);
    assert!(
        listed.as_array().unwrap().iter().all(|task| task["delivery"]["fetchedAt"].is_string()),
        "{listed}"
    );
    assert_unavailable(&ada.post("/tasks", json!({ "targetAgentId": bob.id, "title": "More" })).await);
    assert_unavailable(&hub.client.send("GET", "/ready", None, None).await);
    drop(unwritable);
    let ready = async || hub.client.send("GET", "/ready", None, None).await.status;
    eventually(async || (ready().await == 200).then_some(())).await;
    ada.task(&bob).await;

    // The marks are written when that is possible again, at a stop at the latest.
    let (place, clock) = (Arc::clone(&hub.place), Arc::clone(&hub.clock));
    drop(hub);
    let config = place.config();
    let hub = Harness::start_at(place, config, clock).await;
    let ada = Agent { client: hub.client.clone(), ..ada };
    for task in &tasks {
        assert!(ada.view(task).await["delivery"]["fetchedAt"].is_string(), "a mark survives a restart");
    }
}

/// A way to a server that can go silent: nothing is closed, and nothing comes through any more.
struct Proxy {
    port: u16,
    silent: Arc<AtomicBool>,
}

impl Proxy {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let silent = Arc::new(AtomicBool::new(false));
        let is_silent = Arc::clone(&silent);
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                let far = TcpStream::connect(&server).await.unwrap();
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                let silent = || Arc::clone(&is_silent);
                tokio::spawn(forward(near_in, far_out, silent()));
                tokio::spawn(forward(far_in, near_out, silent()));
            }
        });
        Self { port, silent }
    }

    fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::SeqCst);
    }
}

/// Forwards bytes. What comes while the way is silent is lost, and the connection is silent for good.
async fn forward(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    silent: Arc<AtomicBool>,
) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut bytes).await.unwrap_or(0);
        if silent.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if count == 0 || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("an answer in time")
}

async fn registered(client: &Client, name: &str) -> Agent {
    let reply = client.send("POST", "/agents", None, Some(json!({ "name": name }))).await;
    reply.ok(201);
    Agent { id: reply.text("id"), name: name.into(), key: reply.text("apiKey"), client: client.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_hangs_nothing_on_postgres() {
    let mut place = Place::empty(Db::Postgres);
    let url = place.database.clone().unwrap();
    let server = url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned();
    let proxy = Proxy::to(server.clone()).await;
    place.database = Some(url.replace(&server, &format!("127.0.0.1:{}", proxy.port)));
    // Nobody reads the log before the end, and it would be long.
    let mut serve = command(&place);
    serve.env("TANDEM_LOG", "off");
    let process = Process::start(serve);
    let client = process.client.clone();
    let (ada, bob) = (registered(&client, "Ada").await, registered(&client, "Bob").await);
    ada.pair_with(&bob).await;
    ada.task(&bob).await;
    let ready = async || client.send("GET", "/ready", None, None).await;
    ready().await.ok(200);

    proxy.set_silent(true);
    let new_task = json!({ "targetAgentId": bob.id, "title": "More" });
    let (listed, made, not_ready) =
        Box::pin(in_time(async { tokio::join!(bob.get("/tasks"), ada.post("/tasks", new_task), ready()) }))
            .await;
    for reply in [listed, made, not_ready] {
        assert_unavailable(&reply);
    }

    proxy.set_silent(false);
    eventually(async || (ready().await.status == 200).then_some(())).await;
    eventually(async || (bob.get("/tasks").await.status == 200).then_some(())).await;

    proxy.set_silent(true);
    let (a, b) = (bob.clone(), ada.clone());
    let waiting = [
        tokio::spawn(async move { a.get("/tasks").await.status }),
        tokio::spawn(async move { b.post_empty("/pair/generate").await.status }),
    ];
    assert_unavailable(&in_time(ready()).await);
    process.signal("TERM");
    let ended = tokio::task::spawn_blocking(move || process.end());
    let (status, log) = tokio::time::timeout(2 * PATIENCE, ended).await.expect("it stops in time").unwrap();
    assert!(status.success(), "{status:?}: {log}");
    for request in waiting {
        // The answer is a refusal, unless the hub was gone before.
        assert!(request.await.map_or(true, |status| status == 503));
    }
}

/// A process with a bound on the size of its files meets the same failures as one with a full disk.
#[tokio::test]
async fn an_upload_to_a_full_disk_is_refused_as_such() {
    let place = Place::empty(Db::Sqlite);
    let serve = command(&place);
    let mut bounded = std::process::Command::new("sh");
    bounded.args(["-c", "trap '' XFSZ; ulimit -f 8000; exec \"$@\"", "sh"]);
    bounded.arg(serve.get_program()).args(serve.get_args());
    bounded.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let process = Process::start(bounded);
    let client = process.client.clone();
    let (ada, bob) = (registered(&client, "Ada").await, registered(&client, "Bob").await);
    ada.pair_with(&bob).await;
    let task = ada.task(&bob).await;
    let upload = async |kib: usize| {
        let body: Value = json!({ "filename": "a.txt", "mimeType": "text/plain", "base64Content": "YWJj".repeat(kib * 256) });
        ada.post(&format!("/tasks/{task}/files/json"), body).await
    };
    upload(8).await.ok(201);
    let refused = upload(10_000).await;
    refused.refused(507, "storage_full");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(std::fs::read_dir(place.folder.join("files/arriving")).unwrap().count(), 0, "nothing is left");
    // A smaller file still fits, so the hub is ready.
    upload(8).await.ok(201);
    client.send("GET", "/ready", None, None).await.ok(200);
    ada.task(&bob).await;
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_never_starts() {
    let place = Place::empty(Db::Sqlite);
    let database = tandem_store::Database::Sqlite(place.folder.join("tandem.db"));
    let options = tandem_store::Options {
        group_max: 1,
        wait_max: Duration::from_millis(50),
        ..tandem_store::Options::default()
    };
    let store = Arc::new(tandem_store::Store::open(&database, &options, 0).unwrap());
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let hold = store.write(move |_| {
        let _ = released.lock().unwrap().recv();
        Ok::<_, tandem_app::Error>(())
    });
    let ran = Arc::new(AtomicBool::new(false));
    let runs = Arc::clone(&ran);
    let second = store.write(move |_| {
        runs.store(true, Ordering::SeqCst);
        Ok::<_, tandem_app::Error>(())
    });
    let (first, second) = tokio::join!(hold, second);
    assert!(matches!(first, Err(tandem_app::Error::Store(tandem_store::Error::TimedOut))), "{first:?}");
    assert!(store.stats().writes_fail());
    assert!(matches!(second, Err(tandem_app::Error::Store(tandem_store::Error::Busy))), "{second:?}");
    release.send(()).unwrap();
    tokio::task::spawn_blocking(move || drop(store)).await.unwrap();
    assert!(!ran.load(Ordering::SeqCst));
}

/// Small writes may pass on a full disk, so that a hub that has seen no failure has to look.
#[tokio::test]
async fn a_hub_without_room_is_not_ready() {
    let hub = Harness::start(Db::Sqlite).await;
    // Where it looks for room, nothing can be written.
    let looked_at = hub.place.folder.join("tandem.room");
    std::fs::create_dir(&looked_at).unwrap();
    assert_unavailable(&hub.client.send("GET", "/ready", None, None).await);
    hub.agent("Ada").await;
    assert_unavailable(&hub.client.send("GET", "/ready", None, None).await);
    std::fs::remove_dir(&looked_at).unwrap();
    hub.client.send("GET", "/ready", None, None).await.ok(200);
}
