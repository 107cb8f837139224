//! The wake ladder: what programs report about how they can wake an agent.

use tandem_core::agents::Agent;
use tandem_core::wake::{CLAIM_MAX_MS, Rung};
use tandem_core::{AgentId, Now, TaskId, Timestamp};
use tandem_store::{Tx, agents as rows, tasks};

use crate::Error;

/// What a program that runs for an agent reports.
#[derive(Debug, Clone)]
pub struct Report {
    pub rung: Rung,
    /// Whether the program provides it from now on; `None` leaves that as it is.
    pub provided: Option<bool>,
    /// Tasks that the rung has just shown to the agent's model.
    pub surfaced: Vec<TaskId>,
}

/// Stores a report. A task whose target is somebody else stays unchanged, as one that does not exist.
pub fn report(tx: &mut Tx<'_>, by: &AgentId, report: &Report, now: &Now) -> Result<Agent, Error> {
    for task in &report.surfaced {
        tasks::expect_mark(tx, task)?;
    }
    let mut agent = rows::find(tx, by)?.ok_or(Error::NotFound("agent"))?;
    if let Some(provided) = report.provided {
        agent.wake.set_provided(report.rung, provided, now.at);
    }
    if !report.surfaced.is_empty() {
        agent.wake.set_worked(report.rung, now.at);
    }
    for task in &report.surfaced {
        tasks::mark_surfaced(tx, task, by, now.at, report.rung)?;
        if report.rung == Rung::Channel {
            // The hub itself has noted what its tools have shown to the model after the wake.
            tasks::claim_surfaced(tx, task, by, now.at.plus_ms(-CLAIM_MAX_MS))?;
        }
    }
    rows::set_wake(tx, by, &agent.wake)?;
    Ok(agent)
}

/// Notes that a rung has shown something to an agent's model. The agent may be gone.
pub(crate) fn note_worked(tx: &mut Tx<'_>, agent: &AgentId, rung: Rung, at: Timestamp) -> Result<(), Error> {
    let Some(mut agent) = rows::find(tx, agent)? else { return Ok(()) };
    agent.wake.set_worked(rung, at);
    Ok(rows::set_wake(tx, &agent.id, &agent.wake)?)
}
