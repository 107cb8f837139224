//! The target's reply: a message and a change of status in one step.

use tandem_core::messages::{Kind, Message};
use tandem_core::moves::Position;
use tandem_core::{AgentId, Now, Status, StatusChange, Task, TaskId};
use tandem_store::{Tx, connections, tasks as rows};

use super::{Cause, Expected, change_status, on_task};
use crate::Error;
use crate::messages::{NewMessage, add, check_message, pause_if_budget_spent};

/// The status that the target asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// The work is done.
    #[default]
    Completed,
    /// The work could not be done.
    Failed,
    /// The target gives the task up.
    Cancelled,
}

#[derive(Debug, Clone)]
pub struct NewReply {
    /// The message. Its content becomes the task's result.
    pub message: NewMessage,
    /// The status that the target asks for.
    pub outcome: Outcome,
    pub expected: Expected,
}

#[derive(Debug, Clone)]
pub struct ReplyResult {
    /// The task after the reply.
    pub task: Task,
    pub message: Message,
    /// Whether the initiator has to accept the result first.
    pub for_review: bool,
}

/// The status reason while the initiator has to accept the result.
const FOR_REVIEW: &str = "delivered for review: the initiator completes the task";

/// Replies to a task, as its target.
pub fn reply(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewReply,
    now: &Now,
) -> Result<ReplyResult, Error> {
    new.message.expect(tx)?;
    on_task(tx, by, id, now, |tx, mut task, role| {
        new.expected.check(&task)?;
        check_message(&task, &new.message)?;
        task.position().check_reply(role)?;
        let for_review = new.outcome == Outcome::Completed && task.requires_review;
        let to = match new.outcome {
            Outcome::Completed if for_review => Status::InputRequired,
            Outcome::Completed => Status::Completed,
            Outcome::Failed => Status::Failed,
            Outcome::Cancelled => Status::Cancelled,
        };
        let begins = task.status == Status::Submitted;
        let from = if begins { Status::Working } else { task.status };
        if to != from {
            Position { status: from, ..task.position() }.check(role, to)?;
        }
        // Most replies end the task, which changes the pair's count.
        connections::lock_pair(tx, &task.initiator, &task.target)?;
        new.message.count(tx, &task, now)?;
        if begins {
            change_status(tx, &mut task, StatusChange::Set(Status::Working), &Cause::of(role), now)?;
        }
        let message = add(tx, &mut task, role, &new.message, Kind::Reply, now)?;
        task.attempt.result = Some(message.content.clone());
        if to == task.status {
            rows::update(tx, &task)?;
        } else {
            let cause = Cause { by: role, reason: for_review.then_some(FOR_REVIEW), verb: None };
            change_status(tx, &mut task, StatusChange::Set(to), &cause, now)?;
        }
        // A task delivered for review is already paused, with its own reason.
        if !for_review {
            pause_if_budget_spent(tx, &mut task, role, now)?;
        }
        Ok(ReplyResult { task, message, for_review })
    })
}
