//! What follows from the answers of a remote, and from their absence. A result counts only for the turn that it belongs to.

use tandem_core::remotes::{RemoteTask, SILENCE_MAX_MS};
use tandem_core::webhooks::retry_at;
use tandem_core::{AgentId, Now, Status, Task};
use tandem_store::remotes::{self as rows, tasks as work_rows};
use tandem_store::{Tx, messages, tasks as task_rows};

use super::moves::{Observed, Words, advance, carry_out, fail, reply, tell_sign_of_life};
use super::work::{Act, Work};
use super::{ERROR_CHARS_MAX, cut};
use crate::Error;
use crate::tasks::{acknowledge, mark_pushed};

/// Failed questions after which silence counts: the hub itself may have been away.
const SILENT_QUESTIONS_MIN: i64 = 3;
const SILENT: &str = "the remote agent has not answered for a day";
const UNKNOWN: &str = "the remote agent no longer knows the task";
const UNCLEAR: &str = "nobody knows whether the other side has got it: ";

/// What is known of a task now, if the result still counts: the lease is the holder's, and nobody has taken another turn.
pub(super) fn held(tx: &mut Tx<'_>, holder: &str, work: &Work) -> Result<Option<RemoteTask>, Error> {
    if !rows::is_held(tx, &work.row.agent, holder)? {
        return Ok(None);
    }
    Ok(work_rows::find(tx, &work.row.task)?.filter(|row| row.turn == work.row.turn))
}

/// The task, if it still is this attempt and the remote's.
fn task_of(tx: &mut Tx<'_>, row: &RemoteTask) -> Result<Option<Task>, Error> {
    let task = task_rows::find(tx, &row.task)?;
    Ok(task.filter(|task| task.target == row.agent && task.attempt.number == row.attempt))
}

/// The other side has got through to us.
fn note_heard(tx: &mut Tx<'_>, row: &mut RemoteTask, now: &Now) -> Result<(), Error> {
    (row.is_sending, row.failures, row.heard_at) = (false, 0, now.at);
    let remote = rows::find(tx, &row.agent)?;
    if let Some(mut remote) = remote.filter(|remote| remote.failing_since.is_some()) {
        (remote.failing_since, remote.last_error) = (None, None);
        rows::update(tx, &remote)?;
    }
    Ok(())
}

/// Notes that the other side has taken a task or a message, and what it calls the task. What it says about the task follows.
pub fn note_sent(
    tx: &mut Tx<'_>,
    holder: &str,
    work: &Work,
    (foreign, context): (&str, Option<&str>),
    now: &Now,
) -> Result<bool, Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(false) };
    note_heard(tx, &mut row, now)?;
    if row.foreign_id.as_deref() != Some(foreign) {
        (row.seen, row.artifacts) = (None, Vec::new());
    }
    row.foreign_id = Some(foreign.to_owned());
    row.foreign_context = context.map(ToOwned::to_owned).or(row.foreign_context);
    row.is_ended = false;
    row.sent_to = work.sent_to;
    work_rows::update(tx, &row)?;
    note_taken(tx, &row, work, now)?;
    Ok(true)
}

/// The sender sees that its task has arrived.
fn note_taken(tx: &mut Tx<'_>, row: &RemoteTask, work: &Work, now: &Now) -> Result<(), Error> {
    if task_of(tx, row)?.is_some_and(|task| task.status.is_live()) {
        if matches!(work.act, Act::Start { .. }) {
            mark_pushed(tx, &row.agent, std::slice::from_ref(&row.task), now)?;
        }
        acknowledge(tx, &row.agent, &row.task, now)?;
    }
    Ok(())
}

/// Carries out what the other side says about a task. `is_pushed` says that it will tell us of changes.
pub fn apply(
    tx: &mut Tx<'_>,
    holder: &str,
    work: &Work,
    (observed, is_pushed): (&Observed, bool),
    now: &Now,
) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    let rung_at = row.next_at.filter(|at| Some(*at) != work.row.next_at);
    note_heard(tx, &mut row, now)?;
    row.foreign_context = observed.context.clone().or(row.foreign_context);
    let changed = row.seen.as_ref() != Some(&observed.seen);
    let task = task_of(tx, &row)?;
    let live = task.filter(|task| task.status.is_live());
    if let Some(task) = &live {
        if changed {
            carry_out(tx, task, &mut row, observed, now)?;
        } else {
            tell_sign_of_life(tx, task, None, now)?;
        }
    }
    row.seen = Some(observed.seen.clone());
    row.is_ended |= observed.state.is_end();
    let is_live = task_of(tx, &row)?.is_some_and(|task| task.status.is_live());
    if is_live && has_more(tx, &row, live.as_ref())? {
        row.next_at = Some(now.at);
    } else if row.is_ended {
        row.next_at = None;
    } else {
        row.plan_question(changed, is_pushed, now.at);
        row.next_at = row.next_at.min(rung_at.or(row.next_at));
        if !is_live {
            // It has ended here and not there: it is cancelled there.
            row.next_at = Some(now.at);
        }
    }
    Ok(work_rows::update(tx, &row)?)
}

fn has_more(tx: &mut Tx<'_>, row: &RemoteTask, task: Option<&Task>) -> Result<bool, Error> {
    let (Some(after), Some(task)) = (row.sent_to, task) else { return Ok(false) };
    Ok(messages::next_of_sender(tx, &row.task, &task.initiator, after)?.is_some())
}

/// The other side has answered with words and no task: that is its reply. On a task that it knows, it is a message.
pub fn apply_message(
    tx: &mut Tx<'_>,
    holder: &str,
    work: &Work,
    words: &Words,
    now: &Now,
) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    note_heard(tx, &mut row, now)?;
    row.sent_to = work.sent_to;
    row.next_at = Some(now.at);
    note_taken(tx, &row, work, now)?;
    if let Some(task) = task_of(tx, &row)?.filter(|task| task.status.is_live()) {
        if row.foreign_id.is_some() && !row.is_ended {
            super::moves::say(tx, &task, words, now)?;
        } else {
            reply(tx, &task, words, true, now)?;
            row.next_at = None;
        }
    }
    Ok(work_rows::update(tx, &row)?)
}

/// Why a request has not got through.
#[derive(Debug, Clone)]
pub struct Failure {
    pub why: String,
    /// When the other side wants to be asked again.
    pub retry_after_ms: Option<i64>,
    /// Whether the other side may have taken it nevertheless.
    pub is_unclear: bool,
}

/// Plans the next attempt after a failure, or gives up. `jitter` is a random number from 0 to 1.
pub fn postpone(
    tx: &mut Tx<'_>,
    holder: &str,
    work: &Work,
    (failure, jitter): (&Failure, f64),
    now: &Now,
) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    note_failing(tx, &row.agent, &failure.why, now)?;
    row.failures += 1;
    row.is_sending = false;
    let fails_if_unclear =
        rows::find(tx, &row.agent)?.is_some_and(|remote| remote.terms.on_unclear.as_str() == "fail");
    match work.act {
        Act::Start { .. } | Act::Message { .. } => {
            if failure.is_unclear && fails_if_unclear {
                return fail(tx, &mut row, &format!("{UNCLEAR}{}", failure.why), now);
            }
            let Some(at) = retry_at(row.failures, now.at, jitter) else {
                return fail(tx, &mut row, &format!("could not be sent: {}", failure.why), now);
            };
            row.next_at = Some(at);
        }
        Act::Ask => {
            let is_silent = now.at.ms_since(row.heard_at) >= SILENCE_MAX_MS;
            if is_silent && row.failures >= SILENT_QUESTIONS_MIN {
                return fail(tx, &mut row, SILENT, now);
            }
            // It may have messages to send, which wait no longer than the questions.
            row.plan_question(false, false, now.at);
        }
        Act::Cancel => {
            row.next_at = retry_at(row.failures, now.at, jitter);
            row.is_ended = row.next_at.is_none();
        }
    }
    let wanted = failure.retry_after_ms.map(|pause| now.at.plus_ms(pause));
    row.next_at = row.next_at.map(|at| wanted.map_or(at, |wanted| at.max(wanted)));
    Ok(work_rows::update(tx, &row)?)
}

fn note_failing(tx: &mut Tx<'_>, agent: &AgentId, why: &str, now: &Now) -> Result<(), Error> {
    if let Some(mut remote) = rows::find(tx, agent)? {
        remote.failing_since = remote.failing_since.or(Some(now.at));
        remote.last_error = Some(cut(why, ERROR_CHARS_MAX));
        rows::update(tx, &remote)?;
    }
    Ok(())
}

/// The other side has refused a task or a message for good: the task has failed, with its words.
pub fn refuse(tx: &mut Tx<'_>, holder: &str, work: &Work, why: &str, now: &Now) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    note_heard(tx, &mut row, now)?;
    fail(tx, &mut row, why, now)
}

/// The task is not sent at all.
pub fn reject(tx: &mut Tx<'_>, holder: &str, work: &Work, why: &str, now: &Now) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    (row.is_sending, row.next_at, row.is_ended) = (false, None, true);
    work_rows::update(tx, &row)?;
    match task_of(tx, &row)?.filter(|task| task.status.is_live()) {
        Some(task) => advance(tx, &task, Status::Rejected, Some(why), now),
        None => Ok(()),
    }
}

/// The other side does not know the task.
pub fn forgotten(tx: &mut Tx<'_>, holder: &str, work: &Work, now: &Now) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    note_heard(tx, &mut row, now)?;
    row.is_ended = true;
    fail(tx, &mut row, UNKNOWN, now)
}

/// The other side has cancelled the task, or could not: for us it is over.
pub fn cancelled(tx: &mut Tx<'_>, holder: &str, work: &Work, now: &Now) -> Result<(), Error> {
    let Some(mut row) = held(tx, holder, work)? else { return Ok(()) };
    note_heard(tx, &mut row, now)?;
    row.is_ended = true;
    // What comes next, the row itself says: the task may be there no more, or live again.
    row.next_at = Some(now.at);
    Ok(work_rows::update(tx, &row)?)
}
