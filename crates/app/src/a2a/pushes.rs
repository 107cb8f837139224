//! Pushes to clients of A2A: what a client sets, what is due, and what came of each attempt. Sending is not done here.
//!
//! The steps of a task are the queue: a config remembers the last one that was pushed.

use tandem_core::agents::A2aAccess;
use tandem_core::pushes::{AfterFailure, CONFIGS_MAX, PushConfig, PushReceiver, check_id};
use tandem_core::webhooks::State;
use tandem_core::{AgentId, DeliveryId, Now, Task, TaskId, Timestamp};
use tandem_store::pushes::{self as rows, Due, Progress};
use tandem_store::webhooks::{self as deliveries, Delivery};
use tandem_store::{Effect, Tx, accounts, agents};

use super::{Steps, find, steps};
use crate::tasks::has_way;
use crate::{Error, Invalid, keys};

/// How long a worker has a config.
const LEASE_SECONDS: i64 = 30;
/// How long nothing is tried while one of the two is suspended, or takes no calls.
const PAUSE_SECONDS: i64 = 60;

/// What a client sets.
#[derive(Debug, Clone)]
pub struct NewPush {
    /// The config's id; that of the task if it has none.
    pub id: Option<String>,
    pub receiver: PushReceiver,
    /// Whether the client knows the hub's extension.
    pub extension: bool,
    /// The hub's address, as the client has named it.
    pub base: String,
}

impl NewPush {
    /// Checks all but the address.
    pub fn check(&self) -> Result<(), Invalid> {
        self.receiver.check().map_err(|(field, unfit)| Invalid::field(field, unfit.0))?;
        let id = self.id.as_deref().map_or(Ok(()), check_id);
        id.map_err(|unfit| Invalid::field("id", unfit.0))
    }

    fn id_on<'a>(&'a self, task: &'a TaskId) -> &'a str {
        self.id.as_deref().unwrap_or(task.as_str())
    }
}

/// Refuses a config for which a task has no room.
pub(super) fn check_room(tx: &mut Tx<'_>, task: &TaskId, new: &NewPush) -> Result<(), Error> {
    let configs = rows::list(tx, task, CONFIGS_MAX)?;
    let id = new.id_on(task);
    let is_full = i64::try_from(configs.len()).unwrap_or(i64::MAX) >= CONFIGS_MAX;
    if is_full && configs.iter().all(|config| config.id != id) {
        let why = format!("is one more than the {CONFIGS_MAX} that a task may have; delete one first");
        return Err(Invalid::field("id", why).into());
    }
    Ok(())
}

/// Has the steps after one pushed. A config with the same id is replaced, and goes on where it was.
pub(super) fn set_on(
    tx: &mut Tx<'_>,
    task: &Task,
    new: &NewPush,
    after: i64,
    now: &Now,
) -> Result<PushConfig, Error> {
    check_room(tx, &task.id, new)?;
    let id = new.id_on(&task.id);
    let before = rows::find(tx, &task.id, id)?;
    let config = PushConfig {
        task: task.id.clone(),
        id: id.to_owned(),
        owner: task.initiator.clone(),
        host: task.target.clone(),
        receiver: new.receiver.clone(),
        extension: new.extension,
        base: new.base.clone(),
        set_at: now.at,
        steps: task.steps(),
        pushed: before.as_ref().map_or(after, |before| before.pushed),
        attempts: 0,
        failing_since: None,
    };
    match before {
        Some(_) => rows::update(tx, &config)?,
        None => rows::insert(tx, &config)?,
    }
    tx.after_commit(Effect::PushWanted);
    Ok(config)
}

/// Has what happens to a task from now on pushed.
pub fn set(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    task: &TaskId,
    new: &NewPush,
    now: &Now,
) -> Result<PushConfig, Error> {
    let task = find(tx, by, host, task, now)?;
    // What ends the way to an agent removes the configs at its address.
    if !has_way(tx, by, host)? {
        return Err(Error::NotConnected);
    }
    set_on(tx, &task, new, task.steps(), now)
}

/// A config of a task of the caller's.
pub fn view(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    task: &TaskId,
    id: &str,
    now: &Now,
) -> Result<PushConfig, Error> {
    find(tx, by, host, task, now)?;
    rows::find(tx, task, id)?.ok_or(Error::NotFound("push notification config"))
}

/// All configs of a task of the caller's.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    task: &TaskId,
    now: &Now,
) -> Result<Vec<PushConfig>, Error> {
    find(tx, by, host, task, now)?;
    Ok(rows::list(tx, task, CONFIGS_MAX)?)
}

/// Removes a config of a task of the caller's, if there is one.
pub fn remove(
    tx: &mut Tx<'_>,
    by: &AgentId,
    host: &AgentId,
    task: &TaskId,
    id: &str,
    now: &Now,
) -> Result<(), Error> {
    find(tx, by, host, task, now)?;
    Ok(rows::remove(tx, task, id)?)
}

/// Whether anybody wants anything pushed.
pub fn is_any(tx: &mut Tx<'_>) -> Result<bool, Error> {
    Ok(rows::is_any(tx)?)
}

/// Configs that are due, by their times, from after one of them; without those of some owners.
pub fn due(
    tx: &mut Tx<'_>,
    after: Option<&Due>,
    without: &[AgentId],
    limit: i64,
    now: &Now,
) -> Result<Vec<Due>, Error> {
    Ok(rows::due(tx, now.at, after, without, limit)?)
}

/// Makes due what `holder` had when it was stopped.
pub fn free(tx: &mut Tx<'_>, holder: &str, now: &Now) -> Result<(), Error> {
    Ok(rows::free(tx, holder, now.at)?)
}

/// Takes a config for a worker of `holder`; `None` if there is nothing to do.
pub fn claim(
    tx: &mut Tx<'_>,
    task: &TaskId,
    id: &str,
    holder: &str,
    now: &Now,
) -> Result<Option<PushConfig>, Error> {
    if !rows::lease(tx, task, id, holder, now.at, now.at.plus_seconds(LEASE_SECONDS))? {
        return Ok(None);
    }
    Ok(rows::find(tx, task, id)?)
}

/// What a claimed config has to push.
#[derive(Debug)]
pub enum Waiting {
    /// These steps, if any.
    Steps(Box<Steps>),
    /// Nothing at present: one of the two is suspended, or takes no calls.
    Paused,
    /// Nothing ever again: the client may no longer see the task.
    Gone,
}

/// The steps after one that a config may push at this moment: its owner can still call the agent, and see the task.
pub fn waiting(
    tx: &mut Tx<'_>,
    config: &PushConfig,
    after: i64,
    limit: i64,
    now: &Now,
) -> Result<Waiting, Error> {
    let PushConfig { owner, host, task, .. } = config;
    let (caller, called) = (agents::find_active(tx, owner)?, agents::find_active(tx, host)?);
    let (Some(_), Some(called)) = (caller, called) else {
        let both_open = accounts::is_open(tx, owner)? && accounts::is_open(tx, host)?;
        return Ok(if both_open { Waiting::Paused } else { Waiting::Gone });
    };
    if called.a2a == A2aAccess::Off {
        return Ok(Waiting::Paused);
    }
    if !has_way(tx, owner, host)? {
        return Ok(Waiting::Gone);
    }
    match steps(tx, owner, host, task, after, limit, now) {
        Ok(found) => Ok(Waiting::Steps(Box::new(found))),
        Err(Error::NotFound(_)) => Ok(Waiting::Gone),
        Err(other) => Err(other),
    }
}

/// A step that was tried.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub step: i64,
    /// What kind of step it is, in the delivery log.
    pub event: &'static str,
    /// Status and start of the response body, or the error.
    pub outcome: Result<(u16, String), String>,
    pub took_ms: i64,
    /// Random number from 0 to 1 that spreads the retries.
    pub jitter: f64,
}

impl Attempt {
    #[must_use]
    pub fn delivered(&self) -> bool {
        matches!(self.outcome, Ok((200..=299, _)))
    }
}

/// What came of a turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// In the order in which they were tried. Only the last one may have failed.
    pub attempts: Vec<Attempt>,
    /// Up to where there is nothing left to push.
    pub pushed: i64,
    /// How the receiver behaved.
    pub pace: i64,
    pub end: TurnEnd,
}

/// How a turn ended, but for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// There may be more.
    Done,
    /// There is something to do later.
    Paused,
    /// The client may no longer see the task.
    Gone,
}

/// Records what came of a turn, and gives the config back.
pub fn record(
    tx: &mut Tx<'_>,
    config: &PushConfig,
    holder: &str,
    turn: &Turn,
    now: &Now,
) -> Result<(), Error> {
    let is_held = rows::is_held(tx, &config.task, &config.id, holder)?;
    let mut attempts = config.attempts;
    let mut failing_since = config.failing_since;
    let mut pushed = turn.pushed;
    let mut next_at = now.at;
    let mut is_off = turn.end == TurnEnd::Gone;
    for attempt in &turn.attempts {
        attempts += 1;
        let mut after = None;
        if attempt.delivered() {
            failing_since = None;
        } else {
            let failing = PushConfig { failing_since, ..config.clone() };
            after = Some(failing.after_failure(attempts, now.at, attempt.jitter));
            failing_since = failing_since.or(Some(now.at));
        }
        log(tx, config, attempt, attempts, after, is_held, now)?;
        match after {
            None => attempts = 0,
            Some(AfterFailure::Retry(at)) => next_at = at,
            Some(AfterFailure::GiveUp) => (attempts, pushed) = (0, attempt.step),
            Some(AfterFailure::SwitchOff) => is_off = true,
        }
    }
    if !is_held {
        return Ok(());
    }
    if is_off && is_same(tx, config)? {
        return Ok(rows::remove(tx, &config.task, &config.id)?);
    }
    if turn.end == TurnEnd::Paused {
        next_at = next_at.max(now.at.plus_seconds(PAUSE_SECONDS));
    }
    let progress = Progress { pushed, attempts, failing_since, pace: turn.pace, next_at };
    Ok(rows::release(tx, config, holder, progress, now.at)?)
}

/// Whether a config was not set anew since it was claimed: what its earlier receiver did says nothing about the present one.
fn is_same(tx: &mut Tx<'_>, config: &PushConfig) -> Result<bool, Error> {
    let found = rows::find(tx, &config.task, &config.id)?;
    Ok(found.is_some_and(|found| found.set_at == config.set_at && found.receiver == config.receiver))
}

/// The id of a push: the same over all attempts.
#[must_use]
pub fn delivery_id(config: &PushConfig, step: i64) -> DeliveryId {
    let of = format!("{}\n{}\n{}\n{step}", config.task, config.id, config.set_at.0);
    let id = format!("whd_{}", &keys::hex(&keys::sha256(of.as_bytes()))[..24]);
    id.parse().unwrap_or_else(|_| unreachable!("hexadecimal digits make an id"))
}

const SWITCHED_OFF: &str = "removed after failing for a day; set it again to go on";

/// Writes an attempt into the delivery log of the client.
fn log(
    tx: &mut Tx<'_>,
    config: &PushConfig,
    attempt: &Attempt,
    attempts: i64,
    after: Option<AfterFailure>,
    is_held: bool,
    now: &Now,
) -> Result<(), Error> {
    let id = delivery_id(config, attempt.step);
    let before = deliveries::find_delivery(tx, &config.owner, &id)?;
    // Whoever has it now has counted this attempt; only that it got through is news.
    if !is_held && !attempt.delivered() {
        return Ok(());
    }
    let (answer_status, answer, error) = match &attempt.outcome {
        Ok((status, answer)) => (Some(i64::from(*status)), Some(answer.clone()), None),
        Err(error) => (None, None, Some(error.clone())),
    };
    let retried_at: Option<Timestamp> = match after {
        Some(AfterFailure::Retry(at)) => Some(at),
        _ => None,
    };
    let entry = Delivery {
        id,
        agent: config.owner.clone(),
        event_seq: None,
        event_type: attempt.event.to_owned(),
        url: config.receiver.url.clone(),
        // What was sent is written anew for each attempt, and not kept.
        body: format!("{{\"taskId\":\"{}\",\"step\":{}}}", config.task, attempt.step),
        // Never pending: the worker of the client's webhook would send it there.
        state: if attempt.delivered() { State::Delivered } else { State::Failed },
        attempts,
        next_at: retried_at,
        answered_at: Some(now.at),
        answer_status,
        answer,
        error: if after == Some(AfterFailure::SwitchOff) { Some(SWITCHED_OFF.to_owned()) } else { error },
        took_ms: Some(attempt.took_ms),
        created_at: before.as_ref().map_or(now.at, |before| before.created_at),
        replays: 0,
        task: Some(config.task.clone()),
    };
    match before {
        Some(_) => deliveries::update_delivery(tx, &entry)?,
        None => deliveries::insert(tx, &entry)?,
    }
    Ok(())
}
