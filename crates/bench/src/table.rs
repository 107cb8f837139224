//! A report as text.

use std::fmt::Write as _;

use super::measure::HEADLINE;
use super::report::{Report, Row};
use super::workload::Operation;

/// Cores used by other programs, beyond which the report has a warning.
const NOISE_MAX: f64 = 0.1;

impl Report {
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "tandem {} · {} · {} cores, shared with the load · {} s a cell, {} agents, lists of {}\n\n",
            self.version, self.subject, self.cores, self.seconds, self.agents, self.list_pages.0
        );
        self.by_connections(&mut text, &self.rows);
        if !self.postgres.is_empty() {
            text.push_str(
                "\nOn PostgreSQL: the hub, and bare loops that group waiting jobs on two connections\n\n",
            );
            self.by_connections(&mut text, &self.postgres);
        }
        if !self.growth.is_empty() {
            self.by_stored(&mut text);
        }
        self.costs_and_noise(&mut text);
        self.errors(&mut text);
        self.goals_reached(&mut text);
        text
    }

    fn by_connections(&self, text: &mut String, rows: &[Row]) {
        head(text, &format!("{:<24} {:>5}", "operation", "conns"), self.against, " | bare rows  ratio");
        for row in rows {
            let bare = row
                .bare_rows
                .as_ref()
                .map_or(String::new(), |bare| format!(" | {:>9.0} {:>6.2}", bare.figures.rate, bare.ratio));
            line(text, &format!("{:<24} {:>5}", row.operation.title(), row.connections), row, &bare);
        }
    }

    fn by_stored(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "\nGrowth, {HEADLINE} connections, lists of {}. \"flat\": the rate compared with the first line; then the \
             same for the ratio\n",
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

    fn costs_and_noise(&self, text: &mut String) {
        let mb = |memory: Option<f64>| memory.map_or("unknown".into(), |mb| format!("{mb:.1} MB"));
        if let Some(costs) = &self.costs {
            let _ = writeln!(
                text,
                "\nMemory: idle {}, after the load {}\nStart to first answer: new folder {:.0} ms, existing data {:.0} ms",
                mb(costs.idle_mb),
                mb(costs.loaded_mb),
                costs.first_start_ms,
                costs.start_ms
            );
        }
        if let Some(cores) = self.foreign_cores {
            let noisy = if cores > NOISE_MAX { ": a quiet machine gives better figures" } else { "" };
            let _ = writeln!(text, "Other programs used {cores:.2} of {} cores meanwhile{noisy}", self.cores);
        }
        for row in self.growth.iter().filter(|row| row.operation == Operation::CreateTask) {
            if let (Some(stored), Some(costs)) = (row.stored, &row.costs) {
                let _ = writeln!(
                    text,
                    "  with {stored:>9} stored tasks: start {:.0} ms, idle {}",
                    costs.start_ms,
                    mb(costs.idle_mb)
                );
            }
        }
    }

    fn errors(&self, text: &mut String) {
        for row in self.rows.iter().chain(&self.postgres).chain(&self.growth) {
            let bare = row.bare_rows.as_ref().map(|bare| ("bare rows", &bare.figures));
            let both = [("the hub", &row.hub), (self.against, &row.rows_in_order.figures)];
            for (server, figures) in both.into_iter().chain(bare) {
                if let Some(error) = &figures.first_error {
                    let (count, what) = (figures.errors, row.operation.title());
                    let shown: String = error.chars().take(300).collect();
                    let _ = writeln!(text, "\n{count} errors of {server} at {what}, the first: {shown}");
                }
            }
        }
    }

    fn goals_reached(&self, text: &mut String) {
        let goals = self.goals();
        if goals.is_empty() {
            return;
        }
        text.push_str("\nGoals\n");
        for goal in goals {
            let (sign, unit) = (if goal.at_least { "≥" } else { "≤" }, goal.unit);
            let reached = if goal.is_met() { "reached" } else { "NOT REACHED" };
            let (what, value, bound) = (goal.what, goal.value, goal.bound);
            let _ = writeln!(text, "  {reached:<11} {what}: {value:.2}{unit} (goal {sign} {bound}{unit})");
        }
    }
}

fn head(text: &mut String, first: &str, against: &str, last: &str) {
    let _ = writeln!(
        text,
        "{first} {:>9} {:>8} {:>8} {:>7} | {against:>13} {:>8} {:>6}{last}",
        "req/s", "p50 ms", "p99 ms", "errors", "p99 ms", "ratio"
    );
}

fn line(text: &mut String, first: &str, row: &Row, last: &str) {
    let (hub, limit) = (&row.hub, &row.rows_in_order);
    let _ = writeln!(
        text,
        "{first} {:>9.0} {:>8.2} {:>8.2} {:>7} | {:>13.0} {:>8.2} {:>6.2}{last}",
        hub.rate, hub.p50_ms, hub.p99_ms, hub.errors, limit.figures.rate, limit.figures.p99_ms, limit.ratio
    );
}
