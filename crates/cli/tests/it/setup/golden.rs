//! Golden files: for every tool a file with the peculiarities that people have in theirs, and what setup makes of it. After
//! `--remove` the file is the same byte for byte.

use super::{contents, home, home_with, profile, read};

/// A tool, its file below the home folder, and a text that was there before.
const FILES: [(&str, &str, &str); 25] = [
    (
        "claude",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"files\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"files\"],\n      \"env\": {}\n    }\n  },\n  \"projects\": {\"/a b\": {\"mcpServers\": {}}},\n  \"userID\": \"x\"\n}",
    ),
    ("claude", ".claude.json", "{\n  \"numStartups\": 12345678901234567890,\n  \"userID\": \"é\\u0000\"\n}"),
    ("claude", ".claude.json", "{\"numStartups\":3,\"userID\":\"x\"}"),
    ("claude", ".claude.json", "{\n  \"mcpServers\": {\n  }\n}\n\n"),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "{\r\n    \"globalShortcut\": \"\",\r\n    \"mcpServers\": {}\r\n}\r\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# my settings\nmodel = \"o9\" # the best\n\n[mcp_servers.files]\ncommand = 'npx'\nargs = [ \"-y\",\n  \"files\" ]\nstartup_timeout_sec = 120\n\n[mcp_servers.files.env]\nA = \"1\"\n\n[projects.\"/a b\"]\ntrust_level = \"trusted\"\n",
    ),
    ("codex", ".codex/config.toml", "model = \"o9\"\r\n[tui]\r\ntheme = \"dark\"\r\n"),
    ("codex", ".codex/config.toml", "model = \"o9\""),
    ("codex", ".codex/config.toml", ""),
    ("codex", ".codex/config.toml", "mcp_servers.files.command = \"npx\"\n\n\n"),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  // How it looks\n  \"ui\": { \"theme\": \"GitHub\" }, /* inline */\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\" } // the last one\n    // \"old\": {},\n  }\n}\n",
    ),
    ("gemini", ".gemini/settings.json", "{\n  \"a\": 1 // no comma here\n  /* the end */\n}"),
    ("cursor", ".cursor/mcp.json", "{ \"mcpServers\": { \"files\": { \"command\": \"npx\" } } }\n"),
    ("cursor", ".cursor/mcp.json", "\u{feff}{\"mcpServers\": {\n\"files\": {}}}"),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\" }, // the last one\n    // \"old\": {},\n  },\n}\n",
    ),
    ("cursor", ".cursor/mcp.json", "// only a comment\n{ /* nothing yet */ }\n"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n\t\"inputs\": [],\n\t// servers of mine\n\t\"servers\": {\n\t\t\"github\": {\n\t\t\t\"type\": \"http\",\n\t\t\t\"url\": \"https://example.com/mcp\",\n\t\t},\n\t},\n}\n",
    ),
    ("vscode", ".config/Code/User/mcp.json", "{\n\t\"inputs\": []\n}"),
    ("devin", ".config/devin/config.json", "\n"),
    ("devin", ".config/devin/config.json", "{\n  \"mcpServers\": { },\n  \"x\": [1, 2]\n}\n"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "{ }"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", ""),
    ("kiro", ".kiro/settings/mcp.json", "{\n   \"mcpServers\":{\n      \"a\":{\"command\":\"b\"}\n   }\n}\n"),
    ("kiro", ".kiro/settings/mcp.json", "{\"mcpServers\":{}}\n"),
    (
        "amazonq",
        ".aws/amazonq/default.json",
        "{\n    \"$schema\": \"https://example.com/agent.json\",\n    \"name\": \"default\",\n    \"tools\": [\"*\"],\n    \"useLegacyMcpJson\": true\n}\n",
    ),
];

/// The text of a file with the path of the program left out.
fn golden(text: &str) -> String {
    text.replace(env!("CARGO_BIN_EXE_tandem"), "/usr/bin/tandem").replace('\r', "␍").replace('\t', "⇥")
}

#[tokio::test]
async fn every_tool_gets_its_entry_and_gives_it_back_byte_for_byte() {
    let mut all = String::new();
    for (tool, name, before) in FILES {
        let (cli, file) = home_with(tool, name, before);
        let everything = contents(&cli);
        cli.ok(&["setup", "--tool", tool, "--yes"]).await;
        let after = read(&file);
        assert_ne!(after, before, "{tool}");
        all += &format!("=== {tool} {name}\n{}\n=== becomes\n{}\n\n", golden(before), golden(&after));
        // A second time changes nothing.
        cli.ok(&["setup", "--tool", tool, "--yes"]).await;
        assert_eq!(read(&file), after, "{tool}: not the same after a second run");
        let backup = cli.home.join(format!("{name}.tandem-bak"));
        assert_eq!(read(&backup), before, "{tool}: the backup");
        cli.ok(&["setup", "--tool", tool, "--remove", "--yes"]).await;
        assert_eq!(read(&file), before, "{tool}: not as before: {}", golden(&after));
        assert_eq!(contents(&cli), everything, "{tool}: something else is left");
    }
    insta::assert_snapshot!("golden", all);
}

#[tokio::test]
async fn hooks_join_those_of_others_and_go_again() {
    let own = "{\n  \"hooks\": {\n    \"SessionStart\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"date\" }] }\n    ]\n  },\n  \"model\": \"opus\"\n}\n";
    let empty = "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    let one_line = "{\"permissions\":{\"allow\":[]}}";
    let settings = ".gemini/settings.json";
    let files = [
        ("claude", ".claude/settings.json", own),
        ("claude", ".claude/settings.json", empty),
        ("claude", ".claude/settings.json", one_line),
        ("codex", ".codex/hooks.json", own),
        ("gemini", settings, own),
        ("gemini", settings, "{\n  // mine\n  \"mcpServers\": {} // none\n}"),
    ];
    let mut all = String::new();
    for (tool, name, before) in files {
        let (cli, file) = home_with(tool, name, before);
        let everything = contents(&cli);
        cli.ok(&["setup", "--tool", tool, "--hooks", "--yes"]).await;
        let after = read(&file);
        all += &format!("=== {tool} {name}\n{}\n\n", golden(&after));
        cli.ok(&["setup", "--tool", tool, "--hooks", "--yes"]).await;
        assert_eq!(read(&file), after, "{tool}: not the same after a second run");
        // Another agent takes the place of the first one.
        profile(&cli, "bob");
        cli.ok(&["setup", "--tool", tool, "--hooks", "--name", "bob", "--yes"]).await;
        assert_eq!(read(&file), after.replace(&format!("ada-{tool}"), "bob"), "{tool}: another agent");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!(read(&file), before, "{tool}: not as before");
        assert_eq!(contents(&cli), everything, "{tool}: something else is left");
    }
    insta::assert_snapshot!("hooks", all);
}

#[tokio::test]
async fn files_and_folders_that_setup_made_are_gone_afterwards() {
    for tool in [
        "claude",
        "claude-desktop",
        "codex",
        "gemini",
        "cursor",
        "vscode",
        "devin",
        "windsurf",
        "kiro",
        "amazonq",
    ] {
        let cli = home();
        profile(&cli, &format!("ada-{tool}"));
        let everything = contents(&cli);
        let hooks = ["claude", "codex", "gemini"].contains(&tool);
        let more: &[&str] = if hooks { &["--hooks"] } else { &[] };
        cli.ok(&[&["setup", "--tool", tool, "--yes"], more].concat()).await;
        assert_ne!(contents(&cli), everything, "{tool}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!(contents(&cli), everything, "{tool}");
        assert!(!cli.home.join(".config/tandem/setup.json").exists(), "{tool}: the record is empty");
    }
}

#[tokio::test]
async fn a_project_has_its_own_entry() {
    let mut all = String::new();
    for (tool, name) in [
        ("claude", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("devin", ".devin/config.json"),
        ("kiro", ".kiro/settings/mcp.json"),
        ("amazonq", ".amazonq/default.json"),
    ] {
        let cli = home();
        profile(&cli, &format!("ada-{tool}"));
        let work = cli.home.join("work");
        let everything = contents(&cli);
        let run = async |arguments: &[&str]| {
            let output = cli.command(arguments).current_dir(&work).output().await.unwrap();
            assert!(output.status.success(), "{tool}: {output:?}");
        };
        run(&["setup", "--tool", tool, "--scope", "project", "--yes"]).await;
        all += &format!("=== {tool} {name}\n{}\n", golden(&read(&work.join(name))));
        run(&["setup", "--remove", "--yes"]).await;
        assert_eq!(contents(&cli), everything, "{tool}");
    }
    insta::assert_snapshot!("project", all);
    let cli = home();
    let refused = cli.run(&["setup", "--tool", "windsurf", "--scope", "project", "--yes"]).await;
    refused.failed(2, "has no configuration for a project");
}

#[tokio::test]
async fn an_entry_with_an_address_has_the_key_and_no_more() {
    let mut all = String::new();
    for (tool, name) in [
        ("claude", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("kiro", ".kiro/settings/mcp.json"),
        ("amazonq", ".aws/amazonq/default.json"),
    ] {
        let cli = home();
        profile(&cli, &format!("ada-{tool}"));
        let everything = contents(&cli);
        let asked = cli.run(&["setup", "--tool", tool, "--http"]).await;
        asked.failed(2, "Whoever reads that file can act as the agent");
        assert!(!format!("{asked:?}").contains("key-of"), "the key is shown: {asked:?}");
        let ran = cli.ok(&["setup", "--tool", tool, "--http", "--yes"]).await;
        assert!(!format!("{ran:?}").contains("key-of"), "the key is shown: {ran:?}");
        let file = cli.home.join(name);
        assert_eq!(crate::command::mode(&file), 0o600, "{tool}");
        all += &format!("=== {tool}\n{}\n", golden(&read(&file)));
        // Back to the bridge: the key is gone.
        cli.ok(&["setup", "--tool", tool, "--yes"]).await;
        let text = read(&file);
        assert!(!text.contains("key-of") && text.contains("--agent"), "{tool}: {text}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!(contents(&cli), everything, "{tool}");
    }
    insta::assert_snapshot!("http", all);
    let cli = home();
    cli.run(&["setup", "--tool", "claude-desktop", "--http", "--yes"]).await.failed(2, "takes no entry");
    let project = cli.run(&["setup", "--tool", "claude", "--http", "--scope", "project", "--yes"]).await;
    project.failed(2, "does not belong in a project");
}
