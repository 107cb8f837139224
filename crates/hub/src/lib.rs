//! The hub: everything in the process that is not HTTP.
//!
//! It owns the store, the clock, the bus, the key cache, presence, rate limits, files, webhooks and the background
//! workers, and it offers the operations ([`ops`]): one async function for each thing that a client can do, from wire
//! type to wire type. Every surface (REST, MCP, pages) calls the same operations. This crate never knows about HTTP
//! requests, MCP messages or their wording.

mod accounts;
pub mod backup;
pub mod budget;
pub mod bus;
mod caller;
mod clock;
pub mod cluster;
mod completion;
pub mod config;
mod db;
mod durable;
mod effects;
mod error;
pub mod feed;
pub mod files;
mod folder;
pub mod gc;
pub mod history;
mod housekeeping;
mod hub;
mod keys;
mod liveness;
mod marks;
pub mod metrics;
pub mod ops;
pub mod paging;
mod presences;
pub mod rates;
mod replay;
mod room;
pub mod start;
mod timer;
mod tls;
pub mod token;
mod totals;
pub mod webhooks;

pub use budget::{Budget, Held, Holder, RequestMemory};
pub use caller::{Address, Caller, IdempotentRequest};
pub use clock::Clock;
pub use cluster::Cluster;
pub use completion::RunToCompletion;
pub use config::Config;
pub use db::{Answer, Db, UseCase};
pub use error::Error;
pub use hub::{Hub, HubParts};
pub use keys::Access;
pub use liveness::Liveness;
pub use paging::Listed;
pub use replay::Replay;
