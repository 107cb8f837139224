//! A task becomes a run of the program, and its output the result.

use rstest::rstest;
use serde_json::json;

use super::{Runner, files, lines, until, view};
use crate::command::{Cli, mode};
use crate::harness::{Db, Harness, eventually};

#[tokio::test]
async fn output_is_the_result() {
    let hub = Harness::start(Db::Sqlite).await;
    let mut cli = Cli::pair(&hub).await;
    for secret in ["TANDEM_ADMIN_TOKEN", "TANDEM_DATABASE", "TANDEM_TASK_SECRET", "tandem_key"] {
        cli.variables.push((secret.into(), "secret".into()));
    }
    cli.variables.push(("ANTHROPIC_API_KEY".into(), "kept".into()));
    // Sent before the runner starts.
    let title = "Say $(touch $HOME/hacked) `touch hacked`; '\"";
    let sent = cli.json(&["send", "bob", title, "--text", "with words"]).await;
    let task = sent["id"].as_str().unwrap();
    let script = "cat > $HOME/input; env > $HOME/environment; ls -d . in out > $HOME/folder; pwd >> $HOME/folder; \
                  echo \"done: $TANDEM_TASK_TITLE\"; echo secret words >&2";
    let runner = Runner::start(&cli, &[], script);
    let done = until(&cli, task, "completed").await;
    assert_eq!(done["result"], format!("done: {title}"));
    assert!(done["targetSessionKey"].as_str().unwrap().starts_with("runner_"), "{done}");
    // Reports to the hub are made beside the work.
    eventually(async || (view(&cli, task).await["delivery"]["surfacedBy"] == "runner").then_some(())).await;
    eventually(async || (cli.json(&["agents"]).await["reach"] == "runner").then_some(())).await;
    assert!(!cli.home.join("hacked").exists());

    let input: serde_json::Value = serde_json::from_str(&lines(&cli, "input").join("\n")).unwrap();
    assert_eq!((&input["task"]["id"], &input["task"]["title"]), (&json!(task), &json!(title)));
    assert_eq!((&input["task"]["description"], &input["trust"]), (&json!("with words"), &json!("plain")));
    assert_eq!(input["run"], 1);
    let environment = lines(&cli, "environment");
    for expected in [
        format!("TANDEM_TASK_ID={task}"),
        format!("TANDEM_TASK_TITLE={title}"),
        format!("TANDEM_FROM_AGENT_ID={}", done["initiatorAgentId"].as_str().unwrap()),
        "TANDEM_FROM_AGENT_NAME=ada".into(),
        "TANDEM_ATTEMPT=1".into(),
        "TANDEM_RUN=1".into(),
        "ANTHROPIC_API_KEY=kept".into(),
    ] {
        assert!(environment.contains(&expected), "no {expected} in {environment:?}");
    }
    // Exactly those that the documentation names.
    let names = environment.iter().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let mut ours: Vec<&str> = names.filter(|name| name.to_ascii_uppercase().starts_with("TANDEM_")).collect();
    ours.sort_unstable();
    let documented =
        ["ATTEMPT", "FOLDER", "FROM_AGENT_ID", "FROM_AGENT_NAME", "RUN", "RUNNER", "TASK_ID", "TASK_TITLE"];
    assert_eq!(ours, documented.map(|name| format!("TANDEM_{name}")));
    assert_eq!(environment.iter().find(|line| line.contains("tdm_")), None);
    let folder = lines(&cli, "folder");
    assert_eq!(folder[..3], [".", "in", "out"]);
    eventually(async || (!std::path::Path::new(&folder[3]).exists()).then_some(())).await;

    // One that is sent while it runs.
    let next = cli.task(&[]).await;
    until(&cli, &next, "completed").await;
    runner.signal("TERM");
    assert_eq!(runner.code().await, 0);
    assert_ne!(cli.json(&["agents"]).await["reach"], "runner", "it says goodbye");
}

#[tokio::test]
async fn only_listed_agents_are_served() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    cli.register("eve").await;
    cli.ok(&["context", "use", "ada"]).await;
    let code = cli.json(&["pair", "--no-wait", "--agent", "eve"]).await;
    cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
    let run = async |arguments: &[&str]| cli.run(&[&["run", "--agent", "bob"], arguments].concat()).await;
    run(&["--", "cat"]).await.failed(2, "--from");
    run(&["--from", "nobody", "--", "cat"]).await.failed(3, "nobody");
    run(&["--from", "ad", "--", "cat"]).await.failed(3, "whole name");
    run(&["--from", "ada"]).await.failed(2, "no command");
    run(&["--from", "ada", "--", "no-such-command"]).await.failed(3, "no-such-command");

    let foreign = cli.json(&["send", "bob", "From eve", "--agent", "eve"]).await;
    let runner = Runner::start(&cli, &[], "echo ok");
    until(&cli, &cli.task(&[]).await, "completed").await;
    let left = cli.json(&["task", "show", foreign["id"].as_str().unwrap(), "--agent", "eve"]).await;
    assert_eq!((&left["status"], &left["targetSessionKey"]), (&json!("submitted"), &json!(null)));
    assert_eq!(run(&["--from", "ada", "--", "cat"]).await.code, 1, "one runner per agent");
    runner.kill().await;
    let runner = Runner::with(&cli, &["--from-anyone-connected", "--", "echo", "ok"]);
    eventually(async || {
        let view = cli.json(&["task", "show", foreign["id"].as_str().unwrap(), "--agent", "eve"]).await;
        (view["status"] == "completed").then_some(())
    })
    .await;
    drop(runner);
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let script =
        "cat > input; if grep -q Tuesday input; then echo booked; else echo 'Which day?'; exit 10; fi";
    let runner = Runner::start(&cli, &[], script);
    let task = cli.task(&[]).await;
    let asked = until(&cli, &task, "input-required").await;
    let messages = asked["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &messages[0]["content"]), (1, &json!("Which day?")));
    // A runner that was not there when the answer came finds it.
    runner.kill().await;
    cli.ok(&["message", &task, "Tuesday"]).await;
    let runner = Runner::start(&cli, &[], script);
    assert_eq!(until(&cli, &task, "completed").await["result"], "booked");

    // And one that is there is told.
    let task = cli.task(&[]).await;
    until(&cli, &task, "input-required").await;
    cli.ok(&["message", &task, "Tuesday"]).await;
    assert_eq!(until(&cli, &task, "completed").await["result"], "booked");
    drop(runner);
}

#[tokio::test]
async fn a_reviewed_result_can_be_sent_back() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let _runner = Runner::start(&cli, &[], "cat > input; grep -q better input && echo second || echo first");
    let task = cli.task(&["--review"]).await;
    assert_eq!(until(&cli, &task, "input-required").await["result"], "first");
    cli.ok(&["message", &task, "better please"]).await;
    eventually(async || {
        let view = view(&cli, &task).await;
        (view["result"] == "second" && view["status"] == "input-required").then_some(())
    })
    .await;
    cli.ok(&["task", "status", &task, "completed"]).await;
}

/// Two connected agents with keys; commands act as ada.
async fn encrypted_pair(hub: &Harness) -> Cli {
    let cli = Cli::new(hub);
    cli.ok(&["register", "bob"]).await;
    cli.ok(&["register", "ada"]).await;
    let code = cli.json(&["pair", "--no-wait"]).await;
    cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
    cli
}

#[rstest]
#[tokio::test]
async fn files_go_in_and_come_out(#[values(false, true)] encrypted: bool) {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = match encrypted {
        false => Cli::pair(&hub).await,
        true => encrypted_pair(&hub).await,
    };
    std::fs::write(cli.home.join("question.txt"), "what is in here?").unwrap();
    let more: &[&str] = if encrypted { &["--encrypt"] } else { &[] };
    let task = cli.task(&[&["--file", "question.txt"], more].concat()).await;
    let script = "cat > $HOME/input; tr a-z A-Z < in/question.txt > out/answer.txt; ln -s /etc/passwd out/link; \
                  echo second > out/b.txt; mkdir out/folder; stat -c %a . >> $HOME/mode; echo see the files";
    let _runner = Runner::start(&cli, &["--keep-folders"], script);
    let done = until(&cli, &task, "completed").await;
    let result = done["result"].as_str().unwrap();
    assert!(result.starts_with("see the files\n\n(2 files were not sent"), "{result}");
    assert_eq!(files(&cli, &task).await, ["what is in here?", "WHAT IS IN HERE?", "second\n"]);
    let input: serde_json::Value = serde_json::from_str(&lines(&cli, "input").join("\n")).unwrap();
    assert_eq!(input["trust"], if encrypted { "verified" } else { "plain" });
    assert_eq!(
        (&input["task"]["title"], &input["files"][0]["path"]),
        (&json!("Review the API"), &json!("in/question.txt"))
    );
    assert_eq!(lines(&cli, "mode"), ["700"]);
    // Not all of it was sent.
    let folder = cli.home.join(format!("state/tandem/bob.d/run/tasks/{task}.kept-1"));
    eventually(async || folder.join("in/question.txt").exists().then_some(())).await;
    assert_eq!(mode(&folder), 0o700);
}

#[rstest]
#[tokio::test]
async fn a_long_result_becomes_a_file(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::pair(&hub).await;
    // The title says how long it is, and what is left beside it.
    let script = "set -- $TANDEM_TASK_TITLE; [ $2 = no ] || mkdir out/folder; [ $2 != many ] || (cd out && touch $(seq -f a%g 30)); head -c $1 /dev/zero | tr '\\0' x";
    let runner = Runner::start(&cli, &[], script);
    let send = async |title: &str| {
        let sent = cli.json(&["send", "bob", title]).await;
        until(&cli, sent["id"].as_str().unwrap(), "completed").await
    };
    let done = send("300000 no").await;
    assert_eq!(done["result"], "The result has 300.0 kB; it is in the file result.txt.");
    assert_eq!(files(&cli, done["id"].as_str().unwrap()).await, ["x".repeat(300_000)]);

    // As much as a message takes; and the same with the note, which is too much.
    assert_eq!(send("262144 no").await["result"], "x".repeat(262_144));
    let done = send("262144 note").await;
    let result = done["result"].as_str().unwrap();
    assert!(
        result.starts_with("The result has 262.1 kB") && result.contains("(1 files were not sent"),
        "{result}"
    );
    assert_eq!(files(&cli, done["id"].as_str().unwrap()).await, ["x".repeat(262_144)]);

    // Other files do not take its place.
    let done = send("300000 many").await;
    let sent = files(&cli, done["id"].as_str().unwrap()).await;
    assert_eq!(sent.last(), Some(&"x".repeat(300_000)));
    assert!(!runner.log().contains("cannot"), "{}", runner.log());
}

/// An encrypted task: what is sealed is JSON, in which a line break takes two bytes.
#[rstest]
#[tokio::test]
async fn a_long_result_can_be_sealed(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = encrypted_pair(&hub).await;
    let task = cli.task(&["--encrypt"]).await;
    let _runner = Runner::start(&cli, &[], "yes '' | head -n 150000; echo end");
    let done = until(&cli, &task, "completed").await;
    assert_eq!(done["result"], "The result has 150.0 kB; it is in the file result.txt.");
}

#[tokio::test]
async fn progress_is_reported_while_it_runs() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let script =
        "echo '::progress 40 half of it' >&2; while [ ! -e $HOME/go ]; do sleep 0.05; done; echo done";
    let runner = Runner::start(&cli, &["--concurrency", "2"], script);
    let (one, two) = (cli.task(&[]).await, cli.task(&[]).await);
    for task in [&one, &two] {
        eventually(async || {
            let view = view(&cli, task).await;
            (view["progress"] == 40 && view["progressNote"] == "half of it").then_some(())
        })
        .await;
    }
    // A third waits for a free place.
    let three = cli.task(&[]).await;
    assert_eq!(view(&cli, &three).await["status"], "submitted");
    std::fs::write(cli.home.join("go"), "").unwrap();
    for task in [&one, &two, &three] {
        until(&cli, task, "completed").await;
    }
    assert!(!runner.log().contains("cannot"), "{}", runner.log());
}

/// The hub stores the note readable, so it gets none.
#[rstest]
#[tokio::test]
async fn progress_of_an_encrypted_task_has_no_words(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = encrypted_pair(&hub).await;
    let script = "echo '::progress 40 secret' >&2; while [ ! -e $HOME/go ]; do sleep 0.05; done; echo done";
    let _runner = Runner::start(&cli, &[], script);
    let task = cli.task(&["--encrypt"]).await;
    eventually(async || (view(&cli, &task).await["progress"] == 40).then_some(())).await;
    assert!(view(&cli, &task).await["progressNote"].is_null());
    std::fs::write(cli.home.join("go"), "").unwrap();
    until(&cli, &task, "completed").await;
}
