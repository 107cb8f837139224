//! `/updates`: submitted tasks, pending approvals and unseen messages, answered from indexed state and not from the
//! log.

use std::collections::HashSet;

use tandem_core::events::Subject;
use tandem_core::tasks::is_overdue;
use tandem_core::{AgentId, Now, Role, Status, Task, TaskId};
use tandem_store::events::Cursors;
use tandem_store::updates::{self as rows, News, Thread};
use tandem_store::{Tx, events, tasks as task_rows};

use crate::Error;
use crate::tasks::{recount_unseen, refuse_overdue};

/// Tasks, approvals and threads in one response, each. It shows the newest tasks and the oldest threads, and the
/// cursor then stops before the threads that are not shown. `GET /tasks` and `GET /inbox` page through all.
const SHOWN_MAX: usize = 500;
/// One row more, to detect whether there are others.
const ROWS_MAX: i64 = 501;
/// Log entries that one request with `after` reads.
const ENTRIES_MAX: i64 = 1_000;

/// A thread with unseen messages.
#[derive(Debug, Clone)]
pub struct Unread {
    pub task: TaskId,
    pub title: String,
    /// The agent that created the task.
    pub initiator: AgentId,
    /// Number of unseen messages.
    pub count: i64,
}

/// The state that waits for the caller.
#[derive(Debug, Clone)]
pub struct Updates {
    /// Submitted tasks.
    pub tasks: Vec<News>,
    /// Tasks that need the caller's approval.
    pub approvals: Vec<News>,
    /// Threads with unseen messages.
    pub unread: Vec<Unread>,
    /// The cursor after which messages count as unseen.
    pub since: i64,
    /// Acknowledging this cursor marks all of the above as seen.
    pub cursor: i64,
}

/// Returns all submitted tasks, pending approvals and unseen messages. With `after`, only what a later entry of the
/// caller's log is about; long polls use this.
pub fn check(tx: &mut Tx<'_>, by: &AgentId, after: Option<i64>, now: &Now) -> Result<Updates, Error> {
    let cursors = events::cursors(tx, by)?;
    let mut found = match after {
        None => all(tx, by, cursors)?,
        Some(after) => newer(tx, by, after.min(cursors.last), cursors)?,
    };
    let waiting = found.tasks.iter().chain(&found.approvals);
    let overdue =
        waiting.filter(|task| is_overdue(task.status, task.acknowledged_at, task.expires_at, now.at));
    refuse_overdue(overdue.map(|task| task.task.clone()).collect())?;
    for list in [&mut found.tasks, &mut found.approvals] {
        list.sort_by(|a, b| (a.created_at, &a.task).cmp(&(b.created_at, &b.task)));
        list.drain(..list.len().saturating_sub(SHOWN_MAX));
    }
    Ok(found)
}

fn all(tx: &mut Tx<'_>, by: &AgentId, cursors: Cursors) -> Result<Updates, Error> {
    let since = cursors.updates_acked;
    let (approvals, tasks) = rows::submitted(tx, by, ROWS_MAX)?.into_iter().partition(|task| task.held);
    let mut threads = rows::unseen(tx, by, Role::Initiator, since, ROWS_MAX)?;
    threads.extend(rows::unseen(tx, by, Role::Target, since, ROWS_MAX)?);
    threads.sort_by_key(|thread| thread.first);
    // The cursor must not cover a thread that is not shown.
    let cursor = threads.get(SHOWN_MAX).map_or(cursors.last, |hidden| hidden.first - 1);
    threads.truncate(SHOWN_MAX);
    let unread = threads.into_iter().map(|Thread { task, title, initiator, count, .. }| Unread {
        task,
        title,
        initiator,
        count,
    });
    Ok(Updates { tasks, approvals, unread: unread.collect(), since, cursor })
}

fn newer(tx: &mut Tx<'_>, by: &AgentId, after: i64, cursors: Cursors) -> Result<Updates, Error> {
    let entries = events::after(tx, by, after, ENTRIES_MAX)?;
    let full = i64::try_from(entries.len()).is_ok_and(|count| count == ENTRIES_MAX);
    let cursor = entries.last().filter(|_| full).map_or(cursors.last, |last| last.seq);
    let mut found =
        Updates { tasks: Vec::new(), approvals: Vec::new(), unread: Vec::new(), since: after, cursor };
    // A task may have many log entries, but is shown once. A message on a submitted task does not make it new again.
    let assigned: HashSet<TaskId> = entries
        .iter()
        .filter(|entry| entry.subject().is_some_and(Subject::assigns_task))
        .filter_map(|entry| entry.task.clone())
        .collect();
    let mut known = HashSet::new();
    let about_tasks = entries.into_iter().filter(|entry| entry.subject().is_some_and(Subject::is_for_inbox));
    for id in about_tasks.filter_map(|entry| entry.task).filter(|id| known.insert(id.clone())) {
        let Some(mut task) = task_rows::find(tx, &id)? else { continue };
        let Some(role) = task.role_of(by) else { continue };
        let count = unseen_after(tx, &mut task, role, after, cursors)?;
        let is_new = assigned.contains(&id);
        if count > 0 {
            let (title, initiator) = (task.content.title.clone(), task.initiator.clone());
            found.unread.push(Unread { task: id, title, initiator, count });
        }
        if is_new && role == Role::Target && task.status == Status::Submitted {
            let list = if task.position().held { &mut found.approvals } else { &mut found.tasks };
            list.push(task.into());
        }
    }
    Ok(found)
}

/// Counts a party's unread messages after a log entry.
fn unseen_after(
    tx: &mut Tx<'_>,
    task: &mut Task,
    role: Role,
    after: i64,
    cursors: Cursors,
) -> Result<i64, Error> {
    let count = |task: &Task| task.side(role).map_or(0, |side| side.unseen.count);
    let kept = task.side(role).and_then(|side| side.unseen.first);
    // The stored count starts at the acknowledged cursor. For any other cursor, count again.
    if after < cursors.updates_acked || kept.is_some_and(|first| first <= after) {
        recount_unseen(tx, task, role, after.saturating_add(1))?;
    }
    Ok(count(task))
}

/// The cursor up to which the caller has acknowledged updates.
pub fn acknowledged(tx: &mut Tx<'_>, by: &AgentId) -> Result<i64, Error> {
    Ok(events::cursors(tx, by)?.updates_acked)
}

/// Marks messages up to a cursor as seen. Returns the acknowledged cursor. Submitted tasks and approvals stay listed.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, cursor: i64) -> Result<i64, Error> {
    // The log is locked before the tasks, unlike elsewhere: no message may come between the list of tasks and the change
    // of the cursor. Most acknowledgements are of everything, and then there are no tasks to lock.
    let (before, cursor) = events::acknowledge_updates(tx, by, cursor)?;
    if cursor == before {
        return Ok(before);
    }
    for role in [Role::Initiator, Role::Target] {
        for id in rows::seen_in_part(tx, by, role, before, cursor)? {
            let Some(mut task) = task_rows::find(tx, &id)? else { continue };
            recount_unseen(tx, &mut task, role, cursor + 1)?;
            task_rows::update_thread(tx, &task)?;
        }
    }
    Ok(cursor)
}
