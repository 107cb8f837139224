//! The approval gate: whether a published task goes directly to its target or waits for approval.

use crate::messages::words;
use crate::text::Unfit;

words!(
    /// An agent's rule for incoming tasks.
    Rule, "must be auto or require", {
        /// Deliver them at once.
        Auto = "auto",
        /// Hold them until the agent approves.
        Require = "require",
    }
);

words!(
    /// What became of a task that was held at a gate.
    Verdict, "must be approved, rejected or expired", {
        Approved = "approved",
        Rejected = "rejected",
        /// Nobody decided in time.
        Expired = "expired",
    }
);

words!(
    /// By which way somebody acts.
    Way, "must be page, rest or mcp", {
        /// A person, on a page of the dashboard.
        Page = "page",
        /// The HTTP API.
        Rest = "rest",
        /// A tool of MCP.
        Mcp = "mcp",
    }
);

words!(
    /// The decision about one task. A task that was never held has none.
    Approval, "must be pending, approved or rejected", {
        /// Held until the target decides.
        Pending = "pending",
        /// Accepted by the target.
        Approved = "approved",
        /// Declined by the target; the task is cancelled.
        Rejected = "rejected",
    }
);

/// What the gate says to a task being published: the target's side of the connection decides, else the
/// target's default, else it is open.
#[must_use]
pub fn gate(connection: Option<Rule>, default: Option<Rule>) -> Option<Approval> {
    match connection.or(default).unwrap_or(Rule::Auto) {
        Rule::Auto => None,
        Rule::Require => Some(Approval::Pending),
    }
}

/// The approval rule for the accepting side of a connection that was made without a pairing code. The other
/// agent is a stranger from the directory, so its tasks need approval, unless the accepting agent has a default
/// rule of its own.
#[must_use]
pub fn rule_for_a_stranger(default: Option<Rule>) -> Option<Rule> {
    match default {
        Some(_) => None,
        None => Some(Rule::Require),
    }
}
