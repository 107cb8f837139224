//! The packages for other languages: the vectors that they are checked with, the behaviour suite, and their own checks.

mod python;
mod suite;
mod vectors;

use std::path::PathBuf;

/// The folder with the packages.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sdk").canonicalize().unwrap()
}
