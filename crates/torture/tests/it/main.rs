//! The program `tandem-torture` refuses what cannot run before it starts any server. That it runs is checked by ./check.

use std::process::Command;

#[test]
fn what_cannot_run_is_refused_at_once() {
    for (arguments, words) in [
        (&["--tandem", "/nowhere/tandem"][..], &["/nowhere/tandem", "cargo build"][..]),
        (&["--nodes", "0"], &["--nodes"]),
        (&["--only", "earthquake"], &["earthquake", "node_killed"]),
    ] {
        let mut torture = Command::new(env!("CARGO_BIN_EXE_tandem-torture"));
        let output = torture.arg("cluster").args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
        assert!(!said.contains("starting"), "{arguments:?}: {said}");
    }
}
