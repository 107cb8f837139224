//! The wake ladder: reports of programs that can wake an agent, and how it can be reached.

use tandem_api::agents::{ReachView, ReportReach};
use tandem_app::wake::{self, Report};
use tandem_app::{Invalid, agents};
use tandem_core::TaskId;
use tandem_core::wake::Rung;

use crate::{Caller, Error, HubParts};

/// Tasks in one report.
const SURFACED_MAX: usize = 100;

/// How the caller can be reached.
pub async fn reach(hub: &HubParts, caller: &Caller) -> Result<ReachView, Error> {
    let by = caller.agent.clone();
    let agent = hub.read(caller, move |tx, _| agents::profile(tx, &by)).await?;
    let seen = hub.presence(&agent).await;
    Ok(ReachView::new(&agent, seen, hub.time()))
}

/// Stores what a program reports that runs for the caller.
pub async fn report(hub: &HubParts, caller: &Caller, body: ReportReach) -> Result<ReachView, Error> {
    let surfaced = body.surfaced.unwrap_or_default();
    if surfaced.len() > SURFACED_MAX {
        return Err(Invalid::field("surfaced", format!("must have at most {SURFACED_MAX} entries")).into());
    }
    let report = Report { rung: body.rung, provided: body.provided, surfaced };
    let by = caller.agent.clone();
    let agent = hub.write(caller, move |tx, now| wake::report(tx, &by, &report, now)).await?;
    let seen = hub.presence(&agent).await;
    Ok(ReachView::new(&agent, seen, hub.time()))
}

/// Records that the result of an MCP tool has shown tasks to the caller's model.
pub fn shown_to_model(hub: &HubParts, caller: &Caller, rung: Rung, tasks: impl IntoIterator<Item = TaskId>) {
    hub.marks.surfaced(&caller.agent, tasks, rung, hub.time());
}
