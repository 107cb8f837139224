//! The pages of tasks and approvals, without a browser.

mod actions;
mod decided;
mod gate;
mod person;
mod safety;
mod truth;
mod turns;
