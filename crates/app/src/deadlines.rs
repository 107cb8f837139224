//! Due work: found by its time, claimed by a lease, and handled once.

use tandem_core::Now;
use tandem_core::deadlines::{Deadline, Due};
use tandem_core::events::EventKind;
use tandem_core::{Role, Task};
use tandem_store::{Tx, deadlines as rows, messages, tasks as task_rows};

use crate::Error;
use crate::events::{Event, tell};
use crate::tasks;

/// How many deadlines one pass claims.
pub const BATCH: i64 = 200;
/// How long a claim is good for; if its holder is gone by then, another handles it.
const CLAIM_SECONDS: i64 = 5;

/// Whether there is anything to claim.
pub fn any_due(tx: &mut Tx<'_>, now: &Now) -> Result<bool, Error> {
    Ok(rows::any_due(tx, now.at)?)
}

/// Claims what is due, so that no other node handles it too.
pub fn claim(tx: &mut Tx<'_>, now: &Now) -> Result<Vec<Deadline>, Error> {
    Ok(rows::claim(tx, now.at, now.at.plus_seconds(CLAIM_SECONDS), BATCH)?)
}

/// Handles a deadline that has been claimed. It may have lost its meaning meanwhile: the task decides.
pub fn meet(tx: &mut Tx<'_>, deadline: &Deadline, now: &Now) -> Result<(), Error> {
    if !rows::remove(tx, deadline)? {
        return Ok(());
    }
    let Some(mut task) = task_rows::find(tx, &deadline.task)? else { return Ok(()) };
    if task.attempt != deadline.attempt {
        return Ok(());
    }
    match deadline.due {
        Due::Expiry => tasks::expire(tx, &[task.id], now),
        Due::Lease => tasks::stall(tx, &mut task, now),
        Due::CheckIn if !task.status.is_live() || task.position().held => Ok(()),
        Due::CheckIn if deadline.number == 0 => {
            if task.acknowledged_at.is_some() {
                return Ok(());
            }
            tell_silence(tx, &task, Role::Target, None, now)
        }
        Due::CheckIn => {
            let Some(message) = messages::numbered(tx, &task.id, deadline.number)? else { return Ok(()) };
            if message.acknowledged_at.is_some() {
                return Ok(());
            }
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
