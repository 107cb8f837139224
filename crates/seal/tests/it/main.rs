//! One binary with all tests of this crate. None talks to a hub, and only `foreign` starts a program.

#![expect(clippy::unwrap_used, reason = "that is how a test fails")]

mod cast;
mod checks;
mod envelopes;
mod fingerprint;
mod foreign;
mod keys;
mod sealing;
mod shared;
mod vectors;
