//! The store: one SQL text on two databases, behind threads that own the connections.
//!
//! A use case is a synchronous closure over [`Tx`]; it is sent to a thread, runs in a transaction there
//! together with whatever else was waiting, and is answered after the commit. This is the only crate
//! that knows SQL. It must never know who is allowed to do what.

mod after_error;
mod arrays;
mod checkpoint;
mod conn;
mod declare;
mod error;
mod executor;
mod job;
mod lock;
mod lock_queue;
mod migrate;
mod page;
mod pipeline;
mod plan;
mod postgres;
mod process_lock;
mod query;
mod queue;
mod rounds;
mod sqlite;
mod statement;
mod stats;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod tx;
mod value;

pub mod accounts;
pub mod admin;
pub mod agents;
pub mod blocks;
pub mod connections;
pub mod deadlines;
pub mod decisions;
pub mod directory;
pub mod dump;
pub mod events;
pub mod figures;
pub mod files;
pub mod guests;
pub mod idempotency;
pub mod inbox;
pub mod limits;
pub mod messages;
pub mod networks;
pub mod nodes;
pub mod pairing;
pub mod presences;
pub mod pushes;
pub mod remotes;
pub mod retention;
pub mod sign_ins;
pub mod tasks;
pub mod updates;
pub mod webhooks;

pub use error::Error;
pub use queue::{Owner, Size};
pub use stats::{Figure, FigureKind, Stats};
pub use store::{CommitHook, Database, Options, Store};
pub use tx::{Effect, EventNotice, PAGE_BYTES, Tx};
pub(crate) use value::{FromValue, Row, Value};
