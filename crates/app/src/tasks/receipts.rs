//! What a party has seen of a task: read, and acknowledged.

use tandem_core::events::EventKind;
use tandem_core::messages::Message;
use tandem_core::{AgentId, MessageId, Now, Refusal, Role, Task, TaskId, Timestamp};
use tandem_store::messages::{self, For};
use tandem_store::{Tx, tasks as rows};

use super::{lease, on_task};
use crate::Error;
use crate::events::{Event, tell, tell_all};

/// How many messages one reading gives.
const READ_MAX: i64 = 1_000;
/// How many messages one event names.
const NAMED_MAX: usize = 500;

/// The messages for a role, from after a number.
fn for_role<'a>(task: &'a Task, role: Role, after: i64) -> For<'a> {
    For { task: &task.id, initiator: &task.initiator, target: role == Role::Target, after }
}

/// What any act of a party on a task says besides: it has seen everything so far, and it is alive. The caller
/// writes the task back.
pub(crate) fn present(tx: &mut Tx<'_>, task: &mut Task, role: Role, now: &Now) -> Result<(), Error> {
    if task.has_outstanding(role)
        && let Some(side) = task.side(role)
    {
        messages::mark_acknowledged(tx, for_role(task, role, side.acked), now.at)?;
    }
    let all = task.message_count;
    if let Some(side) = task.side_mut(role) {
        (side.acked, side.read) = (all, all);
        (side.unread, side.unread_since) = (0, None);
    }
    if role == Role::Target {
        task.acknowledged_at.get_or_insert(now.at);
        lease::renew(tx, task, now)?;
    }
    Ok(())
}

/// What a party had not read.
#[derive(Debug, Clone)]
pub struct Read {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// How many are left.
    pub unread: i64,
}

/// Gives the caller what it has not read, and marks it as read; the author is told.
pub fn read(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Read, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        let Some(from) = task.side(role).map(|side| side.read) else { return Err(Error::NotFound("task")) };
        let mut found = messages::unread(tx, for_role(&task, role, from), READ_MAX)?;
        let Some(to) = found.last().map(|last| last.number) else {
            return Ok(Read { messages: found, unread: 0 });
        };
        messages::mark_read(tx, for_role(&task, role, from), to, now.at)?;
        for message in &mut found {
            message.read_at = Some(now.at);
        }
        let ids = found.iter().map(|message| message.id.clone()).collect();
        tell_receipts(tx, &task, role, EventKind::MessageRead, ids, now)?;
        let mut unread = 0;
        if let Some(side) = task.side_mut(role) {
            side.read = to;
            side.unread = (side.unread - i64::try_from(found.len()).unwrap_or(0)).max(0);
            if side.unread == 0 {
                side.unread_since = None;
            }
            unread = side.unread;
        }
        rows::update_thread(tx, &task)?;
        Ok(Read { messages: found, unread })
    })
}

/// What was acknowledged.
#[derive(Debug, Clone)]
pub struct Acknowledged {
    /// The messages, oldest first.
    pub messages: Vec<MessageId>,
    /// When the task's target first acknowledged it.
    pub task_at: Option<Timestamp>,
}

/// Acknowledges everything outstanding: the other party's messages and, for the target, the task itself. The
/// author is told.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Acknowledged, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        if role == Role::Target && task.position().held {
            return Err(Refusal::ApprovalPending.into());
        }
        let acked = task.side(role).map_or(0, |side| side.acked);
        let outstanding = if task.has_outstanding(role) {
            messages::unacknowledged(tx, for_role(&task, role, acked))?
        } else {
            Vec::new()
        };
        let first = role == Role::Target && task.acknowledged_at.is_none();
        present(tx, &mut task, role, now)?;
        if first || !outstanding.is_empty() {
            let kind = EventKind::MessageAcknowledged;
            tell_receipts(tx, &task, role, kind, outstanding.clone(), now)?;
            task.updated_at = now.at.max(task.updated_at);
        }
        rows::update_thread(tx, &task)?;
        Ok(Acknowledged { messages: outstanding, task_at: task.acknowledged_at })
    })
}

/// Tells the author what became of its messages; of the task alone, if there are none.
fn tell_receipts(
    tx: &mut Tx<'_>,
    task: &Task,
    by: Role,
    kind: EventKind,
    ids: Vec<MessageId>,
    now: &Now,
) -> Result<(), Error> {
    let reader = task.party(by).map(|party| party.0.as_str());
    let event = |ids: &[MessageId]| {
        let ids: Vec<&str> = ids.iter().map(MessageId::as_str).collect();
        Event::on_task(kind, task, task.party(by)).with("messageIds", ids).with("byAgentId", reader)
    };
    let author = task.other(by).0;
    if ids.is_empty() {
        tell(tx, author, event(&[]), now)?;
        return Ok(());
    }
    tell_all(tx, author, ids.chunks(NAMED_MAX).map(event).collect(), now)?;
    Ok(())
}
