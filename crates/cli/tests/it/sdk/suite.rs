//! The behaviour suite of sdk/suite: the same scenarios for the Rust client and the packages, against a hub on either database.

use std::path::PathBuf;
use std::process::Stdio;

use rstest::rstest;
use tokio::process::Command;

use super::folder;
use crate::foreign::installed;
use crate::harness::{Db, Place};

/// Events of the one scenario with very many. PostgreSQL in a debug build takes longer for each, and the streams are the same.
fn events(db: Db) -> &'static str {
    match db {
        Db::Sqlite => "20000",
        Db::Postgres => "2000",
    }
}

/// The commands that start a driver of each language.
fn drivers() -> String {
    let (sdk, python) = (folder(), installed().join("venv/bin/python"));
    let rust = PathBuf::from(env!("CARGO_BIN_EXE_tandem")).with_file_name("examples").join("driver");
    assert!(rust.exists(), "cargo builds the examples with the tests: {}", rust.display());
    let typescript = sdk.join("typescript");
    assert!(typescript.join("dist").exists(), "run scripts/foreign-clients first; ./check does");
    let drivers = [
        format!("rust={}", rust.display()),
        format!("python={} -B {}", python.display(), sdk.join("python/tests/driver.py").display()),
        format!("typescript=node {}", typescript.join("suite/driver.mjs").display()),
    ];
    drivers.join(",")
}

#[rstest]
#[tokio::test]
async fn every_package_behaves_the_same(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let (place, second) = (Place::empty(db), Place::empty(db));
    let mut command = Command::new(installed().join("venv/bin/python"));
    command.arg("-B").arg(folder().join("suite/run.py")).args(["--tandem", env!("CARGO_BIN_EXE_tandem")]);
    command.args(["--drivers", &drivers(), "--events", events(db)]);
    if let (Some(url), Some(second)) = (&place.database, &second.database) {
        command.args(["--database", url, "--second-database", second]);
    }
    command.env("PYTHONPATH", folder().join("python/src")).env("TMPDIR", &place.folder);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
