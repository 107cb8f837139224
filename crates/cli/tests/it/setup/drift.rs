//! `tandem setup status`: every way in which the tools' files can differ from what was set up.

use rstest::rstest;
use serde_json::{Value, json};

use super::{home, home_with, profile, read, write};
use crate::command::Cli;
use crate::harness::{Db, Harness};

/// The kinds of findings of a tool.
async fn kinds(cli: &Cli, tool: &str) -> Vec<String> {
    let ran = cli.run(&["setup", "status", "--json"]).await;
    let report = ran.json();
    let rows = report["tools"].as_array().unwrap().iter().filter(|row| row["tool"] == tool);
    let found = rows.flat_map(|row| row["findings"].as_array().unwrap().clone());
    let kinds: Vec<String> = found.map(|finding| finding["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ran.code, i32::from(report["ok"] == false), "{ran:?}");
    kinds
}

async fn set_up(tool: &str, file: &str) -> (Cli, std::path::PathBuf) {
    let (cli, file) = home_with(tool, file, "");
    cli.ok(&["setup", "--tool", tool, "--yes"]).await;
    assert!(kinds(&cli, tool).await.is_empty());
    (cli, file)
}

#[tokio::test]
async fn a_tool_that_is_set_up_has_no_finding() {
    let (cli, file) = set_up("cursor", ".cursor/mcp.json").await;
    let report = cli.json(&["setup", "status"]).await;
    let row = json!({
        "tool": "cursor", "scope": "user", "installed": true, "setUp": true, "agent": "ada-cursor",
        "file": file, "hooks": false, "findings": [],
    });
    assert_eq!(report, json!({ "tools": [row], "ok": true }));
    assert_eq!(cli.ok(&["setup", "status"]).await.stdout, "ok\tCursor\tada-cursor\t\n");
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(cli.ok(&["setup", "status"]).await.stdout, "not set up\tCursor\t\t\n");
}

#[tokio::test]
async fn an_entry_that_is_gone_is_missing() {
    let (cli, file) = set_up("cursor", ".cursor/mcp.json").await;
    write(&file, "{}");
    assert_eq!(kinds(&cli, "cursor").await, ["missing"]);
    let ran = cli.run(&["setup", "status"]).await;
    ran.failed(1, "there is a problem");
    assert!(ran.stdout.contains("Fix: tandem setup --tool cursor"), "{ran:?}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(kinds(&cli, "cursor").await, ["missing"]);
    cli.ok(&["setup", "--yes"]).await;
    assert!(kinds(&cli, "cursor").await.is_empty());
}

#[tokio::test]
async fn a_program_that_moved_is_a_stale_path() {
    let (cli, file) = set_up("codex", ".codex/config.toml").await;
    let text = read(&file);
    for other in ["/old/tandem", "/bin/sh"] {
        let moved = text.replace(env!("CARGO_BIN_EXE_tandem"), other);
        write(&file, &moved);
        let expected: &[&str] = if other == "/bin/sh" { &[] } else { &["stalePath"] };
        // Another program under this name is none of our entries.
        assert_eq!(kinds(&cli, "codex").await, expected, "{other}");
    }
    write(&file, &text.replace(env!("CARGO_BIN_EXE_tandem"), "/old/tandem"));
    cli.ok(&["setup", "--yes"]).await;
    assert_eq!(read(&file), text);
}

#[tokio::test]
async fn another_agent_is_the_wrong_one() {
    let (cli, file) = set_up("kiro", ".kiro/settings/mcp.json").await;
    profile(&cli, "bob");
    write(&file, &read(&file).replace("ada-kiro", "bob"));
    assert_eq!(kinds(&cli, "kiro").await, ["wrongAgent"]);
}

#[tokio::test]
async fn a_profile_that_is_gone_is_missing() {
    let (cli, _) = set_up("kiro", ".kiro/settings/mcp.json").await;
    std::fs::remove_file(cli.home.join(".config/tandem/agents/ada-kiro.toml")).unwrap();
    assert_eq!(kinds(&cli, "kiro").await, ["profileMissing"]);
}

#[tokio::test]
async fn a_second_bridge_is_a_duplicate() {
    let (cli, file) = set_up("cursor", ".cursor/mcp.json").await;
    let text = read(&file);
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value["mcpServers"]["other"] = value["mcpServers"]["tandem"].clone();
    write(&file, &value.to_string());
    assert_eq!(kinds(&cli, "cursor").await, ["duplicate"]);
    write(&file, &text.replacen("{\n", "{ \"mcpServers\": {},\n", 1));
    assert!(kinds(&cli, "cursor").await.is_empty());
    write(&file, &text.replacen("\"tandem\"", "\"tandem\": {}, \"tandem\"", 1));
    assert_eq!(kinds(&cli, "cursor").await, ["duplicate"]);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_unreadable() {
    let (cli, file) = set_up("gemini", ".gemini/settings.json").await;
    write(&file, "{,}");
    assert_eq!(kinds(&cli, "gemini").await, ["unreadable"]);
    write(&cli.home.join(".cursor/mcp.json"), "nonsense");
    assert_eq!(kinds(&cli, "cursor").await, ["unreadable"], "also of a tool that is not set up");
}

#[tokio::test]
async fn hooks_that_are_gone_or_old_are_found() {
    let cli = home();
    profile(&cli, "ada-claude");
    cli.ok(&["setup", "--tool", "claude", "--hooks", "--yes"]).await;
    assert!(kinds(&cli, "claude").await.is_empty());
    assert_eq!(cli.json(&["setup", "status"]).await["tools"][0]["hooks"], true);
    let file = cli.home.join(".claude/settings.json");
    let text = read(&file);
    write(&file, &text.replace(env!("CARGO_BIN_EXE_tandem"), "/old/tandem"));
    assert_eq!(kinds(&cli, "claude").await, ["stalePath"]);
    cli.ok(&["setup", "--tool", "claude", "--hooks", "--yes"]).await;
    assert_eq!(read(&file), text);
    write(&file, "{}");
    assert_eq!(kinds(&cli, "claude").await, ["missing"]);
}

#[tokio::test]
async fn an_entry_of_a_project_waits_for_approval() {
    let cli = home();
    profile(&cli, "ada-claude");
    let work = cli.home.join("work");
    let setup = ["setup", "--tool", "claude", "--scope", "project", "--yes"];
    assert!(cli.command(&setup).current_dir(&work).output().await.unwrap().status.success());
    // From any folder, because the record knows the file.
    assert_eq!(kinds(&cli, "claude").await, ["pendingApproval"]);
    let approved = json!({ "projects": { work.to_str().unwrap(): { "enabledMcpjsonServers": ["tandem"] } } });
    write(&cli.home.join(".claude.json"), &approved.to_string());
    assert!(kinds(&cli, "claude").await.is_empty());
    std::fs::remove_file(cli.home.join(".claude.json")).unwrap();
    write(&work.join(".claude/settings.local.json"), "{\"enableAllProjectMcpServers\": true}");
    assert!(kinds(&cli, "claude").await.is_empty());
}

/// The tool would be refused at every call, and nobody would say so.
#[rstest]
#[tokio::test]
async fn a_key_that_the_hub_refuses_is_dead(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let http = ["setup", "--tool", "cursor", "--name", "ada", "--http", "--yes"];
    cli.ok(&http).await;
    assert!(kinds(&cli, "cursor").await.is_empty());
    cli.ok(&["rotate"]).await;
    assert_eq!(kinds(&cli, "cursor").await, ["deadKey"]);
    let ran = cli.run(&["setup", "status"]).await;
    assert!(ran.stdout.contains("Fix: tandem setup --tool cursor --name ada --http"), "{ran:?}");
    cli.ok(&http).await;
    assert!(kinds(&cli, "cursor").await.is_empty());
    // The agent is gone, and nobody has told this machine: neither the key in the file nor the bridge's works.
    let ada = crate::runner::agent_of(&cli, &hub.client, "ada");
    ada.delete("/agents/me").await;
    assert_eq!(kinds(&cli, "cursor").await, ["deadKey"]);
    cli.ok(&["setup", "--tool", "cursor", "--name", "ada", "--yes"]).await;
    assert_eq!(kinds(&cli, "cursor").await, ["deadKey"]);
    let ran = cli.run(&["setup", "status"]).await;
    assert!(ran.stdout.contains("Fix: tandem login --hub "), "{ran:?}");
}

/// What a tool does only after its person has agreed is not `ok` before.
#[tokio::test]
async fn what_a_person_has_not_agreed_to_is_not_called_ok() {
    let state = async |cli: &Cli| {
        let shown = cli.ok(&["setup", "status"]).await.stdout;
        shown.split('\t').next().unwrap().to_owned()
    };
    let (cli, file) = home_with("codex", ".codex/config.toml", "");
    cli.ok(&["setup", "--tool", "codex", "--hooks", "--yes"]).await;
    assert_eq!(state(&cli).await, "unsure");
    let hooks = cli.home.join(".codex/hooks.json");
    let reviewed =
        format!("\n[hooks.state.\"{}:session_start:0:0\"]\ntrusted_hash = \"x\"\n", hooks.display());
    write(&file, &format!("{}{reviewed}", read(&file)));
    assert_eq!(state(&cli).await, "ok");

    let (cli, file) = home_with("gemini", ".gemini/settings.json", "");
    cli.ok(&["setup", "--tool", "gemini", "--yes"]).await;
    assert_eq!(state(&cli).await, "unsure");
    let trusted = json!({ cli.home.display().to_string(): "TRUST_FOLDER" });
    write(&file.with_file_name("trustedFolders.json"), &trusted.to_string());
    assert_eq!(state(&cli).await, "ok");
}
