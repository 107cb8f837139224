//! A report as text.

use std::fmt::Write as _;

use super::report::{Cell, Name, Report, Three};

/// Cores used by other programs, beyond which the report has a warning.
const NOISE_MAX: f64 = 0.1;

impl Report {
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "tandem {} on PostgreSQL (fsync on) · {} cores, shared with the load and PostgreSQL · {} rounds of {} s, medians\n",
            self.version, self.cores, self.rounds, self.seconds
        );
        if !self.one_node.is_empty() {
            one_node(&mut text, &self.one_node);
        }
        if !self.three.is_empty() {
            three(&mut text, &self.three);
        }
        self.wake_and_idle(&mut text);
        if let Some(cores) = self.foreign_cores {
            let noisy = if cores > NOISE_MAX { ": a quiet machine gives better figures" } else { "" };
            let _ =
                writeln!(text, "\nOther programs used {cores:.2} of {} cores meanwhile{noisy}", self.cores);
        }
        self.errors(&mut text);
        let goals = self.goals();
        if !goals.is_empty() {
            text.push_str("\nGoals\n");
        }
        for goal in goals {
            let (sign, unit) = (if goal.at_least { "≥" } else { "≤" }, goal.unit);
            let reached = if goal.is_met() { "reached" } else { "NOT REACHED" };
            let (what, value, bound) = (goal.what, goal.value, goal.bound);
            let _ = writeln!(text, "  {reached:<11} {what}: {value:.2}{unit} (goal {sign} {bound}{unit})");
        }
        text
    }

    fn wake_and_idle(&self, text: &mut String) {
        if let Some(wake) = &self.wake {
            let _ = writeln!(
                text,
                "\nRequest to frame, {} events, ms: same node p50 {:.2}, p99 {:.2}; across nodes p50 {:.2}, p99 {:.2}; \
                 added at p50 {:.2}",
                wake.events,
                wake.same_node_p50_ms,
                wake.same_node_p99_ms,
                wake.across_p50_ms,
                wake.across_p99_ms,
                wake.added_p50_ms
            );
        }
        if let Some(idle) = &self.idle {
            let _ = writeln!(
                text,
                "\n{} idle agents on one of three nodes:\n  \
                 the other two: processor {:.2} % before, {:.2} % with them; memory {:.1} and {:.1} MB ({:.0} bytes an agent)\n  \
                 their own node: processor {:.2} and {:.2} %; memory {:.1} and {:.1} MB",
                idle.agents,
                idle.cpu_percent.0,
                idle.cpu_percent.1,
                idle.memory_mb.0,
                idle.memory_mb.1,
                idle.bytes_each(),
                idle.home_cpu_percent.0,
                idle.home_cpu_percent.1,
                idle.home_memory_mb.0,
                idle.home_memory_mb.1,
            );
        }
    }

    fn errors(&self, text: &mut String) {
        let cells = self.one_node.iter().flat_map(|cell| &cell.servers);
        let one_node =
            cells.flat_map(|server| server.rounds.iter().map(|round| (server.name.title(), round)));
        let three =
            self.three.iter().flat_map(|three| three.errors().map(|round| (three.what.as_str(), round)));
        for (what, figures) in one_node.chain(three) {
            if let Some(error) = &figures.first_error {
                let shown: String = error.chars().take(300).collect();
                let _ = writeln!(text, "\n{} errors, {what}, the first: {shown}", figures.errors);
            }
        }
    }
}

fn one_node(text: &mut String, cells: &[Cell]) {
    let _ = writeln!(
        text,
        "\nOne node. CPU: microseconds an answer, of the server and of PostgreSQL\n\n\
         {:<24} {:>5} {:<14} {:>9} {:>8} {:>8} {:>8} {:>8} | hub: rate  p50",
        "operation", "conns", "server", "req/s", "p50 ms", "p99 ms", "own CPU", "PG CPU"
    );
    for cell in cells {
        for (place, server) in cell.servers.iter().enumerate() {
            let (title, connections) = match place {
                0 => (cell.operation.title(), cell.connections.to_string()),
                _ => ("", String::new()),
            };
            let cost = |cost: Option<f64>| cost.map_or("?".into(), |us| format!("{us:.0}"));
            let of =
                |ratios: &[(Name, f64)]| ratios.iter().find(|(name, _)| *name == server.name).map(|of| of.1);
            let compared = of(&cell.ratios).zip(of(&cell.latency_ratios));
            let compared = compared.map_or(String::new(), |(rate, p50)| format!("{rate:>9.2} {p50:>4.2}"));
            let _ = writeln!(
                text,
                "{title:<24} {connections:>5} {:<14} {:>9.0} {:>8.2} {:>8.2} {:>8} {:>8} | {compared}",
                server.name.title(),
                server.rate(),
                server.p50_ms(),
                server.p99_ms(),
                cost(server.own_cpu_us),
                cost(server.database_cpu_us),
            );
        }
    }
}

fn three(text: &mut String, rows: &[Three]) {
    let _ = writeln!(
        text,
        "\nThree nodes\n\n{:<34} {:>9} {:>9} {:>6} {:>22} {:>7}",
        "load", "one/s", "three/s", "ratio", "p99 slowest of fastest", "errors"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<34} {:>9.0} {:>9.0} {:>6.2} {:>22.2} {:>7}",
            row.what,
            row.one_rate(),
            row.sum(),
            row.ratio(),
            row.unevenness(),
            row.failed()
        );
    }
}
