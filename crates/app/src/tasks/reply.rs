//! The target's answer: what it says, and what becomes of the task, at once.

use tandem_core::messages::{Kind, Message};
use tandem_core::{AgentId, Now, Refusal, Role, Status, Task, TaskId};
use tandem_store::{Tx, tasks as rows};

use super::{Cause, Expected, on_task, shift};
use crate::Error;
use crate::messages::{NewMessage, add, check_message, pause_if_spent};

/// What the target makes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// It is done.
    #[default]
    Completed,
    /// It could not be done.
    Failed,
    /// It was given up.
    Cancelled,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct NewReply {
    /// What it says; it becomes the task's result.
    pub message: NewMessage,
    /// What becomes of the task.
    pub outcome: Outcome,
    /// What the target saw.
    pub expected: Expected,
}

/// What came of an answer.
#[derive(Debug, Clone)]
pub struct Replied {
    /// The task.
    pub task: Task,
    /// The message.
    pub message: Message,
    /// Whether the result waits for the initiator instead of completing the task.
    pub for_review: bool,
}

/// What both parties read on work that waits for its initiator.
const FOR_REVIEW: &str = "delivered for review: the initiator completes the task";

/// Answers a task, as its target.
pub fn reply(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewReply,
    now: &Now,
) -> Result<Replied, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        new.expected.check(&task)?;
        check_message(&task, &new.message)?;
        if role != Role::Target {
            return Err(Refusal::NotYourMove.into());
        }
        if task.status == Status::Submitted {
            shift(tx, &mut task, Status::Working, &Cause { by: role, reason: None, did: None }, now)?;
        }
        let message = add(tx, &mut task, role, &new.message, Kind::Reply, now)?;
        task.result = Some(message.content.clone());
        let for_review = new.outcome == Outcome::Completed && task.requires_review;
        let to = match new.outcome {
            Outcome::Completed if for_review => Status::InputRequired,
            Outcome::Completed => Status::Completed,
            Outcome::Failed => Status::Failed,
            Outcome::Cancelled => Status::Cancelled,
        };
        if to == task.status {
            rows::update(tx, &task)?;
        } else {
            task.position().check(role, to)?;
            let cause = Cause { by: role, reason: for_review.then_some(FOR_REVIEW), did: None };
            shift(tx, &mut task, to, &cause, now)?;
        }
        pause_if_spent(tx, &mut task, role, now)?;
        Ok(Replied { task, message, for_review })
    })
}
