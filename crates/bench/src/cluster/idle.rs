//! What agents that are connected to one of three nodes cost the other two while nothing happens.

use std::time::Duration;

use anyhow::Context as _;

use super::Arguments;
use super::nodes::Nodes;
use super::report::Idle;
use super::three::NODES;
use crate::process::Process;
use crate::progress::Progress;
use crate::push::socket::Socket;
use crate::services::Postgres;
use crate::{Plan, prepare};

/// How long the nodes are left alone before they are measured: longer than a period of their background work.
const SETTLE: Duration = Duration::from_secs(12);
/// How long they are measured: several periods.
const MEASURED: Duration = Duration::from_secs(30);

/// Measures without agents, then with them.
pub(super) async fn measure(
    arguments: &Arguments,
    plan: &Plan,
    _postgres: &Postgres,
) -> anyhow::Result<Idle> {
    let mut progress = Progress::new(3);
    let count = arguments.idle_agents;
    let room = count + 1_000;
    let mut set = plan.set.clone();
    set.extend([format!("max_streams={room}"), format!("max_connections_per_address={room}")]);
    progress.step(format!("idle: three nodes with {count} agents"));
    let nodes = Nodes::start(&Plan { set, ..plan.clone() }, NODES).await?;
    let home = nodes.addresses()[0];
    let agents = prepare::unpaired(home, count).await?;
    progress.step("idle without connected agents".into());
    let before = watch(&nodes.processes).await?;
    progress.step(format!("idle with {count} connected agents"));
    let mut sockets = Vec::with_capacity(count);
    for agent in &agents {
        sockets.push(Socket::greeted(home, &agent.key).await?);
    }
    let after = watch(&nodes.processes).await?;
    for socket in sockets {
        socket.close().await;
    }
    progress.finish();
    nodes.stop().await?;
    let others = |of: &[Use], value: fn(&Use) -> f64| of.iter().skip(1).map(value).sum::<f64>();
    Ok(Idle {
        agents: count,
        cpu_percent: (others(&before, |use_| use_.cpu_percent), others(&after, |use_| use_.cpu_percent)),
        memory_mb: (others(&before, |use_| use_.memory_mb), others(&after, |use_| use_.memory_mb)),
        home_cpu_percent: (before[0].cpu_percent, after[0].cpu_percent),
        home_memory_mb: (before[0].memory_mb, after[0].memory_mb),
    })
}

/// What a node used.
struct Use {
    cpu_percent: f64,
    memory_mb: f64,
}

async fn watch(processes: &[Process]) -> anyhow::Result<Vec<Use>> {
    tokio::time::sleep(SETTLE).await;
    let cpu = |process: &Process| process.cpu_seconds().context("the system does not report processor time");
    let before = processes.iter().map(cpu).collect::<anyhow::Result<Vec<f64>>>()?;
    tokio::time::sleep(MEASURED).await;
    let mut found = Vec::new();
    for (process, before) in processes.iter().zip(before) {
        found.push(Use {
            cpu_percent: 100.0 * (cpu(process)? - before) / MEASURED.as_secs_f64(),
            memory_mb: process.memory_mb().context("the system does not report memory")?,
        });
    }
    Ok(found)
}
