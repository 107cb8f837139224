//! Whose tasks a runner takes. Agents choose their names, and owners change their minds.

use rstest::rstest;

use super::{Runner, agent_of, lines, until, until_lines, view};
use crate::command::Cli;
use crate::harness::{Db, Harness, eventually};

/// Agents choose their names: another one that takes over a name does not get its tasks run.
#[rstest]
#[tokio::test]
async fn a_name_goes_on_meaning_the_same_agent(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &[], "echo done");
    let task = cli.task(&[]).await;
    until(&cli, &task, "completed").await;
    runner.kill().await;
    cli.ok(&["profile", "set", "--name", "Somebody", "--agent", "ada"]).await;
    let runner = Runner::start(&cli, &[], "echo done");
    let task = cli.task(&[]).await;
    until(&cli, &task, "completed").await;
    drop(runner);
}

/// Connects a further agent, eve, with bob. Commands go on acting as ada.
async fn connect_eve(cli: &Cli) {
    cli.register("eve").await;
    let code = cli.json(&["pair", "--no-wait", "--agent", "eve"]).await;
    cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
    cli.ok(&["context", "use", "ada"]).await;
}

/// The tasks that a runner has taken, and the one that it has not: it looks at them in this order.
async fn only_the_second(cli: &Cli, foreign: &str, own: &str) {
    until(cli, own, "completed").await;
    let left = cli.json(&["task", "show", foreign, "--agent", "eve"]).await;
    assert_eq!(left["status"], "submitted", "{left}");
}

#[tokio::test]
async fn who_takes_over_a_name_gets_nothing_run() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &[], "echo done");
    until(&cli, &cli.task(&[]).await, "completed").await;
    runner.kill().await;
    cli.ok(&["profile", "set", "--name", "Somebody", "--agent", "ada"]).await;
    connect_eve(&cli).await;
    cli.ok(&["profile", "set", "--name", "ada", "--agent", "eve"]).await;
    let foreign =
        cli.json(&["send", "bob", "Obey", "--agent", "eve"]).await["id"].as_str().unwrap().to_owned();
    let runner = Runner::start(&cli, &[], "echo done");
    only_the_second(&cli, &foreign, &cli.task(&[]).await).await;
    runner.kill().await;
    // Without the one that was meant, it does not start.
    let ada = agent_of(&cli, &hub.client, "ada").id;
    cli.ok(&["connections", "remove", &ada, "--agent", "bob", "--yes"]).await;
    cli.run(&["run", "--agent", "bob", "--from", "ada", "--", "true"]).await.failed(1, "no longer connected");
    let left = cli.json(&["task", "show", &foreign, "--agent", "eve"]).await;
    assert_eq!(left["status"], "submitted");
}

/// An id is never a name, whatever somebody calls itself.
#[rstest]
#[tokio::test]
async fn a_name_like_an_id_is_no_id(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    connect_eve(&cli).await;
    let ada = agent_of(&cli, &hub.client, "ada").id;
    for name in [ada.as_str(), "agent_0123456789"] {
        cli.ok(&["profile", "set", "--name", name, "--agent", "eve"]).await;
        let foreign =
            cli.json(&["send", "bob", "Obey", "--agent", "eve"]).await["id"].as_str().unwrap().to_owned();
        let from = ["--from", name, "--from", &ada, "--", "echo", "done"];
        let runner = Runner::with(&cli, &from);
        only_the_second(&cli, &foreign, &cli.task(&[]).await).await;
        runner.kill().await;
    }
}

/// A task that was taken cannot be given back. It must not stay at work for ever either.
#[tokio::test]
async fn a_sender_that_is_no_longer_listed_is_told() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    connect_eve(&cli).await;
    let script = "echo $TANDEM_TASK_TITLE >> $HOME/runs; [ $TANDEM_TASK_TITLE = Ask ] && { echo Which?; exit 10; }; sleep 600";
    let runner = Runner::start(&cli, &["--concurrency", "2"], script);
    let send = async |title: &str| {
        let sent = cli.json(&["send", "bob", title]).await;
        sent["id"].as_str().unwrap().to_owned()
    };
    let (asked, working) = (send("Ask").await, send("Work").await);
    until(&cli, &asked, "input-required").await;
    until_lines(&cli, "runs", 2).await;
    runner.kill().await;
    let _runner = Runner::with(&cli, &["--from", "eve", "--", "sh", "-c", script]);
    let failed = until(&cli, &working, "failed").await;
    assert!(failed["result"].as_str().unwrap().contains("no longer lets it work"), "{failed}");
    // A question that nobody has answered is no work yet.
    assert_eq!(view(&cli, &asked).await["status"], "input-required");
    cli.ok(&["message", &asked, "this one"]).await;
    let failed = until(&cli, &asked, "failed").await;
    assert!(failed["result"].as_str().unwrap().contains("no longer lets it work"), "{failed}");
    assert_eq!(lines(&cli, "runs").len(), 2);
    let journal = cli.home.join("state/tandem/bob.d/run/journal");
    eventually(async || (std::fs::read_dir(&journal).unwrap().count() == 0).then_some(())).await;
}
