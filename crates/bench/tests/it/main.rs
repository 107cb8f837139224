//! The benchmark measures what it says it measures.

#![expect(clippy::unwrap_used, reason = "that is how a test fails")]

mod bare;
mod program;
