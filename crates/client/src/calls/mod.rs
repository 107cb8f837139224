//! One method per route, in a file per noun.

mod admin;
mod agents;
mod connections;
mod events;
mod files;
mod guests;
mod mcp;
mod messages;
mod networks;
mod remotes;
mod system;
mod tasks;
mod webhooks;

pub use agents::Download;
pub use mcp::McpAnswer;
