//! A rolling upgrade: the previous release and this version serve one database at the same time.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rstest::rstest;
use serde_json::{Value, json};

use crate::crash::agent;
use crate::harness::{Agent, Client, Db, Place, eventually};
use crate::serve::Process;
use crate::webhooks::{Receiver, Reply};

/// Tasks that are sent through each version.
const TASKS: usize = 60;

/// Its path is what `scripts/previous-release` prints.
fn previous() -> PathBuf {
    std::env::var_os("TANDEM_TEST_PREVIOUS")
        .expect("TANDEM_TEST_PREVIOUS is not set: run the tests by ./check")
        .into()
}

/// A node with a data folder of its own.
fn node(binary: PathBuf, place: &Place, name: &str) -> Command {
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", place.database.as_deref().unwrap()]);
    command.arg("--data").arg(place.folder.join(name));
    for setting in [
        "rate_limit_max=0",
        "rate_limit_register_max=0",
        "max_messages_per_minute=0",
        "webhook_allow_http=1",
        "webhook_allow_private=1",
    ] {
        command.args(["--set", setting]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn new_node(place: &Place, name: &str) -> Command {
    let shared = place.folder.join("shared");
    std::fs::create_dir_all(&shared).unwrap();
    let mut command = node(PathBuf::from(env!("CARGO_BIN_EXE_tandem")), place, name);
    command.args(["--bus", "none", "--shared-files"]).arg(shared);
    command
}

fn at(agent: &Agent, client: &Client) -> Agent {
    Agent { client: client.clone(), ..agent.clone() }
}

/// Sends tasks and moves each one on, until told to stop, or so many.
async fn work(from: Agent, to: Agent, count: usize, stop: Arc<AtomicBool>) -> BTreeSet<String> {
    let mut sent = BTreeSet::new();
    while sent.len() < count && !stop.load(Ordering::SeqCst) {
        let task = from.task(&to).await;
        to.set(&task, "working").await.ok(200);
        to.post(&format!("/tasks/{task}/messages"), json!({ "content": "done" })).await.ok(201);
        sent.insert(task);
    }
    sent
}

/// All events of an agent, in order and without a gap.
async fn log_of(agent: &Agent) -> Vec<Value> {
    let events = agent.events().await;
    let cursors: Vec<i64> = events.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert_eq!(cursors, (1..=cursors.len() as i64).collect::<Vec<_>>(), "no event is missing or double");
    events
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_previous_release_runs_beside_this_one_on_postgres() {
    let place = Place::empty(Db::Postgres);
    let old = Process::start(node(previous(), &place, "old"));
    let (ada, bob) = (agent(&old.client, "Ada").await, agent(&old.client, "Bob").await);
    ada.pair_with(&bob).await;
    let receiver = Receiver::start(&[Reply::Status(200)]).await;
    bob.patch("/agents/me", json!({ "webhookUrl": receiver.url() })).await.ok(200);

    // This version changes the schema while the old one is in use.
    let stop = Arc::new(AtomicBool::new(false));
    let before = tokio::spawn(work(ada.clone(), bob.clone(), usize::MAX, Arc::clone(&stop)));
    eventually(async || (!receiver.got().is_empty()).then_some(())).await;
    let starting = (new_node(&place, "new"), new_node(&place, "newer"));
    let start = |command| tokio::task::spawn_blocking(move || Process::start(command));
    let (new, newer) = tokio::join!(start(starting.0), start(starting.1));
    let (new, newer) = (new.unwrap(), newer.unwrap());
    stop.store(true, Ordering::SeqCst);
    let mut sent = before.await.unwrap();

    // Traffic on both, between the same two agents.
    let go = Arc::new(AtomicBool::new(false));
    let run = |from: &Agent, to: &Agent| tokio::spawn(work(from.clone(), to.clone(), TASKS, Arc::clone(&go)));
    let (ada_there, bob_there) = (at(&ada, &new.client), at(&bob, &new.client));
    let works = [run(&ada, &bob), run(&ada_there, &bob_there), run(&ada, &bob_there), run(&ada_there, &bob)];
    for work in works {
        sent.append(&mut work.await.unwrap());
    }
    verify(&[&ada, &ada_there], &[&bob, &bob_there, &at(&bob, &newer.client)], &sent).await;
    let delivered = || {
        let got = receiver.got();
        let created =
            got.iter().map(crate::webhooks::Got::json).filter(|body| body["event"] == "task.created");
        created.map(|body| body["data"]["taskId"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    eventually(async || (delivered() == sent).then_some(())).await;

    // A restart of the old one comes too late.
    drop(old);
    let refused = node(previous(), &place, "old").output().unwrap();
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("newer tandem"), "{why}");
    // What the old one had to deliver is delivered by the others.
    sent.append(&mut work(ada_there.clone(), bob_there.clone(), 5, Arc::clone(&go)).await);
    eventually(async || (delivered() == sent).then_some(())).await;
}

/// Every answered write is there, through each node.
async fn verify(initiators: &[&Agent], targets: &[&Agent], sent: &BTreeSet<String>) {
    let mut logs = Vec::new();
    for target in targets {
        let log = log_of(target).await;
        let created: Vec<&str> = log
            .iter()
            .filter(|event| event["type"] == "task.created")
            .map(|event| event["taskId"].as_str().unwrap())
            .collect();
        assert_eq!(created.len(), sent.len());
        assert_eq!(created.into_iter().collect::<BTreeSet<_>>(), sent.iter().map(String::as_str).collect());
        // The previous release writes an event without its fields beside `data`.
        let of_both = |event: &Value| {
            ["id", "type", "taskId", "fromAgentId", "createdAt", "data"].map(|field| event[field].clone())
        };
        logs.push(log.iter().map(of_both).collect::<Vec<_>>());
    }
    assert!(logs.windows(2).all(|pair| pair[0] == pair[1]), "each node shows the same log");
    for initiator in initiators {
        for task in sent {
            assert_eq!(initiator.view(task).await["status"], "working", "{task}");
            let thread = initiator.get(&format!("/tasks/{task}/messages")).await.ok(200);
            assert_eq!(thread.as_array().unwrap().len(), 1, "{task}");
        }
        log_of(initiator).await;
    }
}
