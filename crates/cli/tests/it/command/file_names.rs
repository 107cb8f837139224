//! Files on encrypted tasks: shown with the command that opens them, downloaded only in the clear.

use super::Cli;
use crate::harness::{Db, Harness};

#[tokio::test]
async fn an_encrypted_file_is_listed_and_opened() {
    let hub = Harness::start(Db::Sqlite).await;
    let cli = Cli::new(&hub);
    cli.ok(&["register", "bob"]).await;
    cli.ok(&["register", "ada"]).await;
    let code = cli.json(&["pair", "--no-wait"]).await;
    cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
    std::fs::write(cli.home.join("plan.bin"), "secret plan").unwrap();
    let task = cli.json(&["send", "bob", "Secret", "--encrypt"]).await["id"].as_str().unwrap().to_owned();
    let file = cli.json(&["file", "up", "@", "plan.bin"]).await["id"].as_str().unwrap().to_owned();
    std::fs::remove_file(cli.home.join("plan.bin")).unwrap();
    let bob = ["--agent", "bob"];
    let shown = cli.ok(&[&["task", "show", &task][..], &bob].concat()).await.stdout;
    let command = format!("[encrypted file]\n│ tandem file down {file} --task {task}");
    assert!(shown.contains(&command), "{shown}");
    assert!(!shown.contains("NOT encrypted"), "{shown}");
    let listed = cli.ok(&[&["file", "list", &task][..], &bob].concat()).await;
    assert!(listed.stdout.starts_with(&format!("{file}\t(encrypted)\t")), "{listed:?}");
    assert!(listed.stderr.contains(&format!("--task {task}")), "{listed:?}");
    // Without its task, and with another one as the last, it would be a file that nobody can read.
    let other = cli.json(&["send", "bob", "Another"]).await["id"].as_str().unwrap().to_owned();
    cli.ok(&[&["task", "show", &other][..], &bob].concat()).await;
    cli.run(&[&["file", "down", &file][..], &bob].concat()).await.failed(1, "--task TASK");
    cli.ok(&[&["file", "down", &file, "--task", &task][..], &bob].concat()).await;
    assert_eq!(std::fs::read(cli.home.join("plan.bin")).unwrap(), b"secret plan");
    let again = cli.run(&[&["file", "down", &file, "--task", &task][..], &bob].concat()).await;
    again.failed(1, "exists already");
}
