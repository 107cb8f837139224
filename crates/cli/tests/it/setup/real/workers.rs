//! The real tools as workers of a runner, with a stand-in for their model: a worker has no bridge to its own agent.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use tokio::process::Child;

use super::super::write;
use super::Offline;

impl Offline {
    /// A runner that starts a tool for each task of bob's.
    fn runner(&self, tool: &str, more: &[&str], variables: &[(&str, &str)]) -> Child {
        let agent = format!("ada-{tool}");
        let arguments = [&["run", "--agent", &agent, "--from", "bob", "--recipe", tool], more].concat();
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_tandem")), &arguments);
        command.envs(variables.iter().copied());
        command.stdout(Stdio::null()).spawn().unwrap()
    }
}

/// The model asks for a tool of the bridge, and there is none.
#[tokio::test]
async fn a_codex_worker_starts_no_bridge() {
    let offline = Offline::start().await;
    let provider = "model = \"stand-in\"\nmodel_provider = \"local\"\n\n[model_providers.local]\nname = \"local\"\n\
                    base_url = \"http://127.0.0.1:4200/v1\"\nwire_api = \"responses\"\n";
    write(&offline.cli.home.join(".codex/config.toml"), provider);
    offline.connect("codex", &[]).await;
    let (_model, _turns) = offline.model("codex-model.mjs", "4200");
    let _runner = offline.runner("codex", &[], &[]);
    let question = "Show me my Tandem inbox.";
    let sent = offline.ok(&["send", "ada-codex", question, "--wait", "--agent", "bob"]).await;
    assert!(sent.stdout.contains("There is no tool check_updates."), "{sent:?}");
}

/// Gemini CLI offers no tools that need a permission here, so the model cannot tell. A bridge that has reached the hub leaves
/// its lock.
#[tokio::test]
async fn a_gemini_worker_starts_no_bridge() {
    let offline = Offline::start().await;
    let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    write(&offline.cli.home.join(".gemini/settings.json"), &settings.to_string());
    offline.connect("gemini", &["--hooks"]).await;
    let lock = offline.cli.home.join(".local/state/tandem/ada-gemini.d/wake.lock");
    // Setup has asked Gemini CLI whether it can connect.
    std::fs::remove_file(&lock).unwrap();
    let (_model, _turns) = offline.model("gemini-model.mjs", "4300");
    let variables = [("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:4300"), ("GEMINI_API_KEY", "x")];
    // With the name of a model, none is asked which model to take.
    let _runner = offline.runner("gemini", &["--", "--model", "gemini-2.5-flash"], &variables);
    let sent = offline.ok(&["send", "ada-gemini", "Anything?", "--wait", "--agent", "bob"]).await;
    assert!(sent.stdout.contains("Nothing to do."), "{sent:?}");
    assert!(!lock.exists(), "a bridge has run");
}

/// Claude Code finds its own files by the links in the home of the worker, and writes to them.
#[tokio::test]
async fn a_claude_worker_uses_the_files_of_its_owner_and_starts_no_bridge() {
    let offline = Offline::start().await;
    let file = offline.cli.home.join(".claude.json");
    write(&file, &json!({ "hasCompletedOnboarding": true }).to_string());
    offline.connect("claude", &[]).await;
    let _model = offline.model("claude-model.mjs", "4400");
    let variables = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:4400"), ("ANTHROPIC_API_KEY", "x")];
    let _runner = offline.runner("claude", &[], &variables);
    let sent = offline.ok(&["send", "ada-claude", "Anything?", "--wait", "--agent", "bob"]).await;
    assert!(sent.stdout.contains("Nothing to do."), "there is no tool of the bridge: {sent:?}");
    let home = offline.cli.home.join(".local/state/tandem/ada-claude.d/run/home/claude");
    assert!(
        home.exists() && !home.join(".claude.json").exists(),
        "the link was still there, so nothing is kept"
    );
    assert!(std::fs::read_to_string(&file).unwrap().contains("firstStartTime"), "the tool has written to it");
}
