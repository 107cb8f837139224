//! Files that try to make setup hang, overflow or change more than its entry.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use super::{contents, home, home_with, profile, read, write};
use crate::command::{Cli, Ran};

/// A command that must not wait for anything.
async fn prompt(cli: &Cli, arguments: &[&str]) -> Ran {
    let run = tokio::time::timeout(Duration::from_secs(20), cli.run(arguments));
    run.await.unwrap_or_else(|_| panic!("{arguments:?} hangs"))
}

fn fifo(file: &Path) {
    let _ = std::fs::remove_file(file);
    let made = std::process::Command::new("mkfifo").arg(file).status().unwrap();
    assert!(made.success());
}

#[tokio::test]
async fn anything_but_a_regular_file_is_refused_at_once() {
    let link = |to: &'static str| move |file: &Path| std::os::unix::fs::symlink(to, file).unwrap();
    let folder = |file: &Path| std::fs::create_dir(file).unwrap();
    let kinds: [&dyn Fn(&Path); 4] = [&fifo, &folder, &link("/dev/zero"), &link("/dev/tty")];
    for make in kinds {
        let (cli, file) = home_with("cursor", ".cursor/mcp.json", "");
        std::fs::remove_file(&file).unwrap();
        make(&file);
        let refused = prompt(&cli, &["setup", "--tool", "cursor", "--yes"]).await;
        refused.failed(1, "is not a regular file");
        let status = prompt(&cli, &["setup", "status", "--json"]).await;
        assert_eq!(status.json()["tools"][0]["findings"][0]["kind"], "unreadable", "{status:?}");
        prompt(&cli, &["setup", "--remove", "--yes"]).await;
    }
}

#[tokio::test]
async fn a_pipe_that_takes_the_place_of_a_file_stops_nothing() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    let backup = cli.home.join(".cursor/mcp.json.tandem-bak");
    fifo(&backup);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    assert_eq!(prompt(&cli, &["setup", "--remove", "--yes"]).await.code, 0);
    assert_eq!(read(&file), "{}");
    fifo(&cli.home.join(".config/tandem/setup.json"));
    prompt(&cli, &["setup", "--remove", "--yes"]).await.failed(1, "not a regular file");
    std::fs::remove_file(cli.home.join(".config/tandem/setup.json")).unwrap();
    fifo(&cli.home.join(".config/tandem/agents/ada-cursor.toml"));
    prompt(&cli, &["setup", "--tool", "cursor", "--yes"]).await.failed(1, "not a regular file");
    fifo(&cli.home.join(".config/tandem/setup.lock"));
    prompt(&cli, &["setup", "--remove", "--yes"]).await.failed(1, "setup.lock");
}

#[tokio::test]
async fn deep_and_long_files_are_refused_or_shown_in_short() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let cases = [
        ("cursor", ".cursor/mcp.json", format!("{{\"a\": {}}}", deep("[", "]"))),
        ("claude", ".claude.json", deep("{\"a\":", "}").replace(":}", ":1}")),
        ("codex", ".codex/config.toml", format!("a = {}\n", deep("[", "]"))),
        ("codex", ".codex/config.toml", format!("[{}]\n", vec!["a"; 100_000].join("."))),
    ];
    for (tool, name, text) in cases {
        let (cli, file) = home_with(tool, name, &text);
        let ran = prompt(&cli, &["setup", "--tool", tool, "--yes"]).await;
        ran.failed(1, file.to_str().unwrap());
        assert_eq!(read(&file), text);
    }
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "");
    std::fs::File::create(&file).unwrap().set_len(65 * 1024 * 1024).unwrap();
    prompt(&cli, &["setup", "--tool", "cursor", "--yes"]).await.failed(1, "it has more than");
    // One long line is not printed as a whole.
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000_000));
    write(&file, &long);
    let ran = prompt(&cli, &["setup", "--tool", "cursor", "--yes"]).await;
    assert!(ran.code == 0 && ran.stdout.len() < 10_000, "{} bytes", ran.stdout.len());
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), long);
}

#[tokio::test]
async fn both_kinds_of_line_ends_stay() {
    let entry =
        "[mcp_servers.tandem]\r\ncommand = \"/old/tandem\"\nargs = [\"mcp\", \"--agent\", \"ada-codex\"]\r\n";
    let text = format!("a = 1\nb = 2\r\n\n{entry}\n[tui]\nc = '''\nx\n'''\r\n");
    let (cli, file) = home_with("codex", ".codex/config.toml", &text);
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    assert_eq!(read(&file), text.replace("/old/tandem", env!("CARGO_BIN_EXE_tandem")));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), "a = 1\nb = 2\r\n\n[tui]\nc = '''\nx\n'''\r\n");
}

#[tokio::test]
async fn a_file_that_its_owner_made_read_only_is_left_alone() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    let set = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o444);
    let everything = contents(&cli);
    cli.run(&["setup", "--tool", "cursor", "--yes"]).await.failed(1, "is read-only");
    assert_eq!(contents(&cli), everything);
    set(0o644);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    set(0o444);
    // There is nothing to write.
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    cli.run(&["setup", "--remove", "--yes"]).await.failed(1, "is read-only");
    set(0o644);
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), "{}");
}

#[tokio::test]
async fn of_two_keys_the_one_that_counts_is_changed() {
    // A program that reads such a file takes the last one.
    let text = "{\"mcpServers\": {\"a\": {}}, \"mcpServers\": {\"b\": {}}}\n";
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", text);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    let value: serde_json::Value = serde_json::from_str(&read(&file)).unwrap();
    assert!(value["mcpServers"]["tandem"].is_object() && value["mcpServers"]["b"].is_object(), "{value}");
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), text);
}

#[tokio::test]
async fn a_program_of_another_name_knows_its_own_entry() {
    let cli = home();
    profile(&cli, "ada-claude");
    let everything = contents(&cli);
    let other = cli.home.join("bin/tandem-nightly");
    std::fs::copy(env!("CARGO_BIN_EXE_tandem"), &other).unwrap();
    let run = async |arguments: &[&str]| {
        let like = cli.command(arguments);
        let mut command = tokio::process::Command::new(&other);
        command.args(arguments).current_dir(&cli.home);
        for (name, value) in like.as_std().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    for _ in 0..2 {
        run(&["setup", "--tool", "claude", "--hooks", "--yes"]).await;
    }
    run(&["setup", "--remove", "--yes"]).await;
    std::fs::remove_file(&other).unwrap();
    assert_eq!(contents(&cli), everything);
}

/// A table that is appended below a list of tables belongs to the last one of the list.
#[tokio::test]
async fn a_list_where_codex_needs_tables_is_refused() {
    let text = "[[mcp_servers]]\nname = \"x\"\n";
    let (cli, file) = home_with("codex", ".codex/config.toml", text);
    let everything = contents(&cli);
    cli.run(&["setup", "--tool", "codex", "--yes"]).await.failed(1, "[[mcp_servers]]");
    assert_eq!(contents(&cli), everything);
    // It can become one later.
    write(&file, "");
    cli.ok(&["setup", "--tool", "codex", "--yes"]).await;
    let moved = format!("{text}{}", read(&file));
    write(&file, &moved);
    cli.run(&["setup", "--remove", "--yes"]).await.failed(1, "not as a table");
    assert_eq!(read(&file), moved);
}

/// JavaScript writes half of a character if it cuts a text there.
#[tokio::test]
async fn half_a_character_stays_as_it_is() {
    let text = "{\n  \"a\": \"x\\ud83d\",\n  \"b\": \"\\uDE00\\\\ud800 \\ud83d\\ude00\"\n}\n";
    let (cli, file) = home_with("claude", ".claude.json", text);
    cli.ok(&["setup", "--tool", "claude", "--hooks", "--yes"]).await;
    assert!(read(&file).starts_with(text.trim_end_matches("\n}\n")), "{}", read(&file));
    assert!(read(&file).contains("\"tandem\""));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(read(&file), text);
}
