//! Files that setup must leave alone, follow or share with others.

use std::os::unix::fs::PermissionsExt as _;

use super::{contents, home, home_with, profile, read, write};
use crate::command::mode;

#[tokio::test]
async fn a_malformed_file_is_named_by_line_and_column_and_left_alone() {
    let cases = [
        ("claude", ".claude.json", "{\n  // mine\n  \"a\": 1\n}\n", ":2:3:"),
        ("claude", ".claude.json", "{\n  \"a\": 1,\n}\n", ":2:9:"),
        ("claude", ".claude.json", "{\n  \"a\": \n", ":"),
        ("claude", ".claude.json", "[]", "is not an object"),
        ("claude", ".claude.json", "{\"mcpServers\": []}", "/mcpServers is not an object"),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "{\"mcpServers\": {},}", ":1:"),
        ("gemini", ".gemini/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}", ":2:9:"),
        // Gemini takes comments and no trailing comma.
        ("gemini", ".gemini/settings.json", "{\n  // mine\n  \"a\": 1,\n}", ":3:9:"),
        ("codex", ".codex/config.toml", "model = \"o9\"\nmodel = \"o10\"\n", ":2:1:"),
        ("codex", ".codex/config.toml", "mcp_servers = { a = { command = \"b\" } }\n", "not inline"),
        ("cursor", ".cursor/mcp.json", "not json", ":1:1:"),
    ];
    for (tool, name, text, place) in cases {
        let (cli, file) = home_with(tool, name, text);
        // Another tool that is in order: nothing at all is written.
        profile(&cli, "ada-kiro");
        write(&cli.home.join(".kiro/settings/mcp.json"), "{}");
        let everything = contents(&cli);
        for more in [&["--yes"][..], &["--dry-run"]] {
            let ran = cli.run(&[&["setup", "--tool", &format!("{tool},kiro")], more].concat()).await;
            ran.failed(1, place);
            assert!(ran.stderr.contains(file.to_str().unwrap()), "{ran:?}");
        }
        assert_eq!(contents(&cli), everything, "{tool}");
    }
}

#[tokio::test]
async fn files_that_are_no_text_are_refused() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "");
    std::fs::write(&file, b"{\"a\": \"\xff\"}").unwrap();
    cli.run(&["setup", "--tool", "cursor", "--yes"]).await.failed(1, "not valid UTF-8");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    cli.run(&["setup", "--tool", "cursor", "--yes"]).await.failed(1, "not a regular file");
    std::fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    cli.run(&["setup", "--tool", "cursor", "--yes"]).await.failed(1, "cannot read");
}

#[tokio::test]
async fn a_link_is_followed_and_mode_and_other_files_stay() {
    let (cli, target) = home_with("claude", "dotfiles/claude.json", "{\n  \"a\": 1\n}\n");
    let link = cli.home.join(".claude.json");
    std::os::unix::fs::symlink("dotfiles/claude.json", &link).unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    cli.ok(&["setup", "--tool", "claude", "--yes"]).await;
    assert!(link.is_symlink(), "the link was replaced");
    assert!(read(&target).contains("\"tandem\""));
    assert_eq!(mode(&target), 0o640);
    assert_eq!(mode(&cli.home.join("dotfiles/claude.json.tandem-bak")), 0o640);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert!(link.is_symlink());
    assert_eq!((read(&target).as_str(), mode(&target)), ("{\n  \"a\": 1\n}\n", 0o640));
}

#[tokio::test]
async fn a_backup_is_never_overwritten() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    let backup = cli.home.join(".cursor/mcp.json.tandem-bak");
    write(&backup, "older");
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!((read(&file).as_str(), read(&backup).as_str()), ("{}", "older"));
    // One of ours stays when the file has become another one.
    std::fs::remove_file(&backup).unwrap();
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    write(&file, &read(&file).replacen('{', "{\n  \"new\": true,", 1));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!((read(&file).as_str(), read(&backup).as_str()), ("{\n  \"new\": true\n}", "{}"));
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_changes_nothing() {
    let mut cli = home();
    profile(&cli, "ada-codex");
    profile(&cli, "ada-cursor");
    // Nobody can create a file there, not even root.
    cli.variables.push(("CODEX_HOME".to_owned(), "/proc/self".to_owned()));
    let everything = contents(&cli);
    cli.run(&["setup", "--tool", "codex", "--yes"]).await.failed(1, "cannot write /proc/self/config.toml");
    assert_eq!(contents(&cli), everything);
    assert!(!cli.home.join(".config/tandem/setup.json").exists());
    // Another tool is set up nevertheless.
    cli.run(&["setup", "--tool", "codex,cursor", "--yes"]).await.failed(1, "cannot write /proc/self");
    assert!(read(&cli.home.join(".cursor/mcp.json")).contains("ada-cursor"));
    std::fs::write(cli.home.join(".kiro"), "a file").unwrap();
    profile(&cli, "ada-kiro");
    cli.run(&["setup", "--tool", "kiro", "--yes"]).await.failed(1, ".kiro/settings/mcp.json");
}

#[tokio::test]
async fn an_entry_of_someone_else_is_not_touched() {
    let foreign = "{\"mcpServers\": {\"tandem\": {\"command\": \"bike-shop\", \"args\": [\"mcp\"]}}}";
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", foreign);
    cli.run(&["setup", "--tool", "cursor", "--yes"]).await.failed(1, "for something else: bike-shop mcp");
    assert_eq!(read(&file), foreign);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), foreign);
}

#[tokio::test]
async fn fields_that_someone_added_to_the_entry_stay_until_it_goes() {
    let text = "{\"mcpServers\": {\n  \"tandem\": {\n    // started by hand\n    \"command\": \"/old/tandem\",\n    \"args\": [\"mcp\", \"--agent\", \"ada-cursor\"],\n    \"env\": {\"A\": \"1\"}\n  }\n}}\n";
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", text);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    assert_eq!(read(&file), text.replace("/old/tandem", env!("CARGO_BIN_EXE_tandem")));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), "{\"mcpServers\": {}}\n");

    let text = "[mcp_servers.tandem] # ours\ncommand = \"/old/tandem\" # old\nargs = [\"mcp\", \"--agent\", \"ada-codex\"]\ntool_timeout_sec = 60\n\n[tui]\na = 1\n";
    let (cli, file) = home_with("codex", ".codex/config.toml", text);
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    assert_eq!(read(&file), text.replace("/old/tandem", env!("CARGO_BIN_EXE_tandem")));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), "\n[tui]\na = 1\n");
}

#[tokio::test]
async fn a_file_that_its_tool_has_rewritten_loses_only_the_entry() {
    // As Claude Code writes its file: other indentation, no final newline, more keys around.
    let (cli, file) = home_with("claude", ".claude.json", "{\"a\":1}\n");
    cli.ok(&["setup", "--tool", "claude", "--yes"]).await;
    let mut value: serde_json::Value = serde_json::from_str(&read(&file)).unwrap();
    value["userID"] = "x".into();
    write(&file, &serde_json::to_string_pretty(&value).unwrap());
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), "{\n  \"a\": 1,\n  \"userID\": \"x\"\n}");

    // A line that was added below our table belongs to it and goes with it.
    let (cli, file) = home_with("codex", ".codex/config.toml", "a = 1\n\n[tui]\nb = 2\n");
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    write(&file, &format!("{}enabled = true\n", read(&file)));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), "a = 1\n\n[tui]\nb = 2\n");
}

#[tokio::test]
async fn two_runs_at_once_do_not_lose_anything() {
    let before = "{\n  \"mcpServers\": {}\n}\n";
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", before);
    let run = async || cli.run(&["setup", "--tool", "cursor", "--yes"]).await;
    let (a, b, c) = tokio::join!(run(), run(), run());
    let done = [&a, &b, &c].iter().filter(|ran| ran.code == 0).count();
    assert!(done >= 1, "{a:?} {b:?} {c:?}");
    for ran in [a, b, c].iter().filter(|ran| ran.code != 0) {
        ran.failed(1, "another `tandem setup` is running");
    }
    assert_eq!(read(&file).matches("\"tandem\"").count(), 1);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), before);
}
