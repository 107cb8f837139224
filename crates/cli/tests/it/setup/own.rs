//! Only what setup wrote is changed and taken back: what a person has replaced or added stays.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{contents, home, home_with, profile, read, write};
use crate::command::{Cli, mode};

fn parsed(file: &std::path::Path) -> Value {
    serde_json::from_str(&read(file)).unwrap()
}

#[tokio::test]
async fn an_entry_that_a_person_has_replaced_stays() {
    let tandem = env!("CARGO_BIN_EXE_tandem");
    let replacements = [
        json!({ "command": "/opt/bike-shop", "args": ["tandem"] }),
        json!({ "command": tandem, "args": ["mcp", "--agent", "bob"] }),
        json!({ "command": "/opt/tandem", "args": ["mcp", "--agent", "ada-cursor"] }),
        json!({ "url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer mine" } }),
    ];
    for own in replacements {
        let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}}");
        cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
        write(&file, &json!({ "mcpServers": { "tandem": own } }).to_string());
        let text = read(&file);
        let shown = cli.ok(&["setup", "--remove", "--dry-run"]).await;
        assert!(shown.stdout.contains("not the one that setup wrote; it stays"), "{shown:?}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!(read(&file), text);
        // A second time finds no record, and takes nothing for its own.
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!(read(&file), text);
    }
    let (cli, file) = home_with("codex", ".codex/config.toml", "a = 1\n");
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    let own = "a = 1\n\n[mcp_servers.tandem]\ncommand = \"bike-shop\"\n";
    write(&file, own);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), own);
}

#[tokio::test]
async fn an_entry_with_another_key_is_not_ours() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    cli.ok(&["setup", "--tool", "cursor", "--http", "--yes"]).await;
    assert!(!read(&cli.home.join(".config/tandem/setup.json")).contains("key-of"), "the record has no key");
    let own = read(&file).replace("key-of-ada-cursor", "a-key-of-mine");
    write(&file, &own);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), own);
    // Nor may setup overwrite a server of someone else that took the name.
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    let own = "{\"mcpServers\": {\"tandem\": {\"url\": \"https://bikes.example/mcp\"}}}";
    write(&file, own);
    cli.run(&["setup", "--tool", "cursor", "--yes"]).await.failed(1, "for something else");
    assert_eq!(read(&file), own);
}

#[tokio::test]
async fn an_entry_that_is_in_no_record_is_only_named() {
    let tandem = env!("CARGO_BIN_EXE_tandem");
    let entry = json!({ "command": tandem, "args": ["mcp", "--agent", "ada-cursor"] });
    let text = json!({ "mcpServers": { "tandem": entry } }).to_string();
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", &text);
    let ran = cli.ok(&["setup", "--remove", "--yes"]).await;
    assert!(ran.stderr.contains("no record of") && ran.stderr.contains("mcp.json"), "{ran:?}");
    assert_eq!(read(&file), text);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(parsed(&file), json!({ "mcpServers": {} }));
}

/// Changes a JSON file as a person would.
fn edit(file: &std::path::Path, change: impl FnOnce(&mut Value)) {
    let mut value = parsed(file);
    change(&mut value);
    write(file, &serde_json::to_string_pretty(&value).unwrap());
}

async fn with_hooks(tool: &str, file: &str) -> (Cli, std::path::PathBuf) {
    let (cli, file) = home_with(tool, file, "{\n  \"a\": 1\n}\n");
    profile(&cli, "bob");
    cli.ok(&["setup", "--tool", tool, "--hooks", "--yes"]).await;
    (cli, file)
}

#[tokio::test]
async fn fields_that_a_person_has_added_to_hooks_stay() {
    for (tool, file) in [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let (cli, file) = with_hooks(tool, file).await;
        edit(&file, |value| {
            let group = &mut value["hooks"]["SessionStart"][0];
            group["matcher"] = "startup".into();
            group["hooks"][0]["statusMessage"] = "looking".into();
            group["hooks"][0]["timeout"] = 77.into();
        });
        let text = read(&file);
        cli.ok(&["setup", "--tool", tool, "--hooks", "--yes"]).await;
        assert_eq!(read(&file), text, "{tool}: it has them already");
        assert!(cli.ok(&["setup", "status", "--json"]).await.json()["ok"] == true, "{tool}");
        cli.ok(&["setup", "--tool", tool, "--hooks", "--name", "bob", "--yes"]).await;
        assert_eq!(
            read(&file),
            text.replace(&format!("ada-{tool}"), "bob"),
            "{tool}: only the agent changes"
        );
        // The hook goes, and what a person wrote into its group does not.
        cli.ok(&["setup", "--remove", "--yes"]).await;
        let left = json!({ "SessionStart": [{ "matcher": "startup", "hooks": [] }] });
        assert_eq!(parsed(&file)["hooks"], left, "{tool}");
    }
}

#[tokio::test]
async fn hooks_that_a_person_wrote_stay() {
    let (cli, file) = with_hooks("claude", ".claude/settings.json").await;
    let tandem = env!("CARGO_BIN_EXE_tandem");
    let hook = |agent: &str| {
        let command = format!("{tandem} hook --agent {agent} --tool claude");
        json!({ "hooks": [{ "type": "command", "command": command }] })
    };
    let (after_tools, second) = (hook("ada-claude"), hook("bob"));
    edit(&file, |value| {
        value["hooks"]["PostToolUse"] = json!([after_tools]);
        value["hooks"]["SessionStart"].as_array_mut().unwrap().push(second.clone());
    });
    let text = read(&file);
    cli.ok(&["setup", "--tool", "claude", "--hooks", "--yes"]).await;
    assert_eq!(read(&file), text);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    let left = json!({ "PostToolUse": [after_tools], "SessionStart": [second] });
    assert_eq!(parsed(&file), json!({ "a": 1, "hooks": left }));
}

#[tokio::test]
async fn a_file_that_gets_a_key_is_closed_to_others_until_it_is_gone() {
    let open = |file: &std::path::Path, mode: u32| {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (tool, name, text) in
        [("cursor", ".cursor/mcp.json", "{}\n"), ("codex", ".codex/config.toml", "a = 1\n")]
    {
        let (cli, file) = home_with(tool, name, text);
        open(&file, 0o644);
        let http = ["setup", "--tool", tool, "--http"];
        let asked = cli.run(&http).await;
        asked.failed(2, "only you can read it");
        assert!(asked.stdout.contains("mode 644 becomes 600: only you can read it"), "{asked:?}");
        assert_eq!(mode(&file), 0o644);
        let dry = cli.json(&[&http[..], &["--dry-run"]].concat()).await;
        assert_eq!(dry["changes"][0]["mode"], "600", "{dry}");
        cli.ok(&[&http[..], &["--yes"]].concat()).await;
        assert_eq!(mode(&file), 0o600, "{tool}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!((mode(&file), read(&file).as_str()), (0o644, text), "{tool}");
        // The bridge needs no key: the file is as open as before.
        cli.ok(&[&http[..], &["--yes"]].concat()).await;
        cli.ok(&["setup", "--tool", tool, "--yes"]).await;
        assert_eq!(mode(&file), 0o644, "{tool}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!((mode(&file), read(&file).as_str()), (0o644, text), "{tool}");
        // A mode that a person has chosen since is left alone.
        cli.ok(&[&http[..], &["--yes"]].concat()).await;
        open(&file, 0o640);
        let status = cli.run(&["setup", "status", "--json"]).await;
        assert_eq!(status.json()["tools"][0]["findings"][0]["kind"], "exposed", "{status:?}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!((mode(&file), read(&file).as_str()), (0o640, text), "{tool}");
        // One that the tool has opened again is closed again.
        cli.ok(&[&http[..], &["--yes"]].concat()).await;
        open(&file, 0o664);
        cli.ok(&[&http[..], &["--yes"]].concat()).await;
        assert_eq!(mode(&file), 0o600, "{tool}");
    }
}

#[tokio::test]
async fn one_file_that_cannot_be_read_does_not_keep_the_others() {
    let cli = home();
    for tool in ["cursor", "kiro"] {
        profile(&cli, &format!("ada-{tool}"));
    }
    let everything = contents(&cli);
    cli.ok(&["setup", "--tool", "cursor,kiro", "--yes"]).await;
    let broken = cli.home.join(".cursor/mcp.json");
    let text = read(&broken);
    write(&broken, "{");
    cli.run(&["setup", "--remove", "--yes"]).await.failed(1, ".cursor/mcp.json:1:");
    assert!(!cli.home.join(".kiro").exists());
    assert_eq!(read(&broken), "{");
    write(&broken, &text);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(contents(&cli), everything);
}

/// The tools that read and answer are allowed only by an option; the rules go again, and those of the person stay.
#[tokio::test]
async fn tools_are_allowed_by_an_option_and_only_the_own_rules_go() {
    let own = "{\n  \"permissions\": {\n    \"allow\": [\n      \"mcp__tandem__get_task\"\n    ]\n  }\n}\n";
    let (cli, file) = home_with("claude", ".claude/settings.json", own);
    let asked = cli.ok(&["setup", "--tool", "claude", "--yes"]).await;
    assert_eq!(read(&file), own, "not without the option");
    assert!(asked.stderr.contains("waits for a person"), "{asked:?}");
    let shown = cli.ok(&["setup", "--tool", "claude", "--allow-tools", "--yes"]).await;
    let rules = parsed(&file)["permissions"]["allow"].as_array().unwrap().clone();
    assert!(rules.contains(&json!("mcp__tandem__check_updates")) && rules.len() == 6, "{rules:?}");
    let new = rules.iter().filter_map(Value::as_str).filter(|rule| !own.contains(rule));
    assert!(new.into_iter().all(|rule| shown.stdout.contains(rule)), "each rule is shown: {shown:?}");
    assert!(!shown.stderr.contains("waits for a person"), "{shown:?}");
    for never in ["create_task", "approve_task", "connect_with_agent", "upload_file"] {
        assert!(!read(&file).contains(never), "{never}");
    }
    // Another run without the option leaves them.
    cli.ok(&["setup", "--tool", "claude", "--hooks", "--yes"]).await;
    assert_eq!(parsed(&file)["permissions"]["allow"].as_array().unwrap().len(), 6);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), own);

    let toml = "a = 1\n";
    let (cli, file) = home_with("codex", ".codex/config.toml", toml);
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    for _ in 0..2 {
        cli.ok(&["setup", "--tool", "codex", "--allow-tools", "--yes"]).await;
        let written: Value = serde_json::to_value(read(&file).parse::<toml::Table>().unwrap()).unwrap();
        let tools = &written["mcp_servers"]["tandem"]["tools"];
        assert_eq!(tools["send_reply"], json!({ "approval_mode": "approve" }), "{written}");
        assert_eq!(tools.as_object().unwrap().len(), 6);
    }
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), toml);
}

/// What setup has changed more than once is the first version again, in a layout that no editor keeps.
#[tokio::test]
async fn the_first_version_comes_back_byte_for_byte() {
    let cases = [
        ("codex", ".codex/config.toml", "a = 1\n\n\n[mcp_servers]   # none\n"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\" : {\"other\":{\"url\":\"x\",\t} ,}}"),
        ("gemini", ".gemini/settings.json", "{ \"a\": [ 1,2 ] /* mine */ }"),
        ("claude", ".claude.json", "\u{feff}{\r\n\t\"mcpServers\":{ }\n}"),
    ];
    for (tool, path, text) in cases {
        let (cli, file) = home_with(tool, path, text);
        let before = contents(&cli);
        for more in [&["--yes"][..], &["--yes", "--allow-tools"], &["--yes", "--hooks"]] {
            cli.ok(&[&["setup", "--tool", tool], more].concat()).await;
        }
        assert_ne!(contents(&cli), before, "{tool}");
        cli.ok(&["setup", "--remove", "--yes"]).await;
        assert_eq!(contents(&cli), before, "{tool}");
        // After somebody else has written to it, only what setup added goes.
        cli.ok(&["setup", "--tool", tool, "--yes"]).await;
        let theirs = format!("{}\n", read(&file));
        write(&file, &theirs);
        cli.ok(&["setup", "--remove", "--yes"]).await;
        let left = read(&file);
        assert!(left.ends_with('\n') && !left.contains("--agent"), "{tool}: {left}");
    }
}

/// Gemini CLI has rules for tools in files of its own.
#[tokio::test]
async fn a_rule_of_gemini_comes_and_goes() {
    let (cli, _) = home_with("gemini", ".gemini/settings.json", "{}\n");
    let file = cli.home.join(".gemini/policies/tandem.toml");
    let setup = ["setup", "--tool", "gemini", "--yes", "--allow-tools"];
    let shown = cli.ok(&["setup", "--tool", "gemini", "--allow-tools", "--dry-run"]).await;
    assert!(shown.stdout.contains("policies/tandem.toml") && shown.stdout.contains("+decision = \"allow\""));
    assert!(!file.parent().unwrap().exists(), "only shown");
    let before = contents(&cli);
    cli.ok(&setup).await;
    let rules: toml::Table = toml::from_str(&read(&file)).unwrap();
    let rule = &rules["rule"][0];
    assert_eq!((rule["mcpName"].as_str(), rule["decision"].as_str()), (Some("tandem"), Some("allow")));
    assert!(rule["toolName"].as_array().unwrap().iter().all(|tool| tool.as_str() != Some("create_task")));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(contents(&cli), before, "the folder is gone too");
    // Rules of the person in the same file stay, and so does ours once a person has changed it.
    let own = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 900\n";
    write(&file, own);
    cli.ok(&setup).await;
    write(&file, &format!("{}# theirs\n", read(&file)));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), format!("{own}# theirs\n"));
    cli.ok(&setup).await;
    let changed = read(&file).replace("priority = 100", "priority = 950");
    write(&file, &changed);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), changed);
}
