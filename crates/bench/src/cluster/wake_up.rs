//! From a request on one node to the frame on another, in turns with both on one node.

use super::Arguments;
use super::nodes::Nodes;
use super::report::{Wake, median};
use super::three::NODES;
use crate::progress::Progress;
use crate::push::measure::{Endpoint, one_to_one};
use crate::services::Postgres;
use crate::{Plan, prepare};

/// How many events each side has in a round.
const EVENTS: usize = 300;
/// How many agents exist; two of them take part.
const AGENTS: usize = 16;

/// Measures both.
pub(super) async fn measure(
    arguments: &Arguments,
    plan: &Plan,
    _postgres: &Postgres,
) -> anyhow::Result<Wake> {
    let mut progress = Progress::new(1 + arguments.rounds as u64);
    progress.step("wake-up across nodes: starting three nodes".into());
    let nodes = Nodes::start(plan, NODES).await?;
    let addresses = nodes.addresses();
    let agents = prepare::agents(addresses[0], AGENTS).await?;
    let same = Endpoint::hub(addresses[0], addresses[0]);
    let across = Endpoint::hub(addresses[0], addresses[1]);
    let mut rounds = Vec::new();
    for round in 0..arguments.rounds {
        progress.step(format!("wake-up across nodes, round {} of {}", round + 1, arguments.rounds));
        let here = one_to_one(&same, &agents, EVENTS).await?.0;
        let there = one_to_one(&across, &agents, EVENTS).await?.0;
        rounds.push((here, there));
    }
    progress.finish();
    nodes.stop().await?;
    let ms = |of: fn(&(_, _)) -> f64| median(rounds.iter().map(of)) / 1_000.0;
    Ok(Wake {
        events: EVENTS * arguments.rounds,
        same_node_p50_ms: ms(|(here, _): &(crate::push::measure::Spread, crate::push::measure::Spread)| {
            here.p50_us
        }),
        same_node_p99_ms: ms(|(here, _)| here.p99_us),
        across_p50_ms: ms(|(_, there)| there.p50_us),
        across_p99_ms: ms(|(_, there)| there.p99_us),
        added_p50_ms: ms(|(here, there)| there.p50_us - here.p50_us),
    })
}
