//! The operations for clients of A2A. They call the same use cases as the others; what they return are the types of
//! `core`, because each binding of A2A writes them in its own way.

mod artifacts;
mod pushes;
mod read;
mod send;
mod shown;

use tandem_app::Error as AppError;
use tandem_app::a2a;
pub use tandem_app::a2a::pushes::NewPush;
pub use tandem_app::a2a::{Terms, Wanted};
use tandem_app::tasks::{self, Change, Expected};
use tandem_core::ids::{self, Prefixed as _};
use tandem_core::text::Reason;
use tandem_core::{AgentId, Status, TaskId};

use crate::{Caller, Error, HubParts};

pub use artifacts::{Artifact, REPLY_ID, extras_of, parts_of, parts_of_task};
pub use pushes::{list_pushes, push, remove_push, set_push};
pub use read::{ListTasks, Snapshot, Step, Steps, TaskList, What, get, list, steps};
pub use send::{Incoming, Sent, Settings, send};
pub use shown::{Reader, Shown, link_text};

/// An address names an agent by its id. In other places a caller may use its own alias for an agent.
fn check_host(host: &AgentId) -> Result<(), Error> {
    let is_id = host.as_str().starts_with(ids::Agent::PREFIX);
    if is_id { Ok(()) } else { Err(AppError::NotConnected.into()) }
}

/// What the caller may know of an agent; `None` if it has no way to it: neither a connection nor a shared network, or a
/// block.
pub async fn terms(hub: &HubParts, caller: &Caller, host: &AgentId) -> Result<Option<Terms>, Error> {
    if check_host(host).is_err() {
        return Ok(None);
    }
    let (by, host) = (caller.agent.clone(), host.clone());
    hub.read_as(caller, move |tx, _| a2a::terms(tx, &by, &host)).await
}

/// Cancels a task. The caller reads it again to see it.
pub async fn cancel(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    reason: Option<Reason>,
) -> Result<(), Error> {
    let change = Change {
        status: Some(Status::Cancelled),
        reason,
        expected: Expected::default(),
        ..Change::default()
    };
    let (by, host, id) = (caller.agent.clone(), host.clone(), task.clone());
    hub.write(caller, move |tx, now| {
        a2a::check(tx, &by, &host, &id, now)?;
        tasks::change(tx, &by, &id, &change, now).map(drop)
    })
    .await
}
