//! Deadlines: found by their due time, claimed with a lease, handled once.

use tandem_core::Now;
use tandem_core::deadlines::{Deadline, Due, Facts};
use tandem_core::events::EventKind;
use tandem_core::{Role, Task};
use tandem_store::{Tx, deadlines as rows, messages, tasks as task_rows};

use crate::Error;
use crate::events::{Event, append_event};
use crate::tasks;

/// Deadlines of each kind per pass.
const BATCH: i64 = 64;
/// The kinds in the order in which a pass handles them. Each has its turn in every pass, so that many of one kind do
/// not delay another.
const KINDS: [Due; 3] = [Due::Expiry, Due::Lease, Due::CheckIn];
/// Lease of a claim. When the holder does not finish in time, another node handles the deadline.
const CLAIM_SECONDS: i64 = 5;

/// Whether anything is due that nobody has claimed, and whether the time of a guest is over.
pub fn any_due(tx: &mut Tx<'_>, now: &Now) -> Result<(bool, bool), Error> {
    Ok(rows::any_due(tx, now.at)?)
}

/// The result of one pass.
#[derive(Debug, Clone, Default)]
pub struct Claimed {
    /// Deadlines that this node must handle now.
    pub deadlines: Vec<Deadline>,
    /// Whether more deadlines may be due.
    pub more: bool,
}

/// Claims the deadlines that are due. Most of them no longer apply, because the awaited action happened in time;
/// those are removed at once.
pub fn claim(tx: &mut Tx<'_>, now: &Now) -> Result<Claimed, Error> {
    let mut claimed = Claimed::default();
    for kind in KINDS {
        let due = rows::due(tx, kind, now.at, BATCH)?;
        claimed.more |= i64::try_from(due.len()).unwrap_or(0) == BATCH;
        for (deadline, facts) in due {
            if facts.is_some_and(|facts| deadline.holds(&facts, now.at)) {
                rows::claim(tx, &deadline, now.at.plus_seconds(CLAIM_SECONDS))?;
                claimed.deadlines.push(deadline);
            } else {
                rows::remove(tx, &deadline)?;
            }
        }
    }
    Ok(claimed)
}

/// Shortens leases that were granted before the clock was set back, as if each had been renewed now. Returns whether there
/// may be more.
pub fn rewind(tx: &mut Tx<'_>, now: &Now) -> Result<bool, Error> {
    let distant = rows::distant_leases(tx, now.at, BATCH)?;
    let more = i64::try_from(distant.len()).is_ok_and(|count| count == BATCH);
    for deadline in distant {
        let task = task_rows::find(tx, &deadline.task)?;
        if rows::remove(tx, &deadline)?
            && let Some(mut task) = task
        {
            tasks::shorten_lease(tx, &mut task, now)?;
        }
    }
    Ok(more)
}

/// Handles a claimed deadline, unless it no longer applies.
pub fn handle(tx: &mut Tx<'_>, deadline: &Deadline, now: &Now) -> Result<(), Error> {
    if !rows::remove(tx, deadline)? {
        return Ok(());
    }
    let Some(mut task) = task_rows::find(tx, &deadline.task)? else { return Ok(()) };
    let mut message = match deadline.number {
        0 => None,
        number => messages::numbered(tx, &task.id, number)?,
    };
    tasks::show_marks(tx, &task, message.as_mut_slice())?;
    let facts = Facts {
        status: task.status,
        approval: task.gate.approval,
        attempt: task.attempt.number,
        made_at: task.created_at,
        acknowledged_at: task.delivery.acknowledged_at,
        expires_at: task.delivery.expires_at,
        lease_until: task.lease.until,
        message_waits: message.as_ref().is_some_and(|message| message.acknowledged_at.is_none()),
    };
    if !deadline.holds(&facts, now.at) {
        return Ok(());
    }
    match (deadline.due, message) {
        (Due::Expiry, _) => tasks::expire(tx, &[task.id], now),
        (Due::Lease, _) => tasks::stall(tx, &mut task, now),
        (Due::CheckIn, None) => append_no_ack(tx, &task, Role::Target, None, now),
        (Due::CheckIn, Some(message)) => {
            let by_initiator = message.sender.as_ref() == Some(&task.initiator);
            let silent = if by_initiator { Role::Target } else { Role::Initiator };
            append_no_ack(tx, &task, silent, Some(&message.id), now)
        }
    }
}

/// Notifies the author of a message, or of the task, that the other party has not acknowledged it.
fn append_no_ack(
    tx: &mut Tx<'_>,
    task: &Task,
    silent: Role,
    message: Option<&tandem_core::MessageId>,
    now: &Now,
) -> Result<(), Error> {
    let who = task.party(silent).map(|party| party.0.as_str());
    let mut event = Event::on_task(EventKind::MessageNoAck, task, None).with("targetAgentId", who);
    if let Some(id) = message {
        event = event.with_message(id);
    }
    append_event(tx, task.other(silent).0, event, now)?;
    Ok(())
}
