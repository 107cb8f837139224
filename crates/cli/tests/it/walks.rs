//! The commands of the documentation, run as they stand.

use std::path::PathBuf;
use std::process::Command;

use rstest::rstest;

use crate::harness::{Db, Place};
use crate::serve::{Process, command};

/// The shell commands of a page.
fn commands(page: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.collect()
}

/// Runs commands against a hub; what they print.
fn run(script: &str, hub: &Process) -> String {
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .env("HUB", format!("http://{}", hub.client.address))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

#[rstest]
fn the_walks_work(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let hub = Process::start(command(&place));
    let printed = run(&commands("docs/walks.md"), &hub);
    for shown in [
        "review_required",
        "waits for its initiator",
        "\ncompleted\n",
        "\"initiatorSessionKey\":\"window-3\"",
        "\"targetSessionKey\":\"thread-7\"",
        "\nexpired\n2\n",
        "found the broken test",
        "\nfailed\nEve\n",
        "\"code\":\"not_found\"",
        "\"attempt\":4",
    ] {
        assert!(printed.contains(shown), "{shown:?} is not in\n{printed}");
    }
    hub.signal("TERM");
    let (_, log) = hub.end();
    assert!(!log.contains("ERROR"), "{log}");
}

#[rstest]
fn the_first_steps_work(#[values(Db::Sqlite)] db: Db) {
    let place = Place::new(db);
    let hub = Process::start(command(&place));
    let readme = commands("README.md");
    // From the first agent to the first events; what listens for ever is left out.
    let steps = readme.split("curl -s \"$HUB/events?wait=60\"").next().unwrap();
    let steps = steps.replace("HUB=http://127.0.0.1:3000\n", "");
    let printed = run(&steps, &hub);
    assert!(
        printed.contains("\"pendingTasks\"") && printed.contains("\"status\": \"completed\""),
        "{printed}"
    );
}
