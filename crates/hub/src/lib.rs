//! The hub: everything in the process that is not HTTP.
//!
//! It owns the store, the clock, the bus, the key cache, presence, rate limits, files, webhooks and the background
//! workers, and it offers the operations ([`ops`]): one async function for each thing that a client can do, from wire
//! type to wire type. Every surface (REST, MCP, pages) calls the same operations. This crate never knows about HTTP
//! requests, MCP messages or their wording.

mod callers;
mod clock;
pub mod cluster;
pub mod config;
mod db;
mod delivery;
mod effects;
mod error;
pub mod files;
mod hub;
mod nearest;
pub mod ops;
pub mod remotes;
mod signing;
pub mod start;
mod tls;
mod upkeep;

pub use callers::caller::{Address, Caller, IdempotentRequest};
pub use callers::completion::RunToCompletion;
pub use callers::keys::Access;
pub use callers::replay::Replay;
pub use callers::{budget, rates};
pub use clock::Clock;
pub use cluster::Cluster;
pub use config::Config;
pub use db::{Answer, Db, UseCase};
pub use delivery::liveness::Liveness;
pub use delivery::{bus, feed, webhooks};
pub use error::Error;
pub use hub::{Hub, HubParts};
pub use nearest::nearest;
pub use ops::paging::{self, Listed};
pub use start::token;
pub use upkeep::{backup, gc, metrics, plot_counts};

pub use budget::{Budget, Held, Holder, RequestMemory};
