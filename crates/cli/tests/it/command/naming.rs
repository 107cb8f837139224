//! How tasks and agents are named, texts from standard input, and readers that leave early.

use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::Cli;
use crate::harness::{Db, Harness, PATIENCE};

#[tokio::test]
async fn tasks_by_prefix_and_by_at() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    cli.run(&["task", "show", "@"]).await.failed(3, "tandem task list");
    let first = cli.task(&[]).await;
    assert_eq!(cli.json(&["task", "show", "@"]).await["id"], first.as_str());
    let second = cli.task(&[]).await;
    assert_eq!(cli.json(&["task", "show", "@"]).await["id"], second.as_str(), "@ is the task sent last");
    cli.ok(&["task", "show", &first]).await;
    assert_eq!(cli.json(&["task", "show", "@"]).await["id"], first.as_str(), "@ is the task shown last");
    // Another profile has its own last task.
    cli.run(&["task", "show", "@", "--agent", "bob"]).await.failed(3, "no last task");
    // A prefix with and without task_.
    let common = first.bytes().zip(second.bytes()).take_while(|(one, other)| one == other).count();
    let unique = &first[..=common];
    assert_eq!(cli.json(&["task", "show", unique]).await["id"], first.as_str());
    let short = unique.strip_prefix("task_").unwrap();
    assert_eq!(cli.json(&["task", "show", short]).await["id"], first.as_str());
    let ran = cli.run(&["task", "show", "task_"]).await;
    ran.failed(2, "several ids");
    assert!(ran.stderr.contains(&first) && ran.stderr.contains(&second), "{ran:?}");
    cli.run(&["task", "show", "no such id"]).await.failed(3, "tandem task list");
    // A message takes a task by any of these, or an agent.
    for to in ["@", unique, short, "bob"] {
        cli.ok(&["message", to, "Hello"]).await;
    }
    cli.run(&["message", "nobody", "Hello"]).await.failed(3, "tandem connections");
}

#[tokio::test]
async fn agents_by_alias_name_id_and_prefix() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let connected = cli.json(&["agents"]).await;
    let id = connected["agentId"].as_str().unwrap();
    for name in ["bob", "BOB", "bo", id] {
        cli.ok(&["send", name, "x"]).await;
    }
    cli.ok(&["connections", "alias", "bob", "Reviewer"]).await;
    for name in ["reviewer", "rev", "bob"] {
        cli.ok(&["send", name, "x"]).await;
    }
    // Another Bob: the name alone no longer says who is meant, the alias does.
    cli.json(&["register", "Bob", "--no-encryption", "--as", "bob2"]).await;
    cli.ok(&["context", "use", "ada"]).await;
    let code = cli.json(&["pair", "--no-wait"]).await["code"].as_str().unwrap().to_lowercase();
    cli.ok(&["pair", &code.replace('-', " "), "--agent", "bob2"]).await;
    let ran = cli.run(&["send", "bob", "x"]).await;
    ran.failed(2, "can mean");
    assert!(ran.stderr.contains(id) && ran.stderr.contains("tandem connections alias"), "{ran:?}");
    cli.ok(&["send", "reviewer", "x"]).await;
    cli.ok(&["connections", "alias", "reviewer"]).await;
    cli.run(&["send", "reviewer", "x"]).await.failed(3, "no connection");
}

#[tokio::test]
async fn texts_from_standard_input() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let text = "First line\n\tsecond — ünïcödé\n\n";
    let ran = cli.run_with(&["send", "bob", "x", "--text", "-"], text.as_bytes()).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let bob = ["--agent", "bob"];
    let id = cli.json(&["task", "show", "@"]).await["id"].as_str().unwrap().to_owned();
    cli.ok(&["task", "accept", &id, "--agent", "bob"]).await;
    for command in
        [["message", &id, "-"].as_slice(), &["task", "ask", &id, "-"], &["task", "reply", &id, "-"]]
    {
        let ran = cli.run_with(&[command, &bob].concat(), text.as_bytes()).await;
        assert_eq!(ran.code, 0, "{command:?}: {ran:?}");
    }
    let task = cli.json(&["task", "show", "@"]).await;
    let expected = text.trim_end();
    assert_eq!((&task["description"], &task["result"]), (&expected.into(), &expected.into()));
    let contents: Vec<_> = task["messages"].as_array().unwrap().iter().map(|one| &one["content"]).collect();
    assert_eq!(contents.iter().filter(|content| ***content == expected).count(), 3, "{contents:?}");
    // Not a text, an empty one, and one that is too long: for the hub, and for us.
    let say = ["message", "@", "-"];
    cli.run_with(&say, b"caf\xe9").await.failed(2, "not valid UTF-8");
    let ran = cli.run_with(&say, b"\n").await;
    ran.failed(1, "must not be empty");
    assert!(!ran.stderr.contains("Possible now"), "{ran:?}");
    cli.run_with(&say, &vec![b'x'; 300 * 1024]).await.failed(1, "256 KiB");
    cli.run_with(&say, &vec![b'x'; 1024 * 1024 + 1]).await.failed(2, "send it as a file");
}

#[tokio::test]
async fn a_reader_that_has_enough_ends_the_command_quietly() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    cli.task(&[]).await;
    let mut child = cli.command(&["events", "tail", "--after", "0", "--agent", "bob"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    assert!(first.contains("agent.connected"), "{first}");
    drop(lines);
    cli.task(&[]).await;
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("it ends").unwrap();
    assert_eq!(output.status.code(), Some(0));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.lines().all(|line| line.starts_with("-- connected")), "{errors}");
}
