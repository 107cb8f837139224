//! The real tools with a stand-in for their model: an idle session is woken, or told at its next step, and answers.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tandem_core::Timestamp;
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

    /// Bob sends an encrypted task and waits for the answer, of which there is one. Prints how long it took.
    async fn answered(&self, agent: &str, what: &str) -> Value {
        let sent = self
            .ok(&["send", agent, QUESTION, "--encrypt", "--wait", "--timeout", "60s", "--agent", "bob"])
            .await;
        assert!(sent.stdout.contains(ANSWER), "{what}: {sent:?}");
        let shown = self.ok(&["task", "show", "@", "--agent", "bob", "--json"]).await.json();
        let replies =
            shown["messages"].as_array().unwrap().iter().filter(|message| message["kind"] == "reply");
        assert_eq!((replies.count(), &shown["status"]), (1, &json!("completed")), "{what}: {shown}");
        let at = |name: &str| serde_json::from_value::<Timestamp>(shown[name].clone()).unwrap();
        println!("{agent}, {what}: {} ms", at("completedAt").ms_since(at("createdAt")));
        shown
    }

    /// Waits until so many sockets are open at the hub, or more; or none. What is sent before a bridge follows starts no turn.
    async fn sockets(&self, count: u64) {
        let look = async {
            loop {
                let hub = self.ok(&["top", "--once", "--json", "--data", "../hub"]).await.json();
                let open = hub["openSockets"].as_u64().unwrap();
                if open >= count && (count > 0 || open == 0) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE * 4, look)
            .await
            .unwrap_or_else(|_| panic!("there are not {count} sockets"));
    }

    /// How bob sees the agent.
    async fn seen(&self) -> Value {
        self.ok(&["agents", "--agent", "bob", "--json"]).await.json()
    }
}

/// The Claude Code of today, and one from before sessions had an inbox.
const NEWEST: &str = "node_modules/.bin/claude";
const OLDER: &str = "older/node_modules/.bin/claude";

/// Sets Claude Code up and starts a stand-in for its model. Gives what starts a session in which nobody types.
async fn claude<'a>(
    offline: &'a Offline,
    program: &str,
    more: &[&str],
) -> (Child, impl Fn() -> Child + use<'a>) {
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
    let (model, _) = offline.model("claude-model.mjs", "4100");
    let program = installed().join(program);
    let variables = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:4100"), ("ANTHROPIC_API_KEY", "x")];
    (model, move || offline.in_terminal(&program, &[], &variables))
}

/// Sessions of Claude Code, as set-up leaves it, get encrypted tasks and answer them. Nobody types. With hooks, the one at the
/// beginning of the turn that the inbox has started is the first to show the task; the older version has its hooks only.
#[rstest]
#[case::newest(NEWEST, &["--allow-tools"], "channel", "channel")]
#[case::newest_with_hooks(NEWEST, &["--allow-tools", "--hooks"], "hook", "channel")]
#[case::older_with_hooks(OLDER, &["--allow-tools", "--hooks"], "hook", "hook")]
#[tokio::test]
async fn claude_code_is_woken_and_answers(
    #[case] program: &str,
    #[case] more: &[&str],
    #[case] surfaced_by: &str,
    #[case] reach: &str,
) {
    let offline = Offline::start().await;
    let (_model, start) = claude(&offline, program, more).await;
    // Each bridge has a socket, and so has the one hook that waits for its turn.
    let hooks = u64::from(more.contains(&"--hooks"));
    let answers = async |what: &str| {
        let shown = offline.answered("ada-claude", what).await;
        assert_eq!(shown["delivery"]["surfacedBy"], surfaced_by, "{what}: {shown}");
    };
    let mut first = start();
    offline.sockets(1 + hooks).await;
    answers("fresh").await;
    answers("idle").await;
    first.kill().await.unwrap();
    offline.sockets(0).await;
    let _again = start();
    offline.sockets(1 + hooks).await;
    answers("killed and started again").await;
    let _second = start();
    offline.sockets(2 + hooks).await;
    answers("two at once").await;
    assert_eq!(offline.seen().await["reach"], reach, "the model was seen to react");
}

/// Nothing wakes an older session without hooks, and nobody says so.
#[tokio::test]
async fn an_older_claude_code_without_hooks_claims_nothing() {
    let offline = Offline::start().await;
    let (_model, start) = claude(&offline, OLDER, &["--allow-tools"]).await;
    let _claude = start();
    offline.sockets(1).await;
    offline.ok(&["send", "ada-claude", QUESTION, "--encrypt", "--agent", "bob"]).await;
    assert_eq!(offline.seen().await["reach"], "polling");
    let shown = offline.ok(&["task", "show", "@", "--agent", "bob", "--json"]).await.json();
    assert_eq!(
        (&shown["status"], &shown["delivery"]["surfacedAt"]),
        (&json!("submitted"), &Value::Null),
        "{shown}"
    );
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

/// Sessions of Codex get encrypted tasks and answer them. Nobody types. They are woken by the app server of Codex, in which a
/// session lives on when its window is killed; without that server by its queue, after a session has called a tool of the bridge
/// once.
#[rstest]
#[case(&[])]
#[case(&["--no-daemon", "Show me my Tandem inbox."])]
#[tokio::test]
async fn a_codex_in_which_nobody_types_is_woken_and_answers(#[case] arguments: &[&str]) {
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
    let program = codex();
    let is_served = arguments.is_empty();
    let mut start = async |sockets: u64| {
        let window = offline.in_terminal(&program, arguments, &[]);
        if !is_served {
            said(&mut turns, "The inbox is empty.").await;
        }
        offline.sockets(sockets).await;
        window
    };
    let mut first = start(1).await;
    offline.answered("ada-codex", if is_served { "fresh" } else { "after a call" }).await;
    offline.answered("ada-codex", "idle").await;
    // The model was idle and called a tool about the news: only then does the bridge claim that it can be woken.
    eventually(async || (offline.seen().await["reach"] == "channel").then_some(())).await;
    first.kill().await.unwrap();
    let left = if is_served {
        offline.answered("ada-codex", "window killed").await;
        1
    } else {
        offline.sockets(0).await;
        0
    };
    let _again = start(left + 1).await;
    offline.answered("ada-codex", "killed and started again").await;
    let _second = start(left + 2).await;
    offline.answered("ada-codex", "two at once").await;
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
