//! File tools stay in their folder.

use std::os::unix::fs::symlink;

use rstest::rstest;
use serde_json::json;

use super::{Tool, plain_pair};
use crate::harness::{Db, Harness};

#[rstest]
#[tokio::test]
async fn files_are_read_and_written_below_the_folder_only(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let hub = Harness::start(db).await;
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
