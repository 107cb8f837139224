//! The dashboard, without a browser.

mod markdown;
mod talk;
