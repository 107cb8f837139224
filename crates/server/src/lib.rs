//! The server: every surface on one hub, its settings and its life from start to drain.
//!
//! Handlers parse, call one use case of `tandem-app` and render. No rule about tasks, agents or
//! connections lives here.

mod accounts;
pub mod backup;
pub mod bus;
pub mod clock;
pub mod config;
mod files;
pub mod gc;
mod housekeeping;
pub mod http;
pub mod hub;
mod keys;
pub mod logs;
pub mod mcp;
pub mod metrics;
mod presence;
pub mod push;
pub mod rates;
pub mod rest;
pub mod start;
mod timer;
mod web;
pub mod webhooks;

pub use clock::Clock;
pub use config::Config;
pub use start::{Started, listen, open, open_with, run};
