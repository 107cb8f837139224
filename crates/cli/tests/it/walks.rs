//! The commands of the documentation, run as they stand.

use std::path::PathBuf;
use std::process::Command;

use rstest::rstest;

use crate::harness::{Db, Place};
use crate::serve::{Process, command};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The shell commands of a page.
pub fn commands(page: &str) -> String {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.collect()
}

/// Runs commands against a hub, in the folder of its data, and returns what they print.
pub fn run(script: &str, hub: &Process, place: &Place) -> String {
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(&place.folder)
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
    let printed = run(&commands("docs/walks.md"), &hub, &place);
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
fn the_first_steps_work_three_times_in_a_minute(#[values(Db::Sqlite)] db: Db) {
    let place = Place::new(db);
    let mut serve = command(&place);
    // The default, which most tests turn off.
    serve.args(["--set", "rate_limit_register_max=5"]);
    let hub = Process::start(serve);
    let steps = commands("docs/curl.md").replace("HUB=http://127.0.0.1:3000\n", "");
    let promised = std::fs::read_to_string(root().join("docs/curl.md")).unwrap();
    let promised = promised.split("It prints:\n\n```\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(promised.contains("Sales rose by 4 percent.\ncompleted\n"), "{promised}");
    for _ in 0..3 {
        assert_eq!(run(&steps, &hub, &place), promised);
    }
}
