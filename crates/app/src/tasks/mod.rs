//! Tasks: create, change, delete and list. Status rules are in `core`; this module applies them.

mod artifacts;
mod create;
mod history;
mod lease;
mod receipts;
mod removal;
mod reply;
mod resubmit;
mod route;
mod status;
mod tree;
mod usage;

use std::collections::BTreeMap;

use tandem_core::tasks::{MaxMessages, Task};
use tandem_core::text::{Body, Reason, SessionKey, Title};
use tandem_core::wake::Rung;
use tandem_core::{AgentId, Now, Refusal, Role, Standing, Status, StatusChange, TaskId, Timestamp, Verdict};
use tandem_store::connections::{self, Cancellation};
use tandem_store::tasks::{self as rows, Count, Filter};
use tandem_store::{Tx, agents, deadlines, pushes};

use crate::messages::pause_if_budget_spent;
use crate::sealed::Sealed;
use crate::{Error, Invalid, Page, decisions, wake};

pub use artifacts::{ARTIFACT_BYTES_MAX, NewArtifact, add_artifact};
pub use create::{Defaults, LIVE_TASKS_MAX, NewTask, create};
pub use history::{history, history_between};
pub use lease::{HeartbeatInput, heartbeat};
pub use receipts::{ACKNOWLEDGED_MAX, Acknowledged, NewlyRead, acknowledge, mark_deferred, read, read_page};
pub(crate) use removal::erase;
pub use removal::{Deleted, ERASED_AT_ONCE, delete, remove_batch};
pub use reply::{NewReply, Outcome, ReplyResult, reply};
pub use resubmit::{reassign, retry};
pub use tree::{TREE_MAX, Tree, tree};
pub use usage::{Usage, report_usage};

use create::{PUBLISHED, check_credits, check_limits, check_live_limit, check_size, count_as_live, submit};
pub(crate) use create::{record_signature, set_check_in};
pub(crate) use lease::{shorten_lease, stall};
pub(crate) use receipts::{acknowledge_all, recount_unseen, show_marks, take_from_unread};
use route::Route;
pub(crate) use route::{find_route, has_way, route_to_target};
use status::write_log;
pub(crate) use status::{Cause, change_status, pause};

/// Runs `act` on a task that the caller may see. An error carries the state of the task.
pub(crate) fn on_task<T>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    now: &Now,
    act: impl FnOnce(&mut Tx<'_>, Task, Role) -> Result<T, Error>,
) -> Result<T, Error> {
    let task = rows::find(tx, id)?.ok_or(Error::NotFound("task"))?;
    let role = task.role_of(by).ok_or(Error::NotFound("task"))?;
    check_not_overdue([&task], now)?;
    let standing = task.standing(role);
    act(tx, task, role).map_err(|error| error.on_task(standing))
}

/// An expired task is never shown with another status. If the timer has not handled it yet, this error makes the
/// caller run [`expire`] and repeat the use case.
pub(crate) fn check_not_overdue<'a>(
    tasks: impl IntoIterator<Item = &'a Task>,
    now: &Now,
) -> Result<(), Error> {
    let overdue = tasks.into_iter().filter(|task| task.is_overdue(now.at)).map(|task| task.id.clone());
    refuse_overdue(overdue.collect())
}

/// The same for ids whose expiry is already known.
pub(crate) fn refuse_overdue(overdue: Vec<TaskId>) -> Result<(), Error> {
    if overdue.is_empty() { Ok(()) } else { Err(Error::Overdue(overdue)) }
}

/// Expires those tasks that their target has not acknowledged in time.
pub fn expire(tx: &mut Tx<'_>, ids: &[TaskId], now: &Now) -> Result<(), Error> {
    // In one order, because each is locked.
    for id in std::collections::BTreeSet::from_iter(ids) {
        let Some(mut task) = rows::find(tx, id)? else { continue };
        if task.is_overdue(now.at) {
            let cause =
                Cause { by: Role::Hub, reason: Some("the target did not take it in time"), verb: None };
            if task.position().held {
                let decision = decisions::about(tx, &task, Verdict::Expired, None, None, now)?;
                decisions::note(tx, &decision)?;
            }
            change_status(tx, &mut task, StatusChange::Set(Status::Expired), &cause, now)?;
        }
    }
    Ok(())
}

/// The status of a task and what the caller may set.
pub fn standing(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Standing, Error> {
    on_task(tx, by, id, now, |_, task, role| Ok(task.standing(role)))
}

/// The titles of those of these tasks that the caller may see, of a hundred at most.
pub fn titles(tx: &mut Tx<'_>, by: &AgentId, ids: &[TaskId]) -> Result<Vec<(TaskId, String)>, Error> {
    match &ids[..ids.len().min(100)] {
        [] => Ok(Vec::new()),
        ids => Ok(rows::titles(tx, by, ids)?),
    }
}

/// A task and, while it is submitted, the number of live tasks that its target has before it.
pub fn view(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<(Task, Option<i64>), Error> {
    let found = rows::find_in_queue(tx, id)?.ok_or(Error::NotFound("task"))?;
    found.task.role_of(by).ok_or(Error::NotFound("task"))?;
    check_not_overdue([&found.task], now)?;
    Ok((found.task, found.ahead))
}

/// Records that these tasks were pushed to their target.
pub fn mark_pushed(tx: &mut Tx<'_>, target: &AgentId, ids: &[TaskId], now: &Now) -> Result<(), Error> {
    for id in ids {
        rows::mark_pushed(tx, id, target, now.at)?;
    }
    Ok(())
}

/// How far a task has come on its way to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryMark {
    pub task: TaskId,
    /// The agent that was its target.
    pub target: AgentId,
    pub pushed_at: Option<Timestamp>,
    pub fetched_at: Option<Timestamp>,
    /// When and how it was shown to a model.
    pub surfaced: Option<(Timestamp, Rung)>,
}

/// Stores marks, in the order of their tasks. One for an earlier target or attempt changes nothing.
pub fn write_delivery_marks(tx: &mut Tx<'_>, marks: &[DeliveryMark]) -> Result<(), Error> {
    let mut worked: BTreeMap<(&AgentId, Rung), Timestamp> = BTreeMap::new();
    for mark in marks {
        if let Some(at) = mark.pushed_at {
            rows::mark_pushed(tx, &mark.task, &mark.target, at)?;
        }
        if let Some(at) = mark.fetched_at {
            rows::mark_fetched(tx, &mark.task, &mark.target, at)?;
        }
        if let Some((at, rung)) = mark.surfaced {
            rows::mark_surfaced(tx, &mark.task, &mark.target, at, rung)?;
            worked.entry((&mark.target, rung)).and_modify(|last| *last = at.max(*last)).or_insert(at);
        }
    }
    for (agent, _) in worked.keys() {
        agents::expect(tx, agent)?;
    }
    for ((agent, rung), at) in worked {
        wake::note_worked(tx, agent, rung, at)?;
    }
    Ok(())
}

/// The validation error for plain content on an encrypted task.
pub(crate) const PLAIN_ON_ENCRYPTED: &str =
    "must be encrypted on this task, with its keys and your signature";

/// Preconditions of a change. The change is refused with a conflict if they do not hold.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    pub status: Option<Status>,
    /// Accepted versions.
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

/// Changes to a task. `None` leaves a field unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub status: Option<Status>,
    pub reason: Option<Reason>,
    pub expected: Expected,
    pub session_key: Option<Option<SessionKey>>,
    /// A new title, for drafts only.
    pub title: Option<Title>,
    /// A new description, for drafts only.
    pub description: Option<Option<Body>>,
    /// Wrapped keys and signature of an encrypted description.
    pub sealed: Option<Sealed>,
    /// A new message budget, set by the initiator.
    pub max_messages: Option<MaxMessages>,
}

/// Changes a draft's text, the caller's session key and the status, in this order and in one transaction.
pub fn change(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, change: &Change, now: &Now) -> Result<Task, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        change.expected.check(&task)?;
        check_plain(&task, change)?;
        check_size(change.description.as_ref().and_then(Option::as_ref))?;
        if (change.title.is_some() || change.description.is_some()) && task.status != Status::Draft {
            return Err(Refusal::InvalidState(task.status).into());
        }
        if change.max_messages.is_some() {
            task.position().check_budget_change(role)?;
        }
        if let Some(to) = change.status {
            task.position().check(role, to)?;
        }
        let route = route_for(tx, &task, change.status)?;
        if let Some(sealed) = &change.sealed {
            record_signature(tx, &task.id, sealed)?;
        }
        let route = route.map(|route| route.hold(tx, &task.initiator)).transpose()?;
        edit(&mut task, role, change);
        let reason = change.reason.as_ref().map(Reason::as_str);
        match (change.status, route) {
            (Some(Status::Submitted), Some(route)) if task.status == Status::Draft => {
                publish_draft(tx, &mut task, &route, reason, now)?;
            }
            (Some(to), _) => {
                let cause = Cause { by: role, reason, verb: None };
                change_status(tx, &mut task, StatusChange::Set(to), &cause, now)?;
            }
            (None, _) => {
                task.version += 1;
                task.updated_at = now.at;
                rows::update(tx, &task)?;
            }
        }
        Ok(task)
    })
}

/// The route that a change needs: to publish a draft, and to reopen a task, which is live again like a new one.
fn route_for(tx: &mut Tx<'_>, task: &Task, to: Option<Status>) -> Result<Option<Route>, Error> {
    let publishes = task.status == Status::Draft && to == Some(Status::Submitted);
    let reopens = task.status.is_terminal() && to.is_some();
    if !publishes && !reopens {
        return Ok(None);
    }
    let route = route_to_target(tx, task)?;
    if publishes {
        check_limits(&route.reach)?
    } else {
        check_live_limit(&route.reach)?
    }
    Ok(Some(route))
}

/// An encrypted draft accepts only an encrypted description, and a plain draft only a plain one.
fn check_plain(task: &Task, change: &Change) -> Result<(), Error> {
    if task.content.encrypted && change.description.is_some() && change.sealed.is_none() {
        return Err(Invalid::field("description", PLAIN_ON_ENCRYPTED).into());
    }
    if !task.content.encrypted && change.sealed.is_some() {
        return Err(Invalid::field("descriptionKeys", "are for encrypted tasks").into());
    }
    Ok(())
}

fn edit(task: &mut Task, role: Role, change: &Change) {
    if let Some(title) = change.title.as_ref().filter(|_| !task.content.encrypted) {
        task.content.title = title.to_string();
    }
    if let Some(sealed) = &change.sealed {
        task.content.keys = Some(sealed.keys.clone());
        task.content.signature = Some(sealed.signature.clone());
    }
    if let Some(description) = &change.description {
        task.content.description = description.as_ref().map(ToString::to_string);
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
    route: &Route,
    reason: Option<&str>,
    now: &Now,
) -> Result<(), Error> {
    count_as_live(tx, task)?;
    submit(tx, task, PUBLISHED, Role::Initiator, &route.reach, now)?;
    task.status_reason = reason.map(Into::into);
    task.version += 1;
    task.updated_at = now.at;
    write_log(tx, task, Some(Status::Draft), Role::Initiator, reason, now)?;
    rows::update(tx, task)?;
    // Its files may have used up its messages.
    pause_if_budget_spent(tx, task, Role::Initiator, now)
}

/// Tasks of an ended relation that one transaction cancels at most.
pub const CANCEL_BATCH: usize = 200;
/// The reason on tasks that are cancelled because their connection ended or a block was set.
const CONNECTION_ENDED: &str = "the connection was ended";

/// Cancels the live tasks between two agents because one of them ended the relation. Returns their number. The first
/// of them are cancelled at once, the rest by [`continue_cancellation`].
pub(crate) fn cancel_between(
    tx: &mut Tx<'_>,
    by: &AgentId,
    peer: &AgentId,
    network_tasks: bool,
    now: &Now,
) -> Result<i64, Error> {
    let ended = Cancellation { by: by.clone(), peer: peer.clone(), network_tasks, ended_at: now.at };
    pushes::remove_between(tx, by, peer, network_tasks)?;
    let live = rows::live_between(tx, by, peer, network_tasks, Timestamp(i64::MAX), LIVE_TASKS_MAX)?;
    let first = live.get(..CANCEL_BATCH).unwrap_or(&live);
    status::cancel_all(tx, first, (by, peer), CONNECTION_ENDED, now)?;
    if first.len() < live.len() {
        connections::insert_cancellation(tx, &ended)?;
    }
    Ok(i64::try_from(live.len()).unwrap_or(i64::MAX))
}

/// Cancels the next tasks of a relation that has ended. Returns whether there may be more.
pub fn continue_cancellation(tx: &mut Tx<'_>, now: &Now) -> Result<bool, Error> {
    let Some(ended) = connections::next_cancellation(tx)? else { return Ok(false) };
    let Cancellation { by, peer, network_tasks, ended_at } = &ended;
    let batch = i64::try_from(CANCEL_BATCH).unwrap_or(i64::MAX);
    let live = rows::live_between(tx, by, peer, *network_tasks, *ended_at, batch)?;
    if live.is_empty() {
        connections::remove_cancellation(tx, &ended)?;
    }
    status::cancel_all(tx, &live, (by, peer), CONNECTION_ENDED, now)?;
    Ok(true)
}

/// Tasks that one listing expires at most.
const OVERDUE_MAX: i64 = 200;

/// The caller's tasks, newest first.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    filter: &Filter,
    now: &Now,
) -> Result<Page<Task, (Timestamp, TaskId)>, Error> {
    let limit = filter.limit;
    if filter.statuses.contains(&Status::Expired) {
        refuse_overdue(deadlines::overdue_of(tx, by, now.at, OVERDUE_MAX)?)?;
    }
    let found = rows::list(tx, by, &Filter { limit: limit + 1, ..filter.clone() })?;
    if let Err(Error::Overdue(mut overdue)) = check_not_overdue(&found.tasks, now) {
        // Expire all overdue tasks of the caller at once; otherwise a short page would find them one by one.
        overdue.extend(deadlines::overdue_of(tx, by, now.at, OVERDUE_MAX)?);
        return Err(Error::Overdue(overdue));
    }
    let mut page = Page::cut(found.tasks, limit, |task| (task.created_at, task.id.clone()));
    page.next = page.next.or(found.stopped_at);
    Ok(page)
}

/// How far a count of tasks goes.
pub const COUNTED_MAX: i64 = 1_000;

/// The caller's tasks by role and status, each counted up to [`COUNTED_MAX`]. Of the ended ones only those created since
/// `since`.
pub fn counts(tx: &mut Tx<'_>, by: &AgentId, since: Timestamp) -> Result<Vec<Count>, Error> {
    Ok(rows::counts(tx, by, since, COUNTED_MAX)?)
}
