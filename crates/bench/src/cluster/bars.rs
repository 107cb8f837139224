//! The plot of a run: a bar for every server of every comparison.

use std::fmt::Write as _;

use super::report::{Name, Report};

const WIDTH: f64 = 920.0;
const LEFT: f64 = 300.0;
const RIGHT: f64 = 170.0;
const HEAD: f64 = 70.0;
const BAR: f64 = 18.0;
const GAP: f64 = 14.0;
const GREY: &str = "#6b7280";

/// Bars that are compared with each other.
struct Group {
    title: String,
    unit: &'static str,
    bars: Vec<(String, &'static str, f64)>,
}

pub(super) fn draw(report: &Report) -> String {
    let groups = groups(report);
    let bars: usize = groups.iter().map(|group| group.bars.len()).sum();
    let height = HEAD + bars as f64 * BAR + groups.len() as f64 * (GAP + BAR) + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#1f2937\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fcfcfd\"/>\n\
         <text x=\"24\" y=\"30\" font-size=\"18\" font-weight=\"600\">tandem-bench cluster: PostgreSQL, fsync on</text>\n\
         <text x=\"24\" y=\"51\" fill=\"{GREY}\">tandem {} · {} cores, shared with the load and PostgreSQL · medians of {} \
         rounds of {} s, in turns</text>\n",
        report.version, report.cores, report.rounds, report.seconds
    );
    let mut y = HEAD;
    for group in &groups {
        y += GAP;
        let _ =
            writeln!(svg, "<text x=\"24\" y=\"{:.1}\" font-weight=\"600\">{}</text>", y + 13.0, group.title);
        y += BAR;
        let most = group.bars.iter().map(|bar| bar.2).fold(f64::MIN_POSITIVE, f64::max);
        for (name, colour, value) in &group.bars {
            let width = (WIDTH - LEFT - RIGHT) * value / most;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\
                 <rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{GREY}\">{} {}</text>",
                LEFT - 8.0,
                y + 13.0,
                y + 2.0,
                BAR - 4.0,
                LEFT + width + 8.0,
                y + 13.0,
                number(*value),
                group.unit
            );
            y += BAR;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn groups(report: &Report) -> Vec<Group> {
    let mut groups = Vec::new();
    for cell in &report.one_node {
        let latency = cell.connections == 1;
        let bars = cell.servers.iter().map(|server| {
            let value = if latency { server.p50_ms() } else { server.rate() };
            (server.name.title().to_owned(), colour(server.name), value)
        });
        let plural = if latency { "" } else { "s" };
        groups.push(Group {
            title: format!(
                "one node: {}, {} connection{plural}{}",
                cell.operation.title(),
                cell.connections,
                if latency { ", p50, less is better" } else { "" }
            ),
            unit: if latency { "ms" } else { "a second" },
            bars: bars.collect(),
        });
    }
    for three in &report.three {
        let bars = vec![
            ("one node".to_owned(), colour(Name::RowsInOrder), three.one_rate()),
            ("three nodes, sum".to_owned(), colour(Name::Hub), three.sum()),
        ];
        groups.push(Group { title: format!("three nodes: {}", three.what), unit: "a second", bars });
    }
    if let Some(wake) = &report.wake {
        let bars = vec![
            ("same node".to_owned(), colour(Name::RowsInOrder), wake.same_node_p50_ms),
            ("across nodes".to_owned(), colour(Name::Hub), wake.across_p50_ms),
        ];
        groups.push(Group { title: "request to frame, p50, less is better".into(), unit: "ms", bars });
    }
    if let Some(idle) = &report.idle {
        let bars = vec![
            ("without agents".to_owned(), colour(Name::RowsInOrder), idle.memory_mb.0),
            (format!("{} on the first", idle.agents), colour(Name::Hub), idle.memory_mb.1),
        ];
        groups.push(Group { title: "memory of the other two nodes".into(), unit: "MB", bars });
    }
    groups
}

fn colour(name: Name) -> &'static str {
    match name {
        Name::Hub => "#1d4ed8",
        Name::Baseline => "#c2410c",
        Name::RowsInOrder => "#6b7280",
        Name::BareRows => "#b6bcc6",
    }
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
