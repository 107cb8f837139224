//! The wire types: what they read they write again, and who wrote their text decides how a model is shown it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod a2a;
mod errors;
mod fencing;
mod json;
mod nullability;
mod requests;
mod round_trip;
mod views;
