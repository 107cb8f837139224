//! The output of the everyday commands: JSON to the letter, because programs rely on it; what people read is plain text in
//! a pipe and fits the terminal.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use rstest::rstest;
use serde_json::Value;

use super::pty::without_colours;
use super::{Cli, Ran};
use crate::harness::{Db, Harness};

/// How old everything in these tests is: old enough that a slow machine shows the same age.
const AGE_MS: i64 = 84 * 3_600_000;

/// A hub whose clock stands still three and a half days ago.
async fn hub(db: Db) -> Harness {
    let hub = Harness::start(db).await;
    #[expect(clippy::disallowed_methods, reason = "the command line shows ages by the real clock")]
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    hub.clock.store(i64::try_from(now.as_millis()).unwrap() - AGE_MS, Ordering::SeqCst);
    hub
}

/// Two agents with something of everything: tasks in several states, messages, a file, a network, a block.
async fn world(hub: &Harness) -> Cli {
    let cli = Cli::pair(hub).await;
    let bob = |arguments: &[&'static str]| [arguments, &["--agent", "bob"]].concat();
    hub.advance_ms(1_000);
    cli.ok(&bob(&["profile", "set", "--description", "Reviews Rust code", "--capability", "rust"])).await;
    hub.advance_ms(1_000);
    cli.ok(&bob(&["profile", "set", "--discoverable", "yes", "--auto-accept", "yes"])).await;
    hub.advance_ms(1_000);
    cli.ok(&["connections", "alias", "bob", "reviewer"]).await;
    std::fs::write(cli.home.join("sales.csv"), "quarter,sales\n1,200\n").unwrap();
    hub.advance_ms(1_000);
    cli.ok(&["send", "bob", "Summarise the sales", "--file", "sales.csv", "--review", "--ttl", "1h"]).await;
    let first = cli.json(&["task", "show", "@"]).await["id"].as_str().unwrap().to_owned();
    hub.advance_ms(1_000);
    cli.ok(&["task", "accept", &first, "--agent", "bob"]).await;
    hub.advance_ms(1_000);
    cli.ok(&["task", "progress", &first, "40", "reading", "--agent", "bob"]).await;
    hub.advance_ms(1_000);
    cli.ok(&["message", &first, "Which quarter?\nThe first?", "--agent", "bob"]).await;
    hub.advance_ms(1_000);
    cli.ok(&bob(&["connections", "rule", "ada", "require"])).await;
    hub.advance_ms(1_000);
    cli.ok(&["send", "bob", "Deploy on Friday", "--text", "To production", "--priority", "high"]).await;
    hub.advance_ms(1_000);
    cli.ok(&["network", "create", "reviewers", "--description", "Code reviews"]).await;
    hub.advance_ms(1_000);
    let invite = cli.json(&["network", "invite", "reviewers"]).await["code"].as_str().unwrap().to_owned();
    hub.advance_ms(1_000);
    cli.ok(&["network", "join", &invite, "--agent", "bob"]).await;
    hub.advance_ms(1_000);
    cli.ok(&["network", "broadcast", "reviewers", "The build is red", "--agent", "bob"]).await;
    let spam = hub.agent("spam").await;
    hub.advance_ms(1_000);
    cli.ok(&["block", &spam.id, "--yes"]).await;
    // The task that `@` means from now on.
    hub.advance_ms(1_000);
    cli.ok(&["task", "show", &first]).await;
    hub.advance_ms(1_000);
    cli.ok(&["task", "show", &first, "--agent", "bob"]).await;
    hub.marks_are_written().await;
    cli
}

/// Commands that change nothing, as ada unless they say otherwise.
const LOOKS: &[&str] = &[
    "agents",
    "connections",
    "discover",
    "blocks",
    "inbox",
    "inbox --agent bob",
    "approvals --agent bob",
    "task list",
    "task list --status working --sent",
    "task show @",
    "task tree @",
    "task log @",
    "file list @",
    "network list",
    "network show reviewers",
    "network members reviewers",
    "network messages reviewers",
    "usage",
    "profile show --agent bob",
    "whoami",
    "context list",
    "context show",
    "events tail --after 0 --count 3 --agent bob",
];

/// Commands that change something, in this order.
const DEEDS: &[&str] = &[
    "pair --no-wait",
    "connections rule reviewer require",
    "send reviewer Draft --draft",
    "task publish @",
    "task cancel @ --reason late",
    "task retry @",
    "message @ Hello",
    "task approve TASK --agent bob",
    "task accept TASK --agent bob",
    "task progress TASK 50 --agent bob",
    "task ask TASK Which? --agent bob",
    "task status @ working",
    "usage report TASK 0.25 --agent bob",
    "file up @ sales.csv",
    "file down FILE",
    "file delete FILE",
    "task reply TASK Done --agent bob",
    "task reject TASK --agent bob",
    "network invite reviewers",
    "network broadcast reviewers Green",
    "network leave reviewers --agent bob",
    "network delete reviewers --yes",
    "task delete @ --yes",
    "export",
    "block reviewer --yes",
    "unblock bob",
    "connect BOB",
    "connections remove bob --yes",
    "profile set --description Codes",
    "context use bob",
    "context use ada",
    "rotate",
];

/// Replaces what differs between runs by something of the same length.
fn masked(text: &str, cli: &Cli) -> String {
    let text = text.replace(cli.home.to_str().unwrap(), "HOME").replace(&cli.hub, "HUB");
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(rest.len());
        if end == 0 {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        masked.push_str(&masked_word(&rest[..end]));
        rest = &rest[end..];
    }
    masked
}

fn masked_word(word: &str) -> String {
    let is_time = word.len() == 24 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    let hidden = |prefix: &str| {
        let same = |c: char| if c.is_ascii_alphanumeric() { 'x' } else { c };
        Some(format!("{prefix}{}", word.strip_prefix(prefix)?.chars().map(same).collect::<String>()))
    };
    let prefixes = ["agent_", "conn_", "file_", "msg_", "net_", "pair_", "task_"];
    if is_time {
        return "TIME".to_owned();
    }
    if let Some(id) =
        prefixes.iter().filter(|prefix| word.len() > prefix.len() + 8).find_map(|prefix| hidden(prefix))
    {
        return id;
    }
    let is_code = word.split('-').count() >= 3
        && word.len() > 8
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
    if is_code { "A-CODE".to_owned() } else { word.to_owned() }
}

/// JSON lines, one field per line, because snapshots are read by people.
fn pretty(ran: &Ran, cli: &Cli) -> String {
    let lines = ran.json_lines();
    let pretty: Vec<String> = lines.iter().map(|line| serde_json::to_string_pretty(line).unwrap()).collect();
    masked(&pretty.join("\n"), cli)
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[track_caller]
fn plain(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        assert!(text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "{text:?}");
    }
}

#[tokio::test]
async fn lists_and_views() {
    let hub = hub(Db::Sqlite).await;
    let cli = world(&hub).await;
    let mut json = String::new();
    for line in LOOKS {
        let ran = cli.ok(&[&words(line)[..], &["--json"]].concat()).await;
        plain(&ran);
        assert_eq!(ran.stderr, "", "{line}");
        let _ = writeln!(json, "=== tandem {line} --json\n{}\n", pretty(&ran, &cli));
        plain(&cli.ok(&words(line)).await);
        for columns in [100, 40] {
            let ran = cli.in_terminal(columns, &words(line)).await;
            let text = without_colours(&ran.stdout);
            assert_eq!(ran.code, 0, "{line}: {text}");
            assert!(!text.contains('\x1b'), "{line}: {text:?}");
            fits(line, &text, columns.into());
        }
    }
    insta::assert_snapshot!("lists_json", json);
}

/// Everything but advice, file paths and event lines fits the terminal.
#[track_caller]
fn fits(command: &str, text: &str, columns: usize) {
    let free = ["events", "context show", "whoami", "profile show", "task tree", "usage"];
    if free.iter().any(|word| command.starts_with(word)) {
        return;
    }
    for line in text.lines().filter(|line| !(line.starts_with("Next: ") || line.starts_with("│ tandem "))) {
        assert!(line.chars().count() <= columns, "{command} at {columns}: {line}");
    }
}

#[rstest]
#[tokio::test]
async fn changes(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = hub(db).await;
    let cli = world(&hub).await;
    let bob = cli.json(&["whoami", "--agent", "bob"]).await["agentId"].as_str().unwrap().to_owned();
    let mut json = String::new();
    let mut file = String::new();
    for line in DEEDS {
        if line.starts_with("file down") {
            let listed = cli.ok(&["file", "list", "@", "--json"]).await.json_lines();
            file = listed.last().unwrap()["content"].as_str().unwrap().to_owned();
            std::fs::remove_file(cli.home.join("sales.csv")).unwrap();
        }
        let mut replaced = line.replace("FILE", &file).replace("BOB", &bob);
        if line.contains("TASK") {
            let last = cli.json(&["task", "show", "@"]).await;
            replaced = replaced.replace("TASK", last["id"].as_str().unwrap());
        }
        let ran = cli.run(&[&words(&replaced)[..], &["--json"]].concat()).await;
        hub.marks_are_written().await;
        plain(&ran);
        if ran.code == 0 {
            assert_eq!(ran.stderr, "", "{line}");
            let mut shown = pretty(&ran, &cli);
            // A task counts as fetched after the answer that had it: the second answer of this command may say so or not.
            if line.starts_with("task approve") {
                shown = shown.replace(r#""fetchedAt": null"#, r#""fetchedAt": "TIME""#);
            }
            let _ = writeln!(json, "=== tandem {line} --json\n{shown}\n");
        } else {
            let errors: String = ran.stderr.lines().map(|line| format!("! {line}\n")).collect();
            let said = masked(&format!("{}{errors}", ran.stdout), &cli);
            let _ = writeln!(json, "=== tandem {line} (exit code {})\n{said}", ran.code);
        }
    }
    insta::assert_snapshot!("changes_json", json);
}

#[tokio::test]
async fn colours_only_where_they_are_wanted() {
    let hub = hub(Db::Sqlite).await;
    let mut cli = world(&hub).await;
    let show = ["task", "show", "@"];
    assert!(cli.in_terminal(80, &show).await.stdout.contains("\x1b["));
    assert!(!cli.ok(&show).await.stdout.contains('\x1b'));
    cli.variables.push(("TERM".into(), "dumb".into()));
    assert!(!cli.in_terminal(80, &show).await.stdout.contains('\x1b'));
    cli.variables = vec![("NO_COLOR".into(), "1".into())];
    assert!(!cli.in_terminal(80, &show).await.stdout.contains('\x1b'));
    assert!(!cli.in_terminal(80, &["--help"]).await.stdout.contains('\x1b'));
    cli.variables = vec![("CLICOLOR_FORCE".into(), "1".into())];
    assert!(cli.ok(&show).await.stdout.contains("\x1b["));
    // Not even then in JSON.
    assert!(!cli.ok(&["task", "show", "@", "--json"]).await.stdout.contains('\x1b'));
}

#[tokio::test]
async fn quiet_leaves_only_results() {
    let hub = hub(Db::Sqlite).await;
    let cli = world(&hub).await;
    for (line, prints) in [("task show @", true), ("message @ Hello", false), ("task list", true)] {
        let ran = cli.ok(&[&words(line)[..], &["--quiet"]].concat()).await;
        assert_eq!((ran.stdout.is_empty(), ran.stderr.as_str()), (!prints, ""), "{line}: {ran:?}");
    }
    // An empty list says what to do in a terminal, and nothing to a program.
    assert_eq!(cli.ok(&["approvals"]).await.stdout, "");
    let ran = cli.in_terminal(80, &["approvals"]).await;
    assert!(ran.stdout.contains("No task waits for your approval"), "{ran:?}");
    let empty: Vec<Value> = cli.ok(&["approvals", "--json"]).await.json_lines();
    assert!(empty.is_empty());
}
