//! The A2A gateway, as a client sees it that knows nothing of the hub.

mod cards;
