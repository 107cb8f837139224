//! The server: all HTTP surfaces of one hub.
//!
//! Handlers parse a request, call one operation of `tandem-hub` and render the response. There are no rules about
//! tasks, agents or connections here.

mod a2a;
pub mod http;
pub mod logs;
pub mod mcp;
pub mod push;
pub mod rest;
mod start;
mod web;

pub use http::serve::GRACE;
pub use start::{ListenError, Server, listen};
