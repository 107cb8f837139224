//! One binary with all tests. Each starts the real server on a port of its own, with a database of its
//! own, and the signature of a test says on which databases it runs.

#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "that is how a test fails")]

mod accounts;
mod admin;
mod agents;
mod approvals;
mod backup;
mod bad_input;
mod benchmark;
mod bounds;
mod bridge;
mod browsers;
mod bucket;
mod budget;
mod client;
mod command;
mod config;
mod connections;
mod crash;
mod credits;
mod dashboard;
#[path = "dashboard/net.rs"]
mod dashboard_net;
#[path = "dashboard/net_more.rs"]
mod dashboard_net_more;
#[path = "dashboard/talk/mod.rs"]
mod dashboard_talk;
mod deadlines;
mod encryption;
mod events;
mod files;
mod foreign;
mod harness;
mod hook;
mod hostile;
mod idempotency;
mod inbox;
mod invariants;
mod limits;
mod lists;
mod long_answers;
mod machine;
mod mcp;
mod messages;
mod networks;
mod outages;
mod pages;
mod pairing;
mod properties;
mod push;
mod push_frames;
mod push_resume;
mod receipts;
mod request_ids;
mod retention;
mod runner;
mod serve;
mod setup;
mod startup;
mod store;
mod store_effects;
mod tasks;
mod tidy;
mod updates;
mod wake;
mod walks;
mod webhook_names;
mod webhook_queue;
mod webhook_turns;
mod webhooks;
mod work;
mod writes;
