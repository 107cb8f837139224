//! Every documented exit code, and errors as JSON.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{Cli, Ran};
use crate::harness::{Db, Harness, eventually};
use crate::runner::agent_of;

/// The error of a command with `--json`: one line on standard error, and nothing on standard output.
#[track_caller]
fn json_error(ran: &Ran, exit: i32, code: &str) -> Value {
    assert_eq!((ran.code, ran.stdout.as_str()), (exit, ""), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|_| panic!("not JSON: {ran:?}"));
    assert_eq!(error["code"], code, "{error}");
    assert!(error["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{error}");
    error
}

/// Runs a command that fails, with and without `--json`.
async fn fails(cli: &Cli, arguments: &[&str], exit: i32, code: &str, with: &str) {
    cli.run(arguments).await.failed(exit, with);
    json_error(&cli.run(&[arguments, &["--json"]].concat()).await, exit, code);
}

#[tokio::test]
async fn refusals_usage_and_unknown_things() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let task = cli.task(&["--review"]).await;
    cli.ok(&["task", "accept", &task, "--agent", "bob"]).await;
    // 1: the hub refuses.
    let complete = ["task", "status", &task, "completed", "--agent", "bob"];
    fails(&cli, &complete, 1, "review_required", "tandem task reply").await;
    fails(&cli, &["task", "approve", &task, "--agent", "bob"], 1, "invalid_state", "").await;
    // 2: wrong usage, found by the parser, by us, and as something ambiguous.
    fails(&cli, &["task", "show"], 2, "usage", "TASK").await;
    fails(&cli, &["send", "bob"], 2, "usage", "TITLE").await;
    fails(&cli, &["send", "bob", ""], 2, "usage", "TITLE").await;
    fails(&cli, &["send", "bob", "x", "--ttl", "soon"], 2, "usage", "not a time").await;
    fails(&cli, &["send", "bob", "x", "--file", "missing"], 2, "usage", "missing").await;
    fails(&cli, &["task", "frobnicate"], 2, "usage", "frobnicate").await;
    fails(&cli, &["task", "delete", &task], 2, "usage", "--yes").await;
    json_error(&cli.run(&["serve", "--json"]).await, 2, "usage");
    // 3: what nobody knows.
    fails(&cli, &["task", "show", "task_unknown"], 3, "not_found", "tandem task list").await;
    fails(&cli, &["send", "nobody", "x"], 3, "not_found", "tandem pair").await;
    fails(&cli, &["file", "down", "file_unknown"], 3, "not_found", "").await;
    fails(&cli, &["pair", "BLUE-TIGER-0000"], 3, "not_found", "").await;
    fails(&cli, &["network", "show", "nowhere"], 3, "not_found", "tandem network list").await;
    fails(&cli, &["unblock", "nobody"], 3, "not_found", "tandem blocks").await;
    fails(&cli, &["context", "use", "nobody"], 3, "not_found", "tandem context list").await;
    // No error has the number of an operating system's error.
    let ran = cli.run(&["send", "bob", "x", "--file", "missing"]).await;
    assert!(!ran.stderr.contains("os error"), "{ran:?}");
}

/// A server that answers everything in the same way.
async fn answering(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn a_hub_that_is_not_there() {
    let hub = Harness::start(Db::Sqlite).await;
    let mut cli = Cli::pair(&hub).await;
    drop(hub);
    for command in [&["inbox"][..], &["send", "bob", "x"], &["task", "list"], &["file", "list", "task_1"]] {
        fails(&cli, command, 4, "unreachable", "Is the hub running?").await;
    }
    // Something else listens there. The key of a profile would not go to it.
    cli.variables.push(("TANDEM_KEY".to_owned(), "tdm_x".to_owned()));
    let page = "<html>Welcome</html>";
    for status in ["200 OK", "404 Not Found"] {
        let html = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}",
            page.len()
        );
        let hub = answering(html).await;
        for command in [&["inbox"][..], &["task", "show", "task_1"], &["file", "down", "file_1"]] {
            fails(&cli, &[command, &["--hub", &hub]].concat(), 4, "unreachable", "Check the address").await;
        }
    }
}

#[tokio::test]
async fn a_proxy_without_a_hub() {
    let hub = Harness::start(Db::Sqlite).await;
    let mut cli = Cli::pair(&hub).await;
    cli.variables.push(("TANDEM_KEY".to_owned(), "tdm_x".to_owned()));
    for status in ["502 Bad Gateway", "504 Gateway Timeout"] {
        let hub = answering(format!("HTTP/1.1 {status}\r\ncontent-length: 6\r\n\r\n<html>")).await;
        let set = ["profile", "set", "--description", "x", "--hub", &hub];
        fails(&cli, &set, 4, "unreachable", status).await;
        // A hub that answers so itself.
        let body = r#"{"error":"no storage","code":"internal"}"#;
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
        let hub = answering(head + body).await;
        let set = ["profile", "set", "--description", "x", "--hub", &hub];
        fails(&cli, &set, 4, "internal", "no storage").await;
    }
}

#[tokio::test]
async fn what_does_not_happen_in_time() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    fails(&cli, &["wait", "--timeout", "0s"], 5, "timed_out", "tandem inbox").await;
    let sent = cli.run(&["send", "bob", "x", "--wait", "--timeout", "0s"]).await;
    sent.failed(5, "still submitted");
    assert!(sent.stderr.contains("tandem task watch"), "{sent:?}");
    fails(&cli, &["task", "watch", "@", "--timeout", "0s"], 5, "timed_out", "still submitted").await;
}

/// However a task ends, its end is printed, and the exit code says whether it was completed.
#[tokio::test]
async fn a_task_that_was_waited_for_and_not_completed() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let ada = agent_of(&cli, &hub.client, "ada");
    for (status, code, steps) in [
        ("completed", 0, ["bob task accept", "bob task reply words"].as_slice()),
        ("failed", 1, &["bob task accept", "bob task reply words --failed"]),
        ("rejected", 1, &["bob task status rejected"]),
        ("cancelled", 1, &["ada task cancel"]),
        ("expired", 1, &[]),
    ] {
        let ending = async {
            let task = eventually(async || {
                let found = ada.get("/tasks?status=submitted").await.ok(200);
                Some(found[0]["id"].as_str()?.to_owned())
            })
            .await;
            for step in steps {
                let words: Vec<&str> = step.split(' ').collect();
                cli.ok(&[&words[1..3], &[&task], &words[3..], &["--agent", words[0]]].concat()).await;
            }
            if steps.is_empty() {
                hub.advance_ms(61_000);
            }
            task
        };
        let waiting = cli.run(&["send", "bob", "x", "--ttl", "60s", "--wait", "--json"]);
        let (sent, task) = tokio::join!(waiting, ending);
        let watched = cli.run(&["task", "watch", &task, "--json"]).await;
        for ran in [sent, watched] {
            let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
            assert_eq!((ran.code, last["status"].as_str()), (code, Some(status)), "{ran:?}");
            let result = matches!(status, "completed" | "failed").then_some("words");
            assert_eq!(last["result"].as_str(), result, "{ran:?}");
        }
    }
}

#[tokio::test]
async fn waiting_says_what_has_arrived() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    let bob = ["--agent", "bob"];
    let wait = ["wait", "--timeout", "30s", "--json", "--agent", "bob"];
    let arrived = async |code: i32, kind: &str| {
        let ran = cli.run(&wait).await;
        assert_eq!((ran.code, &ran.json()["type"]), (code, &Value::from(kind)), "{ran:?}");
    };
    // The first one begins at the end of the log; from then on nothing is missed.
    cli.run(&["wait", "--timeout", "0s", "--agent", "bob"]).await.failed(5, "nothing arrived");
    let waiting = cli.run(&wait);
    let sending = async {
        // The stream is up when the hub sees it; before that the task could be older than the wait.
        crate::harness::eventually(async || {
            let listed = cli.run(&["agents", "--json"]).await;
            listed.json()["online"].as_bool().filter(|online| *online)
        })
        .await;
        cli.task(&[]).await
    };
    let (ran, task) = tokio::join!(waiting, sending);
    assert_eq!((ran.code, &ran.json()["taskId"]), (0, &Value::from(task)), "{ran:?}");
    cli.ok(&["message", "@", "Any news?"]).await;
    arrived(10, "message.created").await;
    cli.ok(&[&["connections", "rule", "ada", "require"][..], &bob].concat()).await;
    let task = cli.task(&[]).await;
    arrived(11, "task.approval_required").await;
    cli.ok(&["task", "cancel", &task]).await;
    arrived(12, "task.updated").await;
    let network = cli.json(&["network", "create", "reviewers"]).await["id"].as_str().unwrap().to_owned();
    let invite = cli.json(&["network", "invite", &network]).await["code"].as_str().unwrap().to_owned();
    cli.ok(&[&["network", "join", &invite][..], &bob].concat()).await;
    cli.ok(&["network", "broadcast", "reviewers", "The build is red"]).await;
    arrived(13, "broadcast.created").await;
    cli.ok(&["connections", "remove", "bob", "--yes"]).await;
    arrived(14, "agent.disconnected").await;
    // Two things at once are two waits, in their order.
    let other = ["wait", "--timeout", "0s", "--agent", "bob"];
    loop {
        let ran = cli.run(&other).await;
        if ran.code == 5 {
            break;
        }
        assert_eq!(ran.code, 12, "only tasks of the ended connection: {ran:?}");
    }
}
