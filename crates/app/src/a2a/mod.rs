//! Conversations with clients of A2A: one more caller of the same use cases. What such a client sees are the tasks that it
//! made for the agent it addresses, as part of a conversation; of others it cannot learn that they exist.

pub mod pushes;
mod read;
mod send;
mod steps;

use tandem_core::tasks::Priority;
use tandem_core::{AgentId, Now, Role, Rule, Task, TaskId};
use tandem_store::{Tx, tasks as rows};

use crate::tasks::{LIVE_TASKS_MAX, check_not_overdue, find_route};
use crate::{Error, Invalid};

pub use read::{COUNTED_MAX, Conversation, Listing, Query, Wanted, list, view};
pub use send::{Later, Sending, add, start};
pub use steps::{Happened, STEPS_MAX, Step, Steps, steps};

/// How far the tasks before a new one are counted, as those before a task are.
pub const AHEAD_MAX: i64 = 100;

/// Whether this is a task of the caller's conversation with the agent that it addresses.
fn is_visible(task: &Task, by: &AgentId, host: &AgentId) -> bool {
    task.initiator == *by && task.target == *host && task.state().is_some()
}

/// The task with this id, if the caller may see it at the address of this agent.
fn find(tx: &mut Tx<'_>, by: &AgentId, host: &AgentId, id: &TaskId, now: &Now) -> Result<Task, Error> {
    let task = rows::find(tx, id)?.filter(|task| is_visible(task, by, host));
    let task = task.ok_or(Error::NotFound("task"))?;
    check_not_overdue([&task], now)?;
    Ok(task)
}

/// Checks that the caller may see a task at the address of this agent, before the same is done by a use case for agents.
pub fn check(tx: &mut Tx<'_>, by: &AgentId, host: &AgentId, id: &TaskId, now: &Now) -> Result<(), Error> {
    find(tx, by, host, id, now).map(drop)
}

/// What a caller may know of an agent that it can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The rule that its gate has for the caller.
    pub approval: Option<Rule>,
    /// How many live tasks the two have, and how many they may have.
    pub live_tasks: i64,
    pub live_tasks_max: i64,
}

/// What the caller may know of an agent; `None` if it has no way to it.
pub fn terms(tx: &mut Tx<'_>, by: &AgentId, host: &AgentId) -> Result<Option<Terms>, Error> {
    let named = host.to_string().try_into().map_err(|_| Error::NotConnected)?;
    match find_route(tx, by, &named, None) {
        Ok(route) if route.target == *host => Ok(Some(Terms {
            approval: route.reach.target_side.or(route.reach.target_default),
            live_tasks: route.reach.live_tasks.unwrap_or(0),
            live_tasks_max: LIVE_TASKS_MAX,
        })),
        Ok(_) | Err(Error::NotConnected) => Ok(None),
        Err(other) => Err(other),
    }
}

/// How many open tasks an agent has before a new one of the usual priority, up to [`AHEAD_MAX`].
pub fn ahead(tx: &mut Tx<'_>, host: &AgentId) -> Result<i64, Error> {
    Ok(rows::ahead_of_new(tx, host, Priority::Normal.rank(), AHEAD_MAX)?)
}

/// A conversation names its tasks: one of them cannot be part of another.
fn check_context(task: &Task, named: Option<&str>) -> Result<(), Error> {
    if named.is_some_and(|named| task.links.context.as_deref() != Some(named)) {
        let foreign = Error::from(Invalid::field("contextId", "is not the one of this task"));
        return Err(foreign.on_task(task.standing(Role::Initiator)));
    }
    Ok(())
}
