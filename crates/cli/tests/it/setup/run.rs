//! What a person sees: which tools are found, the question, the agents, the check by the tool itself.

use serde_json::json;

use super::{contents, home, home_with, profile, program, read, write};
use crate::command::Cli;
use crate::harness::{Db, Harness};

#[tokio::test]
async fn an_agent_is_registered_for_the_tool() {
    let hub = Harness::start(Db::Sqlite).await;
    let mut cli = home();
    cli.variables.push(("TANDEM_HUB".to_owned(), format!("http://{}", hub.client.address)));
    write(&cli.home.join(".cursor/keep"), "");
    let ran = cli.ok(&["setup", "--http", "--name", "ada", "--yes"]).await;
    assert!(ran.stdout.contains("Cursor: agent ada (new)"), "{ran:?}");
    assert!(ran.stdout.contains("Registered ada"), "{ran:?}");
    assert_eq!(cli.json(&["whoami"]).await["profile"], "ada");
    let profile = cli.json(&["profile", "show"]).await;
    assert_eq!((&profile["name"], &profile["publicKey"]), (&json!("ada"), &json!(null)));
    let entry: serde_json::Value = serde_json::from_str(&read(&cli.home.join(".cursor/mcp.json"))).unwrap();
    let entry = &entry["mcpServers"]["tandem"];
    assert_eq!(entry["url"], format!("http://{}/mcp", hub.client.address));
    let key = entry["headers"]["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap();
    assert!(read(&cli.home.join(".config/tandem/agents/ada.toml")).contains(key));
    assert!(!read(&cli.home.join(".config/tandem/setup.json")).contains(key), "the record has no secret");
}

#[tokio::test]
async fn a_hub_that_does_not_answer_changes_no_file() {
    let (cli, _) = home_with("kiro", ".cursor/mcp.json", "{}");
    let everything = contents(&cli);
    cli.run(&["setup", "--yes"]).await.failed(4, "");
    assert_eq!(contents(&cli), everything);
}

#[tokio::test]
async fn installed_tools_are_found_by_command_or_folder() {
    let found = async |cli: &Cli| -> Vec<String> {
        let ran = cli.run(&["setup", "--dry-run", "--json"]).await;
        if ran.code == 3 {
            return Vec::new();
        }
        let changes = ran.json()["changes"].as_array().unwrap().clone();
        changes.iter().map(|change| change["tool"].as_str().unwrap().to_owned()).collect()
    };
    let cli = home();
    assert!(found(&cli).await.is_empty());
    cli.run(&["setup", "--dry-run"]).await.failed(3, "no AI tool was found");
    program(&cli, "codex", "");
    for folder in [".cursor", ".codeium/windsurf", ".aws/amazonq", ".config/Claude"] {
        std::fs::create_dir_all(cli.home.join(folder)).unwrap();
    }
    assert_eq!(found(&cli).await, ["claude-desktop", "codex", "cursor", "windsurf", "amazonq"]);
    // A tool that was replaced by another one is left out when that is there.
    program(&cli, "devin", "");
    std::fs::create_dir_all(cli.home.join(".kiro")).unwrap();
    assert_eq!(found(&cli).await, ["claude-desktop", "codex", "cursor", "devin", "kiro"]);
    // A file of a folder that both Gemini and Antigravity have is no sign of Gemini.
    std::fs::create_dir_all(cli.home.join(".gemini/config")).unwrap();
    assert!(!found(&cli).await.contains(&"gemini".to_owned()));
}

#[tokio::test]
async fn nothing_happens_without_a_yes() {
    let (cli, _) = home_with("cursor", ".cursor/mcp.json", "{}");
    let everything = contents(&cli);
    let ran = cli.run(&["setup"]).await;
    ran.failed(2, "Give --yes to confirm");
    assert!(ran.stdout.contains("+    \"tandem\": {"), "{ran:?}");
    assert!(!ran.stdout.contains('\x1b'), "{ran:?}");
    let ran = cli.ok(&["setup", "--dry-run"]).await;
    assert!(
        ran.stdout.contains("+    \"tandem\": {") && ran.stdout.contains("Nothing was changed"),
        "{ran:?}"
    );
    assert_eq!(contents(&cli), everything);
    // In a terminal the change has colours.
    let shown = cli.in_terminal(100, &["setup", "--dry-run"]).await;
    assert!(shown.stdout.contains("\x1b[32m+    \"tandem\": {\x1b[0m"), "{shown:?}");
}

#[tokio::test]
async fn secrets_of_others_are_not_shown() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"apiKey\": \"sesame\"}\n  }\n}";
    let (cli, _) = home_with("cursor", ".cursor/mcp.json", text);
    let ran = cli.ok(&["setup", "--dry-run"]).await;
    assert!(!ran.stdout.contains("sesame") && ran.stdout.contains("(not shown)"), "{ran:?}");
    let json = cli.ok(&["setup", "--dry-run", "--json"]).await;
    assert!(!json.stdout.contains("sesame"), "{json:?}");
}

#[tokio::test]
async fn the_tool_itself_is_asked() {
    let tandem = env!("CARGO_BIN_EXE_tandem");
    let claude = format!("tandem: {tandem} mcp --agent ada-claude");
    let cases = [
        ("claude", format!("echo '{claude} - ✔ Connected'"), "connected", 0),
        ("claude", format!("echo '{claude} - ✘ Failed to connect — CONNECTION_CLOSED'"), "failed", 1),
        ("claude", format!("echo '{claude} - ⏸ Pending approval'"), "pendingApproval", 0),
        ("claude", "echo 'tandem-other: x - ✔ Connected'".to_owned(), "missing", 1),
        (
            "gemini",
            "printf '\\033[32m✓\\033[0m tandem: x mcp (stdio) - Connected\\n' >&2".to_owned(),
            "connected",
            0,
        ),
        ("gemini", "echo '○ tandem: x (stdio) - Disabled'".to_owned(), "untrustedFolder", 0),
        ("gemini", "echo '✗ tandem: x (stdio) - Disconnected'".to_owned(), "failed", 1),
        (
            "codex",
            "echo 'WARN [x]' >&2; echo '[{\"name\":\"tandem\",\"enabled\":true}]'".to_owned(),
            "listed",
            0,
        ),
        ("codex", "echo '[]'".to_owned(), "missing", 1),
        ("codex", "echo broken >&2; exit 3".to_owned(), "failed", 1),
    ];
    for (tool, script, state, code) in cases {
        let cli = home();
        profile(&cli, &format!("ada-{tool}"));
        program(&cli, tool, &script);
        let ran = cli.run(&["setup", "--yes", "--json"]).await;
        assert_eq!(ran.code, code, "{tool} {script}: {ran:?}");
        assert_eq!(ran.json()["tools"][0]["check"]["state"], state, "{tool} {script}: {ran:?}");
    }
}

#[tokio::test]
async fn antigravity_is_set_up_by_its_own_command() {
    let cli = home();
    profile(&cli, "ada-antigravity");
    let instruction = cli.run(&["setup", "--tool", "antigravity", "--yes"]).await;
    instruction.failed(3, "agy mcp add tandem -- ");
    let log = cli.home.join("log");
    program(
        &cli,
        "agy",
        &format!("echo \"$@\" >> {}; [ \"$2\" != list ] || echo 'tandem: x'", log.display()),
    );
    cli.ok(&["setup", "--yes"]).await;
    let add = format!("mcp add tandem -- {} mcp --agent ada-antigravity\n", env!("CARGO_BIN_EXE_tandem"));
    assert_eq!(read(&log), format!("{add}mcp list\n"));
    cli.ok(&["setup", "--yes"]).await;
    assert_eq!(read(&log), format!("{add}mcp list\nmcp list\n"), "not added twice");
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&log), format!("{add}mcp list\nmcp list\nmcp remove tandem\n"));
}

#[tokio::test]
async fn an_entry_for_another_tool_is_printed() {
    let cli = home();
    profile(&cli, "ada");
    let tandem = env!("CARGO_BIN_EXE_tandem");
    let printed: serde_json::Value =
        serde_json::from_str(&cli.ok(&["setup", "--print", "json"]).await.stdout).unwrap();
    let entry = json!({ "command": tandem, "args": ["mcp", "--agent", "ada"] });
    assert_eq!(printed, json!({ "mcpServers": { "tandem": entry } }));
    let toml = cli.ok(&["setup", "--print", "toml", "--name", "bob"]).await;
    assert_eq!(
        toml.stdout,
        format!("[mcp_servers.tandem]\ncommand = \"{tandem}\"\nargs = [\"mcp\", \"--agent\", \"bob\"]\n")
    );
    assert!(toml.stderr.contains("tandem register bob"), "{toml:?}");
}

#[tokio::test]
async fn folders_that_a_variable_moved_are_in_the_entry() {
    // Codex gives its servers hardly any variables, and other tools are not started from a shell.
    let mut cli = home();
    let config = cli.home.join("config");
    cli.variables.push(("XDG_CONFIG_HOME".to_owned(), config.to_str().unwrap().to_owned()));
    profile(&cli, "ada-codex");
    std::fs::rename(cli.home.join(".config"), &config).unwrap();
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    let text = read(&cli.home.join(".codex/config.toml"));
    assert!(text.contains(&format!("env = {{ XDG_CONFIG_HOME = \"{}\" }}", config.display())), "{text}");
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    assert_eq!(read(&cli.home.join(".codex/config.toml")), text);
}

/// The key of a profile goes to no other hub, and a new agent is made on the hub of the others.
#[tokio::test]
async fn the_hub_is_that_of_the_profile() {
    let (cli, _) = home_with("cursor", ".cursor/mcp.json", "{}");
    let everything = contents(&cli);
    let ran = cli.run(&["setup", "--tool", "cursor", "--hub", "http://127.0.0.1:2", "--yes"]).await;
    ran.failed(2, "its key goes to no other hub");
    assert_eq!((ran.stdout.as_str(), contents(&cli)), ("", everything));
    let hub = Harness::start(Db::Sqlite).await;
    let address = format!("http://{}", hub.client.address);
    cli.ok(&["register", "eve", "--no-encryption", "--hub", &address]).await;
    cli.ok(&["context", "use", "eve"]).await;
    let mut setup = cli.command(&["setup", "--tool", "kiro", "--http", "--yes"]);
    let output = setup.env_remove("TANDEM_HUB").output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(read(&cli.home.join(".config/tandem/agents/ada-kiro.toml")).contains(&address));
}
