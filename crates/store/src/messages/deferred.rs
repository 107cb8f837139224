//! Marks of very long threads. What a party acknowledges by an act is true at once, because the act moves the watermark of
//! that party; the rows of the messages are marked afterwards, in batches. Until then a row here says when it was.

use tandem_core::{AgentId, TaskId, Timestamp};

use super::For;
use crate::declare::{delete, insert, read, update};
use crate::table::columns;
use crate::{Error, Tx};

/// Messages that a party has acknowledged and whose rows are not marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deferred {
    pub task: TaskId,
    pub initiator: AgentId,
    /// Whether the target acknowledged them.
    pub for_target: bool,
    /// The messages after this number,
    pub after: i64,
    /// and up to this one.
    pub to: i64,
    pub at: Timestamp,
}

columns! {
    "d", deferred: Deferred {
        task: task_id,
        initiator: initiator_id,
        for_target,
        after: after_number,
        to: to_number,
        at: marked_at,
    }
}

impl Deferred {
    /// The messages that are not marked yet.
    #[must_use]
    pub fn messages(&self) -> For<'_> {
        For { task: &self.task, initiator: &self.initiator, target: self.for_target, after: self.after }
    }
}

pub fn insert(tx: &mut Tx<'_>, deferred: &Deferred) -> Result<(), Error> {
    insert!(deferred_marks { ..deferred: Deferred }).send(tx)
}

/// What is still to be marked on a task, oldest first.
pub fn of_task(tx: &mut Tx<'_>, task: &TaskId) -> Result<Vec<Deferred>, Error> {
    let of_task = read!(Deferred: "deferred_marks d where d.task_id = ?1 order by d.to_number",
        of deferred_marks as d { task_id: 1 });
    of_task.list(tx, &[task.into()])
}

/// A task on which something is still to be marked.
pub fn next_task(tx: &mut Tx<'_>) -> Result<Option<TaskId>, Error> {
    tx.find("select task_id from deferred_marks order by task_id limit 1", &[])
}

/// Notes up to which number the messages are marked.
pub fn advance(tx: &mut Tx<'_>, deferred: &Deferred, marked: i64) -> Result<(), Error> {
    let Deferred { task, for_target, to, .. } = deferred;
    if marked >= *to {
        delete!(deferred_marks where { task_id: task, for_target: *for_target, to_number: *to }).send(tx)
    } else {
        update!(deferred_marks { after_number: marked }
            where { task_id: task, for_target: *for_target, to_number: *to })
        .send(tx)
    }
}

/// Forgets what is to be marked for the target of a task, because it gets another one.
pub fn forget_target(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    delete!(deferred_marks where { task_id: task, for_target: true }).send(tx)
}

/// Forgets what is to be marked on a task that is gone.
pub fn forget(tx: &mut Tx<'_>, task: &TaskId) -> Result<(), Error> {
    delete!(deferred_marks where { task_id: task }).send(tx)
}
