//! Several nodes on one PostgreSQL: what one commits, the others hear, with NATS and without it.

mod bus;
mod keys;
mod limits;
mod nodes;
mod presence;
mod start;

use crate::harness::{Agent, Harness};

/// The same agent, calling one node.
fn at(hub: &Harness, agent: &Agent, node: usize) -> Agent {
    Agent { client: hub.nodes[node].client.clone(), ..agent.clone() }
}
