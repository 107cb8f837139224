//! One binary with all tests of this crate. None talks to a hub, and only `foreign` and `packages` start programs.

#![expect(clippy::unwrap_used, reason = "that is how a test fails")]

mod cast;
mod checks;
mod envelopes;
mod fingerprint;
mod foreign;
mod keys;
mod packages;
mod sealing;
mod shared;
mod vectors;
