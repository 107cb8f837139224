//! Read receipts and acknowledgements of a task's messages.

use tandem_core::events::EventKind;
use tandem_core::messages::Message;
use tandem_core::tasks::Unseen;
use tandem_core::text::json_bytes;
use tandem_core::{AgentId, MessageId, Now, Role, Task, TaskId, Timestamp};
use tandem_store::messages::deferred::{self, Deferred};
use tandem_store::messages::{self, For};
use tandem_store::{Tx, tasks as rows};

use super::{lease, on_task};
use crate::Error;
use crate::events::{Event, append_event, append_events};

/// Messages per read request.
const READ_MAX: i64 = 1_000;
/// Messages that one transaction acknowledges on request.
pub const ACKNOWLEDGED_MAX: i64 = 1_000;
/// Message ids per event.
const NAMED_MAX: usize = 500;

/// Selects the messages for a role after a number.
fn for_role<'a>(task: &'a Task, role: Role, after: i64) -> For<'a> {
    For { task: &task.id, initiator: &task.initiator, target: role == Role::Target, after }
}

/// Marks everything on the task as read and acknowledged by this party, and renews the target's lease. Every action
/// of a party on a task implies this. The rows of very many messages are marked by [`mark_deferred`]; until then
/// [`show_marks`] adds what they lack. The caller saves the task.
pub(crate) fn acknowledge_all(tx: &mut Tx<'_>, task: &mut Task, role: Role, now: &Now) -> Result<(), Error> {
    let all = task.counts.messages;
    if task.has_outstanding(role)
        && let Some(side) = task.side(role)
    {
        if all - side.acked > ACKNOWLEDGED_MAX {
            let (initiator, for_target) = (task.initiator.clone(), role == Role::Target);
            let (task, after) = (task.id.clone(), side.acked);
            let deferred = Deferred { task, initiator, for_target, after, to: all, at: now.at };
            deferred::insert(tx, &deferred)?;
        } else {
            messages::mark_acknowledged(tx, for_role(task, role, side.acked), i64::MAX, now.at)?;
        }
    }
    if let Some(side) = task.side_mut(role) {
        (side.acked, side.read) = (all, all);
    }
    task.set_unread(role, 0);
    note_sign_of_life(tx, task, role, now)
}

/// Marks the next of the messages that an act has acknowledged. Returns whether there may be more.
pub fn mark_deferred(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let Some(id) = deferred::next_task(tx)? else { return Ok(false) };
    // The task is locked: what is deferred on it changes with it alone.
    if rows::find(tx, &id)?.is_none() {
        deferred::forget(tx, &id)?;
    } else if let Some(next) = deferred::of_task(tx, &id)?.first() {
        let to = next.to.min(next.after + ACKNOWLEDGED_MAX);
        messages::mark_acknowledged(tx, next.messages(), to, next.at)?;
        deferred::advance(tx, next, to)?;
    }
    Ok(true)
}

/// Adds the marks that the rows of these messages do not have yet.
pub(crate) fn show_marks(tx: &mut Tx<'_>, task: &Task, found: &mut [Message]) -> Result<(), Error> {
    let mut deferred = None;
    for message in found.iter_mut().filter(|message| message.acknowledged_at.is_none()) {
        let Some(sender) = &message.sender else { continue };
        let for_target = *sender == task.initiator;
        let reader = if for_target { &task.target_side } else { &task.initiator_side };
        if message.number > reader.acked {
            continue;
        }
        let deferred = match &mut deferred {
            Some(known) => known,
            None => deferred.insert(deferred::of_task(tx, &task.id)?),
        };
        let covers = |mark: &&Deferred| {
            mark.for_target == for_target && mark.after < message.number && message.number <= mark.to
        };
        if let Some(mark) = deferred.iter().find(covers) {
            message.acknowledged_at = Some(mark.at);
            message.read_at.get_or_insert(mark.at);
        }
    }
    Ok(())
}

/// The target has taken the task, and renews its lease.
fn note_sign_of_life(tx: &mut Tx<'_>, task: &mut Task, role: Role, now: &Now) -> Result<(), Error> {
    if role == Role::Target {
        task.delivery.acknowledged_at.get_or_insert(now.at);
        lease::renew(tx, task, now)?;
    }
    Ok(())
}

/// The same as [`acknowledge_all`] for the messages up to a number. It reads no others, however many there are.
fn acknowledge_until(tx: &mut Tx<'_>, task: &mut Task, role: Role, to: i64, now: &Now) -> Result<(), Error> {
    let Some(side) = task.side(role) else { return Ok(()) };
    let (these, first) = (for_role(task, role, side.acked), side.unseen.first);
    let (unread, unseen) = messages::unread_until(tx, these, to, first.unwrap_or(i64::MAX))?;
    let next = match first {
        Some(first) => messages::next_unseen(tx, for_role(task, role, to), first)?,
        None => None,
    };
    messages::mark_acknowledged(tx, these, to, now.at)?;
    let left = side.unread - unread;
    if let Some(side) = task.side_mut(role) {
        (side.acked, side.read) = (to, side.read.max(to));
        side.unseen = match next {
            Some(_) => Unseen { count: side.unseen.count - unseen, first: next, ..side.unseen },
            None => Unseen::default(),
        };
    }
    task.set_unread(role, left);
    note_sign_of_life(tx, task, role, now)
}

/// Lowers a party's count of unread messages after messages were read or deleted. The caller has marked the messages,
/// and saves the task.
pub(crate) fn take_from_unread(
    tx: &mut Tx<'_>,
    task: &mut Task,
    role: Role,
    count: i64,
) -> Result<(), Error> {
    let Some(side) = task.side(role) else { return Ok(()) };
    let (left, first) = (side.unread - count, side.unseen.first);
    task.set_unread(role, left);
    match first {
        Some(first) if left > 0 => recount_unseen(tx, task, role, first),
        _ => Ok(()),
    }
}

/// Recounts a party's unseen messages whose events have this or a higher number in its log. The caller saves the
/// task.
pub(crate) fn recount_unseen(tx: &mut Tx<'_>, task: &mut Task, role: Role, from: i64) -> Result<(), Error> {
    let read = task.side(role).map_or(0, |side| side.read);
    let unseen = messages::unseen(tx, for_role(task, role, read), from)?;
    if let Some(side) = task.side_mut(role) {
        side.unseen = unseen;
    }
    Ok(())
}

/// Messages that are now marked as read.
#[derive(Debug, Clone)]
pub struct NewlyRead {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Number of messages still unread.
    pub unread: i64,
}

/// Returns the caller's unread messages and marks them as read. The author gets an event.
pub fn read(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<NewlyRead, Error> {
    read_page(tx, by, id, usize::MAX, now)
}

/// The same for the oldest messages whose content has at most this size as JSON, but at least one. The others stay
/// unread.
pub fn read_page(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    bytes_max: usize,
    now: &Now,
) -> Result<NewlyRead, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        let Some(from) = task.side(role).map(|side| side.read) else { return Err(Error::NotFound("task")) };
        let mut found = messages::unread(tx, for_role(&task, role, from), READ_MAX)?;
        let mut bytes = 0_usize;
        let too_much = |message: &Message| {
            bytes = bytes.saturating_add(json_bytes(&message.content));
            bytes > bytes_max
        };
        let fit = found.iter().position(too_much).unwrap_or(found.len());
        found.truncate(fit.max(1));
        let Some(to) = found.last().map(|last| last.number) else {
            return Ok(NewlyRead { messages: found, unread: 0 });
        };
        messages::mark_read(tx, for_role(&task, role, from), to, now.at)?;
        for message in &mut found {
            message.read_at = Some(now.at);
        }
        let author = task.other(role).0;
        let ids = found.iter().filter(|message| message.sender.as_ref() == Some(author));
        let ids: Vec<MessageId> = ids.map(|message| message.id.clone()).collect();
        if !ids.is_empty() {
            append_receipts(tx, &task, role, EventKind::MessageRead, &ids, now)?;
        }
        if let Some(side) = task.side_mut(role) {
            side.read = to;
        }
        take_from_unread(tx, &mut task, role, i64::try_from(found.len()).unwrap_or(0))?;
        let unread = task.side(role).map_or(0, |side| side.unread);
        rows::update_thread(tx, &task)?;
        Ok(NewlyRead { messages: found, unread })
    })
}

/// The result of an acknowledgement.
#[derive(Debug, Clone)]
pub struct Acknowledged {
    /// The acknowledged messages, oldest first.
    pub messages: Vec<MessageId>,
    /// When the target first acknowledged the task.
    pub task_at: Option<Timestamp>,
    /// Whether there are others, which the next transaction acknowledges.
    pub more: bool,
}

/// Acknowledges the other party's messages, the oldest of very many, and, for the target, the task itself. The author gets
/// an event.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Acknowledged, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        task.position().check_acknowledge(role)?;
        let acked = task.side(role).map_or(0, |side| side.acked);
        let mut outstanding = if task.has_outstanding(role) {
            messages::unacknowledged(tx, for_role(&task, role, acked), ACKNOWLEDGED_MAX + 1)?
        } else {
            Vec::new()
        };
        let more = i64::try_from(outstanding.len()).is_ok_and(|count| count > ACKNOWLEDGED_MAX);
        let first = role == Role::Target && task.delivery.acknowledged_at.is_none();
        if more {
            outstanding.pop();
        }
        match outstanding.last() {
            Some((_, _, to)) if more => acknowledge_until(tx, &mut task, role, *to, now)?,
            _ => acknowledge_all(tx, &mut task, role, now)?,
        }
        let author = task.other(role).0;
        let by_author = outstanding.iter().filter(|(_, sender, _)| sender == author);
        let by_author: Vec<MessageId> = by_author.map(|(id, ..)| id.clone()).collect();
        if first || !by_author.is_empty() {
            append_receipts(tx, &task, role, EventKind::MessageAcknowledged, &by_author, now)?;
        }
        if first || !outstanding.is_empty() {
            task.updated_at = now.at.max(task.updated_at);
        }
        rows::update_thread(tx, &task)?;
        let messages = outstanding.into_iter().map(|(id, ..)| id).collect();
        Ok(Acknowledged { messages, task_at: task.delivery.acknowledged_at, more })
    })
}

/// Appends receipt events to the other party's log; one event without message ids if only the task was acknowledged.
/// The caller leaves out messages of a former target, who has no part in the task any more.
fn append_receipts(
    tx: &mut Tx<'_>,
    task: &Task,
    by: Role,
    kind: EventKind,
    ids: &[MessageId],
    now: &Now,
) -> Result<(), Error> {
    let reader = task.party(by).map(|party| party.0.as_str());
    let event = |ids: &[MessageId]| {
        let ids: Vec<&str> = ids.iter().map(MessageId::as_str).collect();
        Event::on_task(kind, task, task.party(by)).with("messageIds", ids).with("byAgentId", reader)
    };
    let author = task.other(by).0;
    if ids.is_empty() {
        append_event(tx, author, event(&[]), now)?;
        return Ok(());
    }
    append_events(tx, author, ids.chunks(NAMED_MAX).map(event).collect(), now)?;
    Ok(())
}
