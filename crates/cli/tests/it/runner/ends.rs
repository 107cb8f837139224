//! How a run can end other than well.

use rstest::rstest;

use super::{Runner, journal, lines, until, until_lines, view};
use crate::bridge::store;
use crate::client::server::{Server, json_answer};
use crate::command::Cli;
use crate::harness::{Agent, Client, Db, Harness, eventually};

/// Waits until no process with this number is left.
pub async fn gone(pid: &str) {
    let place = format!("/proc/{pid}");
    let ended = async || {
        let stat = std::fs::read_to_string(format!("{place}/stat")).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    };
    eventually(ended).await;
}

#[tokio::test]
async fn a_failure_keeps_its_words_at_home() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let script = "echo half; echo 'no such table' >&2; exit 3";
    let runner = Runner::start(&cli, &[], script);
    let task = cli.task(&[]).await;
    let failed = until(&cli, &task, "failed").await;
    assert_eq!(failed["result"], "The worker ended with exit code 3.");
    assert!(runner.log().contains("no such table"), "its owner reads it: {}", runner.log());
    runner.kill().await;
    let _runner = Runner::start(&cli, &["--share-errors"], script);
    let task = cli.task(&[]).await;
    let failed = until(&cli, &task, "failed").await;
    assert_eq!(failed["result"], "The worker ended with exit code 3.\n\nno such table");
}

#[tokio::test]
async fn time_and_output_have_limits() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    // It ignores SIGTERM, and so does its child.
    let script = "trap '' TERM; sleep 600 & echo $! >> $HOME/pids; echo $$ >> $HOME/pids; wait; sleep 600";
    let runner = Runner::start(&cli, &["--timeout", "1s"], script);
    let task = cli.task(&[]).await;
    let failed = until(&cli, &task, "failed").await;
    assert_eq!(failed["result"], "The worker took longer than 1s.");
    for pid in lines(&cli, "pids") {
        gone(&pid).await;
    }
    runner.kill().await;
    let _runner = Runner::start(&cli, &["--output-max", "10kB"], "yes");
    let task = cli.task(&[]).await;
    assert_eq!(until(&cli, &task, "failed").await["result"], "The worker printed more than 10.0 kB.");
}

#[tokio::test]
async fn a_task_that_is_taken_back_ends_its_worker() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &[], "echo $$ >> $HOME/pids; echo secret; sleep 600");
    let task = cli.task(&[]).await;
    let pid = until_lines(&cli, "pids", 1).await.remove(0);
    cli.ok(&["task", "cancel", &task]).await;
    gone(&pid).await;
    let cancelled = view(&cli, &task).await;
    assert_eq!(
        (cancelled["status"].as_str(), cancelled["messages"].as_array().unwrap().len()),
        (Some("cancelled"), 0)
    );
    // Started again, it is a new run.
    cli.ok(&["task", "retry", &task]).await;
    let pids = until_lines(&cli, "pids", 2).await;
    assert_eq!(view(&cli, &task).await["attempt"], 2);
    cli.ok(&["task", "cancel", &task]).await;
    gone(&pids[1]).await;
    drop(runner);
}

#[tokio::test]
async fn a_worker_that_is_killed_is_started_again_so_often() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let _runner = Runner::start(&cli, &["--tries", "3"], "echo run >> $HOME/runs; kill -9 $$");
    let task = cli.task(&[]).await;
    let failed = until(&cli, &task, "failed").await;
    assert_eq!(failed["result"], "The worker ended 3 times without a result.");
    assert_eq!(lines(&cli, "runs").len(), 3);
}

#[tokio::test]
async fn a_runner_that_is_stopped_lets_its_workers_finish() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let script = "echo $$ >> $HOME/pids; while [ ! -e $HOME/go ]; do sleep 0.05; done; echo done";
    let runner = Runner::start(&cli, &[], script);
    let task = cli.task(&[]).await;
    until_lines(&cli, "pids", 1).await;
    // Sent when the first is at work: the clock of the hub stands still, and of two tasks of the same age either is taken.
    let next = cli.task(&[]).await;
    runner.signal("TERM");
    eventually(async || runner.log().contains("Stopping").then_some(())).await;
    std::fs::write(cli.home.join("go"), "").unwrap();
    assert_eq!(runner.code().await, 0);
    assert_eq!(view(&cli, &task).await["status"], "completed");
    assert_eq!(view(&cli, &next).await["status"], "submitted", "it takes none any more");

    // A second signal ends them; the next runner starts them again, and that costs no try.
    std::fs::remove_file(cli.home.join("go")).unwrap();
    let runner = Runner::start(&cli, &["--tries", "1"], script);
    let pid = until_lines(&cli, "pids", 2).await.remove(1);
    runner.signal("TERM");
    eventually(async || runner.log().matches("Stopping").nth(1).map(|_| ())).await;
    runner.signal("INT");
    assert_eq!(runner.code().await, 0);
    gone(&pid).await;
    assert_eq!(view(&cli, &next).await["status"], "working");
    std::fs::write(cli.home.join("go"), "").unwrap();
    let _runner = Runner::start(&cli, &["--tries", "1", "--grace", "1s"], script);
    until(&cli, &next, "completed").await;
    assert_eq!(lines(&cli, "pids").len(), 3);
}

/// As after many restarts: the hub takes no more requests of this agent for a while.
#[tokio::test]
async fn a_hub_that_has_no_time_for_the_runner_is_waited_for() {
    let body = serde_json::json!({ "error": "Too many requests", "code": "rate_limited" });
    let server = Server::start(&[json_answer("429 Too Many Requests", "retry-after: 100\r\n", body)]).await;
    let cli = Cli::at(&format!("http://{}", server.address));
    let client = Client { address: server.address };
    let bob = Agent { id: "agent_bob".into(), name: "bob".into(), key: "tdm_x".into(), client };
    store(&cli, "bob", &bob, None);
    let runner = Runner::start(&cli, &[], "true");
    eventually(async || (runner.log().matches("Too many requests").count() >= 2).then_some(())).await;
    runner.signal("TERM");
    assert_eq!(runner.code().await, 0);
}

/// The terminal in which a runner was started is closed.
#[rstest]
#[tokio::test]
async fn a_hang_up_stops_the_runner_and_its_worker(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &["--grace", "1s"], "echo $$ >> $HOME/pids; sleep 600");
    cli.task(&[]).await;
    let pid = until_lines(&cli, "pids", 1).await.remove(0);
    runner.signal("HUP");
    assert_eq!(runner.code().await, 0);
    gone(&pid).await;
}

#[rstest]
#[tokio::test]
async fn a_command_that_cannot_be_started_is_tried_again_but_not_for_ever(#[values(Db::Sqlite)] db: Db) {
    use std::os::unix::fs::PermissionsExt as _;
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let script = cli.home.join("work.sh");
    let write = |text: &str| {
        let new = cli.home.join("new.sh");
        std::fs::write(&new, text).unwrap();
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(new, &script).unwrap();
    };
    write("#!/no/such/interpreter\n");
    let runner = Runner::with(&cli, &["--from", "ada", "--", script.to_str().unwrap()]);
    let task = cli.task(&[]).await;
    // More often than a worker is started for a task.
    let failed = async || (runner.log().matches("cannot be started").count() > 2).then_some(());
    eventually(failed).await;
    assert_eq!(view(&cli, &task).await["status"], "working");
    write("#!/bin/sh\necho fine\n");
    assert_eq!(until(&cli, &task, "completed").await["result"], "fine");
    // One that is gone is noticed before a task is taken.
    std::fs::remove_file(&script).unwrap();
    let task = cli.task(&[]).await;
    eventually(async || runner.log().contains("there is no command").then_some(())).await;
    assert_eq!(view(&cli, &task).await["status"], "submitted");
    write("#!/bin/sh\necho fine\n");
    until(&cli, &task, "completed").await;
    // It is not tried for ever, and not only by one runner.
    write("#!/no/such/interpreter\n");
    let task = cli.task(&[]).await;
    let entry = journal(&cli, &task);
    let tried =
        async || std::fs::read_to_string(&entry).ok().filter(|entry| !entry.contains("\"failedStarts\":0"));
    eventually(tried).await;
    runner.kill().await;
    let mut last: serde_json::Value = serde_json::from_slice(&std::fs::read(&entry).unwrap()).unwrap();
    last["failedStarts"] = 7.into();
    std::fs::write(&entry, last.to_string()).unwrap();
    let _runner = Runner::with(&cli, &["--from", "ada", "--", script.to_str().unwrap()]);
    assert_eq!(until(&cli, &task, "failed").await["result"], "The worker could not be started.");
}
