//! How tasks and agents are named, texts from standard input, and readers that leave early.

use serde_json::json;
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
async fn agents_by_alias_name_and_id() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let connected = cli.json(&["agents"]).await;
    let id = connected["agentId"].as_str().unwrap();
    for name in ["bob", "BOB", " Bob ", id] {
        cli.ok(&["send", name, "x"]).await;
    }
    cli.ok(&["connections", "alias", "bob", "Reviewer"]).await;
    for name in ["reviewer", "REVIEWER", "bob"] {
        cli.ok(&["send", name, "x"]).await;
    }
    // The beginning of a name is none, except for a person who says so.
    for beginning in ["bo", "rev", &id[..12]] {
        let ran = cli.run(&["send", beginning, "x"]).await;
        ran.failed(3, "is the beginning of");
        assert!(ran.stderr.contains(id), "{ran:?}");
    }
    assert_eq!(cli.in_terminal_with(200, &["send", "bo", "x"], "n\n").await.code, 1);
    let ran = cli.in_terminal_with(200, &["send", "bo", "x"], "y\n").await;
    assert!(ran.code == 0 && ran.stdout.contains(&format!("Do you mean Reviewer, bob ({id})?")), "{ran:?}");
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

/// Whoever sends a task may choose its id.
#[tokio::test]
async fn ids_that_a_peer_has_chosen_take_no_place_of_others() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, bob) = hub.pair().await;
    let cli = Cli::new(&hub);
    cli.profile("ada", &ada);
    cli.profile("bob", &bob);
    let task = async |from: &crate::harness::Agent, to: &str, id: Option<&str>| {
        let task = serde_json::json!({ "targetAgentId": to, "title": "x", "id": id });
        from.post("/tasks", task).await.ok(201)["id"].as_str().unwrap().to_owned()
    };
    let made = task(&ada, &bob.id, None).await;
    let shown = async |word: &str| cli.json(&["task", "show", word, "--agent", "bob"]).await["id"].clone();
    // Bob has received it. The hub made its id, so its beginning is enough.
    let short = &made[5..made.len() - 2];
    assert_eq!((shown(&made[..20]).await, shown(short).await), (made.clone().into(), made.clone().into()));
    // A peer continues what bob is used to type, and takes it for itself.
    let (longer, exact, other) = ("task_review-all", &made[..10], "my-own-id");
    for id in [longer, exact, other] {
        task(&ada, &bob.id, Some(id)).await;
    }
    cli.run(&["task", "show", "task_rev", "--agent", "bob"]).await.failed(3, "no task");
    cli.run(&["task", "show", "my-own", "--agent", "bob"]).await.failed(3, "no task");
    assert_eq!((shown(longer).await, shown(other).await), (longer.into(), other.into()), "whole ids do");
    // An id that looks like the hub's cannot be chosen at all.
    let forged = format!("{}zzzz", &made[..made.len() - 4]).replacen("task_0", "task_7", 1);
    let taken = serde_json::json!({ "targetAgentId": bob.id, "title": "x", "id": forged });
    ada.post("/tasks", taken).await.refused(400, "validation");
    let ran = cli.run(&["message", exact, "x", "--agent", "bob"]).await;
    ran.failed(2, "several ids");
    assert!(ran.stderr.contains(&made) && ran.stderr.contains(&format!("id:{exact}")), "{ran:?}");
    assert_eq!(shown(&format!("id:{exact}")).await, exact);
    // What oneself has chosen is one's own.
    assert_eq!(cli.json(&["task", "show", "my-o", "--agent", "ada"]).await["id"], other);
    // An agent that calls itself like the beginning of a task does not get what is meant for the task.
    let ours = task(&bob, &ada.id, None).await;
    ada.patch("/agents/me", serde_json::json!({ "name": &ours[5..] })).await.ok(200);
    cli.run(&["message", &ours[5..], "x", "--agent", "bob"]).await.failed(2, "can mean");
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

/// A word that is no agent's does not become a task because a peer has chosen it as an id.
#[tokio::test]
async fn a_peer_gets_no_message_by_an_id_that_is_a_name() {
    let hub = Harness::start(Db::Sqlite).await;
    let (ada, eve) = (hub.agent("Ada").await, hub.agent("Eve").await);
    eve.pair_with(&ada).await;
    let cli = Cli::new(&hub);
    cli.profile("ada", &ada);
    eve.task_with(&ada, json!({ "id": "bob" })).await;
    let ran = cli.run(&["message", "bob", "for bob only"]).await;
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(eve.get("/tasks/bob/messages").await.ok(200), json!([]));
    cli.ok(&["message", "id:bob", "for eve"]).await;
    assert_eq!(eve.get("/tasks/bob/messages").await.ok(200)[0]["content"], "for eve");
}
