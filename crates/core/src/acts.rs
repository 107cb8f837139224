//! Operations on a task beyond a status change: in which status which role may carry them out.
//!
//! Use cases ask before they act, and pages ask to show what is possible. The order of refusals is part of the contract.

use crate::moves::{Position, Refusal, Role, Status};

fn only(allowed: Role, role: Role) -> Result<(), Refusal> {
    if role == allowed { Ok(()) } else { Err(Refusal::NotYourMove) }
}

impl Position {
    /// Approving or rejecting at the gate.
    pub fn check_decision(self, role: Role) -> Result<(), Refusal> {
        only(Role::Target, role)?;
        if self.held { Ok(()) } else { Err(Refusal::InvalidState(self.status)) }
    }

    /// Submitting again to the same target. A draft that was cancelled was never submitted: its target must not learn of
    /// it.
    pub fn check_retry(self, role: Role, was_published: bool) -> Result<(), Refusal> {
        only(Role::Initiator, role)?;
        let has_failed = matches!(self.status, Status::Failed | Status::Cancelled | Status::Expired);
        if was_published && has_failed { Ok(()) } else { Err(Refusal::InvalidState(self.status)) }
    }

    /// Giving the task to another agent.
    pub fn check_reassign(self, role: Role, is_encrypted: bool) -> Result<(), Refusal> {
        only(Role::Initiator, role)?;
        match self.status.is_live() {
            false => Err(Refusal::InvalidState(self.status)),
            true if is_encrypted => Err(Refusal::Encrypted),
            true => Ok(()),
        }
    }

    pub fn check_reply(self, role: Role) -> Result<(), Refusal> {
        self.check_open()?;
        only(Role::Target, role)
    }

    pub fn check_acknowledge(self, role: Role) -> Result<(), Refusal> {
        if role == Role::Target && self.held { Err(Refusal::ApprovalPending) } else { Ok(()) }
    }

    pub fn check_budget_change(self, role: Role) -> Result<(), Refusal> {
        if self.status.is_terminal() {
            return Err(Refusal::Terminal);
        }
        only(Role::Initiator, role)
    }

    pub fn check_delete(self) -> Result<(), Refusal> {
        if self.status.is_live() { Err(Refusal::Live) } else { Ok(()) }
    }
}
