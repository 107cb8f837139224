//! What was killed in between changes nothing about the end of a task.

use rstest::rstest;

use super::{Runner, agent_of, journal, lines, until, until_lines, until_ready, view};
use crate::client::relay::{Mode, Relay};
use crate::command::Cli;
use crate::harness::{Db, Harness, eventually};

/// A worker that says that it runs, and ends when it is allowed to.
pub const SCRIPT: &str = "echo $$ >> $HOME/pids; while [ ! -e $HOME/go ]; do sleep 0.02; done; echo done";

/// Puts a relay between bob and the hub. A profile's key goes only to the hub that the profile names.
pub fn go_through(cli: &Cli, hub: &Harness, relay: &Relay) -> String {
    let profile = cli.home.join("config/tandem/agents/bob.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    let moved = text.replace(&hub.client.address.to_string(), &relay.address.to_string());
    assert_ne!(moved, text);
    std::fs::write(&profile, moved).unwrap();
    format!("http://{}", relay.address)
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[tokio::test]
async fn a_killed_runner_leaves_no_worker_and_no_task_behind() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    // The worker leaves its group, too.
    let script = format!(
        "echo $TANDEM_RUN >> $HOME/runs; setsid sh -c 'echo $$ >> $HOME/strays; exec sleep 600' & {SCRIPT}"
    );
    let runner = Runner::start(&cli, &[], &script);
    let task = cli.task(&[]).await;
    let pid = until_lines(&cli, "pids", 1).await.remove(0);
    let stray = until_lines(&cli, "strays", 1).await.remove(0);
    runner.kill().await;
    assert!(is_alive(&pid) && is_alive(&stray), "the system does not end them");
    let _runner = Runner::start(&cli, &[], &script);
    until_lines(&cli, "pids", 2).await;
    assert!(!is_alive(&pid) && !is_alive(&stray), "before the new one starts");
    assert_eq!(lines(&cli, "runs"), ["1", "2"], "the second run can be told from the first");
    std::fs::write(cli.home.join("go"), "").unwrap();
    let done = until(&cli, &task, "completed").await;
    assert_eq!((lines(&cli, "pids").len(), done["messages"].as_array().unwrap().len()), (2, 1));
}

#[rstest]
#[tokio::test]
async fn a_result_that_is_written_down_is_delivered_without_another_run(#[values(false, true)] review: bool) {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let relay = Relay::start(hub.client.address).await;
    let address = go_through(&cli, &hub, &relay);
    let through = ["--hub", address.as_str()];
    let runner = Runner::start(&cli, &through, SCRIPT);
    let task = cli.task(if review { &["--review"] } else { &[] }).await;
    until_lines(&cli, "pids", 1).await;
    // The worker ends while the hub cannot be reached, and then the runner is killed.
    relay.set(Mode::Down);
    std::fs::write(cli.home.join("go"), "").unwrap();
    let journal = journal(&cli, &task);
    until_ready(&cli, &task).await;
    runner.kill().await;
    relay.set(Mode::Pass);
    let runner = Runner::start(&cli, &through, SCRIPT);
    let ended = if review { "input-required" } else { "completed" };
    assert_eq!(until(&cli, &task, ended).await["result"], "done");
    assert_eq!(lines(&cli, "pids").len(), 1);
    runner.kill().await;

    // The reply has arrived, but the runner does not know: its journal is as before. A day passes.
    hub.advance_ms(25 * 3_600_000);
    let entry = format!(
        r#"{{"task":"{task}","attempt":1,"tries":1,"key":"another","phase":{{"phase":"ready","result":{{"kind":"completed","text":"done"}}}}}}"#
    );
    std::fs::write(&journal, entry).unwrap();
    let _runner = Runner::start(&cli, &through, SCRIPT);
    eventually(async || {
        let left = std::fs::read_to_string(&journal).unwrap_or_default();
        (left.is_empty() || left.contains("waiting")).then_some(())
    })
    .await;
    let view = view(&cli, &task).await;
    let replies = view["messages"].as_array().unwrap().iter().filter(|message| message["kind"] == "reply");
    assert_eq!((replies.count(), view["status"].as_str()), (1, Some(ended)));
    assert_eq!(lines(&cli, "pids").len(), 1);
}

#[tokio::test]
async fn a_lost_answer_to_taking_a_task_is_no_second_run() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    std::fs::write(cli.home.join("go"), "").unwrap();
    let relay = Relay::start(hub.client.address).await;
    let address = go_through(&cli, &hub, &relay);
    let _runner = Runner::start(&cli, &["--hub", &address, "--tries", "1"], SCRIPT);
    for bytes in [200, 900, 1_500, 2_500, 4_000] {
        relay.cut_after_bytes_down(bytes);
        let task = cli.task(&[]).await;
        let done = until(&cli, &task, "completed").await;
        assert_eq!(done["messages"].as_array().unwrap().len(), 1);
    }
    assert_eq!(lines(&cli, "pids").len(), 5);
}

/// The owner's model or another program says something in the name of the agent before the question could be delivered.
#[tokio::test]
async fn a_question_is_not_taken_for_another_message() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let relay = Relay::start(hub.client.address).await;
    let address = go_through(&cli, &hub, &relay);
    let through = ["--hub", address.as_str()];
    let script =
        "echo $$ >> $HOME/pids; while [ ! -e $HOME/go ]; do sleep 0.02; done; echo 'Which one?'; exit 10";
    let runner = Runner::start(&cli, &through, script);
    let task = cli.task(&[]).await;
    until_lines(&cli, "pids", 1).await;
    relay.set(Mode::Down);
    std::fs::write(cli.home.join("go"), "").unwrap();
    until_ready(&cli, &task).await;
    runner.kill().await;
    let bob = agent_of(&cli, &hub.client, "bob");
    let path = format!("/tasks/{task}/messages");
    bob.post(&path, serde_json::json!({ "content": "I am at it." })).await.ok(201);
    relay.set(Mode::Pass);
    let saved = std::fs::read_to_string(journal(&cli, &task)).unwrap();
    for round in 0..2 {
        let runner = Runner::start(&cli, &through, script);
        let waits =
            async || std::fs::read_to_string(journal(&cli, &task)).ok()?.contains("waiting").then_some(());
        eventually(waits).await;
        let asked = until(&cli, &task, "input-required").await;
        let said = asked["messages"].as_array().unwrap().iter();
        let said: Vec<&str> = said.map(|message| message["content"].as_str().unwrap()).collect();
        assert_eq!(said, ["I am at it.", "Which one?"], "round {round}");
        runner.kill().await;
        // The question has arrived, but the runner does not know, and the hub has forgotten its key. A day passes.
        hub.advance_ms(25 * 3_600_000);
        std::fs::write(journal(&cli, &task), &saved).unwrap();
    }
    assert_eq!(lines(&cli, "pids").len(), 1);
}

#[tokio::test]
async fn a_killed_runner_costs_no_try() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let once = ["--tries", "1"];
    let task = cli.task(&[]).await;
    for run in 1..3 {
        let runner = Runner::start(&cli, &once, SCRIPT);
        until_lines(&cli, "pids", run).await;
        let started =
            async || std::fs::read_to_string(journal(&cli, &task)).ok()?.contains("\"pid\"").then_some(());
        eventually(started).await;
        runner.kill().await;
    }
    // A worker that brings its runner down every time is not started for ever.
    let entry = std::fs::read_to_string(journal(&cli, &task)).unwrap();
    assert!(entry.contains("\"interruptions\":1"), "{entry}");
    let last = entry.replace("\"interruptions\":1", "\"interruptions\":5");
    std::fs::write(journal(&cli, &task), last).unwrap();
    let runner = Runner::start(&cli, &once, SCRIPT);
    let failed = until(&cli, &task, "failed").await;
    assert_eq!(failed["result"], "The worker ended 1 times without a result.");
    runner.kill().await;
    std::fs::write(cli.home.join("go"), "").unwrap();
    let task = cli.task(&[]).await;
    let _runner = Runner::start(&cli, &once, SCRIPT);
    until(&cli, &task, "completed").await;
}

/// The runner is killed while it says to the hub that it goes on.
#[tokio::test]
async fn an_answer_is_acted_on_although_the_runner_was_killed() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let relay = Relay::start(hub.client.address).await;
    let address = go_through(&cli, &hub, &relay);
    let through = ["--hub", address.as_str()];
    let script = "if grep -q Tuesday; then echo booked; else echo 'Which day?'; exit 10; fi";
    let runner = Runner::start(&cli, &through, script);
    let task = cli.task(&[]).await;
    until(&cli, &task, "input-required").await;
    let waits =
        async || std::fs::read_to_string(journal(&cli, &task)).ok()?.contains("waiting").then_some(());
    eventually(waits).await;
    relay.leave_unanswered("patch /tasks/");
    cli.ok(&["message", &task, "Tuesday"]).await;
    eventually(async || (relay.silences() > 0).then_some(())).await;
    runner.kill().await;
    relay.answer_all();
    let _runner = Runner::start(&cli, &through, script);
    assert_eq!(until(&cli, &task, "completed").await["result"], "booked");
}

/// Whoever sends a task may choose its id, and some file systems take names for the same that differ in case only.
#[tokio::test]
async fn tasks_whose_ids_differ_in_case_share_no_file() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let (ada, bob) = (agent_of(&cli, &hub.client, "ada"), agent_of(&cli, &hub.client, "bob"));
    let tasks = ["Report_A", "report_a", "REPORT_a"];
    for id in tasks {
        ada.task_with(&bob, serde_json::json!({ "id": id, "title": "A task" })).await;
    }
    // What an earlier version has written down under the id itself.
    let folder = journal(&cli, "x").with_file_name("");
    std::fs::create_dir_all(&folder).unwrap();
    let entry = r#"{"task":"Report_A","attempt":1,"tries":0,"key":"k","phase":{"phase":"taken"}}"#;
    std::fs::write(folder.join("Report_A.json"), entry).unwrap();
    let script = format!(
        "ls $XDG_STATE_HOME/tandem/bob.d/run/journal >> $HOME/journal; pwd >> $HOME/folders; {SCRIPT}"
    );
    let _runner = Runner::start(&cli, &["--concurrency", "3"], &script);
    until_lines(&cli, "pids", 3).await;
    let names = |file: &str| {
        let names = lines(&cli, file).into_iter().map(|line| line.rsplit('/').next().unwrap().to_owned());
        // Not those that are just being written.
        names.filter(|name| !name.contains("-new-")).collect::<std::collections::BTreeSet<_>>()
    };
    let expected = |ending: &str| {
        ["+report_+a", "report_a", "+r+e+p+o+r+t_a"].map(|name| format!("{name}{ending}")).into()
    };
    assert_eq!(names("folders"), expected(""));
    // The last of them to start has seen all.
    assert_eq!(names("journal"), expected(".json"));
    std::fs::write(cli.home.join("go"), "").unwrap();
    for task in tasks {
        until(&cli, task, "completed").await;
    }
}
