//! Due work: found by its time, claimed by a lease, and handled once.

use tandem_core::Now;
use tandem_core::deadlines::{Deadline, Due, Facts};
use tandem_core::events::EventKind;
use tandem_core::{Role, Task};
use tandem_store::{Tx, deadlines as rows, messages, tasks as task_rows};

use crate::Error;
use crate::events::{Event, tell};
use crate::tasks;

/// How many deadlines one pass looks at.
const BATCH: i64 = 200;
/// How long a claim is good for; if its holder is gone by then, another handles it.
const CLAIM_SECONDS: i64 = 5;

/// Whether there is anything to claim.
pub fn any_due(tx: &mut Tx<'_>, now: &Now) -> Result<bool, Error> {
    Ok(rows::any_due(tx, now.at)?)
}

/// What one pass found.
#[derive(Debug, Clone, Default)]
pub struct Claimed {
    /// What has to be handled, and that no other node handles too.
    pub deadlines: Vec<Deadline>,
    /// Whether there may be more that is due.
    pub more: bool,
}

/// Claims what is due. Most deadlines have lost their meaning when they come, because somebody did in time what
/// they watched for; those go at once.
pub fn claim(tx: &mut Tx<'_>, now: &Now) -> Result<Claimed, Error> {
    let due = rows::due(tx, now.at, BATCH)?;
    let more = i64::try_from(due.len()).unwrap_or(0) == BATCH;
    let mut claimed = Claimed { deadlines: Vec::new(), more };
    for (deadline, facts) in due {
        if facts.is_some_and(|facts| deadline.holds(&facts, now.at)) {
            rows::claim(tx, &deadline, now.at.plus_seconds(CLAIM_SECONDS))?;
            claimed.deadlines.push(deadline);
        } else {
            rows::remove(tx, &deadline)?;
        }
    }
    Ok(claimed)
}

/// Handles a deadline that has been claimed, unless it has lost its meaning since.
pub fn meet(tx: &mut Tx<'_>, deadline: &Deadline, now: &Now) -> Result<(), Error> {
    if !rows::remove(tx, deadline)? {
        return Ok(());
    }
    let Some(mut task) = task_rows::find(tx, &deadline.task)? else { return Ok(()) };
    let message = match deadline.number {
        0 => None,
        number => messages::numbered(tx, &task.id, number)?,
    };
    let facts = Facts {
        status: task.status,
        approval: task.approval,
        attempt: task.attempt,
        made_at: task.created_at,
        acknowledged_at: task.acknowledged_at,
        expires_at: task.expires_at,
        lease_until: task.lease_until,
        message_waits: message.as_ref().is_some_and(|message| message.acknowledged_at.is_none()),
    };
    if !deadline.holds(&facts, now.at) {
        return Ok(());
    }
    match (deadline.due, message) {
        (Due::Expiry, _) => tasks::expire(tx, &[task.id], now),
        (Due::Lease, _) => tasks::stall(tx, &mut task, now),
        (Due::CheckIn, None) => tell_silence(tx, &task, Role::Target, None, now),
        (Due::CheckIn, Some(message)) => {
            let by_initiator = message.sender.as_ref() == Some(&task.initiator);
            let silent = if by_initiator { Role::Target } else { Role::Initiator };
            tell_silence(tx, &task, silent, Some(&message.id), now)
        }
    }
}

/// Tells the author of a message, or of the task itself, that the other party has not acknowledged it.
fn tell_silence(
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
    tell(tx, task.other(silent).0, event, now)?;
    Ok(())
}
