//! Our own TypeScript package: its tests, with the hub and the command line of this build.

use std::path::{Path, PathBuf};

use rstest::rstest;
use tokio::process::Command;

use super::installed;

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/typescript")
}

async fn passes(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) {
    assert!(package().join("build").exists(), "run scripts/foreign-clients first; ./check does");
    let output = Command::new(program)
        .args(arguments)
        .current_dir(package())
        .env("HUB_BINARY", env!("CARGO_BIN_EXE_tandem"))
        .env("FOREIGN", installed())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[rstest]
#[tokio::test]
async fn the_typescript_package_passes_its_tests(
    #[values("browser", "calls", "events", "trust", "vectors", "work", "package")] file: &str,
) {
    passes("node", &["--test", &format!("test/{file}.test.mjs")]).await;
}

/// Node 20 has no WebSocket.
#[tokio::test]
async fn a_newer_node_follows_events_over_a_socket() {
    let node = installed().join("node_modules/node/bin/node");
    passes(node, &["--test", "test/events.test.mjs"]).await;
}

#[tokio::test]
async fn the_typescript_package_has_its_style() {
    passes("npm", &["run", "--silent", "lint"]).await;
}
