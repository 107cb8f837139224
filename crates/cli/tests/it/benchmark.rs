//! The benchmark and the fault tests are no part of the product.

use std::process::Command;

#[cfg(not(feature = "torture"))]
#[test]
fn a_default_build_says_how_to_get_the_fault_tests() {
    let arguments = ["torture", "cluster", "--minutes", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("cargo build --release --features torture"), "{said}");
}

#[test]
fn a_default_build_has_none_of_its_dependencies() {
    let tree = |features: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--locked", "-p", "tandem", "-e", "normal", "--prefix", "none"])
            .args(features)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let product = tree(&[]);
    assert!(tree(&["--features", "torture"]).contains("tandem-torture "));
    for harness in ["tandem-bench ", "tandem-torture "] {
        assert!(!product.contains(harness), "{harness}");
    }
}
