//! When a hook says nothing, costs nothing, or is no longer there.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::json;

use super::{ended, input, is_following, news, told, waiter};
use crate::command::Cli;
use crate::harness::{Db, Harness, PATIENCE, eventually};

/// Looking up a name cannot be stopped, and takes its time on a laptop without a network.
#[cfg(target_os = "linux")]
#[rstest]
#[tokio::test]
async fn a_name_service_that_hangs_costs_two_seconds(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let mut cli = Cli::pair(&hub).await;
    // A name service that answers after a minute, in the place of the system's.
    let (source, library) = (cli.home.join("slow.c"), cli.home.join("slow.so"));
    std::fs::write(&source, "int sleep(unsigned);\nint getaddrinfo(void) { sleep(60); return -3; }\n")
        .unwrap();
    let compiled = std::process::Command::new("cc")
        .args(["-w", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .unwrap();
    assert!(compiled.success());
    let file = cli.config().join("agents/bob.toml");
    let profile = std::fs::read_to_string(&file).unwrap();
    let moved = profile.replace(&hub.client.address.to_string(), "hub.example:3000");
    assert_ne!(profile, moved);
    std::fs::write(&file, moved).unwrap();
    cli.variables.push(("LD_PRELOAD".into(), library.display().to_string()));
    cli.variables.push(("TANDEM_HUB".into(), "http://hub.example:3000".into()));
    for more in [&[][..], &["--wait", "--max-wait", "1s"]] {
        let started = Instant::now();
        let arguments = [&["hook", "--agent", "bob", "--tool", "claude"], more].concat();
        let ran = cli.run_with(&arguments, &input("SessionStart", "one")).await;
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
        let took = started.elapsed();
        assert!(took > Duration::from_millis(900) && took < PATIENCE * 2, "{more:?}: {took:?}");
    }
}

/// A worker sees its own task only, also if the tool that it runs has hooks of its owner.
#[rstest]
#[tokio::test]
async fn workers_of_a_runner_hear_nothing(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let mut cli = Cli::pair(&hub).await;
    let task = cli.task(&[]).await;
    cli.variables.push(("TANDEM_RUNNER".into(), "runner_1".into()));
    for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
        assert_eq!(told(&cli, "claude", event, "one").await, "");
    }
    assert_eq!(ended(waiter(&cli, "one", &[]).await).await, (0, String::new()));
    cli.variables.clear();
    assert!(news(&cli, "claude", "SessionStart", "one").await.contains(&task), "it was not counted as shown");
}

/// Claude Code takes exit code 2 of a hook for an order. Wrong arguments have that code in every other command.
#[rstest]
#[tokio::test]
async fn arguments_that_are_not_known_are_no_order(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    cli.task(&[]).await;
    let wrong: [&[&str]; 7] = [
        &["hook"],
        &["hook", "--agent", "bob"],
        &["hook", "--agent", "bob", "--tool", "another"],
        &["hook", "--agent", "bob", "--tool", "claude", "--new-option"],
        &["hook", "--agent", "bob", "--tool", "claude", "word"],
        &["--agent", "bob", "hook", "--tool", "another"],
        &["--quiet", "--hub=http://127.0.0.1:9", "--agent=bob", "hook", "--max-wait", "soon"],
    ];
    for arguments in wrong {
        let ran = cli.run_with(arguments, &input("Stop", "one")).await;
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{arguments:?}");
    }
    // A person who asks gets an answer, and other commands say what is wrong.
    assert!(cli.ok(&["hook", "--help"]).await.stdout.contains("--max-wait"));
    cli.run(&["inbox", "--agent", "hook", "--new-option"]).await.failed(2, "--new-option");
}

#[rstest]
#[tokio::test]
async fn a_waiter_that_the_tool_ends_is_no_longer_claimed(#[values("TERM", "INT", "HUP")] signal: &str) {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let waiting = waiter(&cli, "one", &[]).await;
    is_following(&cli).await;
    let pid = waiting.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args([format!("-{signal}"), pid]).status().unwrap().success());
    assert_eq!(ended(waiting).await, (0, String::new()));
    let seen = cli.json(&["agents"]).await;
    assert_ne!(seen["reach"], "hook", "{seen}");
    // The next hook reports it again.
    told(&cli, "claude", "UserPromptSubmit", "two").await;
    assert_eq!(cli.json(&["agents"]).await["reach"], "hook");
    // Nobody hears of a session that was killed: the report holds for ten minutes.
    hub.advance_ms(600_001);
    assert_ne!(cli.json(&["agents"]).await["reach"], "hook");
}

/// An agent that sends task after task must not keep the model at work without end.
#[rstest]
#[tokio::test]
async fn one_agent_wakes_the_model_so_often(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let file = cli.home.join("state/tandem/bob.d/wakes.json");
    let first = cli.task(&[]).await;
    assert!(news(&cli, "claude", "Stop", "one").await.contains(&first));
    let wakes: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(wakes.as_array().unwrap().len(), 1, "{wakes}");
    // It had 59 others before.
    std::fs::write(&file, json!(vec![wakes[0].clone(); 60]).to_string()).unwrap();
    let second = cli.task(&[]).await;
    assert_eq!(told(&cli, "claude", "Stop", "one").await, "");
    let waiting = waiter(&cli, "one", &["--max-wait", "1s"]).await;
    assert_eq!(ended(waiting).await, (0, String::new()));
    // Another agent is not concerned.
    cli.register("eve").await;
    let code = cli.json(&["pair", "--no-wait", "--agent", "eve"]).await;
    cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
    cli.ok(&["context", "use", "ada"]).await;
    let sent = cli.json(&["send", "bob", "Look", "--agent", "eve"]).await;
    let line = news(&cli, "claude", "Stop", "one").await;
    assert!(line.contains(sent["id"].as_str().unwrap()) && !line.contains(&second), "{line}");
    // A step of the model shows it; so does the next hour.
    assert!(news(&cli, "claude", "PostToolUse", "one").await.contains(&second));
    std::fs::remove_file(&file).unwrap();
    let third = cli.task(&[]).await;
    let (code, line) = ended(waiter(&cli, "one", &[]).await).await;
    assert!(code == 2 && line.contains(&third), "{line}");
}

/// As on a full disk: a session that cannot remember what it was told would be woken for the same again and again.
#[rstest]
#[tokio::test]
async fn what_cannot_be_remembered_starts_no_turn(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    let task = cli.task(&[]).await;
    let state = cli.home.join("state/tandem/bob.d");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("hook"), "no folder").unwrap();
    for _ in 0..2 {
        assert!(news(&cli, "claude", "UserPromptSubmit", "one").await.contains(&task), "it is told again");
        assert_eq!(told(&cli, "claude", "Stop", "one").await, "");
    }
    let waiting = waiter(&cli, "one", &["--max-wait", "1s"]).await;
    assert_eq!(ended(waiting).await, (0, String::new()));
}

/// Two sessions of one agent: the second waits for its turn, and is not woken for what the first was woken for.
#[tokio::test]
async fn the_waiter_of_another_session_takes_over() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let first = waiter(&cli, "one", &[]).await;
    is_following(&cli).await;
    let second = waiter(&cli, "two", &[]).await;
    let waiters = || {
        let files = std::fs::read_dir(cli.home.join("state/tandem/bob.d/hook")).unwrap().flatten();
        files.filter(|file| file.file_name().to_string_lossy().starts_with("wait-")).count()
    };
    eventually(async || (waiters() == 2).then_some(())).await;
    let task = cli.task(&[]).await;
    let (code, said) = ended(first).await;
    assert!(code == 2 && said.contains(&task), "{said}");
    let next = cli.task(&[]).await;
    let (code, said) = ended(second).await;
    assert_eq!(code, 2);
    assert!(said.contains("1 new task (") && said.contains(&next) && !said.contains(&task), "{said}");
}
