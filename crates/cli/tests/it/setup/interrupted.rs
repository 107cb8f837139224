//! Runs that are killed or find the disk full in the middle of writing: nothing is half written, and the next run cleans up.
//!
//! A limit of the size of files stands for both: the kernel kills the process that exceeds it, or refuses the write.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{contents, home_with, read};
use crate::command::Cli;

/// Runs a command that may write so many blocks of 512 bytes to a file. Returns its exit code; none if it was killed.
async fn limited(cli: &Cli, before: &str, blocks: u32, arguments: &[&str]) -> (Option<i32>, String) {
    let like = cli.command(&[]);
    let mut command = tokio::process::Command::new("/bin/sh");
    let script = format!("{before} ulimit -c 0; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_tandem")]).args(arguments).current_dir(&cli.home);
    for (name, value) in like.as_std().get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn drafts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_str().unwrap().contains(".tandem-new-")).collect()
}

/// Larger than the limit.
fn large() -> String {
    format!("{{\n  \"text\": \"{}\"\n}}\n", "x".repeat(200_000))
}

#[tokio::test]
async fn a_run_after_a_killed_one_cleans_up() {
    let setup = ["setup", "--tool", "cursor", "--yes"];
    let remove = ["setup", "--remove", "--yes"];
    for next in [&setup[..], &remove] {
        let (cli, file) = home_with("cursor", ".cursor/mcp.json", &large());
        let everything = contents(&cli);
        let folder = file.parent().unwrap();
        let (code, said) = limited(&cli, "", 64, &setup).await;
        assert_eq!((code, drafts(folder).len()), (None, 1), "{said}");
        assert_eq!(read(&file), large());
        cli.ok(next).await;
        assert!(drafts(folder).is_empty(), "{next:?}: {:?}", drafts(folder));
        if next == setup {
            assert_eq!(read(&cli.home.join(".cursor/mcp.json.tandem-bak")), large(), "the first version");
            let (code, said) = limited(&cli, "", 64, &remove).await;
            assert_eq!((code, drafts(folder).len()), (None, 1), "{said}");
            cli.ok(&remove).await;
        }
        assert_eq!(contents(&cli), everything, "{next:?}");
        assert!(!cli.home.join(".config/tandem/setup.json").exists());
    }
}

#[tokio::test]
async fn a_draft_of_the_record_does_not_stay() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    let folder = cli.home.join(".config/tandem");
    assert_eq!(limited(&cli, "", 0, &["setup", "--tool", "cursor", "--yes"]).await.0, None);
    assert_eq!((drafts(&folder).len(), read(&file).as_str()), (1, "{}"));
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert!(drafts(&folder).is_empty());
    assert_eq!(limited(&cli, "", 0, &["setup", "--tool", "cursor", "--yes"]).await.0, None);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    assert!(drafts(&folder).is_empty());
}

#[tokio::test]
async fn a_draft_of_a_live_process_and_files_of_others_stay() {
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", "{}");
    let name = |suffix: &str| PathBuf::from(format!("{}.tandem-new-{suffix}", file.display()));
    let (live, foreign) = (name("0123456789abcdef"), name("notes"));
    std::fs::write(&live, "x").unwrap();
    std::fs::write(&foreign, "x").unwrap();
    let held = std::fs::File::open(&live).unwrap();
    held.lock().unwrap();
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    assert!(live.exists() && foreign.exists());
    drop(held);
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    assert!(!live.exists() && foreign.exists());
}

#[tokio::test]
async fn a_full_disk_changes_nothing() {
    let ignore = "trap '' XFSZ;";
    let (cli, file) = home_with("cursor", ".cursor/mcp.json", &large());
    let everything = contents(&cli);
    let (code, said) = limited(&cli, ignore, 64, &["setup", "--tool", "cursor", "--yes"]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot write") && said.contains("mcp.json"), "{said}");
    assert_eq!(contents(&cli), everything);
    assert!(!cli.home.join(".config/tandem/setup.json").exists());
    // Also when nothing can be taken back.
    cli.ok(&["setup", "--tool", "cursor", "--yes"]).await;
    let set_up = read(&file);
    let (code, said) = limited(&cli, ignore, 64, &["setup", "--remove", "--yes"]).await;
    assert_eq!((code, read(&file)), (Some(1), set_up), "{said}");
    assert!(drafts(file.parent().unwrap()).is_empty());
    cli.ok(&["setup", "--remove", "--yes"]).await;
    assert_eq!(contents(&cli), everything);
}
