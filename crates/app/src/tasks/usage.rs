//! What the work has cost, and where it stops.

use tandem_core::credits::Usd;
use tandem_core::{AgentId, Now, Refusal, Role, Status, TaskId};
use tandem_store::{Tx, agents, tasks as rows};

use super::{on_task, pause};
use crate::Error;

/// What came of a report.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// What was taken from the initiator's balance.
    pub deducted: Usd,
    /// What the initiator has left.
    pub credits: Usd,
    /// What has been reported on the task in all.
    pub reported: Usd,
    /// Where the task stands.
    pub status: Status,
    /// Whether it was paused: nothing is left, or as much as a task may cost was reported.
    pub paused: bool,
}

/// Reports what the work has cost, as the target. A target that costs credits is paid from the initiator's
/// balance, as far as that goes. `cap` is how much a task may cost; 0 for any amount.
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
        let paid = agents::find(tx, by)?.is_some_and(|target| target.costs_credits);
        let wanted = if paid { cost.micro() } else { 0 };
        let (deducted, left) = agents::deduct(tx, &task.initiator, wanted)?;
        task.usage_micro = task.usage_micro.saturating_add(cost.micro());
        super::present(tx, &mut task, role, now)?;
        rows::update(tx, &task)?;
        let reported = Usd::from_micro(task.usage_micro);
        let why = if paid && left == 0 {
            Some("its initiator has no credits left".to_owned())
        } else if cap.micro() > 0 && reported >= cap {
            Some(format!("it has cost {reported}, and a task may cost {cap}"))
        } else {
            None
        };
        if let Some(why) = &why {
            pause(tx, &mut task, role, why, now)?;
        }
        Ok(Usage {
            deducted: Usd::from_micro(deducted),
            credits: Usd::from_micro(left),
            reported,
            status: task.status,
            paused: why.is_some(),
        })
    })
}
