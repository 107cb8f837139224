//! Reported costs of a task, and the pause when the money is used up.

use tandem_core::credits::Usd;
use tandem_core::{AgentId, Now, Refusal, Role, Status, TaskId};
use tandem_store::{Tx, agents, tasks as rows};

use super::{on_task, pause};
use crate::Error;
use crate::accounts::lock_both;

/// The result of a usage report.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// The amount deducted from the initiator's balance.
    pub deducted: Usd,
    /// The initiator's remaining balance.
    pub credits: Usd,
    /// The total reported on this task.
    pub reported: Usd,
    /// The status after the report.
    pub status: Status,
    /// Whether this report paused the task, because the balance is zero or the task has reached its cap. A task that
    /// already waits for its initiator is not paused again.
    pub paused: bool,
}

/// Reports costs, as the target. If the target costs credits, they are deducted from the initiator's balance, down to
/// zero. `cap` limits the costs of one task; 0 means no limit.
pub fn report_usage(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    cost: Usd,
    cap: Usd,
    now: &Now,
) -> Result<Usage, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        if role != Role::Target {
            return Err(Refusal::NotYourMove.into());
        }
        task.position().check_open()?;
        lock_both(tx, by, &task.initiator)?;
        let paid = agents::find(tx, by)?.is_some_and(|target| target.costs_credits);
        let wanted = if paid { cost.micro() } else { 0 };
        let (deducted, left) = agents::deduct(tx, &task.initiator, wanted)?;
        task.usage_micro = task.usage_micro.saturating_add(cost.micro());
        super::acknowledge_all(tx, &mut task, role, now)?;
        rows::update(tx, &task)?;
        let reported = Usd::from_micro(task.usage_micro);
        let why = if paid && left == 0 {
            Some("the initiator has no credits left".to_owned())
        } else if cap.micro() > 0 && reported >= cap {
            Some(format!("the cost limit of {cap} per task is reached"))
        } else {
            None
        };
        let paused = match &why {
            Some(why) => pause(tx, &mut task, role, why, now)?,
            None => false,
        };
        Ok(Usage {
            deducted: Usd::from_micro(deducted),
            credits: Usd::from_micro(left),
            reported,
            status: task.status,
            paused,
        })
    })
}
