//! The figures of a run, and the goals they are compared with.

use serde::Serialize;

use super::Plan;
use super::load::Figures;
use super::measure::HEADLINE;
use super::site::is_postgres;
use super::workload::Operation;

/// New tasks at the headline number of connections, compared with rows in order, by database.
const CREATE_MIN_SQLITE: f64 = 0.85;
const CREATE_MIN_POSTGRES: f64 = 0.55;
/// The slowest stage of growth compared with the first.
const FLAT_MIN: f64 = 0.8;
const IDLE_MAX_MB: f64 = 30.0;
const START_MAX_MS: f64 = 100.0;

/// A bare server's figures, and the hub's rate compared with its rate.
#[derive(Debug, Serialize)]
pub(super) struct Limit {
    pub(super) figures: Figures,
    /// Computed round by round; the median.
    pub(super) ratio: f64,
}

/// One operation at one number of connections, on the hub and on the bare servers.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) operation: Operation,
    pub(super) connections: usize,
    /// How many tasks were stored before.
    pub(super) stored: Option<u64>,
    pub(super) hub: Figures,
    /// As many rows, with tasks in the two orders of lists; an echo if the hub runs elsewhere.
    pub(super) rows_in_order: Limit,
    /// As many rows with primary keys only; new tasks only.
    pub(super) bare_rows: Option<Limit>,
    /// Start and memory of the measured hub, where they differ from row to row.
    pub(super) costs: Option<Costs>,
}

/// What a hub costs before it does anything.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Costs {
    /// From the start of the process to the first answer, with a new folder.
    pub(super) first_start_ms: f64,
    /// The same with an existing one.
    pub(super) start_ms: f64,
    /// Memory after a second of doing nothing.
    pub(super) idle_mb: Option<f64>,
    /// Memory after all measurements.
    pub(super) loaded_mb: Option<f64>,
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    pub(super) release_build: bool,
    pub(super) cores: usize,
    pub(super) seconds: f64,
    pub(super) agents: usize,
    /// How many tasks a list has, and how many while growth is measured.
    pub(super) list_pages: (u64, u64),
    /// What was measured, in words.
    pub(super) subject: String,
    /// What it was compared with.
    pub(super) against: &'static str,
    /// Whether `rows` are of a hub on PostgreSQL.
    pub(super) on_postgres: bool,
    pub(super) rows: Vec<Row>,
    /// Writes on a PostgreSQL that was measured as well.
    pub(super) postgres: Vec<Row>,
    pub(super) growth: Vec<Row>,
    pub(super) costs: Option<Costs>,
    /// How many cores other programs used meanwhile.
    pub(super) foreign_cores: Option<f64>,
}

/// What a figure has to reach.
pub(super) struct Goal {
    pub(super) what: String,
    pub(super) value: f64,
    pub(super) bound: f64,
    /// Whether a larger value is better.
    pub(super) at_least: bool,
    pub(super) unit: &'static str,
}

impl Goal {
    pub(super) fn is_met(&self) -> bool {
        if self.at_least { self.value >= self.bound } else { self.value <= self.bound }
    }
}

impl Report {
    pub(super) fn new(plan: &Plan, url: Option<&str>) -> Self {
        let on_postgres = plan.database.as_deref().is_some_and(is_postgres);
        let subject = match url {
            Some(url) => format!("the hub at {url}"),
            None if on_postgres => "a hub on PostgreSQL".into(),
            None => "a hub on SQLite".into(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            release_build: !cfg!(debug_assertions),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            seconds: plan.span.measured.as_secs_f64(),
            agents: plan.agents,
            list_pages: (0, 0),
            subject,
            against: if url.is_some() { "echo" } else { "rows in order" },
            on_postgres,
            rows: Vec::new(),
            postgres: Vec::new(),
            growth: Vec::new(),
            costs: None,
            foreign_cores: None,
        }
    }

    /// A row's rate compared with the same operation on the smallest database; and the same for its ratio.
    pub(super) fn flatness(&self, row: &Row) -> (f64, f64) {
        let first = self.growth.iter().find(|first| first.operation == row.operation);
        first.map_or((1.0, 1.0), |first| {
            let ratio = row.rows_in_order.ratio / first.rows_in_order.ratio.max(0.001);
            (row.hub.rate / first.hub.rate.max(0.1), ratio)
        })
    }

    pub(super) fn goals(&self) -> Vec<Goal> {
        if self.against == "echo" {
            return Vec::new();
        }
        let mut goals = Vec::new();
        let mut goal = |what: String, value: Option<f64>, bound: f64, at_least: bool, unit: &'static str| {
            goals.extend(value.map(|value| Goal { what, value, bound, at_least, unit }));
        };
        for (rows, on_postgres) in [(&self.rows, self.on_postgres), (&self.postgres, true)] {
            let headline = |row: &&Row| row.operation == Operation::CreateTask && row.connections == HEADLINE;
            let ratio = rows.iter().find(headline).map(|row| row.rows_in_order.ratio);
            let (database, bound) = match on_postgres {
                true => ("PostgreSQL", CREATE_MIN_POSTGRES),
                false => ("SQLite", CREATE_MIN_SQLITE),
            };
            let what = format!("new tasks on {database}, {HEADLINE} connections, of rows in order");
            goal(what, ratio, bound, true, "");
        }
        for operation in
            [Operation::CreateTask, Operation::SendMessage, Operation::ReadTask, Operation::ListTasks]
        {
            let rows = self.growth.iter().filter(|row| row.operation == operation);
            // By the ratio: whatever else the machine did during one stage affected the bare server too.
            let least = rows.map(|row| self.flatness(row).1).min_by(f64::total_cmp);
            let what = format!("growth, {}, slowest stage by ratio", operation.title());
            goal(what, least, FLAT_MIN, true, "");
        }
        let costs = self.costs.as_ref();
        goal("idle memory".into(), costs.and_then(|costs| costs.idle_mb), IDLE_MAX_MB, false, " MB");
        goal("start to first answer".into(), costs.map(|costs| costs.start_ms), START_MAX_MS, false, " ms");
        goals
    }
}
