//! What commands write: files that are whole or not there, and pipes that nobody reads any more.

use std::process::Stdio;

use rstest::rstest;
use serde_json::json;

use super::{Cli, mode};
use crate::client::server::{Answer, Server};
use crate::harness::{Db, Harness, PATIENCE};

fn names(cli: &Cli, folder: &str) -> Vec<String> {
    let entries = cli.home.join(folder).read_dir().unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// An export contains everything about the agent: it is for its owner's eyes, and goes where the owner said.
#[tokio::test]
async fn an_export_touches_no_other_file() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.register("ada").await;
    let folder = cli.home.join("out");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("mine"), "mine").unwrap();
    std::os::unix::fs::symlink("mine", folder.join("all.part")).unwrap();
    cli.ok(&["export", "-o", "out/all.json"]).await;
    assert_eq!(mode(&folder.join("all.json")), 0o600);
    let exported = std::fs::read_to_string(folder.join("all.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&exported).unwrap()["__exportComplete"], true);
    assert_eq!(names(&cli, "out"), ["all.json", "all.part", "mine"]);
    assert_eq!(std::fs::read_to_string(folder.join("mine")).unwrap(), "mine");
    // Nor one that a link of the same name leads to, although that does not exist.
    std::os::unix::fs::symlink("nowhere", folder.join("link.json")).unwrap();
    cli.run(&["export", "-o", "out/link.json"]).await.failed(1, "exists already");
    assert_eq!(names(&cli, "out"), ["all.json", "all.part", "link.json", "mine"]);
}

#[tokio::test]
async fn half_an_export_is_not_kept() {
    let server =
        Server::start(&[Answer::Send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".into())]).await;
    let mut cli = Cli::at(&format!("http://{}", server.address));
    cli.variables.push(("TANDEM_KEY".into(), "tdm_x".into()));
    cli.run(&["export"]).await.failed(1, "not complete");
    assert_eq!(names(&cli, ""), [] as [&str; 0]);
}

/// A download replaces a link and not the file that it leads to, also one that was encrypted.
#[rstest]
#[case::plain(&[])]
#[case::encrypted(&["--encrypt"])]
#[tokio::test]
async fn a_download_does_not_follow_links(#[case] option: &[&str]) {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.ok(&["register", "bob"]).await;
    cli.ok(&["register", "ada"]).await;
    let code = cli.json(&["pair", "--no-wait"]).await;
    cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
    std::fs::write(cli.home.join("plan.txt"), "Friday").unwrap();
    cli.ok(&[&["send", "bob", "Read", "--file", "plan.txt"], option].concat()).await;
    let listed = cli.ok(&["file", "list", "@"]).await.stdout;
    let file = listed.split('\t').next().unwrap();
    std::fs::write(cli.home.join("mine"), "mine").unwrap();
    std::os::unix::fs::symlink("mine", cli.home.join("got.txt")).unwrap();
    cli.run(&["file", "down", file, "-o", "got.txt"]).await.failed(1, "exists already");
    cli.ok(&["file", "down", file, "-o", "got.txt", "--overwrite"]).await;
    assert_eq!(std::fs::read_to_string(cli.home.join("mine")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(cli.home.join("got.txt")).unwrap(), "Friday");
}

/// As in `tandem file down FILE -o - | head -1`.
#[tokio::test]
async fn a_reader_that_has_enough_is_no_error() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    // More than fits into a pipe.
    std::fs::write(cli.home.join("long.txt"), "line\n".repeat(100_000)).unwrap();
    cli.task(&["--file", "long.txt"]).await;
    let listed = cli.ok(&["file", "list", "@"]).await.stdout;
    let file = listed.split('\t').next().unwrap();
    for command in [&["file", "down", file, "-o", "-"][..], &["export", "-o", "-"]] {
        let mut child = cli.command(command).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
        assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap()), (Some(0), String::new()));
    }
}

/// Without a profile, only the hub knows whose key it is.
#[tokio::test]
async fn whoami_claims_nothing_about_a_key_from_outside() {
    let mut cli = Cli::at("http://127.0.0.1:1");
    cli.variables.push(("TANDEM_KEY".into(), "tdm_x".into()));
    let view = cli.json(&["whoami"]).await;
    assert_eq!(view, json!({ "profile": null, "hub": "http://127.0.0.1:1" }));
    let shown = cli.ok(&["whoami"]).await.stdout;
    assert_eq!(shown, "the agent of TANDEM_KEY on http://127.0.0.1:1\n");
}
