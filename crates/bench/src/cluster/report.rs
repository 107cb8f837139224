//! The figures of a run, and the goals they are compared with.

use serde::Serialize;

use super::Arguments;
use crate::load::Figures;
use crate::report::Goal;
use crate::workload::Operation;

/// New tasks on one node, compared with rows in order.
const CREATE_MIN: f64 = 0.55;
/// Reads of one task, compared with the older version.
const READ_MIN: f64 = 3.0;
/// Everything else, compared with the older version.
const NOT_SLOWER: f64 = 1.0;
/// Three nodes compared with one, with many pairs and with one.
const PAIRS_MIN: f64 = 0.8;
const HOT_MIN: f64 = 0.5;
/// The p99 of the slowest node compared with that of the fastest.
const STARVED_MAX: f64 = 3.0;
/// What a wake-up across nodes may take longer.
const WAKE_MAX_MS: f64 = 2.0;
/// What an agent on one node may cost another: the noise of the measurement.
const IDLE_BYTES_MAX: f64 = 100.0;
const IDLE_CPU_MAX_PERCENT: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Name {
    RowsInOrder,
    BareRows,
    Baseline,
    Hub,
}

impl Name {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::RowsInOrder => "rows in order",
            Self::BareRows => "bare rows",
            Self::Baseline => "baseline",
            Self::Hub => "hub",
        }
    }
}

/// All rounds of one server.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) name: Name,
    /// Processor time for each answer: of the server, and of PostgreSQL.
    pub(super) own_cpu_us: Option<f64>,
    pub(super) database_cpu_us: Option<f64>,
    pub(super) rounds: Vec<Figures>,
}

/// The middle of some values.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

impl Measured {
    pub(super) fn rate(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.rate))
    }

    pub(super) fn p50_ms(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.p50_ms))
    }

    pub(super) fn p99_ms(&self) -> f64 {
        median(self.rounds.iter().map(|round| round.p99_ms))
    }
}

/// One operation at one number of connections, on all servers.
#[derive(Debug, Serialize)]
pub(super) struct Cell {
    pub(super) operation: Operation,
    pub(super) connections: usize,
    pub(super) servers: Vec<Measured>,
    /// The hub's rate compared with that of each other server, round by round; the medians.
    pub(super) ratios: Vec<(Name, f64)>,
    /// The same for the median time of an answer.
    pub(super) latency_ratios: Vec<(Name, f64)>,
}

impl Cell {
    pub(super) fn new(operation: Operation, connections: usize, servers: Vec<Measured>) -> Self {
        let compare = |value: fn(&Figures) -> f64| {
            let hub = servers.iter().find(|server| server.name == Name::Hub);
            let others = servers.iter().filter(|server| server.name != Name::Hub);
            let ratio = |other: &Measured| {
                let rounds = hub.into_iter().flat_map(|hub| &hub.rounds).zip(&other.rounds);
                median(rounds.map(|(hub, other)| value(hub) / value(other).max(f64::MIN_POSITIVE)))
            };
            others.map(|other| (other.name, ratio(other))).collect()
        };
        let (ratios, latency_ratios) = (compare(|round| round.rate), compare(|round| round.p50_ms));
        Self { operation, connections, servers, ratios, latency_ratios }
    }

    fn ratio(&self, to: Name) -> Option<f64> {
        self.ratios.iter().find(|(name, _)| *name == to).map(|(_, ratio)| *ratio)
    }

    fn latency_ratio(&self, to: Name) -> Option<f64> {
        self.latency_ratios.iter().find(|(name, _)| *name == to).map(|(_, ratio)| *ratio)
    }
}

/// Three nodes compared with one.
#[derive(Debug, Serialize)]
pub(super) struct Three {
    pub(super) what: String,
    /// Whether all traffic is between two agents.
    pub(super) hot: bool,
    /// One node, by rounds.
    pub(super) one: Vec<Figures>,
    /// The nodes, by rounds.
    pub(super) nodes: Vec<Vec<Figures>>,
}

impl Three {
    pub(super) fn one_rate(&self) -> f64 {
        median(self.one.iter().map(|round| round.rate))
    }

    pub(super) fn sum(&self) -> f64 {
        median(self.nodes.iter().map(|nodes| sum(nodes)))
    }

    /// The sum of all nodes compared with one node, round by round; the median.
    pub(super) fn ratio(&self) -> f64 {
        let rounds = self.nodes.iter().zip(&self.one);
        median(rounds.map(|(nodes, one)| sum(nodes) / one.rate.max(f64::MIN_POSITIVE)))
    }

    /// The p99 of the slowest node compared with that of the fastest, round by round; the median.
    pub(super) fn unevenness(&self) -> f64 {
        median(self.nodes.iter().map(|nodes| {
            let p99 = nodes.iter().map(|node| node.p99_ms);
            p99.clone().fold(0.0, f64::max) / p99.fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE)
        }))
    }

    pub(super) fn errors(&self) -> impl Iterator<Item = &Figures> {
        self.nodes.iter().flatten().chain(&self.one).filter(|figures| figures.errors > 0)
    }

    /// How many answers were no success: refusals do not occur in this load.
    pub(super) fn failed(&self) -> u64 {
        self.errors().map(|figures| figures.errors).sum()
    }
}

fn sum(nodes: &[Figures]) -> f64 {
    nodes.iter().map(|node| node.rate).sum()
}

/// From a request to the frame at another agent, in milliseconds.
#[derive(Debug, Serialize)]
pub(super) struct Wake {
    pub(super) events: usize,
    pub(super) same_node_p50_ms: f64,
    pub(super) same_node_p99_ms: f64,
    pub(super) across_p50_ms: f64,
    pub(super) across_p99_ms: f64,
    /// Computed round by round; the median.
    pub(super) added_p50_ms: f64,
}

/// What the other two nodes cost while agents are connected to the first.
#[derive(Debug, Serialize)]
pub(super) struct Idle {
    pub(super) agents: usize,
    /// Of one processor, both nodes together: without agents and with them.
    pub(super) cpu_percent: (f64, f64),
    /// Memory of both nodes together: without agents and with them.
    pub(super) memory_mb: (f64, f64),
    /// The same for the node that they are connected to.
    pub(super) home_cpu_percent: (f64, f64),
    pub(super) home_memory_mb: (f64, f64),
}

impl Idle {
    pub(super) fn bytes_each(&self) -> f64 {
        (self.memory_mb.1 - self.memory_mb.0) * 1_000_000.0 / self.agents as f64
    }
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    pub(super) release_build: bool,
    pub(super) cores: usize,
    pub(super) seconds: f64,
    pub(super) rounds: usize,
    pub(super) one_node: Vec<Cell>,
    pub(super) three: Vec<Three>,
    pub(super) wake: Option<Wake>,
    pub(super) idle: Option<Idle>,
    /// How many cores other programs used meanwhile.
    pub(super) foreign_cores: Option<f64>,
}

impl Report {
    pub(super) fn new(arguments: &Arguments) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            release_build: !cfg!(debug_assertions),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            seconds: arguments.seconds,
            rounds: arguments.rounds,
            one_node: Vec::new(),
            three: Vec::new(),
            wake: None,
            idle: None,
            foreign_cores: None,
        }
    }

    pub(super) fn goals(&self) -> Vec<Goal> {
        let mut goals = Vec::new();
        for cell in &self.one_node {
            one_node_goals(cell, &mut goals);
        }
        for three in &self.three {
            let bound = if three.hot { HOT_MIN } else { PAIRS_MIN };
            let what = &three.what;
            goals.push(at_least(format!("three nodes, {what}, of one"), three.ratio(), bound));
            goals.push(at_most(
                format!("three nodes, {what}, p99 slowest of fastest"),
                three.unevenness(),
                STARVED_MAX,
                "",
            ));
            goals.push(at_most(format!("three nodes, {what}, errors"), three.failed() as f64, 0.0, ""));
        }
        if let Some(wake) = &self.wake {
            goals.push(at_most(
                "wake-up across nodes, added at p50".into(),
                wake.added_p50_ms,
                WAKE_MAX_MS,
                " ms",
            ));
        }
        if let Some(idle) = &self.idle {
            let what = "an agent on one node, memory on the other two".into();
            goals.push(at_most(what, idle.bytes_each(), IDLE_BYTES_MAX, " bytes"));
            let what = format!("{} agents on one node, processor of the other two", idle.agents);
            goals.push(at_most(what, idle.cpu_percent.1 - idle.cpu_percent.0, IDLE_CPU_MAX_PERCENT, " %"));
        }
        goals
    }
}

fn one_node_goals(cell: &Cell, goals: &mut Vec<Goal>) {
    let what = format!("{}, {} connections", cell.operation.title(), cell.connections);
    if cell.connections == 1 {
        // One connection has the latency as its figure.
        goals.extend(
            cell.latency_ratio(Name::Baseline)
                .map(|ratio| at_most(format!("{what}: p50 of the baseline's"), ratio, NOT_SLOWER, "")),
        );
        return;
    }
    if cell.operation == Operation::CreateTask {
        let ratio = cell.ratio(Name::RowsInOrder);
        goals.extend(ratio.map(|ratio| at_least(format!("{what}, of rows in order"), ratio, CREATE_MIN)));
    }
    let bound = if cell.operation == Operation::ReadTask { READ_MIN } else { NOT_SLOWER };
    let ratio = cell.ratio(Name::Baseline);
    goals.extend(ratio.map(|ratio| at_least(format!("{what}, of the baseline"), ratio, bound)));
}

fn at_least(what: String, value: f64, bound: f64) -> Goal {
    Goal { what, value, bound, at_least: true, unit: "" }
}

fn at_most(what: String, value: f64, bound: f64, unit: &'static str) -> Goal {
    Goal { what, value, bound, at_least: false, unit }
}
