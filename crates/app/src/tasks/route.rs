//! The way from one agent to another, and what the two share.

use tandem_core::text::Alias;
use tandem_core::{AgentId, NetworkId, Task};
use tandem_store::connections::{self, Reach};
use tandem_store::{Tx, blocks, networks};

use crate::Error;

/// How one agent can reach another: by connection or through a network.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) target: AgentId,
    pub(crate) reach: Reach,
    /// The network, if the route depends on one.
    pub(crate) network: Option<NetworkId>,
    /// The network that was asked for.
    through: Option<NetworkId>,
    /// Whether what the two agents share is locked.
    locked: bool,
}

impl Route {
    /// Locks what the two agents share where there is no row to lock yet, so that the route stays until the commit. It
    /// may write, so every check comes before it.
    pub(crate) fn hold(self, tx: &mut Tx<'_>, by: &AgentId) -> Result<Self, Error> {
        if self.locked {
            return Ok(self);
        }
        connections::create_pair(tx, by, &self.target)?;
        // Another transaction may have made the row, and more.
        let found = unlocked_route(tx, by, self.target, self.through.as_ref())?;
        found.map(|route| Self { locked: true, ..route }).ok_or(Error::NotConnected)
    }
}

/// Finds the route to an agent by its id or the caller's alias; through a given network, if there is one.
pub(crate) fn find_route(
    tx: &mut Tx<'_>,
    by: &AgentId,
    named: &Alias,
    network: Option<&NetworkId>,
) -> Result<Route, Error> {
    if let Some(network) = network
        && !networks::is_member(tx, network, by)?
    {
        return Err(Error::NotFound("network"));
    }
    if let Ok(id) = named.as_str().parse::<AgentId>()
        && let Some(route) = route_between(tx, by, id, network)?
    {
        return Ok(route);
    }
    let aliased = match connections::by_alias(tx, by, named.as_str())? {
        Some(id) => route_between(tx, by, id, network)?,
        None => None,
    };
    aliased.ok_or(if network.is_some() { Error::NotInNetwork } else { Error::NotConnected })
}

/// The route from a task's initiator to its target.
pub(crate) fn route_to_target(tx: &mut Tx<'_>, task: &Task) -> Result<Route, Error> {
    route_between(tx, &task.initiator, task.target.clone(), None)?.ok_or(Error::NotConnected)
}

/// A connection is a route. So is a shared network, unless one agent has blocked the other. What the two agents share
/// is locked, if they ever shared anything; else [`Route::hold`] does it.
fn route_between(
    tx: &mut Tx<'_>,
    by: &AgentId,
    target: AgentId,
    network: Option<&NetworkId>,
) -> Result<Option<Route>, Error> {
    let locked = connections::lock_pair(tx, by, &target)?;
    Ok(unlocked_route(tx, by, target, network)?.map(|route| Route { locked, ..route }))
}

/// Whether there is a route from one agent to another.
pub(crate) fn has_way(tx: &mut Tx<'_>, by: &AgentId, to: &AgentId) -> Result<bool, Error> {
    Ok(unlocked_route(tx, by, to.clone(), None)?.is_some())
}

fn unlocked_route(
    tx: &mut Tx<'_>,
    by: &AgentId,
    target: AgentId,
    network: Option<&NetworkId>,
) -> Result<Option<Route>, Error> {
    let Some(reach) = connections::reach(tx, by, &target)? else { return Ok(None) };
    let through = network.cloned();
    if reach.connected && network.is_none() {
        return Ok(Some(Route { target, reach, network: None, through, locked: false }));
    }
    if target == *by || (!reach.connected && blocks::between(tx, by, &target)?) {
        return Ok(None);
    }
    let shared = match network {
        Some(network) => networks::is_member(tx, network, &target)?.then(|| network.clone()),
        None => networks::shared(tx, by, &target)?,
    };
    Ok(shared.map(|network| Route { target, reach, network: Some(network), through, locked: false }))
}
