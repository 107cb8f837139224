//! Where a client of A2A has what happens to its tasks pushed to.

use tandem_app::a2a::pushes;
use tandem_app::a2a::pushes::NewPush;
use tandem_core::pushes::PushConfig;
use tandem_core::{AgentId, TaskId};

use crate::delivery::webhooks::address;
use crate::{Caller, Error, HubParts};

/// Refuses what no push could use. No name is looked up: that happens at each attempt.
pub(super) fn check_push(hub: &HubParts, new: &NewPush) -> Result<(), Error> {
    new.check()?;
    address::parse("url", &new.receiver.url, hub.webhooks.allowed)?;
    Ok(())
}

/// Has what happens to a task from now on pushed.
pub async fn set_push(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    new: NewPush,
) -> Result<PushConfig, Error> {
    let (by, host, id) = (caller.agent.clone(), host.clone(), task.clone());
    let seen = hub.read(caller, {
        let (by, host, id) = (by.clone(), host.clone(), id.clone());
        move |tx, now| tandem_app::a2a::check(tx, &by, &host, &id, now)
    });
    // A task that is hidden stays so, whatever is wrong with the rest.
    seen.await?;
    check_push(hub, &new)?;
    hub.write(caller, move |tx, now| pushes::set(tx, &by, &host, &id, &new, now)).await
}

/// A config of a task.
pub async fn push(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    id: &str,
) -> Result<PushConfig, Error> {
    let (by, host, task, id) = (caller.agent.clone(), host.clone(), task.clone(), id.to_owned());
    hub.read_as(caller, move |tx, now| pushes::view(tx, &by, &host, &task, &id, now)).await
}

/// All configs of a task.
pub async fn list_pushes(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
) -> Result<Vec<PushConfig>, Error> {
    let (by, host, task) = (caller.agent.clone(), host.clone(), task.clone());
    hub.read_as(caller, move |tx, now| pushes::list(tx, &by, &host, &task, now)).await
}

/// Removes a config of a task, if there is one.
pub async fn remove_push(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    id: &str,
) -> Result<(), Error> {
    let (by, host, task, id) = (caller.agent.clone(), host.clone(), task.clone(), id.to_owned());
    hub.write(caller, move |tx, now| pushes::remove(tx, &by, &host, &task, &id, now)).await
}
