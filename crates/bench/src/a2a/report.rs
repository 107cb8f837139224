//! What was measured, as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::super::load::Figures;

/// The goals: of the rates of the SDK's servers at 16 clients, of the rate of native tasks, of a list of a thousand, and KB.
const OF_SQLITE: f64 = 20.0;
const OF_MEMORY: f64 = 4.0;
const OF_NATIVE: f64 = 0.6;
const OF_SHORT_LIST: f64 = 0.8;
const STREAM_KB_MAX: f64 = 12.0;

#[derive(Debug, Serialize)]
pub(super) struct Row {
    name: String,
    clients: usize,
    servers: Vec<(&'static str, Figures)>,
}

impl Row {
    pub(super) fn new(name: &str, clients: usize, servers: Vec<(&'static str, Figures)>) -> Self {
        Self { name: name.to_owned(), clients, servers }
    }

    fn rate(&self, server: &str) -> Option<f64> {
        self.servers.iter().find(|(name, _)| *name == server).map(|(_, figures)| figures.rate)
    }
}

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) seconds: f64,
    pub(super) rows: Vec<Row>,
    pub(super) stream_kb: f64,
}

impl Report {
    fn rate(&self, name: &str, clients: usize, server: &str) -> Option<f64> {
        self.rows.iter().find(|row| row.name == name && row.clients == clients)?.rate(server)
    }

    pub(super) fn table(&self) -> String {
        let mut out = format!("\n{} s a cell, the median of three in turns\n\n", self.seconds);
        for row in &self.rows {
            for (server, figures) in &row.servers {
                let _ = writeln!(
                    out,
                    "{:<18} {:>3} clients  {server:<7} {:>7.0}/s   p50 {:>7.2} ms   p99 {:>7.2} ms   errors {}",
                    row.name, row.clients, figures.rate, figures.p50_ms, figures.p99_ms, figures.errors
                );
                if let Some(error) = &figures.first_error {
                    let _ = writeln!(out, "    {}", error.chars().take(200).collect::<String>());
                }
            }
        }
        let _ = writeln!(out, "\nAn open stream with its connection: {:.1} KB\n\nGoals", self.stream_kb);
        let answered = |server| self.rate("send → completed", 16, server);
        let ratio = |one: Option<f64>, other: Option<f64>| Some(one? / other?.max(0.1));
        let immediate = self.rate("send, immediate", 16, "hub");
        let lists = ["list of 100000", "list of 1000"].map(|name| self.rate(name, 16, "hub"));
        for (what, value, goal) in [
            ("of the SDK's server on SQLite", ratio(answered("hub"), answered("sqlite")), OF_SQLITE),
            ("of the SDK's server in memory", ratio(answered("hub"), answered("memory")), OF_MEMORY),
            (
                "immediate sends, of POST /tasks",
                ratio(immediate, self.rate("POST /tasks", 16, "hub")),
                OF_NATIVE,
            ),
            ("a page of 100,000, of one of 1,000", ratio(lists[0], lists[1]), OF_SHORT_LIST),
        ] {
            let Some(value) = value else { continue };
            let met = if value >= goal { "reached" } else { "NOT REACHED" };
            let _ = writeln!(out, "  {met:<11} {what}: {value:.2} (goal ≥ {goal})");
        }
        let met = if self.stream_kb <= STREAM_KB_MAX { "reached" } else { "NOT REACHED" };
        let _ = writeln!(out, "  {met:<11} a stream: {:.1} KB (goal ≤ {STREAM_KB_MAX})", self.stream_kb);
        out
    }
}
