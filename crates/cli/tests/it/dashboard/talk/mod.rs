//! The pages of tasks and approvals, without a browser.

mod actions;
mod gate;
mod person;
mod safety;
mod truth;
