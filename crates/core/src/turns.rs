//! What a task waits for, and whose turn it is therefore. For people: agents read `nextStatuses`.

use crate::moves::{Role, Status};
use crate::tasks::Task;
use crate::time::Timestamp;

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Its initiator publishes it.
    Publication,
    /// The owner of its target lets it in.
    Approval,
    /// Its target takes it.
    Taking,
    /// Its target works.
    Work,
    /// Its target works, but has given no sign of life in time.
    Sign,
    /// Its initiator answers a question.
    Answer,
    /// Its initiator authorises something.
    Authorisation,
    /// Its initiator accepts the result.
    Acceptance,
    /// Its initiator raises the budget of messages.
    Budget,
    /// Its target goes on after an answer.
    Resumption,
    /// Nothing: it has ended.
    End,
}

impl Waits {
    /// Who has to act before it goes on. A target that works is not waited for, and of one that is silent its initiator
    /// decides what happens.
    #[must_use]
    pub const fn on(self) -> Option<Role> {
        match self {
            Self::Publication
            | Self::Sign
            | Self::Answer
            | Self::Authorisation
            | Self::Acceptance
            | Self::Budget => Some(Role::Initiator),
            Self::Approval | Self::Taking | Self::Resumption => Some(Role::Target),
            Self::Work | Self::End => None,
        }
    }

    /// Whether a person of this role has to act. A task that waits to be taken waits for the agent, not for its owner.
    #[must_use]
    pub fn needs(self, role: Role) -> bool {
        !matches!(self, Self::Taking | Self::Resumption | Self::Publication) && self.on() == Some(role)
    }
}

impl Task {
    /// What it waits for.
    #[must_use]
    pub fn waits(&self) -> Waits {
        match self.status {
            Status::Draft => Waits::Publication,
            Status::Submitted if self.position().held => Waits::Approval,
            Status::Submitted => Waits::Taking,
            Status::Working if self.lease.stalled_at.is_some() => Waits::Sign,
            Status::Working => Waits::Work,
            Status::InputRequired if self.counts.spoken >= self.terms.max_messages => Waits::Budget,
            Status::InputRequired | Status::AuthRequired if self.is_answered() => Waits::Resumption,
            Status::InputRequired if self.requires_review && self.attempt.result.is_some() => {
                Waits::Acceptance
            }
            Status::InputRequired => Waits::Answer,
            Status::AuthRequired => Waits::Authorisation,
            _ => Waits::End,
        }
    }

    /// Whether its initiator has had the last word since it began to wait for that.
    fn is_answered(&self) -> bool {
        let said = self.initiator_side.said;
        self.asked_after.is_some_and(|asked| said > asked) && said > self.target_side.said
    }

    /// When the target of a silent task gave its last sign of life.
    #[must_use]
    pub fn silent_since(&self) -> Option<Timestamp> {
        let lease = self.terms.lease_seconds.unwrap_or(0);
        self.lease.stalled_at.filter(|_| self.status == Status::Working).map(|at| at.plus_seconds(-lease))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_one_party_whose_turn_it_is() {
        use Waits::{
            Acceptance, Answer, Approval, Authorisation, Budget, End, Publication, Resumption, Sign, Taking,
            Work,
        };
        for waits in [Publication, Sign, Answer, Authorisation, Acceptance, Budget] {
            assert_eq!(waits.on(), Some(Role::Initiator), "{waits:?}");
        }
        for waits in [Approval, Taking, Resumption] {
            assert_eq!(waits.on(), Some(Role::Target), "{waits:?}");
        }
        for waits in [Work, End] {
            assert_eq!(waits.on(), None, "{waits:?}");
        }
        // An agent takes its tasks and goes on by itself; a draft is nobody's urgent business.
        for waits in [Publication, Taking, Resumption, Work, End] {
            assert!(!waits.needs(Role::Initiator) && !waits.needs(Role::Target), "{waits:?}");
        }
        assert!(Approval.needs(Role::Target) && !Approval.needs(Role::Initiator));
        assert!(Answer.needs(Role::Initiator) && !Answer.needs(Role::Target));
    }
}
