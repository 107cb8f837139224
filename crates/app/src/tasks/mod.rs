//! Tasks: made, published, moved, changed and deleted.

use tandem_core::approval::gate;
use tandem_core::events::EventKind;
use tandem_core::tasks::{Priority, Task};
use tandem_core::text::{Alias, BODY_BYTES_MAX, Body, Reason, SessionKey, Title};
use tandem_core::{AgentId, Now, Refusal, Role, Status, TaskId, Timestamp};
use tandem_store::connections::{self, Reach};
use tandem_store::tasks::{self as rows, Filter, LogLine};
use tandem_store::{Tx, events as event_rows};

mod shift;

use crate::events::{Event, tell};
use crate::{Error, Page};

use shift::write_log;
pub(crate) use shift::{Cause, shift};

/// How many live tasks two agents may have between them.
pub const LIVE_TASKS_MAX: i64 = 10_000;

/// Runs an act on a task that the caller may see; a refusal carries where the task stands.
pub(crate) fn on_task<T>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    act: impl FnOnce(&mut Tx<'_>, Task, Role) -> Result<T, Error>,
) -> Result<T, Error> {
    let task = rows::find(tx, id)?.ok_or(Error::NotFound("task"))?;
    let role = task.role_of(by).ok_or(Error::NotFound("task"))?;
    let standing = task.standing(role);
    act(tx, task, role).map_err(|error| error.on_task(standing))
}

/// The task as the caller sees it.
pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId) -> Result<Task, Error> {
    on_task(tx, by, id, |_, task, _| Ok(task))
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

/// What a new task is made of.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Whom it is for: an id, or the caller's alias.
    pub target: Alias,
    /// What it is called.
    pub title: Title,
    /// What is to be done.
    pub description: Option<Body>,
    /// The client's own id for it.
    pub id: Option<TaskId>,
    /// Whether it waits to be published.
    pub draft: bool,
    /// Whether the initiator accepts the work.
    pub requires_review: bool,
    /// How soon it wants to be looked at.
    pub priority: Priority,
    /// The initiator's own session key.
    pub session_key: Option<SessionKey>,
}

/// Makes a task and, unless it is a draft, publishes it.
pub fn create(tx: &mut Tx<'_>, by: &AgentId, new: &NewTask, now: &Now) -> Result<Task, Error> {
    check_size(new.description.as_ref())?;
    let (target, reach) = resolve(tx, by, &new.target)?;
    if let Some(id) = &new.id
        && rows::exists(tx, id)?
    {
        return Err(Error::IdTaken);
    }
    let mut task = Task {
        id: new.id.clone().unwrap_or_else(|| now.new_id()),
        initiator: by.clone(),
        initiator_name: reach.initiator_name.clone(),
        target,
        target_name: reach.target_name.clone(),
        title: new.title.to_string(),
        description: new.description.as_ref().map(ToString::to_string),
        status: Status::Draft,
        status_reason: None,
        approval: None,
        requires_review: new.requires_review,
        priority: new.priority,
        attempt: 1,
        initiator_session_key: new.session_key.as_ref().map(ToString::to_string),
        target_session_key: None,
        initiator_unread: 0,
        target_unread: 0,
        message_count: 0,
        log_count: 0,
        version: 1,
        queued_at: None,
        pushed_at: None,
        fetched_at: None,
        started_at: None,
        completed_at: None,
        created_at: now.at,
        updated_at: now.at,
    };
    if !new.draft {
        publish(tx, &mut task, &reach, now)?;
    }
    write_log(tx, &mut task, None, by.as_str(), None, now)?;
    rows::insert(tx, &task)?;
    Ok(task)
}

fn check_size(description: Option<&Body>) -> Result<(), Error> {
    match description {
        Some(text) if text.as_str().len() > BODY_BYTES_MAX => Err(Error::TooLarge("description")),
        _ => Ok(()),
    }
}

/// The agent that an id or an alias of the caller's names, if it can be reached.
fn resolve(tx: &mut Tx<'_>, by: &AgentId, named: &Alias) -> Result<(AgentId, Reach), Error> {
    if let Ok(id) = named.as_str().parse::<AgentId>()
        && let Some(reach) = connections::reach(tx, by, &id)?
        && reach.connected
    {
        return Ok((id, reach));
    }
    let id = connections::by_alias(tx, by, named.as_str())?.ok_or(Error::NotConnected)?;
    let reach = reachable(tx, by, &id)?;
    Ok((id, reach))
}

fn reachable(tx: &mut Tx<'_>, by: &AgentId, target: &AgentId) -> Result<Reach, Error> {
    connections::reach(tx, by, target)?.filter(|reach| reach.connected).ok_or(Error::NotConnected)
}

fn check_room(reach: &Reach) -> Result<(), Error> {
    if reach.live_tasks >= LIVE_TASKS_MAX { Err(Error::TooManyOpenTasks(LIVE_TASKS_MAX)) } else { Ok(()) }
}

/// Puts a task before its target: asks the gate, counts it as live and tells the target. The caller
/// writes the task and its log.
fn publish(tx: &mut Tx<'_>, task: &mut Task, reach: &Reach, now: &Now) -> Result<(), Error> {
    check_room(reach)?;
    task.status = Status::Submitted;
    task.approval = gate(reach.target_side, reach.target_default);
    task.queued_at = Some(now.at);
    let kind = if task.position().held { EventKind::TaskApprovalRequired } else { EventKind::TaskCreated };
    let event =
        Event::on_task(kind, task, task.party(Role::Initiator)).with_sender().with("attempt", task.attempt);
    tell(tx, &task.target, event, now)?;
    connections::count_live(tx, &task.initiator, &task.target, 1)?;
    Ok(())
}

/// What a caller changes about a task; what is nothing stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Where it should go.
    pub status: Option<Status>,
    /// Why.
    pub reason: Option<Reason>,
    /// The status the caller saw.
    pub expected: Option<Status>,
    /// The versions the caller would take for the one it saw.
    pub seen: Option<Seen>,
    /// The caller's own session key, or none any more.
    pub session_key: Option<Option<SessionKey>>,
    /// A draft's new title.
    pub title: Option<Title>,
    /// A draft's new description, or none any more.
    pub description: Option<Option<Body>>,
}

/// Changes a task: a draft's text, the caller's session key, the status, in this order and all together.
pub fn change(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, change: &Change, now: &Now) -> Result<Task, Error> {
    on_task(tx, by, id, |tx, mut task, role| {
        if change.expected.is_some_and(|expected| expected != task.status) {
            return Err(Refusal::Conflict.into());
        }
        check_seen(&task, change.seen.as_ref())?;
        check_size(change.description.as_ref().and_then(Option::as_ref))?;
        if (change.title.is_some() || change.description.is_some()) && task.status != Status::Draft {
            return Err(Refusal::InvalidState(task.status).into());
        }
        if let Some(to) = change.status {
            task.position().check(role, to)?;
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
                    check_room(&reachable(tx, &task.initiator, &task.target)?)?;
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

/// Versions of a task, one of which the caller saw.
pub type Seen = Vec<i64>;

fn check_seen(task: &Task, seen: Option<&Seen>) -> Result<(), Error> {
    match seen {
        Some(versions) if !versions.contains(&task.version) => Err(Error::Changed),
        _ => Ok(()),
    }
}

fn edit(task: &mut Task, role: Role, change: &Change) {
    if let Some(title) = &change.title {
        task.title = title.to_string();
    }
    if let Some(description) = &change.description {
        task.description = description.as_ref().map(ToString::to_string);
    }
    if let Some(key) = &change.session_key {
        let key = key.as_ref().map(ToString::to_string);
        match role {
            Role::Initiator => task.initiator_session_key = key,
            Role::Target => task.target_session_key = key,
            Role::Hub => {}
        }
    }
}

fn publish_draft(
    tx: &mut Tx<'_>,
    task: &mut Task,
    by: &AgentId,
    reason: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    let reach = reachable(tx, &task.initiator, &task.target)?;
    publish(tx, task, &reach, now)?;
    task.version += 1;
    task.updated_at = now.at;
    write_log(tx, task, Some(Status::Draft), by.as_str(), reason, now)?;
    Ok(rows::update(tx, task)?)
}

/// Cancels everything live between two agents at the wish of one; tells how many tasks that were.
pub(crate) fn cancel_between(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: &AgentId,
    why: &str,
    now: &Now,
) -> Result<i64, Error> {
    let live = rows::live_between(tx, by, peer, LIVE_TASKS_MAX)?;
    shift::cancel_all(tx, live, peer, why, now)
}

/// Deletes an ended task or a draft, with its thread and its events; tells how many messages went.
/// `seen` are the versions the caller would take for the one it saw, if it says so.
pub fn delete(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, seen: Option<&Seen>) -> Result<u64, Error> {
    on_task(tx, by, id, |tx, task, _| {
        check_seen(&task, seen)?;
        if task.status.is_live() {
            return Err(Refusal::Live.into());
        }
        event_rows::purge_task(tx, &task.id)?;
        Ok(rows::delete(tx, &task.id)?)
    })
}

/// The caller's tasks, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    filter: &Filter,
) -> Result<Page<Task, (Timestamp, TaskId)>, Error> {
    let limit = filter.limit;
    let found = rows::list(tx, by, &Filter { limit: limit + 1, ..filter.clone() })?;
    Ok(Page::cut(found, limit, |task| (task.created_at, task.id.clone())))
}

/// A task's history, oldest first.
pub fn history(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    after: i64,
    limit: i64,
) -> Result<Page<LogLine, i64>, Error> {
    on_task(tx, by, id, |tx, task, _| {
        let found = rows::log_lines(tx, &task.id, after, limit + 1)?;
        Ok(Page::cut(found, limit, |_| after.saturating_add(limit)))
    })
}
