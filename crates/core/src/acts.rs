//! Operations on a task beyond a status change: in which status which role may carry them out.
//!
//! Use cases ask before they act, and pages ask to show what is possible. The order of refusals is part of the contract.

use crate::moves::{Operation, Position, Refusal, Role};

fn only(allowed: Role, role: Role) -> Result<(), Refusal> {
    if role == allowed { Ok(()) } else { Err(Refusal::NotYourMove) }
}

impl Position {
    /// Approving or rejecting at the gate.
    pub fn check_decision(self, role: Role) -> Result<(), Refusal> {
        self.check_operation(role, Operation::Decline)?;
        if self.held { Ok(()) } else { Err(Refusal::InvalidState(self.status)) }
    }

    /// Submitting again to the same target. A draft that was cancelled was never submitted: its target must not learn of
    /// it.
    pub fn check_retry(self, role: Role, was_published: bool) -> Result<(), Refusal> {
        self.check_operation(role, Operation::Retry)?;
        if was_published { Ok(()) } else { Err(Refusal::InvalidState(self.status)) }
    }

    /// Giving the task to another agent.
    pub fn check_reassign(self, role: Role, is_encrypted: bool) -> Result<(), Refusal> {
        self.check_operation(role, Operation::Reassign)?;
        if is_encrypted { Err(Refusal::Encrypted) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::{OPERATIONS, Status, StatusChange};

    const ROLES: [Role; 3] = [Role::Initiator, Role::Target, Role::Hub];

    #[test]
    fn an_operation_changes_a_status_only_as_its_row_says() {
        for (operation, from, to, roles) in OPERATIONS {
            for status in Status::ALL {
                for role in ROLES {
                    let position = Position { status, reviewed: false, held: false };
                    let expected = match (roles.contains(role), from.contains(&status)) {
                        (false, _) => Err(Refusal::NotYourMove),
                        (true, false) => Err(Refusal::InvalidState(status)),
                        (true, true) => Ok(*to),
                    };
                    let found = position.after(role, StatusChange::By(*operation));
                    assert_eq!(found, expected, "{operation:?} from {status} by {role:?}");
                }
            }
        }
    }

    #[test]
    fn a_retry_and_a_reassignment_need_more_than_their_status() {
        let position = |status| Position { status, reviewed: false, held: false };
        let (failed, working) = (position(Status::Failed), position(Status::Working));
        assert_eq!(failed.check_retry(Role::Initiator, true), Ok(()));
        assert_eq!(failed.check_retry(Role::Initiator, false), Err(Refusal::InvalidState(Status::Failed)));
        assert_eq!(failed.check_retry(Role::Target, true), Err(Refusal::NotYourMove));
        assert_eq!(working.check_reassign(Role::Initiator, false), Ok(()));
        assert_eq!(working.check_reassign(Role::Initiator, true), Err(Refusal::Encrypted));
        assert_eq!(working.check_decision(Role::Target), Err(Refusal::InvalidState(Status::Working)));
    }
}
