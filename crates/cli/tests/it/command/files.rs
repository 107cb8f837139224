//! Files of tasks, as the command line finds them.

use rstest::rstest;

use super::Cli;
use crate::harness::{Db, Harness};

/// Two agents of one user, connected: ada and bob, who have keys.
async fn connected(hub: &Harness) -> Cli {
    let cli = Cli::new(hub);
    cli.ok(&["register", "ada"]).await;
    cli.ok(&["register", "bob"]).await;
    let offer = cli.json(&["pair", "--no-wait", "--agent", "ada"]).await;
    cli.ok(&["pair", offer["code"].as_str().unwrap(), "--agent", "bob"]).await;
    cli
}

#[rstest]
#[tokio::test]
async fn files_are_listed_and_encrypted_ones_open_without_their_task(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let hub = Harness::start(db).await;
    let cli = connected(&hub).await;
    std::fs::write(cli.home.join("plan.txt"), "Friday").unwrap();
    for encrypted in [false, true] {
        let option: &[&str] = if encrypted { &["--encrypt"] } else { &[] };
        let send = ["send", "bob", "Read this", "--file", "plan.txt", "--agent", "ada"];
        let sent = cli.ok(&[&send[..], option].concat()).await;
        let task = sent.stdout.split_whitespace().next().unwrap();
        assert!(sent.stdout.lines().nth(1).unwrap().starts_with("file_"), "the file is confirmed: {sent:?}");

        let listed = cli.ok(&["file", "list", task, "--agent", "bob"]).await;
        let columns: Vec<&str> = listed.stdout.trim_end().split('\t').collect();
        let [file, _, _, _, "ada", _] = columns[..] else { panic!("{listed:?}") };
        // The list has made it the last task, which is where an encrypted file is looked for.
        let got = cli.ok(&["file", "down", file, "-o", "got.txt", "--overwrite", "--agent", "bob"]).await;
        assert!(got.stdout.starts_with("got.txt"), "{got:?}");
        assert_eq!(std::fs::read_to_string(cli.home.join("got.txt")).unwrap(), "Friday");
        let got = cli.ok(&["file", "down", file, "-o", "-", "--agent", "bob"]).await;
        assert_eq!(got.stdout, "Friday");
    }
}

#[rstest]
#[tokio::test]
async fn the_inbox_names_its_only_task(#[values(Db::Sqlite)] db: Db) {
    let hub = Harness::start(db).await;
    let cli = connected(&hub).await;
    let first = cli.json(&["send", "bob", "One", "--agent", "ada"]).await;
    cli.ok(&["inbox", "--agent", "bob"]).await;
    let shown = cli.json(&["task", "show", "@", "--agent", "bob"]).await;
    assert_eq!(shown["id"], first["id"]);
    // Of two tasks, neither is meant: @ stays what it was.
    cli.json(&["send", "bob", "Two", "--agent", "ada"]).await;
    let inbox = cli.ok(&["inbox", "--agent", "bob"]).await;
    assert!(!inbox.stderr.contains('@'), "{inbox:?}");
    let shown = cli.json(&["task", "show", "@", "--agent", "bob"]).await;
    assert_eq!(shown["id"], first["id"]);
}
