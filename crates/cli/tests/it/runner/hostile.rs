//! Workers that leave processes, links and broken folders behind, and runners that are started in strange places.

use rstest::rstest;

use super::ends::gone;
use super::exactly_once::{SCRIPT, go_through};
use super::{Runner, files, lines, until, until_lines, until_ready};
use crate::client::relay::{Mode, Relay};
use crate::command::Cli;
use crate::harness::{Db, Harness, eventually};

/// Starts a process that leaves the group of the worker, keeps its output open, and writes its number to `strays`.
fn stray(with: &str) -> String {
    format!(
        "{with} setsid sh -c \"echo \\$\\$ >> $HOME/strays; exec sleep 600\" & \
         while [ ! -s $HOME/strays ]; do sleep 0.02; done; echo the result; echo why >&2; exit "
    )
}

#[tokio::test]
async fn what_a_worker_leaves_running_ends_with_it() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let _runner = Runner::start(&cli, &[], &(stray("") + "0"));
    let task = cli.task(&[]).await;
    assert_eq!(until(&cli, &task, "completed").await["result"], "the result");
    gone(&lines(&cli, "strays")[0]).await;
}

/// A process without the variables of the runner is not recognised.
#[tokio::test]
async fn output_that_stays_open_is_not_lost() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    for (code, status, result) in
        [("0", "completed", "the result"), ("3", "failed", "The worker ended with exit code 3.\n\nwhy")]
    {
        let _ = std::fs::remove_file(cli.home.join("strays"));
        let script = stray("env -i PATH=$PATH") + code;
        let runner = Runner::start(&cli, &["--share-errors"], &script);
        let task = cli.task(&[]).await;
        let ended = until(&cli, &task, status).await;
        std::process::Command::new("kill").args(["-9", &lines(&cli, "strays")[0]]).status().unwrap();
        assert_eq!(ended["result"], result);
        runner.kill().await;
    }
}

/// Between the end of the worker and the delivery somebody puts a link in the place of a file, or of the folder.
#[rstest]
#[tokio::test]
async fn a_file_that_becomes_a_link_is_not_sent(
    #[values(Db::Sqlite)] db: Db,
    #[values("b.txt", "")] replaced: &str,
) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    std::fs::create_dir(cli.home.join("private")).unwrap();
    std::fs::write(cli.home.join("private/b.txt"), "secret").unwrap();
    let relay = Relay::start(hub.client.address).await;
    let address = go_through(&cli, &hub, &relay);
    let script = format!("echo first > out/a.txt; echo second > out/b.txt; {SCRIPT}");
    let runner = Runner::start(&cli, &["--hub", &address], &script);
    let task = cli.task(&[]).await;
    until_lines(&cli, "pids", 1).await;
    relay.set(Mode::Down);
    std::fs::write(cli.home.join("go"), "").unwrap();
    until_ready(&cli, &task).await;
    // The first file is on its way, the second is still to be opened.
    let out = cli.home.join(format!("state/tandem/bob.d/run/tasks/{task}/out"));
    std::fs::rename(out.join(replaced), cli.home.join("moved")).unwrap();
    let place = if replaced.is_empty() { out.clone() } else { out.join(replaced) };
    std::os::unix::fs::symlink(cli.home.join("private").join(replaced), place).unwrap();
    relay.set(Mode::Pass);
    let result = until(&cli, &task, "completed").await["result"].as_str().unwrap().to_owned();
    assert!(
        result.starts_with("done\n\n(Not sent: ") && result.contains("b.txt (it could not be read)"),
        "{result}"
    );
    // The first file may have been open already.
    let sent = files(&cli, &task).await;
    assert!(sent.iter().all(|content| content == "first\n"), "{sent:?}");
    assert!(runner.log().contains("cannot read"), "{}", runner.log());
}

/// A runner that was started by a worker, or from a shell with the variables of one, has the mark of its own workers.
#[rstest]
#[tokio::test]
async fn a_runner_does_not_take_itself_for_a_stray(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let runner = Runner::start(&cli, &[], "echo one");
    until(&cli, &cli.task(&[]).await, "completed").await;
    runner.kill().await;
    // The runner, the shell that starts it, and a neighbour have the variable.
    let shell = "export TANDEM_RUNNER=$(cat state/tandem/bob.d/run/id); \
                 sh -c 'sleep 600 & echo $! > $HOME/neighbour; \"$@\" & echo $! > $HOME/runner; wait $!; exit 7' sh \"$@\"; \
                 exit $?";
    let runner = Runner::below_shell(&cli, shell, &["--from", "ada", "--", "sh", "-c", "echo two"]);
    assert_eq!(until(&cli, &cli.task(&[]).await, "completed").await["result"], "two");
    for name in ["neighbour", "runner"] {
        let pid = lines(&cli, name).remove(0);
        assert!(std::process::Command::new("kill").arg(&pid).status().unwrap().success(), "no {name}");
    }
    assert_eq!(runner.code().await, 7, "the shell is still there");
}

/// A worker starts in a folder of its own; the command is meant as it was written.
#[rstest]
#[tokio::test]
async fn a_relative_command_is_found(#[values(Db::Sqlite)] db: Db) {
    use std::os::unix::fs::PermissionsExt as _;
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let file = cli.home.join("review.sh");
    std::fs::write(&file, "#!/bin/sh\necho reviewed\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let _runner = Runner::with(&cli, &["--from", "ada", "--", "./review.sh"]);
    assert_eq!(until(&cli, &cli.task(&[]).await, "completed").await["result"], "reviewed");
}

/// The first run leaves a folder that is too deep to be removed with so few open files, and is killed.
#[rstest]
#[tokio::test]
async fn a_folder_that_cannot_be_removed_is_not_in_the_way(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let script = "if [ -e $HOME/deep ]; then ls -A . out; exit; fi; touch $HOME/deep; \
                  for i in $(seq 200); do mkdir d && cd d; done; kill -9 $$";
    let shell = "ulimit -n 100; exec \"$@\"";
    let _runner = Runner::below_shell(&cli, shell, &["--from", "ada", "--", "sh", "-c", script]);
    let task = cli.task(&[]).await;
    assert_eq!(until(&cli, &task, "completed").await["result"], ".:\nin\nout\n\nout:");
}

/// As on a full disk: nothing can be written down any more.
#[tokio::test]
async fn a_result_that_cannot_be_written_down_is_delivered() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let script = "echo run >> $HOME/runs; cd $XDG_STATE_HOME/tandem/bob.d/run; rm -rf journal outputs; \
                  touch journal outputs; head -c 300000 /dev/zero | tr '\\0' x";
    let runner = Runner::start(&cli, &["--tries", "1"], script);
    let task = cli.task(&[]).await;
    let done = until(&cli, &task, "completed").await;
    let result = done["result"].as_str().unwrap();
    assert!(result.len() <= 262_144 && result.ends_with("x\n\n(The rest was cut off.)"), "{}", runner.log());
    assert_eq!(lines(&cli, "runs").len(), 1);
}

/// Files that are not sent are named, and are not lost.
#[rstest]
#[tokio::test]
async fn files_that_the_hub_does_not_take_are_named_and_stay(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let script = "echo text > out/a.txt; printf 'PK\\003\\000' > out/b.zip; echo done";
    let runner = Runner::start(&cli, &[], script);
    let task = cli.task(&[]).await;
    let result = until(&cli, &task, "completed").await["result"].as_str().unwrap().to_owned();
    assert!(result.starts_with("done\n\n(Not sent: b.zip ("), "{result}");
    assert!(result.contains("are not accepted: send image/*") && !result.contains("a.txt"), "{result}");
    assert_eq!(super::files(&cli, &task).await, ["text\n"]);
    let folder = |task: &str| cli.home.join(format!("state/tandem/bob.d/run/tasks/{task}.kept-1"));
    let stays = || runner.log().contains(&format!("{} has files", folder(&task).display()));
    eventually(async || stays().then_some(())).await;
    assert!(folder(&task).join("out/b.zip").exists());
    assert!(!super::journal(&cli, &task).exists());
    // Nothing that happens to the task later takes them away: its end is an event, which the runner sees before the next
    // task.
    until(&cli, &cli.task(&[]).await, "completed").await;
    assert!(folder(&task).join("out/b.zip").exists());
    // Nor does the sender, who lets the program run again.
    cli.ok(&["task", "status", &task, "working"]).await;
    let second = cli.home.join(format!("state/tandem/bob.d/run/tasks/{task}.kept-2"));
    eventually(async || second.join("out/b.zip").exists().then_some(())).await;
    assert!(folder(&task).join("out/b.zip").exists());
    runner.kill().await;
    // Nor are those that it does not send.
    let _runner = Runner::start(&cli, &[], "mkdir out/inner; echo x > out/inner/y; echo done");
    let task = cli.task(&[]).await;
    let result = until(&cli, &task, "completed").await["result"].as_str().unwrap().to_owned();
    assert!(result.starts_with("done\n\n(1 files were not sent") && result.contains(": inner.)"), "{result}");
    eventually(async || (!super::journal(&cli, &task).exists()).then_some(())).await;
    assert!(folder(&task).join("out/inner/y").exists());
}

/// What could not be sent with a question is not lost when the program runs again for the answer.
#[tokio::test]
async fn files_that_could_not_be_sent_outlive_the_next_run() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let script = "if grep -q Tuesday; then echo booked; else printf 'PK\\003\\000' > out/b.zip; echo 'Which day?'; exit 10; fi";
    let _runner = Runner::start(&cli, &[], script);
    let task = cli.task(&[]).await;
    until(&cli, &task, "input-required").await;
    cli.ok(&["message", &task, "Tuesday"]).await;
    assert_eq!(until(&cli, &task, "completed").await["result"], "booked");
    let kept = cli.home.join(format!("state/tandem/bob.d/run/tasks/{task}.kept-1/out/b.zip"));
    assert!(kept.exists());
}
