//! The figures of a run, and the table they make.

use std::fmt::Write as _;

use serde::Serialize;

use super::Plan;
use super::crowd::Operation;
use super::load::Figures;
use super::measure::HEADLINE;

/// What the hub has to reach.
const RATIO_MIN: f64 = 0.7;
const FLAT_MIN: f64 = 0.8;
const IDLE_MAX_MB: f64 = 30.0;
const START_MAX_MS: f64 = 100.0;
/// Cores busy with something else, beyond which figures deserve a warning.
const NOISE_MAX: f64 = 0.1;

/// One operation at one number of connections, on the hub and on the limit.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) operation: Operation,
    pub(super) connections: usize,
    /// How many tasks were stored before.
    pub(super) stored: Option<u64>,
    pub(super) hub: Figures,
    pub(super) limit: Figures,
    /// The hub's rate to the limit's, round by round; the median of it.
    pub(super) ratio: f64,
    /// Start and memory of the hub that this was measured on, where they differ from row to row.
    pub(super) home: Option<Home>,
}

/// What a hub costs before it does anything.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Home {
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
    /// How many tasks a list holds, and how many while growth is measured.
    pub(super) list_pages: (u64, u64),
    /// What was measured, in words.
    pub(super) subject: String,
    /// What it was measured against.
    pub(super) against: &'static str,
    pub(super) rows: Vec<Row>,
    pub(super) growth: Vec<Row>,
    /// New tasks on a limit that also keeps tasks in order for lists, in the hub's place. It tells how much of the limit
    /// there is to be had with lists; no goal is set by it.
    pub(super) ordered: Option<Row>,
    pub(super) home: Option<Home>,
    /// How many cores other programs kept busy meanwhile.
    pub(super) foreign_cores: Option<f64>,
}

impl Report {
    pub(super) fn new(plan: &Plan, url: Option<&str>) -> Self {
        let subject = match (url, &plan.database) {
            (Some(url), _) => format!("the hub at {url}"),
            (None, Some(url)) if url.starts_with("postgres") => "a hub on PostgreSQL".into(),
            (None, _) => "a hub on SQLite".into(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION"),
            release_build: !cfg!(debug_assertions),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            seconds: plan.span.measured.as_secs_f64(),
            agents: plan.agents,
            list_pages: (0, 0),
            subject,
            against: if url.is_some() { "echo" } else { "limit" },
            rows: Vec::new(),
            growth: Vec::new(),
            ordered: None,
            home: None,
            foreign_cores: None,
        }
    }

    /// The report as text.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "tandem {} · {} · {} cores, shared with the load · {} s a cell, {} agents, lists of {}\n\n",
            self.version, self.subject, self.cores, self.seconds, self.agents, self.list_pages.0
        );
        self.by_connections(&mut text);
        if !self.growth.is_empty() {
            self.by_stored(&mut text);
        }
        self.costs(&mut text);
        self.errors(&mut text);
        self.goals(&mut text);
        text
    }

    fn by_connections(&self, text: &mut String) {
        let against = self.against;
        head(text, &format!("{:<24} {:>5}", "operation", "conns"), against, "");
        for row in &self.rows {
            line(text, &format!("{:<24} {:>5}", row.operation.title(), row.connections), row, "");
        }
        if let Some(row) = &self.ordered {
            let _ = writeln!(
                text,
                "\nThe limit keeps rows and no order that lists could use. A handler that keeps tasks in order for both of \
                 their parties,\nand has no rules either, makes {:.0} tasks a second at {} connections: {:.2} of the limit.",
                row.hub.rate, row.connections, row.ratio
            );
        }
    }

    fn by_stored(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\nGrowth, {HEADLINE} connections, lists of {}. \"flat\" is the rate to that of the first line; then the same \
             of the ratio\n",
            self.list_pages.1
        );
        head(text, &format!("{:<24} {:>9}", "operation", "stored"), self.against, "    flat   (ratio)");
        let mut rows: Vec<&Row> = self.growth.iter().collect();
        // By operation, in the order they were measured in; the sort keeps the stages in theirs.
        rows.sort_by_key(|row| self.growth.iter().position(|first| first.operation == row.operation));
        for row in rows {
            let (rate, ratio) = self.flatness(row);
            let flat = format!(" {rate:>7.2} {ratio:>9.2}");
            let stored = row.stored.unwrap_or_default();
            line(text, &format!("{:<24} {stored:>9}", row.operation.title()), row, &flat);
        }
    }

    /// A row's rate to that of the same operation on the smallest database; and its ratio to that one's.
    pub(super) fn flatness(&self, row: &Row) -> (f64, f64) {
        match self.growth.iter().find(|first| first.operation == row.operation) {
            Some(first) => (row.hub.rate / first.hub.rate.max(0.1), row.ratio / first.ratio.max(0.001)),
            None => (1.0, 1.0),
        }
    }

    fn costs(&self, text: &mut String) {
        let mb = |memory: Option<f64>| memory.map_or("unknown".into(), |mb| format!("{mb:.1} MB"));
        if let Some(home) = &self.home {
            let _ = writeln!(
                text,
                "\nMemory: idle {}, after the load {}\nStart to first answer: new folder {:.0} ms, existing data {:.0} ms",
                mb(home.idle_mb),
                mb(home.loaded_mb),
                home.first_start_ms,
                home.start_ms
            );
        }
        if let Some(cores) = self.foreign_cores {
            let noisy = if cores > NOISE_MAX { ": a quiet machine gives better figures" } else { "" };
            let _ = writeln!(
                text,
                "Other programs kept {cores:.2} of {} cores busy meanwhile{noisy}",
                self.cores
            );
        }
        for row in self.growth.iter().filter(|row| row.operation == Operation::CreateTask) {
            if let (Some(stored), Some(home)) = (row.stored, &row.home) {
                let _ = writeln!(
                    text,
                    "  with {stored:>9} stored tasks: start {:.0} ms, idle {}",
                    home.start_ms,
                    mb(home.idle_mb)
                );
            }
        }
    }

    fn errors(&self, text: &mut String) {
        for row in self.rows.iter().chain(&self.growth).chain(&self.ordered) {
            for (who, figures) in [("hub", &row.hub), (self.against, &row.limit)] {
                if let Some(error) = &figures.first_error {
                    let what = row.operation.title();
                    let shown: String = error.chars().take(300).collect();
                    let _ = writeln!(
                        text,
                        "\n{} errors of the {who} at {what}, the first: {shown}",
                        figures.errors
                    );
                }
            }
        }
    }

    fn goals(&self, text: &mut String) {
        if self.against == "echo" {
            return;
        }
        text.push_str("\nGoals\n");
        let mut goal = |what: &str, value: Option<f64>, bound: f64, more_is_better: bool, unit: &str| {
            let Some(value) = value else { return };
            let met = if more_is_better { value >= bound } else { value <= bound };
            let (sign, met) = (if more_is_better { "≥" } else { "≤" }, if met { "met" } else { "MISSED" });
            let _ = writeln!(text, "  {met:<7} {what}: {value:.2}{unit} (goal {sign} {bound}{unit})");
        };
        let headline = |row: &&Row| row.operation == Operation::CreateTask && row.connections == HEADLINE;
        let ratio = self.rows.iter().find(headline).map(|row| row.ratio);
        goal("new tasks at 64 connections, of the limit", ratio, RATIO_MIN, true, "");
        for operation in
            [Operation::CreateTask, Operation::SendMessage, Operation::ReadTask, Operation::ListTasks]
        {
            let rows = self.growth.iter().filter(|row| row.operation == operation);
            // By the ratio: what else the machine did in one stage and not in another met the limit too.
            let least = rows.map(|row| self.flatness(row).1).min_by(f64::total_cmp);
            goal(
                &format!("growth, {}, slowest stage by ratio", operation.title()),
                least,
                FLAT_MIN,
                true,
                "",
            );
        }
        let home = self.home.as_ref();
        goal("idle memory", home.and_then(|home| home.idle_mb), IDLE_MAX_MB, false, " MB");
        goal("start to first answer", home.map(|home| home.start_ms), START_MAX_MS, false, " ms");
    }
}

fn head(text: &mut String, first: &str, against: &str, last: &str) {
    let _ = writeln!(
        text,
        "{first} {:>9} {:>8} {:>8} {:>7} | {against:>5} {:>8} {:>8} {:>6}{last}",
        "req/s", "p50 ms", "p99 ms", "errors", "req/s", "p99 ms", "ratio"
    );
}

fn line(text: &mut String, first: &str, row: &Row, last: &str) {
    let (hub, limit) = (&row.hub, &row.limit);
    let _ = writeln!(
        text,
        "{first} {:>9.0} {:>8.2} {:>8.2} {:>7} | {:>14.0} {:>8.2} {:>6.2}{last}",
        hub.rate, hub.p50_ms, hub.p99_ms, hub.errors, limit.rate, limit.p99_ms, row.ratio
    );
}
