//! New tasks, and how any task comes before its target.

use tandem_core::approval::gate;
use tandem_core::deadlines::{Deadline, Due};
use tandem_core::events::EventKind;
use tandem_core::tasks::{
    ATTEMPTS_DEFAULT, CheckInSeconds, LeaseSeconds, MaxAttempts, MaxMessages, OnStall, Priority, Side, Task,
    Terms, TtlSeconds,
};
use tandem_core::text::{Alias, BODY_BYTES_MAX, Body, SessionKey, Title};
use tandem_core::{AgentId, NetworkId, Now, Role, Status, TaskId};
use tandem_seal::CLEAR_TITLE;
use tandem_store::connections::{self, Reach};
use tandem_store::{Tx, blocks, deadlines, messages, networks, tasks as rows};

use super::write_log;
use crate::Error;
use crate::events::{Event, tell};
use crate::sealed::Sealed;

/// How many live tasks two agents may have between them.
pub const LIVE_TASKS_MAX: i64 = 10_000;

/// What holds for tasks that do not say otherwise: the operator's settings.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// How long a task waits to be taken.
    pub ttl_seconds: Option<i64>,
    /// How soon it should be acknowledged; 0 for never.
    pub check_in_seconds: i64,
    /// How many messages it may have.
    pub max_messages: i64,
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
    /// How long it waits to be taken.
    pub ttl_seconds: Option<TtlSeconds>,
    /// How soon it should be acknowledged.
    pub check_in_seconds: Option<CheckInSeconds>,
    /// How often its target must show a sign of life.
    pub lease_seconds: Option<LeaseSeconds>,
    /// What happens when it does not.
    pub on_stall: Option<OnStall>,
    /// How many attempts it then has.
    pub max_attempts: Option<MaxAttempts>,
    /// How many messages it may have.
    pub max_messages: Option<MaxMessages>,
    /// The task it is part of.
    pub parent: Option<TaskId>,
    /// The network it is sent in.
    pub network: Option<NetworkId>,
    /// The keys and the signature that come with an encrypted description.
    pub sealed: Option<Sealed>,
}

impl NewTask {
    /// A plain task.
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
        }
    }

    fn terms(&self, defaults: &Defaults) -> Terms {
        Terms {
            ttl_seconds: self.ttl_seconds.map(TtlSeconds::get).or(defaults.ttl_seconds),
            check_in_seconds: self.check_in_seconds.map_or(defaults.check_in_seconds, CheckInSeconds::get),
            lease_seconds: self.lease_seconds.map(LeaseSeconds::get),
            on_stall: self.on_stall.unwrap_or(OnStall::Notify),
            max_attempts: self.max_attempts.map_or(ATTEMPTS_DEFAULT, MaxAttempts::get),
            max_messages: self.max_messages.map_or(defaults.max_messages, MaxMessages::get),
        }
    }
}

/// Makes a task and, unless it is a draft, publishes it.
pub fn create(
    tx: &mut Tx<'_>,
    by: &AgentId,
    new: &NewTask,
    defaults: &Defaults,
    now: &Now,
) -> Result<Task, Error> {
    check_size(new.description.as_ref())?;
    let way = way(tx, by, &new.target, new.network.as_ref())?;
    if let Some(id) = &new.id
        && rows::exists(tx, id)?
    {
        return Err(Error::IdTaken);
    }
    let parent_shared = parent_shared(tx, by, &way.target, new.parent.as_ref())?;
    let mut task = Task {
        id: new.id.clone().unwrap_or_else(|| now.new_id()),
        initiator: by.clone(),
        initiator_name: way.reach.initiator_name.clone(),
        target: way.target,
        target_name: way.reach.target_name.clone(),
        title: if new.sealed.is_some() { CLEAR_TITLE.to_owned() } else { new.title.to_string() },
        description: new.description.as_ref().map(ToString::to_string),
        encrypted: new.sealed.is_some(),
        description_keys: new.sealed.as_ref().map(|sealed| sealed.keys.clone()),
        sender_signature: new.sealed.as_ref().map(|sealed| sealed.signature.clone()),
        status: Status::Draft,
        status_reason: None,
        approval: None,
        requires_review: new.requires_review,
        priority: new.priority,
        attempt: 1,
        terms: new.terms(defaults),
        initiator_side: Side {
            session_key: new.session_key.as_ref().map(ToString::to_string),
            ..Side::default()
        },
        target_side: Side::default(),
        message_count: 0,
        spoken_count: 0,
        log_count: 0,
        version: 1,
        queued_at: None,
        pushed_at: None,
        fetched_at: None,
        acknowledged_at: None,
        expires_at: None,
        lease_until: None,
        parent: new.parent.clone(),
        parent_shared,
        network: way.network,
        result: None,
        progress: None,
        progress_note: None,
        usage_micro: 0,
        started_at: None,
        completed_at: None,
        created_at: now.at,
        updated_at: now.at,
    };
    if let Some(sealed) = &new.sealed {
        note_signature(tx, &task.id, sealed)?;
    }
    if !new.draft {
        enter(tx, &task, &way.reach)?;
        hand_over(tx, &mut task, &way.reach, now)?;
    }
    write_log(tx, &mut task, None, by.as_str(), None, now)?;
    rows::insert(tx, &task)?;
    Ok(task)
}

/// No signature is taken twice on a task: a copy of something sealed is not a new message.
pub(crate) fn note_signature(tx: &mut Tx<'_>, id: &TaskId, sealed: &Sealed) -> Result<(), Error> {
    if messages::insert_signature(tx, id, &sealed.signature_hash)? { Ok(()) } else { Err(Error::Replayed) }
}

/// A parent is a task that the creator takes part in; tells whether the target does too.
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

/// How one agent reaches another.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) target: AgentId,
    pub(crate) reach: Reach,
    /// The network through which it does, where that matters.
    pub(crate) network: Option<NetworkId>,
}

/// The way to the agent that an id or an alias of the caller's names; through a network, if it names one.
pub(crate) fn way(
    tx: &mut Tx<'_>,
    by: &AgentId,
    named: &Alias,
    network: Option<&NetworkId>,
) -> Result<Way, Error> {
    if let Some(network) = network
        && !networks::is_member(tx, network, by)?
    {
        return Err(Error::NotFound("network"));
    }
    if let Ok(id) = named.as_str().parse::<AgentId>()
        && let Some(way) = way_between(tx, by, id, network)?
    {
        return Ok(way);
    }
    let aliased = match connections::by_alias(tx, by, named.as_str())? {
        Some(id) => way_between(tx, by, id, network)?,
        None => None,
    };
    aliased.ok_or(if network.is_some() { Error::NotInNetwork } else { Error::NotConnected })
}

/// The way from a task's initiator to its target.
pub(crate) fn way_to(tx: &mut Tx<'_>, task: &Task) -> Result<Way, Error> {
    way_between(tx, &task.initiator, task.target.clone(), None)?.ok_or(Error::NotConnected)
}

/// A connection is a way, and so is a network that both are in, unless one has blocked the other.
fn way_between(
    tx: &mut Tx<'_>,
    by: &AgentId,
    target: AgentId,
    network: Option<&NetworkId>,
) -> Result<Option<Way>, Error> {
    let Some(reach) = connections::reach(tx, by, &target)? else { return Ok(None) };
    if reach.connected && network.is_none() {
        return Ok(Some(Way { target, reach, network: None }));
    }
    if target == *by || (!reach.connected && blocks::between(tx, by, &target)?) {
        return Ok(None);
    }
    let shared = match network {
        Some(network) => networks::is_member(tx, network, &target)?.then(|| network.clone()),
        None => networks::shared(tx, by, &target)?,
    };
    Ok(shared.map(|network| Way { target, reach, network: Some(network) }))
}

/// Whether a task may be put before its target: two agents have only so many live ones, and some cost.
pub(super) fn check_entry(reach: &Reach) -> Result<(), Error> {
    check_room(reach)?;
    if reach.costs_credits && reach.credits_micro <= 0 { Err(Error::NoCredits) } else { Ok(()) }
}

pub(super) fn check_room(reach: &Reach) -> Result<(), Error> {
    if reach.live_tasks >= LIVE_TASKS_MAX { Err(Error::TooManyOpenTasks(LIVE_TASKS_MAX)) } else { Ok(()) }
}

/// Counts a task among the live ones of its parties.
pub(super) fn enter(tx: &mut Tx<'_>, task: &Task, reach: &Reach) -> Result<(), Error> {
    check_entry(reach)?;
    Ok(connections::count_live(tx, &task.initiator, &task.target, 1)?)
}

/// Puts a task before its target: asks the gate, sets its deadlines and tells the target. The caller
/// writes the task and its log.
pub(super) fn hand_over(tx: &mut Tx<'_>, task: &mut Task, reach: &Reach, now: &Now) -> Result<(), Error> {
    task.status = Status::Submitted;
    task.approval = gate(reach.target_side, reach.target_default);
    task.queued_at = Some(now.at);
    task.expires_at = task.terms.ttl_seconds.map(|seconds| now.at.plus_seconds(seconds));
    if let Some(due_at) = task.expires_at {
        deadlines::insert(tx, &Deadline::on(task, Due::Expiry, 0, due_at))?;
    }
    let held = task.position().held;
    if !held {
        set_check_in(tx, task, 0, task.terms.check_in_seconds, now)?;
    }
    let kind = if held { EventKind::TaskApprovalRequired } else { EventKind::TaskCreated };
    let event = Event::on_task(kind, task, task.party(Role::Initiator)).with("attempt", task.attempt);
    tell(tx, &task.target, event, now)?;
    Ok(())
}

/// Has the author told if a message, or with number 0 the task itself, is not acknowledged in time.
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
