//! Three nodes compared with one, each on a schema of its own with the same agents and pairs.

use super::nodes::Nodes;
use super::report::Three;
use super::{Arguments, Part, hot};
use crate::progress::Progress;
use crate::services::Postgres;
use crate::site::Site;
use crate::workload::{Agent, Operation, PEERS};
use crate::{Plan, prepare};

/// How many nodes are compared with one.
pub(super) const NODES: usize = 3;

/// A number of nodes and the agents on them.
struct Side {
    nodes: Nodes,
    agents: Vec<Agent>,
    site: Site,
}

impl Side {
    async fn start(plan: &Plan, count: usize) -> anyhow::Result<Self> {
        let nodes = Nodes::start(plan, count).await?;
        let first = nodes.addresses()[0];
        let agents = prepare::agents(first, plan.agents).await?;
        let site = Site::hub(first, agents.clone(), None, 1, None).await?;
        Ok(Self { nodes, agents, site })
    }
}

/// Measures what the arguments ask for.
pub(super) async fn measure(
    arguments: &Arguments,
    plan: &Plan,
    _postgres: &Postgres,
) -> anyhow::Result<Vec<Three>> {
    let mut loads = Vec::new();
    if arguments.has(Part::Pairs) {
        loads.extend([Some(Operation::CreateTask), Some(Operation::SendMessage)]);
    }
    if arguments.has(Part::Hot) {
        loads.push(None);
    }
    // One busy pair does not need the others.
    let pairs = if arguments.has(Part::Pairs) { arguments.pairs } else { 64 };
    let plan = Plan { agents: pairs.div_ceil(PEERS), ..plan.clone() };
    let mut progress = Progress::new((2 + loads.len() * arguments.rounds) as u64);
    progress.step(format!("one node with {pairs} pairs"));
    let one = Side::start(&plan, 1).await?;
    progress.step(format!("three nodes with {pairs} pairs"));
    let three = Side::start(&plan, NODES).await?;
    let mut found = Vec::new();
    for load in loads {
        let what = match load {
            Some(operation) => format!("{}, {pairs} pairs", operation.short()),
            None => "all traffic on one pair".into(),
        };
        let mut row = Three { what, hot: load.is_none(), one: Vec::new(), nodes: Vec::new() };
        for round in 0..arguments.rounds {
            progress.step(format!("{}, round {} of {}", row.what, round + 1, arguments.rounds));
            // A different one begins each time.
            for turn in 0..2 {
                let alone = (round + turn) % 2 == 0;
                let side = if alone { &one } else { &three };
                let addresses = side.nodes.addresses();
                let connections = arguments.connections;
                let mut figures = match load {
                    Some(operation) => {
                        side.site.drive_nodes(&addresses, operation, connections, plan.span).await?
                    }
                    None => hot::drive(&addresses, &side.agents, connections, plan.span).await?,
                };
                match alone {
                    true => row.one.extend(figures.pop()),
                    false => row.nodes.push(figures),
                }
            }
        }
        found.push(row);
    }
    progress.finish();
    one.nodes.stop().await?;
    three.nodes.stop().await?;
    Ok(found)
}
