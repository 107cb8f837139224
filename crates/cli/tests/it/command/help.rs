//! What a newcomer reads first: help, manual pages and shell completion of every command.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Cli;
use crate::harness::{Db, Harness};

/// Columns that a line of help may have.
const COLUMNS_MAX: usize = 120;

/// A command and its help.
struct Page {
    words: Vec<String>,
    help: String,
}

impl Page {
    /// The names in the section `Commands:`.
    fn children(&self) -> Vec<String> {
        let lines = self.help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let named = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
            let name = line.strip_prefix("  ")?.split(' ').next()?;
            (!name.is_empty() && name != "help").then(|| name.to_owned())
        });
        named.collect()
    }
}

/// The help of every command, found by reading the help of its parent.
async fn pages(cli: &Cli) -> Vec<Page> {
    let (mut pages, mut waiting): (Vec<Page>, Vec<Vec<String>>) = (Vec::new(), vec![Vec::new()]);
    while let Some(words) = waiting.pop() {
        let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let page = Page { help: cli.ok(&arguments).await.stdout, words };
        for child in page.children().into_iter().rev() {
            waiting.push([page.words.as_slice(), &[child]].concat());
        }
        pages.push(page);
    }
    pages
}

#[tokio::test]
async fn every_command_explains_itself() {
    let cli = Cli::at("http://127.0.0.1:1");
    let pages = pages(&cli).await;
    assert!(pages.len() > 60, "the walk found {} commands", pages.len());
    let mut all = String::new();
    for page in &pages {
        let name = format!("tandem {}", page.words.join(" "));
        let is_leaf = page.children().is_empty();
        assert!(!is_leaf || page.help.contains("Examples:\n"), "{name} has no examples");
        let examples = page.help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        assert!(!is_leaf || examples.contains(name.trim()), "no example of {name} uses it");
        for line in page.help.lines() {
            assert!(line.chars().count() <= COLUMNS_MAX, "too long in the help of {name}: {line}");
            assert!(!line.contains('\x1b'), "colour in a pipe: {line:?}");
        }
        // The options of all commands are shown once, for the program itself.
        let own = page.help.split("\nCommon options:").next().unwrap();
        let examples = page.help.split_once("\nExamples:").map_or("", |(_, examples)| examples);
        let shown =
            if page.words.is_empty() { page.help.clone() } else { format!("{own}\nExamples:{examples}") };
        let _ = writeln!(all, "=== {}\n{}\n", name.trim(), shown.trim_end());
    }
    insta::assert_snapshot!("help", all);
}

#[tokio::test]
async fn every_command_has_a_manual_page() {
    let cli = Cli::at("http://127.0.0.1:1");
    let folder = cli.home.join("man");
    cli.ok(&["man", "--dir", folder.to_str().unwrap()]).await;
    let written: BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for page in pages(&cli).await {
        let name = [&["tandem".to_owned()], page.words.as_slice()].concat().join("-");
        assert!(written.contains(&format!("{name}.1")), "{name} is not in {written:?}");
    }
    let page = cli.ok(&["man"]).await.stdout;
    assert!(page.contains(".TH tandem 1"), "{page}");
    cli.run(&["man", "--dir", "/proc/nowhere"]).await.failed(1, "cannot write to /proc/nowhere");
}

#[tokio::test]
async fn completion_scripts_load() {
    let cli = Cli::at("http://127.0.0.1:1");
    for (shell, mark) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef tandem"),
        ("fish", "complete --keep-order"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = cli.ok(&["completion", shell]).await.stdout;
        assert!(script.contains(mark), "{shell}: {script}");
        if shell == "bash" {
            std::fs::write(cli.home.join("script"), script).unwrap();
            let checked = std::process::Command::new("bash").arg("-n").arg(cli.home.join("script")).output();
            let checked = checked.unwrap();
            assert!(checked.status.success(), "{checked:?}");
        }
    }
    cli.run(&["completion", "ksh"]).await.failed(2, "possible values");
}

/// What bash would offer for the last word.
async fn offered(cli: &Cli, words: &[&str]) -> Vec<String> {
    let mut command = cli.command(&[&["--", "tandem"], words].concat());
    command
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n");
    let output = command.output().await.unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn a_shell_completes_agents_tasks_profiles_and_statuses() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    let bob = cli.register("bob").await;
    cli.register("ada").await;
    let code = cli.json(&["pair", "--no-wait"]).await["code"].as_str().unwrap().to_owned();
    cli.ok(&["pair", &code, "--agent", "bob"]).await;
    let task = cli.json(&["send", "bob", "Review"]).await["id"].as_str().unwrap().to_owned();
    assert_eq!(offered(&cli, &["send", "b"]).await, ["bob"]);
    assert_eq!(offered(&cli, &["task", "show", ""]).await[0], task);
    assert_eq!(offered(&cli, &["task", "show", "--agent", ""]).await, ["ada", "bob"]);
    assert_eq!(offered(&cli, &["task", "status", "@", "work"]).await, ["working"]);
    assert_eq!(offered(&cli, &["appr"]).await, ["approvals"]);
    assert_eq!(offered(&cli, &["context", "use", ""]).await[..2], ["ada", "bob"]);
    // A name that a shell could take for something else is offered by its id.
    cli.ok(&["profile", "set", "--name", "b$(reboot)", "--agent", "bob"]).await;
    assert_eq!(offered(&cli, &["send", ""]).await[0], bob["agentId"].as_str().unwrap());
    // A hub that does not answer costs the shell nothing but time.
    drop(hub);
    assert_eq!(offered(&cli, &["send", "b"]).await, [""; 0]);
}
