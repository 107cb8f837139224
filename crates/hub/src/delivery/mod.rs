//! From a committed event to its recipient: wake-ups, streams that read the event log, webhooks, and the marks that say how
//! far a task has come. Nothing here writes an event.

pub mod bus;
pub mod feed;
pub(crate) mod liveness;
pub(crate) mod marks;
pub mod webhooks;
