//! The dashboard in Chromium, driven by playwright-core. The scripts are in `tests/browser`; each fails on a console error,
//! a breach of the content security policy or a request to another origin.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rstest::rstest;
use tokio::process::Command;

use crate::foreign::installed;
use crate::harness::{Db, Place};
use crate::serve::{Process, command};

const STATIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/static/app");

fn node(script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/browser").join(script));
    command.env("NODE_PATH", installed().join("node_modules")).kill_on_drop(true).stdin(Stdio::null());
    command
}

async fn passes(mut command: Command) {
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(" passed, 0 failed"), "{said}");
}

#[rstest]
#[tokio::test]
async fn the_modules_work(#[values("page", "live", "tail", "sealed")] group: &str) {
    let mut command = node("modules.mjs");
    command.arg(group);
    passes(command).await;
}

/// Two people, from the first sign-in to the replay of a webhook; then every screen, for accessibility and screenshots.
#[tokio::test]
async fn two_people_work_together() {
    let place = Place::new(Db::Sqlite);
    let mut serve = command(&place);
    for setting in ["webhook_allow_http=true", "webhook_allow_private=true", "min_discovery_age_hours=0"] {
        serve.arg("--set").arg(setting);
    }
    let hub = Process::start(serve);
    let token = std::fs::read_to_string(place.folder.join("admin-token")).unwrap();
    let pictures = Path::new(env!("CARGO_BIN_EXE_tandem")).ancestors().nth(2).unwrap().join("screenshots");
    let mut story = node("story.mjs");
    story.env("HUB", format!("http://{}", hub.client.address)).env("OPERATOR_TOKEN", token.trim());
    story.env("TANDEM", env!("CARGO_BIN_EXE_tandem")).env("HOME", &place.folder).env("DATA", &place.folder);
    // The pictures of one run are enough.
    if matches!(Db::Sqlite, Db::Sqlite) {
        story.env("SCREENSHOTS", pictures);
    }
    passes(story).await;
}

#[tokio::test]
async fn the_types_of_the_modules_fit() {
    let mut tsc = Command::new(installed().join("node_modules/.bin/tsc"));
    let output = tsc.arg("--project").arg(STATIC).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
