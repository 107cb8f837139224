//! File tools stay in their folder.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{Tool, plain_pair};
use crate::harness::{Db, Harness};

#[tokio::test]
async fn files_are_read_and_written_below_the_folder_only() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let task = ada.task(&bob).await;
    let work = cli.home.join("work");
    for folder in ["work/sub", "outside", "work/.hidden"] {
        std::fs::create_dir_all(cli.home.join(folder)).unwrap();
    }
    for file in ["work/in.txt", "work/sub/in.txt", "outside/secret.txt", "work/.env", "work/.hidden/in.txt"] {
        std::fs::write(cli.home.join(file), file).unwrap();
    }
    symlink(cli.home.join("outside/secret.txt"), work.join("link.txt")).unwrap();
    symlink(cli.home.join("outside"), work.join("out")).unwrap();
    symlink(work.join(".env"), work.join("env-link")).unwrap();
    symlink("/nowhere/at/all", work.join("dangling")).unwrap();
    let mut tool = Tool::old(&cli, "ada", "test", &["--folder", work.to_str().unwrap()]).await;

    let outside = cli.home.join("outside/secret.txt");
    let outside = outside.to_str().unwrap();
    for path in [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "sub/../in.txt",
        outside,
        "/etc/passwd",
        "link.txt",
        "out/secret.txt",
        ".env",
        ".hidden/in.txt",
        "env-link",
        "dangling",
        "nothing.txt",
        "sub",
        "",
    ] {
        let why = tool.refused("upload_file", json!({ "taskId": task, "path": path })).await;
        assert!(why.contains("path"), "{path}: {why}");
    }
    let absolute = work.join("sub/in.txt");
    let absolute = absolute.to_str().unwrap();
    let mut file = json!(null);
    for path in ["in.txt", "./sub/in.txt", absolute] {
        let sent = tool.call("upload_file", json!({ "taskId": task, "path": path })).await;
        assert_eq!(sent["filename"], "in.txt", "an own name is no peer's");
        file = sent["fileId"].clone();
    }
    let named = json!({ "taskId": task, "path": "in.txt", "filename": "other.csv", "mimeType": "text/csv" });
    assert_eq!(tool.call("upload_file", named).await["filename"], "other.csv");

    let down = |path: &str| json!({ "taskId": task, "fileId": file, "path": path });
    for path in [
        "../new.txt",
        "out/new.txt",
        "link.txt",
        "dangling",
        "/tmp/new-file-of-a-test.txt",
        "no/such/folder.txt",
        ".bashrc",
        ".hidden/new.txt",
        "sub",
        "in.txt",
        "..",
        "",
    ] {
        for overwrite in [false, true] {
            if path == "in.txt" && overwrite {
                continue;
            }
            let mut arguments = down(path);
            arguments["overwrite"] = json!(overwrite);
            let why = tool.refused("download_file", arguments).await;
            assert!(why.contains("path"), "{path}: {why}");
        }
    }
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "outside/secret.txt");
    assert_eq!(std::fs::read_dir(cli.home.join("outside")).unwrap().count(), 1);
    let got = tool.call("download_file", down("sub/new.txt")).await;
    assert_eq!((&got["path"], &got["sizeBytes"]), (&json!("sub/new.txt"), &json!(15)));
    assert_eq!(std::fs::read_to_string(work.join("sub/new.txt")).unwrap(), "work/sub/in.txt");
    let mut again = down("in.txt");
    again["overwrite"] = json!(true);
    tool.call("download_file", again).await;
    assert_eq!(std::fs::read_to_string(work.join("in.txt")).unwrap(), "work/sub/in.txt");
    let left = std::fs::read_dir(work.join("sub")).unwrap().count();
    assert_eq!(left, 2, "nothing unfinished is left behind");
}

/// A tool would obey such a file at its next start, whoever has written it.
#[tokio::test]
async fn files_that_steer_ai_tools_are_not_written() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let task = ada.task(&bob).await;
    let work = cli.home.join("work");
    std::fs::create_dir_all(work.join("sub")).unwrap();
    std::fs::write(work.join("AGENTS.md"), "mine").unwrap();
    let mut tool = Tool::old(&cli, "ada", "test", &["--folder", work.to_str().unwrap()]).await;
    let sent = tool.call("upload_file", json!({ "taskId": task, "path": "AGENTS.md" })).await;
    let down =
        |path: &str| json!({ "taskId": task, "fileId": sent["fileId"], "path": path, "overwrite": true });
    for path in [
        "CLAUDE.md",
        "sub/CLAUDE.md",
        "./sub/claude.local.md",
        "AGENTS.md",
        "AGENTS.override.md",
        "Gemini.MD",
        "CLAUDE\u{200d}.md",
        "AGENT\u{17f}.md",
        "CLAUDE.md.",
        "copilot-instructions.md",
        "rust.instructions.md",
        "opencode.json",
        "mcp.json",
        "conftest.py",
        "sub/Makefile",
        work.join("QWEN.md").to_str().unwrap(),
    ] {
        let why = tool.refused("download_file", down(path)).await;
        assert!(why.contains("read or run because of its name"), "{path}: {why}");
    }
    assert_eq!(std::fs::read_to_string(work.join("AGENTS.md")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 2);
    for path in ["agents.csv", "claude-notes.md", "my-agents.md", "sub/report.md", "data.json"] {
        assert_eq!(tool.call("download_file", down(path)).await["path"], path);
    }
}

#[tokio::test]
async fn the_home_folder_and_what_contains_it_are_no_working_folder() {
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let task = ada.task(&bob).await;
    std::fs::write(cli.home.join("letter.txt"), "private").unwrap();
    let above = cli.home.parent().unwrap().to_str().unwrap().to_owned();
    let config = cli.config().to_str().unwrap().to_owned();
    for folder in [&[][..], &["--folder", "/"], &["--folder", &above], &["--folder", &config]] {
        let mut tool = Tool::old(&cli, "ada", "test", folder).await;
        for path in ["letter.txt", "agents/ada.toml", cli.home.join("letter.txt").to_str().unwrap()] {
            let why = tool.refused("upload_file", json!({ "taskId": task, "path": path })).await;
            let is_clear = why.contains("working folder") && why.contains("--folder DIR");
            assert!(is_clear, "{folder:?} {path}: {why}");
        }
        let down = json!({ "taskId": task, "fileId": "file_x", "path": "new.txt" });
        assert!(tool.refused("download_file", down).await.contains("--folder DIR"), "{folder:?}");
        // Everything else works.
        assert_eq!(tool.call("check_updates", json!({})).await["hasUpdates"], false);
    }
}

/// Somebody exchanges a folder for a link to another one, again and again, while files of it are used.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_exchanged_for_a_link_leads_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let hub = Harness::start(Db::Sqlite).await;
    let (cli, ada, bob) = plain_pair(&hub).await;
    let task = ada.task(&bob).await;
    let (work, outside) = (cli.home.join("work"), cli.home.join("outside"));
    std::fs::create_dir_all(work.join("sub")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(work.join("sub/file.txt"), "inside").unwrap();
    std::fs::write(outside.join("file.txt"), "secret").unwrap();
    symlink(&outside, work.join("link")).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let (stop, one, other) = (Arc::clone(&is_over), work.join("sub"), work.join("link"));
    let exchanging = std::thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        }
    });
    let mut tool = Tool::old(&cli, "ada", "test", &["--folder", work.to_str().unwrap()]).await;
    let (mut sent, mut saved) = (0, 0);
    for number in 0..150 {
        let up = tool.tool("upload_file", json!({ "taskId": task, "path": "sub/file.txt" })).await;
        if up["isError"] == true {
            continue;
        }
        sent += 1;
        let file = up["structuredContent"]["fileId"].as_str().unwrap().to_owned();
        let got = ada.get(&format!("/files/{file}")).await;
        assert_eq!(String::from_utf8_lossy(&got.bytes), "inside");
        let down = json!({ "taskId": task, "fileId": file, "path": format!("sub/new-{number}.txt") });
        saved += usize::from(tool.tool("download_file", down).await["isError"] != true);
    }
    is_over.store(true, Ordering::Relaxed);
    exchanging.join().unwrap();
    assert!(sent > 0 && saved > 0, "{sent} {saved}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "nothing was written outside");
}
