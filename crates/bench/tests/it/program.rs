//! The program `tandem-bench` starts `tandem` as the hub, and itself as the bare server.

use std::process::Command;

use serde_json::Value;

fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tandem-bench"))
}

#[test]
fn without_a_tandem_it_says_how_to_build_one() {
    for measurement in [&[][..], &["push"], &["cluster"]] {
        let output = bench().args(measurement).args(["--tandem", "/nowhere/tandem"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{measurement:?}: {said}");
        assert!(said.contains("/nowhere/tandem") && said.contains("cargo build"), "{measurement:?}: {said}");
    }
}

/// The `tandem` beside the program is the one of this workspace. Cargo builds it with the tests of the whole workspace,
/// but not with those of this package alone; then the output says how to build it.
#[test]
fn a_short_run_measures_a_hub_and_a_bare_server() {
    let figures = std::env::temp_dir().join(format!("tandem-bench-figures-{}.json", std::process::id()));
    let run = "push --events 100 --sockets 16 --seconds 0.5 --soak 0 --json".split(' ');
    let output = bench().args(run).arg(&figures).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&std::fs::read(&figures).unwrap()).unwrap();
    std::fs::remove_file(&figures).unwrap();
    for server in ["hub_to_frame", "bare_to_frame"] {
        assert!(report[server].is_object(), "{server}: {report}");
    }
}
