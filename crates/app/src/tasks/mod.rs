//! Tasks: made, published, moved, changed and deleted.

mod again;
mod create;
mod lease;
mod receipts;
mod reply;
mod shift;
mod tree;
mod usage;

use tandem_core::tasks::{MaxMessages, Task};
use tandem_core::text::{Body, Reason, SessionKey, Title};
use tandem_core::{AgentId, FileId, Now, Refusal, Role, Standing, Status, TaskId, Timestamp};
use tandem_store::tasks::{self as rows, Filter, LogLine};
use tandem_store::{Tx, deadlines, events as event_rows, files};

use crate::sealed::Sealed;
use crate::{Error, Invalid, Page};

pub use again::{reassign, retry};
pub use create::{Defaults, LIVE_TASKS_MAX, NewTask, create};
pub use lease::{Sign, heartbeat};
pub use receipts::{Acknowledged, Read, acknowledge, read};
pub use reply::{NewReply, Outcome, Replied, reply};
pub use tree::{TREE_MAX, Tree, tree};
pub use usage::{Usage, report_usage};

use create::{check_entry, check_room, check_size, enter, hand_over};
pub(crate) use create::{note_signature, set_check_in, way, way_to};
pub(crate) use lease::stall;
pub(crate) use receipts::present;
use shift::write_log;
pub(crate) use shift::{Cause, pause, shift};

/// Runs an act on a task that the caller may see; a refusal carries where the task stands.
pub(crate) fn on_task<T>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    now: &Now,
    act: impl FnOnce(&mut Tx<'_>, Task, Role) -> Result<T, Error>,
) -> Result<T, Error> {
    let task = rows::find(tx, id)?.ok_or(Error::NotFound("task"))?;
    let role = task.role_of(by).ok_or(Error::NotFound("task"))?;
    check_time([&task], now)?;
    let standing = task.standing(role);
    act(tx, task, role).map_err(|error| error.on_task(standing))
}

/// Nobody sees a task that has expired as anything else: if one has and the timer has not come by yet, the
/// whole use case is put off until [`expire`] has been run.
pub(crate) fn check_time<'a>(tasks: impl IntoIterator<Item = &'a Task>, now: &Now) -> Result<(), Error> {
    let overdue = tasks.into_iter().filter(|task| task.is_overdue(now.at)).map(|task| task.id.clone());
    overdue_or(overdue.collect())
}

/// The same for ids that were found to be overdue in another way.
pub(crate) fn overdue_or(overdue: Vec<TaskId>) -> Result<(), Error> {
    if overdue.is_empty() { Ok(()) } else { Err(Error::Overdue(overdue)) }
}

/// Lets tasks expire whose time has run out before anybody took them.
pub fn expire(tx: &mut Tx<'_>, ids: &[TaskId], now: &Now) -> Result<(), Error> {
    for id in ids {
        let Some(mut task) = rows::find(tx, id)? else { continue };
        if task.is_overdue(now.at) {
            let cause = Cause { by: Role::Hub, reason: Some("nobody took it in time"), did: None };
            shift(tx, &mut task, Status::Expired, &cause, now)?;
        }
    }
    Ok(())
}

/// Where the task stands for the caller.
pub fn standing(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Standing, Error> {
    on_task(tx, by, id, now, |_, task, role| Ok(task.standing(role)))
}

/// The task as the caller sees it and, while it waits, how many live tasks its target has before it.
pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<(Task, Option<i64>), Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        let waits = task.status == Status::Submitted;
        let ahead = if waits { Some(rows::ahead(tx, &task)?) } else { None };
        Ok((task, ahead))
    })
}

/// Notes that their target was pushed these tasks.
pub fn mark_pushed(tx: &mut Tx<'_>, target: &AgentId, ids: &[TaskId], now: &Now) -> Result<(), Error> {
    for id in ids {
        rows::mark_pushed(tx, id, target, now.at)?;
    }
    Ok(())
}

/// Notes that their target fetched these tasks.
pub fn mark_fetched(tx: &mut Tx<'_>, target: &AgentId, ids: &[TaskId], now: &Now) -> Result<(), Error> {
    for id in ids {
        rows::mark_fetched(tx, id, target, now.at)?;
    }
    Ok(())
}

/// What is said to plain content where only encrypted is taken.
pub(crate) const PLAIN_ON_ENCRYPTED: &str =
    "must be encrypted on this task, with its keys and your signature";

/// What a caller saw of a task before it acts, if it says so; the act is refused when that is no longer so.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The status it saw.
    pub status: Option<Status>,
    /// Versions, one of which it saw.
    pub versions: Option<Vec<i64>>,
}

impl Expected {
    pub(crate) fn check(&self, task: &Task) -> Result<(), Error> {
        if self.status.is_some_and(|status| status != task.status) {
            return Err(Refusal::Conflict.into());
        }
        match &self.versions {
            Some(versions) if !versions.contains(&task.version) => Err(Error::Changed),
            _ => Ok(()),
        }
    }
}

/// What a caller changes about a task; what is nothing stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Where it should go.
    pub status: Option<Status>,
    /// Why.
    pub reason: Option<Reason>,
    /// What the caller saw.
    pub expected: Expected,
    /// The caller's own session key, or none any more.
    pub session_key: Option<Option<SessionKey>>,
    /// A draft's new title.
    pub title: Option<Title>,
    /// A draft's new description, or none any more.
    pub description: Option<Option<Body>>,
    /// The keys and the signature that come with a draft's encrypted description.
    pub sealed: Option<Sealed>,
    /// How many messages there may be, by the initiator's wish.
    pub max_messages: Option<MaxMessages>,
}

/// Changes a task: a draft's text, the caller's session key, the status, in this order and all together.
pub fn change(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, change: &Change, now: &Now) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        change.expected.check(&task)?;
        check_plain(&task, change)?;
        check_size(change.description.as_ref().and_then(Option::as_ref))?;
        if (change.title.is_some() || change.description.is_some()) && task.status != Status::Draft {
            return Err(Refusal::InvalidState(task.status).into());
        }
        if change.max_messages.is_some() {
            check_budget_change(&task, role)?;
        }
        if let Some(to) = change.status {
            task.position().check(role, to)?;
        }
        if let Some(sealed) = &change.sealed {
            note_signature(tx, &task.id, sealed)?;
        }
        edit(&mut task, role, change);
        let reason = change.reason.as_ref().map(Reason::as_str);
        match change.status {
            Some(Status::Submitted) if task.status == Status::Draft => {
                publish_draft(tx, &mut task, by, reason, now)?;
            }
            Some(to) => {
                if task.status.is_terminal() {
                    // Reopened work needs a way to the other party, as new work does.
                    check_room(&way_to(tx, &task)?.reach)?;
                }
                shift(tx, &mut task, to, &Cause { by: role, reason, did: None }, now)?;
            }
            None => {
                task.version += 1;
                task.updated_at = now.at;
                rows::update(tx, &task)?;
            }
        }
        Ok(task)
    })
}

/// An encrypted draft takes an encrypted description, and nothing else; a plain one a plain one.
fn check_plain(task: &Task, change: &Change) -> Result<(), Error> {
    if task.encrypted && change.description.is_some() && change.sealed.is_none() {
        return Err(Invalid::field("description", PLAIN_ON_ENCRYPTED).into());
    }
    if !task.encrypted && change.sealed.is_some() {
        return Err(Invalid::field("descriptionKeys", "are for encrypted tasks").into());
    }
    Ok(())
}

/// The budget is the initiator's to change, as long as anything can still be said.
fn check_budget_change(task: &Task, role: Role) -> Result<(), Error> {
    if task.status.is_terminal() {
        return Err(Refusal::Terminal.into());
    }
    if role == Role::Initiator { Ok(()) } else { Err(Refusal::NotYourMove.into()) }
}

fn edit(task: &mut Task, role: Role, change: &Change) {
    if let Some(title) = change.title.as_ref().filter(|_| !task.encrypted) {
        task.title = title.to_string();
    }
    if let Some(sealed) = &change.sealed {
        task.description_keys = Some(sealed.keys.clone());
        task.sender_signature = Some(sealed.signature.clone());
    }
    if let Some(description) = &change.description {
        task.description = description.as_ref().map(ToString::to_string);
    }
    if let Some(key) = &change.session_key
        && let Some(side) = task.side_mut(role)
    {
        side.session_key = key.as_ref().map(ToString::to_string);
    }
    if let Some(max) = change.max_messages {
        task.terms.max_messages = max.get();
    }
}

fn publish_draft(
    tx: &mut Tx<'_>,
    task: &mut Task,
    by: &AgentId,
    reason: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    let reach = way_to(tx, task)?.reach;
    enter(tx, task, &reach)?;
    hand_over(tx, task, &reach, now)?;
    task.status_reason = reason.map(Into::into);
    task.version += 1;
    task.updated_at = now.at;
    write_log(tx, task, Some(Status::Draft), by.as_str(), reason, now)?;
    Ok(rows::update(tx, task)?)
}

/// Which tasks between two agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those that came over their connection, and not inside a network.
    OfConnection,
    /// All of them.
    All,
}

/// Cancels what is live between two agents at the wish of one; tells how many tasks that were.
pub(crate) fn cancel_between(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: &AgentId,
    which: Which,
    why: &str,
    now: &Now,
) -> Result<i64, Error> {
    let live = rows::live_between(tx, by, peer, LIVE_TASKS_MAX)?;
    let ends = |task: &Task| which == Which::All || task.network.is_none();
    shift::cancel_all(tx, &live, ends, (by, peer), why, now)
}

/// What went with a task.
#[derive(Debug, Clone, Default)]
pub struct Deleted {
    /// How many messages.
    pub messages: u64,
    /// Which files: the caller removes their bytes.
    pub files: Vec<FileId>,
}

/// Deletes an ended task or a draft, with its thread, its files and its events.
pub fn delete(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    expected: &Expected,
    now: &Now,
) -> Result<Deleted, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        expected.check(&task)?;
        if task.status.is_live() {
            return Err(Refusal::Live.into());
        }
        erase(tx, &task.id)
    })
}

/// Removes a task with everything that belongs to it.
pub(crate) fn erase(tx: &mut Tx<'_>, id: &TaskId) -> Result<Deleted, Error> {
    event_rows::purge_task(tx, id)?;
    let mut deleted = Deleted::default();
    for file in files::of_task(tx, id)? {
        files::remove(tx, &file)?;
        deleted.files.push(file.id);
    }
    deleted.messages = rows::delete(tx, id)?;
    Ok(deleted)
}

/// How many tasks are let expire at once because somebody asks for those that have.
const OVERDUE_MAX: i64 = 200;

/// The caller's tasks, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    filter: &Filter,
    now: &Now,
) -> Result<Page<Task, (Timestamp, TaskId)>, Error> {
    let limit = filter.limit;
    if filter.status == Some(Status::Expired) {
        overdue_or(deadlines::overdue_of(tx, by, now.at, OVERDUE_MAX)?)?;
    }
    let found = rows::list(tx, by, &Filter { limit: limit + 1, ..filter.clone() })?;
    if let Err(Error::Overdue(mut overdue)) = check_time(&found.tasks, now) {
        // And others with them, or a list of one would come upon them one by one.
        overdue.extend(deadlines::overdue_of(tx, by, now.at, OVERDUE_MAX)?);
        return Err(Error::Overdue(overdue));
    }
    let mut page = Page::cut(found.tasks, limit, |task| (task.created_at, task.id.clone()));
    page.next = page.next.or(found.stopped_at);
    Ok(page)
}

/// A task's history, oldest first.
pub fn history(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    after: i64,
    limit: i64,
    now: &Now,
) -> Result<Page<LogLine, i64>, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        let found = rows::log_lines(tx, &task.id, after, limit + 1)?;
        Ok(Page::cut(found, limit, |_| after.saturating_add(limit)))
    })
}
