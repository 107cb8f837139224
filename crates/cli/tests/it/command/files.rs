//! Files of tasks, as the command line finds them.

use rstest::rstest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::Cli;
use crate::harness::{Db, Harness, PATIENCE, eventually};

/// Two agents of one user, connected: ada and bob, who have keys.
async fn connected(hub: &Harness) -> Cli {
    let cli = Cli::new(hub);
    cli.ok(&["register", "ada"]).await;
    cli.ok(&["register", "bob"]).await;
    let offer = cli.json(&["pair", "--no-wait", "--agent", "ada"]).await;
    cli.ok(&["pair", offer["code"].as_str().unwrap(), "--agent", "bob"]).await;
    cli
}

#[tokio::test]
async fn files_are_listed_and_encrypted_ones_open_without_their_task() {
    let hub = Harness::start(Db::Sqlite).await;
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

#[tokio::test]
async fn a_file_that_the_hub_would_refuse_sends_no_task() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::pair(&hub).await;
    std::fs::write(cli.home.join("x.exe"), b"MZ\0\0").unwrap();
    std::fs::File::create(cli.home.join("large.csv")).unwrap().set_len(50 * 1024 * 1024 + 1).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let pipe = cli.home.join("pipe.csv");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let refused = [("x.exe", "another type"), ("large.csv", "up to"), ("pipe.csv", "not a regular file")];
    for (file, says) in refused {
        cli.run(&["send", "bob", "x", "--file", file]).await.failed(2, says);
    }
    assert_eq!(cli.ok(&["task", "list", "--json"]).await.stdout, "");
    let task = cli.task(&[]).await;
    for (file, says) in refused {
        cli.run(&["file", "up", &task, file]).await.failed(2, says);
    }
}

#[tokio::test]
async fn a_download_that_is_ended_leaves_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut cli = Cli::at(&format!("http://{}", listener.local_addr().unwrap()));
    cli.variables.push(("TANDEM_KEY".to_owned(), "tdm_x".to_owned()));
    // The name and size of a file, and then a part of it.
    let head = "HTTP/1.1 200 OK\r\ncontent-disposition: attachment; filename=\"a.txt\"\r\ncontent-length: 1000\r\n\r\n";
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for answer in [head.to_owned(), format!("{head}beginning")] {
            let _ = stream.read(&mut [0; 4096]).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        std::future::pending::<()>().await;
    });
    let child = cli.command(&["file", "down", "file_1"]).spawn().unwrap();
    let files = || std::fs::read_dir(&cli.home).unwrap().flatten().map(|entry| entry.file_name());
    let parts = || files().filter(|name| name.to_string_lossy().contains(".tandem-new-")).count();
    eventually(async || (parts() == 1).then_some(())).await;
    let id = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!((ended.status.code(), parts()), (Some(128 + 2), 0));
}
