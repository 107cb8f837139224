//! The key of the agent is replaced while its runner is at work.

use super::exactly_once::SCRIPT;
use super::{Runner, agent_of, files, until, until_lines, until_ready};
use crate::command::Cli;
use crate::harness::{Db, Harness, eventually};

#[tokio::test]
async fn a_runner_goes_on_with_a_new_key() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &[], &format!("echo file > out/a.txt; {SCRIPT}"));
    let task = cli.task(&[]).await;
    until_lines(&cli, "pids", 1).await;
    cli.ok(&["rotate", "--agent", "bob"]).await;
    std::fs::write(cli.home.join("go"), "").unwrap();
    assert_eq!(until(&cli, &task, "completed").await["result"], "done");
    assert_eq!(files(&cli, &task).await, ["file\n"]);
    cli.ok(&["rotate", "--agent", "bob"]).await;
    until(&cli, &cli.task(&[]).await, "completed").await;
    runner.signal("TERM");
    assert_eq!(runner.code().await, 0);
}

/// The hub knows the new key a while before the profile does: the answer is slow, or somebody types it in.
#[tokio::test]
async fn a_new_key_may_come_late() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &[], &format!("echo file > out/a.txt; {SCRIPT}"));
    let task = cli.task(&[]).await;
    until_lines(&cli, "pids", 1).await;
    let bob = agent_of(&cli, &hub.client, "bob");
    let new = bob.post_empty("/agents/me/rotate-key").await.text("apiKey");
    std::fs::write(cli.home.join("go"), "").unwrap();
    until_ready(&cli, &task).await;
    eventually(async || runner.log().contains("Looking for a new key").then_some(())).await;
    let profile = cli.config().join("agents/bob.toml");
    let text = std::fs::read_to_string(&profile).unwrap().replace(&bob.key, &new);
    std::fs::write(&profile, text).unwrap();
    assert_eq!(until(&cli, &task, "completed").await["result"], "done");
    assert_eq!(files(&cli, &task).await, ["file\n"]);
    until(&cli, &cli.task(&[]).await, "completed").await;
    runner.signal("TERM");
    assert_eq!(runner.code().await, 0);
}
