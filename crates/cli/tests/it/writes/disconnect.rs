//! Clients that hang up, at every stage of every request that writes. Afterwards the database and the process's memory
//! must say the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rstest::rstest;
use tandem_app::keys;
use tandem_core::AgentId;
use tandem_store::dump::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use super::picture::Picture;
use super::{Era, Operation, Prepared, each, names, operations};
use crate::harness::{Agent, Db, Harness, Node, PATIENCE, eventually, eventually_ok};

/// How a client hangs up.
#[derive(Debug, Clone, Copy)]
enum HangUp {
    /// It says that it has no more to send, and closes.
    Close,
    /// Its end resets the connection: whatever is under way is thrown away.
    Reset,
}

/// When a client hangs up that has sent the whole request: after so many milliseconds, or when the answer begins.
const AFTER: [(HangUp, Option<u64>); 6] = [
    (HangUp::Close, Some(0)),
    (HangUp::Reset, Some(0)),
    (HangUp::Reset, Some(2)),
    (HangUp::Reset, Some(6)),
    (HangUp::Close, Some(12)),
    (HangUp::Reset, None),
];

async fn hang_up(mut stream: TcpStream, how: HangUp) {
    match how {
        HangUp::Close => drop(stream.shutdown().await),
        HangUp::Reset => stream.set_zero_linger().unwrap(),
    }
}

/// Sends the beginning of a request and hangs up, at each stage.
async fn cut_off(prepared: &Prepared, number: usize) {
    let (head, body) = prepared.bytes();
    let whole = head.len() + body.len();
    let mut places = BTreeSet::from([head.len() / 2, whole - 1]);
    if !body.is_empty() {
        places.extend([head.len(), head.len() + body.len() / 2]);
    }
    let bytes = [head, body].concat();
    for (place, end) in places.into_iter().enumerate() {
        let mut stream = TcpStream::connect(prepared.address).await.unwrap();
        stream.write_all(&bytes[..end]).await.unwrap();
        let how = if (place + number).is_multiple_of(2) { HangUp::Close } else { HangUp::Reset };
        hang_up(stream, how).await;
    }
}

/// Sends a whole request and hangs up without reading the answer.
async fn send_and_leave(prepared: &Prepared, (how, after_ms): (HangUp, Option<u64>)) {
    let (head, body) = prepared.bytes();
    let mut stream = TcpStream::connect(prepared.address).await.unwrap();
    stream.write_all(&[head, body].concat()).await.unwrap();
    match after_ms {
        // Not to wait for anything: the delay decides at which stage the client is gone.
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => tokio::time::timeout(PATIENCE, stream.readable()).await.unwrap().unwrap(),
    }
    hang_up(stream, how).await;
}

/// What changes no row of a scene: sessions and tickets are in memory, one-time links are nobody's, and deliveries are
/// looked at apart.
const NO_ROWS: [&str; 6] = [
    "DELETE /mcp",
    "POST /admin/setup-link",
    "POST /mcp",
    "POST /webhooks/deliveries/{id}/replay",
    "POST /webhooks/ping",
    "POST /ws/ticket",
];

/// How many deliveries came for each agent.
pub(super) type Received = Arc<Mutex<HashMap<String, usize>>>;

/// Takes deliveries for every agent, each at its own path.
pub(super) async fn receiver() -> (SocketAddr, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let received = Received::default();
    let counts = Arc::clone(&received);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let counts = Arc::clone(&counts);
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                *counts.lock().unwrap().entry(request.uri().path()[1..].to_owned()).or_default() += 1;
                async { Ok::<_, hyper::Error>(hyper::Response::new(String::new())) }
            });
            let served =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(served);
        }
    });
    (address, received)
}

/// Waits until every request that was sent has come to its end, and gives what is in the database then.
async fn idle(hub: &Harness, scenes: &[Prepared]) -> Picture {
    hub.client.accepted().await;
    let busy = || {
        let of_one = |node: &Node| {
            let (waiting, node) = (node.waiting_for("writes"), &node.hub);
            (node.writing.len() + node.waiting_marks(), waiting, node.metrics.connections.get())
        };
        let add =
            |sum: (usize, u64, i64), one: (usize, u64, i64)| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2);
        hub.nodes.iter().map(of_one).fold((0, 0, 0), add)
    };
    eventually_ok(async || {
        let before = busy();
        let picture = Picture::take(hub).await;
        // The streams of those whose keys are valid, and nothing else.
        let is_open = |scene: &&Prepared| {
            scene.connected.as_ref().is_some_and(|connected| key_state(&picture, &connected.agent) == 200)
        };
        let open = i64::try_from(scenes.iter().filter(is_open).count()).unwrap();
        if before == (0, 0, open) && busy() == before {
            return Ok(picture);
        }
        let (requests, writes, connections) = before;
        Err(format!(
            "{requests} requests and {writes} writes are under way; {connections} connections are open, where the \
             streams of {open} agents should be"
        ))
    })
    .await
}

/// How an agent's key must be answered, by the database.
fn key_state(picture: &Picture, agent: &Agent) -> u16 {
    let hash = keys::sha256(agent.key.as_bytes());
    match picture.row("agents", &agent.id) {
        None => 401,
        Some(row) if row["deleted_at"] != Value::Null => 401,
        Some(row) if !matches!(&row["key_hash"], Value::Bytes(stored) if **stored == hash) => 401,
        Some(row) if row["suspended"] == Value::Int(1) => 403,
        Some(_) => 200,
    }
}

/// The process answers each key as the database says, and has closed what was opened with those that have ended.
async fn check_keys(hub: &Harness, picture: &Picture, scenes: &mut [Prepared]) {
    let agents: Vec<(Operation, Agent)> = scenes
        .iter()
        .flat_map(|scene| scene.agents.iter().map(|agent| (scene.operation.clone(), agent.clone())))
        .collect();
    each(agents, async |(operation, agent)| {
        let answered = agent.get("/agents/me").await.status;
        assert_eq!(answered, key_state(picture, &agent), "{operation}: the key of {}", agent.id);
    })
    .await;
    let mut open = 0;
    for scene in scenes.iter_mut() {
        let operation = scene.operation.clone();
        let Some(connected) = &mut scene.connected else { continue };
        let agent: AgentId = connected.agent.id.parse().unwrap();
        if key_state(picture, &connected.agent) == 200 {
            open += 1;
            assert!(hub.reach(&agent).is_some(), "{operation}: the socket is still open");
        } else {
            connected.is_closed().await;
        }
    }
    eventually(async || (hub.open().0 == open).then_some(())).await;
}

/// Every file has its bytes, and no bytes are without a file.
async fn check_files(hub: &Harness, picture: &Picture) {
    // Each in a folder that is named by the end of its id.
    let place = |id: String| format!("{}/{id}", &id[id.len() - 2..]);
    let known: BTreeSet<String> = picture.of_table("files").map(|row| place(text(&row["id"]))).collect();
    let root = hub.hub.config.data.join("files");
    let on_disk = || {
        let folders = std::fs::read_dir(&root).unwrap().flatten();
        let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten();
        let below = |file: std::fs::DirEntry| file.path().strip_prefix(&root).unwrap().display().to_string();
        files.map(below).collect::<BTreeSet<String>>()
    };
    eventually_ok(async || {
        let on_disk = on_disk();
        if on_disk == known {
            return Ok(());
        }
        let orphans: Vec<_> = on_disk.difference(&known).collect();
        let lost: Vec<_> = known.difference(&on_disk).collect();
        Err(format!("bytes without a row: {orphans:?}; rows without bytes: {lost:?}"))
    })
    .await;
    assert_eq!(hub.hub.files.in_memory.available_permits(), 1, "room in memory is given back");
}

fn text(value: &Value<'_>) -> String {
    if let Value::Text(text) = value { text.to_string() } else { panic!("{value:?}") }
}

/// A webhook that is stored as active is served, and no other.
async fn check_webhooks(hub: &Harness, picture: &Picture, scenes: &[Prepared], received: &Received) {
    let of_agent = |agent: &str| received.lock().unwrap().get(agent).copied().unwrap_or_default();
    let is_active = |agent: &Agent| {
        picture.row("agents", &agent.id).is_some_and(|row| row["webhook_active"] == Value::Int(1))
    };
    // What was asked for is sent: tests and replays, too.
    let mut made: BTreeMap<String, usize> = BTreeMap::new();
    for delivery in picture.of_table("deliveries") {
        *made.entry(text(&delivery["agent_id"])).or_default() += 1;
    }
    for (agent, made) in &made {
        eventually(async || (of_agent(agent) >= *made).then_some(())).await;
    }
    let is_about_webhooks = |scene: &&Prepared| {
        let (Operation::Route(_, variant) | Operation::Tool(_, variant)) = &scene.operation;
        variant.contains("webhook")
    };
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for scene in scenes.iter().filter(is_about_webhooks) {
        let (ada, bob) = (&scene.agents[0], &scene.agents[1]);
        let before = of_agent(&bob.id);
        ada.task(bob).await;
        let list = if is_active(bob) { &mut on } else { &mut off };
        list.push((bob.id.clone(), before, scene.operation.clone()));
    }
    assert!(!on.is_empty() && !off.is_empty(), "{on:?} {off:?}");
    for (agent, before, operation) in on {
        let served = eventually(async || (of_agent(&agent) > before).then_some(()));
        let served = tokio::time::timeout(PATIENCE / 2, served).await;
        assert!(served.is_ok(), "{operation}: the webhook of {agent} is stored, and not served");
    }
    for (agent, before, operation) in off {
        assert_eq!(of_agent(&agent), before, "{operation}: the webhook of {agent} is not stored, and served");
    }
    let after = Picture::take(hub).await;
    for delivery in after.of_table("deliveries") {
        assert_ne!(delivery["state"], Value::Text("failed".into()), "{delivery:?}");
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_a_client_hangs_up_the_database_and_the_process_agree(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let allow = |config: &mut tandem_hub::Config| {
        (config.webhook_allow_http, config.webhook_allow_private) = (true, true);
    };
    // A request that one node passes on to another is a connection of both.
    let hub = Harness::start_with(db, allow).await.at_one_node();
    let (receiver, received) = receiver().await;
    let operations = operations(&hub).await;
    let prepare = async |(number, operation): (usize, &Operation)| {
        let era = if number.is_multiple_of(2) { Era::Session } else { Era::Stateless };
        Prepared::new(&hub, operation, era, format!("Scene {number}"), receiver).await
    };

    // What each request does when nobody hangs up.
    let undisturbed = each(operations.iter().enumerate(), prepare).await;
    let before = idle(&hub, &undisturbed).await;
    each(&undisturbed, Prepared::send).await;
    let after = idle(&hub, &undisturbed).await;
    let expected = before.changes_by_scene(&after, &undisturbed);
    let without: BTreeSet<String> = undisturbed
        .iter()
        .zip(&expected)
        .filter(|(_, changes)| changes.is_empty())
        .map(|(scene, _)| scene.operation.to_string())
        .collect();
    assert_eq!(without.iter().map(String::as_str).collect::<Vec<_>>(), NO_ROWS, "these change no row");
    drop(undisturbed);

    let times = AFTER.iter().enumerate().flat_map(|(time, _)| operations.iter().map(move |one| (time, one)));
    let times: Vec<(usize, &Operation)> = times.collect();
    // Each operation is called in both eras.
    let numbered =
        times.iter().enumerate().map(|(number, (time, one))| (number * 2 + 1_000 + time % 2, *one));
    let mut scenes = each(numbered, prepare).await;
    let before = idle(&hub, &scenes).await;
    each(scenes.iter().enumerate(), |(number, scene)| cut_off(scene, number)).await;
    let after = idle(&hub, &scenes).await;
    assert_eq!(before.all_changes(&after), [] as [String; 0], "of {:?}, none was sent whole", names(&scenes));
    check_files(&hub, &after).await;

    let before = after;
    each(scenes.iter().zip(&times), |(scene, (time, _))| send_and_leave(scene, AFTER[*time])).await;
    let after = idle(&hub, &scenes).await;
    let mut happened = BTreeMap::<&Operation, usize>::new();
    for (number, changes) in before.changes_by_scene(&after, &scenes).into_iter().enumerate() {
        let (operation, expected) = (times[number].1, &expected[number % operations.len()]);
        assert!(
            changes.is_empty() || changes == *expected,
            "{operation} happened by half: {changes:#?}, and not {expected:#?}"
        );
        *happened.entry(operation).or_default() += usize::from(!changes.is_empty());
    }
    // Those who left when the answer began were not too fast.
    assert!(happened.values().sum::<usize>() >= operations.len() - NO_ROWS.len(), "{happened:?}");
    after.check_counters();
    check_files(&hub, &after).await;
    check_keys(&hub, &after, &mut scenes).await;
    check_webhooks(&hub, &after, &scenes, &received).await;
}

/// An upload that is given up while its file is being made leaves none behind.
#[tokio::test]
async fn a_file_that_is_given_up_as_it_begins_is_not_left_behind() {
    let hub = Harness::start(Db::Sqlite).await;
    for polls in 0..400 {
        let id = hub.hub.db.now().new_id();
        let mut beginning = Box::pin(hub.hub.files.begin(&id, None));
        for _ in 0..polls {
            if futures_util::poll!(&mut beginning).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    check_files(&hub, &Picture::take(&hub).await).await;
}
