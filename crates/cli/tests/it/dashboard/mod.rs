//! The dashboard, without a browser.

mod markdown;
mod person;
mod talk;
mod talk_gate;
mod talk_safety;
