//! The real tools with a stand-in for their model: an idle session is woken, or told at its next step, and answers.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use super::super::{read, write};
use super::{Offline, installed};
use crate::command::Ran;
use crate::command::pty::open_terminal;
use crate::harness::{PATIENCE, eventually};

/// Asks what only the model behind the tool can answer.
const QUESTION: &str = "What is six times seven?";
const ANSWER: &str = "The answer is 42.";

impl Offline {
    /// Runs a command that must succeed.
    pub(super) async fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.tandem(arguments).await;
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    }

    /// Sets a tool up with hooks or without, and connects its agent with bob.
    pub(super) async fn connect(&self, tool: &str, more: &[&str]) {
        let agent = format!("ada-{tool}");
        self.ok(&[&["setup", "--tool", tool, "--name", &agent, "--yes"], more].concat()).await;
        self.ok(&["register", "bob"]).await;
        let code = self.ok(&["pair", "--agent", "bob", "--no-wait", "--json"]).await.json();
        self.ok(&["pair", code["code"].as_str().unwrap(), "--agent", &agent]).await;
    }

    /// Starts a stand-in for a model. It prints a line when it ends a turn.
    pub(super) fn model(&self, script: &str, port: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(script);
        let mut command = self.command(Path::new("node"), &[script.to_str().unwrap(), port]);
        let mut model = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(model.stdout.take().unwrap()).lines();
        (model, lines)
    }

    /// Starts a tool in a terminal in which nobody types.
    fn in_terminal(&self, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Child {
        let (screen, terminal) = open_terminal(45, 140);
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = self.command(program, arguments);
        command.env("TERM", "xterm-256color").envs(variables.iter().copied());
        let tool = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
        // Somebody must read the screen, or the tool stops.
        std::thread::spawn(move || std::io::copy(&mut &screen, &mut std::io::sink()));
        tool
    }

    /// Bob sends an encrypted task and waits for the answer.
    async fn answered(&self, agent: &str) -> Value {
        let sent = self.ok(&["send", agent, QUESTION, "--encrypt", "--wait", "--agent", "bob"]).await;
        assert!(sent.stdout.contains(ANSWER), "{sent:?}");
        self.ok(&["task", "show", "@", "--agent", "bob", "--json"]).await.json()
    }

    /// Waits until a bridge follows the events of an agent. What is sent before starts no turn.
    async fn followed(&self, agent: &str) {
        let key = self.ok(&["context", "key", agent]).await.stdout;
        let key = format!("Authorization: Bearer {}", key.trim());
        let url = "http://127.0.0.1:3000/api/v1/agents/me/reach";
        eventually(async || {
            let reach = self.run(Path::new("curl"), &["-s", "-H", &key, url]).await.stdout;
            let reach: Value = serde_json::from_slice(&reach).unwrap();
            let follows = |rung: &Value| rung["rung"] == "pull" && rung["providedUntil"].is_string();
            reach["rungs"].as_array().unwrap().iter().any(follows).then_some(())
        })
        .await;
    }

    /// How bob sees the agent.
    async fn seen(&self) -> Value {
        self.ok(&["agents", "--agent", "bob", "--json"]).await.json()
    }
}

/// An idle session of Claude Code, as set-up leaves it, gets encrypted tasks and answers them. Nobody types. With hooks, the one
/// at the beginning of the turn that the inbox has started is the first to show the task.
#[rstest]
#[case(&["--allow-tools"], "channel")]
#[case(&["--allow-tools", "--hooks"], "hook")]
#[tokio::test]
async fn an_idle_claude_code_is_woken_and_answers(#[case] more: &[&str], #[case] surfaced_by: &str) {
    let offline = Offline::start().await;
    let home = &offline.cli.home;
    let folder = home.join("work").display().to_string();
    // What a person has answered when the tool was started for the first time.
    let known = json!({
        "hasCompletedOnboarding": true, "lastOnboardingVersion": "2.1.327", "theme": "dark",
        "customApiKeyResponses": { "approved": ["x"], "rejected": [] },
        "projects": { folder: { "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true } },
    });
    write(&home.join(".claude.json"), &known.to_string());
    offline.connect("claude", more).await;

    let _model = offline.model("claude-model.mjs", "4100");
    let claude = installed().join("node_modules/.bin/claude");
    let variables = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:4100"), ("ANTHROPIC_API_KEY", "x")];
    let _claude = offline.in_terminal(&claude, &[], &variables);
    eventually(async || {
        // The bridge has a socket, and so has the hook that waits.
        let hub = offline.ok(&["top", "--once", "--json", "--data", "../hub"]).await.json();
        (hub["openSockets"].as_u64() >= Some(if surfaced_by == "hook" { 2 } else { 1 })).then_some(())
    })
    .await;

    for _ in 0..2 {
        let shown = offline.answered("ada-claude").await;
        assert_eq!(shown["delivery"]["surfacedBy"], surfaced_by, "{shown}");
    }
    assert_eq!(offline.seen().await["reach"], "channel", "the model was seen to react");
}

/// Waits until a model has ended a turn with these words. Codex also asks it for other things, such as a title.
async fn said(turns: &mut Lines<BufReader<ChildStdout>>, words: &str) {
    let wait = async { while turns.next_line().await.unwrap().expect("the model runs") != words {} };
    tokio::time::timeout(PATIENCE * 4, wait).await.unwrap_or_else(|_| panic!("it never said {words:?}"));
}

/// The program itself. The one in `.bin` starts it and would leave it behind when it is killed.
fn codex() -> PathBuf {
    let folder = installed().join("node_modules/@openai");
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let vendors = below(folder).flat_map(|package| below(package.path().join("vendor")));
    vendors.map(|system| system.path().join("bin/codex")).find(|file| file.exists()).unwrap()
}

/// Ends the app server that Codex leaves running in the background, with its copy of the program in this home.
struct Background<'a>(&'a Path);

impl Drop for Background<'_> {
    fn drop(&mut self) {
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let program = std::fs::read_link(process.path().join("exe")).unwrap_or_default();
            let id = process.file_name().to_string_lossy().parse().ok().and_then(Pid::from_raw);
            if let Some(id) = id.filter(|_| program.starts_with(self.0)) {
                let _ = kill_process(id, Signal::KILL);
            }
        }
    }
}

/// A session of Codex gets an encrypted task and answers it. Nobody types. One that has just been opened is woken by the app
/// server of Codex; without that server, by its queue, after it has called a tool of the bridge once.
#[rstest]
#[case(&[], true)]
#[case(&["--no-daemon", "Show me my Tandem inbox."], false)]
#[tokio::test]
async fn a_codex_in_which_nobody_types_is_woken_and_answers(
    #[case] arguments: &[&str],
    #[case] is_fresh: bool,
) {
    let offline = Offline::start().await;
    let home = &offline.cli.home;
    let file = home.join(".codex/config.toml");
    let folder = home.join("work").display().to_string();
    // The model, and what a person has answered when the tool was started for the first time.
    let known = format!(
        "model = \"stand-in\"\nmodel_provider = \"local\"\n\n[model_providers.local]\nname = \"local\"\n\
         base_url = \"http://127.0.0.1:4200/v1\"\nwire_api = \"responses\"\n\n[projects.\"{folder}\"]\n\
         trust_level = \"trusted\"\n"
    );
    write(&file, &known);
    offline.connect("codex", &["--allow-tools"]).await;

    let (_model, mut turns) = offline.model("codex-model.mjs", "4200");
    let _background = Background(home);
    let _codex = offline.in_terminal(&codex(), arguments, &[]);
    if !is_fresh {
        said(&mut turns, "The inbox is empty.").await;
    }
    offline.followed("ada-codex").await;

    let shown = offline.answered("ada-codex").await;
    assert_eq!(shown["status"], "completed", "{shown}");
    said(&mut turns, "Done.").await;
    // The model was idle and called a tool about the news: only then does the bridge claim that it can be woken.
    eventually(async || (offline.seen().await["reach"] == "channel").then_some(())).await;
    // The allowance that a person added goes with the entry; what Codex itself has written since stays.
    offline.ok(&["setup", "--remove", "--yes"]).await;
    let text = read(&file);
    assert!(
        text.starts_with(&known) && !text.contains("mcp_servers") && !text.contains("approval"),
        "{text}"
    );
}

/// Gemini CLI cannot be woken. Its hook tells the model at the next prompt, and the model answers with the tools that set-up
/// has allowed: nobody is there to be asked.
#[tokio::test]
async fn gemini_is_told_by_its_hook_and_answers() {
    let offline = Offline::start().await;
    let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    write(&offline.cli.home.join(".gemini/settings.json"), &settings.to_string());
    offline.connect("gemini", &["--hooks", "--allow-tools"]).await;
    offline.ok(&["send", "ada-gemini", QUESTION, "--encrypt", "--agent", "bob"]).await;

    let _model = offline.model("gemini-model.mjs", "4300");
    let program = installed().join("node_modules/.bin/gemini");
    // With the name of a model, none is asked which model to take.
    let arguments = ["--model", "gemini-2.5-flash", "--prompt", "Good morning"];
    let mut gemini = offline.command(&program, &arguments);
    gemini.env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:4300").env("GEMINI_API_KEY", "x");
    let ran = tokio::time::timeout(PATIENCE * 4, gemini.output()).await.expect("it ends").unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("Done."), "{ran:?}");

    let shown = offline.ok(&["task", "show", "@", "--agent", "bob", "--json"]).await.json();
    assert_eq!((&shown["status"], &shown["result"]), (&json!("completed"), &json!(ANSWER)), "{shown}");
    assert_eq!(shown["delivery"]["surfacedBy"], "hook", "{shown}");
}
