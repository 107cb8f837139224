//! All at once: hub, runner and workers are killed, and clocks jump. Every task ends exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use rstest::rstest;

use super::{Runner, agent_of, lines};
use crate::client::relay::Relay;
use crate::command::Cli;
use crate::crash::agent;
use crate::harness::{Agent, Db, Harness, Place};
use crate::serve::{Process, command};

const TASKS: usize = 200;
/// Time for the whole; it takes a small part of it.
const WHOLE_MAX: Duration = Duration::from_secs(300);
/// A clock that is years ahead: the hub has forgotten its idempotency keys.
const LATER_MS: i64 = 1_900_000_000_000;
/// A worker is killed after so many runs.
const RUNS_PER_KILL: usize = 8;
/// Each run writes a line when it starts and one when it is about to end.
const SCRIPT: &str = "echo $$ $TANDEM_TASK_ID >> $HOME/starts; sleep 0.03; echo $TANDEM_TASK_ID >> $HOME/ends; \
                      echo done $TANDEM_TASK_ID";

/// The runs of each task so far.
fn starts(cli: &Cli) -> BTreeMap<String, usize> {
    let mut starts = BTreeMap::new();
    for line in lines(cli, "starts") {
        if let Some((_, task)) = line.split_once(' ') {
            *starts.entry(task.to_owned()).or_default() += 1;
        }
    }
    starts
}

async fn with_status(ada: &Agent, status: &str) -> BTreeSet<String> {
    let tasks = ada.get(&format!("/tasks?status={status}&limit=500")).await.ok(200);
    tasks.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

/// What was seen on the way: how often each task had been started when its result was accepted.
struct Witness<'a> {
    cli: &'a Cli,
    deadline: Instant,
    accepted: BTreeMap<String, usize>,
    killed: usize,
    /// How many runs there were when the last worker was killed.
    started: usize,
    /// The last event of ada's.
    cursor: i64,
}

impl Witness<'_> {
    /// Waits until so many tasks are completed; kills a worker after every few runs if `violent`.
    async fn until(&mut self, ada: &Agent, count: usize, violent: bool) {
        loop {
            let completed = self.look(ada).await;
            if completed >= count {
                return;
            }
            assert!(Instant::now() < self.deadline, "{completed} of {count} are completed");
            let started = lines(self.cli, "starts").len();
            if violent && started >= self.started + RUNS_PER_KILL {
                self.started = started;
                self.kill_a_worker();
            }
            self.wait_for_events(ada).await;
        }
    }

    /// Waits until something happens to ada's tasks, for a moment at most: a worker that is killed is no event.
    async fn wait_for_events(&mut self, ada: &Agent) {
        let page = ada.get(&format!("/events?after={}&wait=1", self.cursor)).await.ok(200);
        self.cursor = page["cursor"].as_i64().unwrap();
    }

    /// Checks that no task was started again after its end, and counts those that have ended.
    async fn look(&mut self, ada: &Agent) -> usize {
        let completed = with_status(ada, "completed").await;
        let starts = starts(self.cli);
        for task in &completed {
            let now = starts.get(task).copied().unwrap_or_default();
            let then = *self.accepted.entry(task.clone()).or_insert(now);
            assert_eq!(then, now, "{task} was started again after its result was accepted");
        }
        completed.len()
    }

    fn kill_a_worker(&mut self) {
        for line in lines(self.cli, "starts").iter().rev().take(4) {
            let pid = line.split_once(' ').map_or("", |(pid, _)| pid);
            let is_worker = std::fs::read_to_string(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|command| command.contains("TANDEM_TASK_ID"));
            if is_worker {
                let killed = std::process::Command::new("kill").args(["-9", pid]).output().unwrap();
                self.killed += usize::from(killed.status.success());
                return;
            }
        }
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_tasks_end_exactly_once(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Arc::new(Place::new(db));
    let hub = Process::start(command(&place));
    let relay = Relay::start(hub.client.address).await;
    let cli = Cli::at(&format!("http://{}", relay.address));
    let mut ada = agent(&hub.client, "ada").await;
    cli.register("bob").await;
    let bob = agent_of(&cli, &hub.client, "bob");
    ada.pair_with(&bob).await;

    let options = ["--concurrency", "4", "--tries", "50"];
    let runner = Runner::start(&cli, &options, SCRIPT);
    let mut sent = BTreeSet::new();
    for _ in 0..TASKS / 2 {
        sent.insert(ada.task(&bob).await);
    }
    let mut witness = Witness {
        cli: &cli,
        deadline: Instant::now() + WHOLE_MAX,
        accepted: BTreeMap::new(),
        killed: 0,
        started: 0,
        cursor: 0,
    };
    witness.until(&ada, 30, true).await;
    hub.signal("KILL");
    drop(hub);
    let hub = Process::start(command(&place));
    relay.lead_to(hub.client.address);
    ada.client = hub.client.clone();
    witness.until(&ada, 60, true).await;

    runner.kill().await;
    // Half of them are sent while no runner is there.
    for _ in TASKS / 2..TASKS {
        sent.insert(ada.task(&bob).await);
    }
    let runner = Runner::start(&cli, &options, SCRIPT);
    witness.until(&ada, 90, true).await;

    // The clock jumps ahead, and back.
    hub.signal("KILL");
    drop(hub);
    let later = Arc::new(AtomicI64::new(LATER_MS));
    let hub = Harness::start_at(Arc::clone(&place), place.config(), later).await;
    relay.lead_to(hub.client.address);
    ada.client = hub.client.clone();
    witness.until(&ada, 130, true).await;
    relay.cut();
    drop(hub);
    let hub = Process::start(command(&place));
    relay.lead_to(hub.client.address);
    ada.client = hub.client.clone();
    witness.until(&ada, TASKS, true).await;
    assert!(witness.killed > 0, "no worker was killed");

    runner.signal("TERM");
    assert_eq!(runner.code().await, 0);
    witness.until(&ada, TASKS, false).await;
    verify(&cli, &ada, &sent).await;
}

/// Every task has one result, and nothing is left to do.
async fn verify(cli: &Cli, ada: &Agent, sent: &BTreeSet<String>) {
    assert_eq!(with_status(ada, "completed").await, *sent, "none is lost, and there are no others");
    for task in sent {
        let thread = ada.get(&format!("/tasks/{task}/messages")).await.ok(200);
        let texts: Vec<_> =
            thread.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap()).collect();
        assert_eq!(texts, [format!("done {task}")], "one result");
    }
    let ends = lines(cli, "ends");
    assert!(ends.iter().collect::<BTreeSet<_>>().len() == TASKS, "each has run to its end");
    let journal = cli.home.join("state/tandem/bob.d/run/journal");
    let left: Vec<_> = std::fs::read_dir(journal).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?} is left to do");
}
