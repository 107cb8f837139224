//! Creating a task, and submitting it to its target.

use tandem_core::approval::gate;
use tandem_core::deadlines::{Deadline, Due};
use tandem_core::events::EventKind;
use tandem_core::ids::has_made_shape;
use tandem_core::tasks::{
    ATTEMPTS_DEFAULT, CheckInSeconds, DeliveryMarks, GateState, Lease, LeaseSeconds, MaxAttempts,
    MaxMessages, OnStall, Priority, REVIEWED_CHECK_IN_SECONDS, Side, Task, TaskAttempt, TaskContent,
    TaskCounts, TaskLinks, Terms, TtlSeconds,
};
use tandem_core::text::{Alias, BODY_BYTES_MAX, Body, ContextId, SessionKey, Title};
use tandem_core::{AgentId, NetworkId, Now, Role, Status, StatusChange, TaskId};
use tandem_seal::CLEAR_TITLE;
use tandem_store::connections::{self, Reach};
use tandem_store::{Tx, deadlines, events as event_rows, messages, tasks as rows};

use super::{Route, find_route, write_log};
use crate::events::{Event, append_event};
use crate::files::{NewFile, add_files, check_quota, checked_files};
use crate::messages::{Sent, announce, pause_if_budget_spent};
use crate::sealed::Sealed;
use crate::{Error, Invalid, remotes};

/// Live tasks between two agents at most.
pub const LIVE_TASKS_MAX: i64 = 10_000;

/// Defaults from the operator's settings.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// Time until an untaken task expires.
    pub ttl_seconds: Option<i64>,
    /// Acknowledgement window; 0 turns it off. `None` gives a window to reviewed tasks only.
    pub check_in_seconds: Option<i64>,
    pub max_messages: i64,
}

#[derive(Debug, Clone)]
pub struct NewTask {
    /// The target: an agent id or the caller's alias for it.
    pub target: Alias,
    pub title: Title,
    /// The work to do.
    pub description: Option<Body>,
    /// An id chosen by the client.
    pub id: Option<TaskId>,
    /// Whether the task stays a draft.
    pub draft: bool,
    /// Whether the initiator has to accept the result.
    pub requires_review: bool,
    /// Order in the target's inbox.
    pub priority: Priority,
    pub session_key: Option<SessionKey>,
    /// Time until an untaken task expires.
    pub ttl_seconds: Option<TtlSeconds>,
    /// Acknowledgement window; 0 turns it off.
    pub check_in_seconds: Option<CheckInSeconds>,
    /// Time within which the target must send a heartbeat while working.
    pub lease_seconds: Option<LeaseSeconds>,
    /// What the hub does when no heartbeat arrives.
    pub on_stall: Option<OnStall>,
    /// Attempts at most when `on_stall` retries.
    pub max_attempts: Option<MaxAttempts>,
    pub max_messages: Option<MaxMessages>,
    pub parent: Option<TaskId>,
    pub network: Option<NetworkId>,
    /// Wrapped keys and signature of an encrypted description.
    pub sealed: Option<Sealed>,
    /// The conversation that it is part of. It is also the caller's session key, unless that is given.
    pub context: Option<ContextId>,
    /// What a client of another protocol sent beside the text.
    pub sent: Option<Sent>,
    /// Files that come with it.
    pub files: Vec<NewFile>,
}

impl NewTask {
    /// A task with only a target and a title.
    #[must_use]
    pub fn plain(target: Alias, title: Title) -> Self {
        Self {
            target,
            title,
            description: None,
            id: None,
            draft: false,
            requires_review: false,
            priority: Priority::Normal,
            session_key: None,
            ttl_seconds: None,
            check_in_seconds: None,
            lease_seconds: None,
            on_stall: None,
            max_attempts: None,
            max_messages: None,
            parent: None,
            network: None,
            sealed: None,
            context: None,
            sent: None,
            files: Vec::new(),
        }
    }

    /// A conversation is read by clients that can neither decrypt nor accept a result.
    fn check_context(&self) -> Result<(), Error> {
        if self.context.is_some() && (self.sealed.is_some() || self.requires_review) {
            return Err(Invalid::field("contextId", "excludes encrypted and requiresReview").into());
        }
        Ok(())
    }

    pub(crate) fn hash(&self) -> Option<&[u8]> {
        self.sent.as_ref().and_then(|sent| sent.hash.as_ref()).map(<[u8; 32]>::as_slice)
    }

    fn initial_session_key(&self) -> Option<String> {
        let given = self.session_key.as_ref().map(ToString::to_string);
        given.or_else(|| self.context.as_ref().map(ToString::to_string))
    }

    fn terms(&self, defaults: &Defaults) -> Terms {
        let by_kind = if self.requires_review { REVIEWED_CHECK_IN_SECONDS } else { 0 };
        let own_window = self.check_in_seconds.map(CheckInSeconds::get);
        Terms {
            ttl_seconds: self.ttl_seconds.map(TtlSeconds::get).or(defaults.ttl_seconds),
            check_in_seconds: own_window.or(defaults.check_in_seconds).unwrap_or(by_kind),
            lease_seconds: self.lease_seconds.map(LeaseSeconds::get),
            on_stall: self.on_stall.unwrap_or(OnStall::Notify),
            max_attempts: self.max_attempts.map_or(ATTEMPTS_DEFAULT, MaxAttempts::get),
            max_messages: self.max_messages.map_or(defaults.max_messages, MaxMessages::get),
        }
    }

    /// The new task, before it is submitted.
    fn task(&self, by: &AgentId, route: &Route, parent_shared: bool, defaults: &Defaults, now: &Now) -> Task {
        Task {
            id: self.id.clone().unwrap_or_else(|| now.new_id()),
            initiator: by.clone(),
            initiator_name: route.reach.initiator_name.clone(),
            target: route.target.clone(),
            target_name: route.reach.target_name.clone(),
            content: self.content(),
            status: Status::Draft,
            status_reason: None,
            status_at: now.at,
            gate: GateState::default(),
            requires_review: self.requires_review,
            priority: self.priority,
            terms: self.terms(defaults),
            attempt: TaskAttempt { number: 1, ..TaskAttempt::default() },
            delivery: DeliveryMarks::default(),
            lease: Lease::default(),
            initiator_side: Side { session_key: self.initial_session_key(), ..Side::default() },
            target_side: Side::default(),
            counts: TaskCounts::default(),
            asked_after: None,
            usage_micro: 0,
            links: TaskLinks {
                parent: self.parent.clone(),
                parent_shared,
                network: route.network.clone(),
                context: self.context.as_ref().map(ToString::to_string),
            },
            foreign: self.sent.as_ref().map(|sent| sent.foreign.clone()).unwrap_or_default(),
            version: 1,
            created_at: now.at,
            updated_at: now.at,
        }
    }

    fn content(&self) -> TaskContent {
        TaskContent {
            title: if self.sealed.is_some() { CLEAR_TITLE.to_owned() } else { self.title.to_string() },
            description: self.description.as_ref().map(ToString::to_string),
            encrypted: self.sealed.is_some(),
            keys: self.sealed.as_ref().map(|sealed| sealed.keys.clone()),
            signature: self.sealed.as_ref().map(|sealed| sealed.signature.clone()),
        }
    }
}

/// Creates a task and, unless it is a draft, submits it.
pub fn create(
    tx: &mut Tx<'_>,
    by: &AgentId,
    new: &NewTask,
    defaults: &Defaults,
    now: &Now,
) -> Result<Task, Error> {
    check_size(new.description.as_ref())?;
    new.check_context()?;
    let files = checked_files(new.sealed.is_some(), &new.files)?;
    expect_locks(tx, by, new)?;
    check_quota(tx, by, &new.files)?;
    let route = find_route(tx, by, &new.target, new.network.as_ref())?;
    if route.reach.is_remote {
        remotes::check_readable(new.sealed.is_some())?;
    }
    if let Some(id) = &new.id {
        if rows::is_id_used(tx, id)? {
            return Err(Error::IdTaken);
        }
        // An id of the hub is known by its form: a model is shown it bare.
        if has_made_shape(id.as_str()) {
            return Err(Invalid::field("id", "has the form of the hub's own ids; choose another one").into());
        }
    }
    let parent_shared = parent_shared(tx, by, &route.target, new.parent.as_ref())?;
    if !new.draft {
        check_limits(&route.reach)?;
    }
    let route = route.hold(tx, by)?;
    let mut task = new.task(by, &route, parent_shared, defaults, now);
    if let Some(sealed) = &new.sealed {
        record_signature(tx, &task.id, sealed)?;
    }
    if !new.draft {
        count_as_live(tx, &task)?;
        submit(tx, &mut task, PUBLISHED, Role::Initiator, &route.reach, now)?;
    }
    write_log(tx, &mut task, None, Role::Initiator, None, now)?;
    if let Some(id) = &new.id {
        rows::use_id(tx, id)?;
    }
    rows::insert(tx, &task, new.hash())?;
    if !files.is_empty() {
        add_files(tx, &mut task, Role::Initiator, &files, now)?;
        rows::update_thread(tx, &task)?;
        pause_if_budget_spent(tx, &mut task, Role::Initiator, now)?;
    }
    Ok(task)
}

/// Says what a new task will lock, as far as the request tells: all of it is then locked in order.
fn expect_locks(tx: &mut Tx<'_>, by: &AgentId, new: &NewTask) -> Result<(), Error> {
    if let Some(parent) = &new.parent {
        rows::expect(tx, parent)?;
    }
    if let Ok(target) = new.target.as_str().parse() {
        connections::expect_pair(tx, by, &target)?;
        if !new.draft {
            event_rows::expect(tx, &target)?;
        }
    }
    Ok(())
}

/// Stores a signature. A signature that the task already has is a replay and is refused.
pub(crate) fn record_signature(tx: &mut Tx<'_>, id: &TaskId, sealed: &Sealed) -> Result<(), Error> {
    if messages::insert_signature(tx, id, &sealed.signature_hash)? { Ok(()) } else { Err(Error::Replayed) }
}

/// Checks that the creator is a party of the parent task. Returns whether the target is one too.
pub(super) fn parent_shared(
    tx: &mut Tx<'_>,
    by: &AgentId,
    target: &AgentId,
    parent: Option<&TaskId>,
) -> Result<bool, Error> {
    let Some(id) = parent else { return Ok(false) };
    let parent = rows::find(tx, id)?.filter(|parent| parent.role_of(by).is_some());
    Ok(parent.ok_or(Error::NotFound("parent task"))?.role_of(target).is_some())
}

pub(super) fn check_size(description: Option<&Body>) -> Result<(), Error> {
    match description {
        Some(text) if text.as_str().len() > BODY_BYTES_MAX => Err(Error::TooLarge("description")),
        _ => Ok(()),
    }
}

/// Checks the limit of live tasks and the caller's credits.
pub(super) fn check_limits(reach: &Reach) -> Result<(), Error> {
    check_live_limit(reach)?;
    check_credits(reach)
}

/// Checks the caller's credits. A task that is live already does not count against the limit again.
pub(super) fn check_credits(reach: &Reach) -> Result<(), Error> {
    if reach.costs_credits && reach.credits_micro <= 0 { Err(Error::NoCredits) } else { Ok(()) }
}

pub(super) fn check_live_limit(reach: &Reach) -> Result<(), Error> {
    if reach.live_tasks.unwrap_or(0) >= LIVE_TASKS_MAX {
        Err(Error::TooManyOpenTasks(LIVE_TASKS_MAX))
    } else {
        Ok(())
    }
}

/// Counts a task as live between its parties. The caller has checked the limits.
pub(super) fn count_as_live(tx: &mut Tx<'_>, task: &Task) -> Result<(), Error> {
    Ok(connections::count_live(tx, &task.initiator, &task.target, 1)?)
}

/// How a draft is published, and a task that was none.
pub(super) const PUBLISHED: StatusChange = StatusChange::Set(Status::Submitted);

/// Submits a task to its target, for the first time or as a new attempt: applies the approval gate, sets the deadlines and
/// appends the event. The caller saves the task and its history. Returns the number of the event in the target's log.
pub(super) fn submit(
    tx: &mut Tx<'_>,
    task: &mut Task,
    change: StatusChange,
    by: Role,
    reach: &Reach,
    now: &Now,
) -> Result<i64, Error> {
    task.change_status(by, change)?;
    if task.is_published() {
        task.begin_again();
    }
    task.gate = GateState { approval: gate(reach.target_side, reach.target_default), note: None };
    task.delivery.queued_at = Some(now.at);
    task.delivery.expires_at = task.terms.ttl_seconds.map(|seconds| now.at.plus_seconds(seconds));
    if let Some(due_at) = task.delivery.expires_at {
        deadlines::insert(tx, &Deadline::on(task, Due::Expiry, 0, due_at))?;
    }
    let held = task.position().held;
    if !held {
        set_check_in(tx, task, 0, task.terms.check_in_seconds, now)?;
    }
    let kind = if held { EventKind::TaskApprovalRequired } else { EventKind::TaskCreated };
    let event = Event::on_task(kind, task, task.party(Role::Initiator)).with("attempt", task.attempt.number);
    let last = append_event(tx, &task.target, event, now)?.last;
    if !held {
        announce(tx, task, now)?;
    }
    Ok(last)
}

/// Sets the deadline for the acknowledgement of a message, or with number 0 of the task. The author is notified when
/// it passes.
pub(crate) fn set_check_in(
    tx: &mut Tx<'_>,
    task: &Task,
    number: i64,
    seconds: i64,
    now: &Now,
) -> Result<(), Error> {
    if seconds == 0 {
        return Ok(());
    }
    let due_at = now.at.plus_seconds(seconds);
    Ok(deadlines::insert(tx, &Deadline::on(task, Due::CheckIn, number, due_at))?)
}
