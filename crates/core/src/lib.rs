//! The product's rules: ids, checked text, statuses, status changes and the approval gate.
//!
//! Everything here is a pure function of its arguments. There is no I/O, no async and no clock in this
//! crate; functions that need the time take it as a parameter.

pub mod a2a;
mod acts;
pub mod agents;
pub mod approval;
pub mod credits;
pub mod deadlines;
pub mod events;
pub mod files;
pub mod ids;
pub mod loops;
pub mod messages;
pub mod moves;
pub mod networks;
pub mod pairing;
pub mod peer_wakes;
pub mod pushes;
pub mod remotes;
pub mod tasks;
pub mod text;
pub mod time;
pub mod turns;
pub mod wake;
pub mod webhooks;

pub use approval::{Approval, Rule, Verdict, Way};
pub use ids::{
    AgentId, ConnectionId, DeliveryId, FileId, Id, IdSource, MessageId, NetworkId, NodeId, Now, PairingId,
    TaskId,
};
pub use moves::{MOVES, Operation, Refusal, Role, Roles, Standing, Status, StatusChange};
pub use tasks::Task;
pub use time::Timestamp;
pub use turns::Waits;
