//! The plot of a run, as a small SVG.

use std::fmt::Write as _;

use super::report::{Report, Row};
use super::workload::Operation;

const PANEL: (f64, f64) = (520.0, 330.0);
/// Left, top, right and bottom of the drawing area within a panel.
const INSET: (f64, f64, f64, f64) = (78.0, 74.0, 22.0, 50.0);
const HEAD: f64 = 64.0;
const COLOURS: [&str; 5] = ["#1d4ed8", "#c2410c", "#15803d", "#7e22ce", "#6b7280"];
const GREY: &str = "#6b7280";
const LIGHT_GREY: &str = "#b6bcc6";

struct Line {
    name: String,
    colour: &'static str,
    dashed: bool,
    values: Vec<f64>,
}

struct Panel {
    title: String,
    x_title: &'static str,
    y_title: &'static str,
    ticks: Vec<String>,
    /// The band that lines should stay in.
    band: Option<(f64, f64)>,
    lines: Vec<Line>,
}

pub(super) fn draw(report: &Report) -> String {
    let by_connections = [Operation::CreateTask, Operation::SendMessage, Operation::ReadTask];
    let mut panels: Vec<Panel> =
        by_connections.into_iter().map(|operation| connections_panel(report, operation)).collect();
    if !report.growth.is_empty() {
        panels.push(growth_panel(report));
    }
    let rows = panels.len().div_ceil(2) as f64;
    let (width, height) = (PANEL.0 * 2.0, HEAD + PANEL.1 * rows + 10.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#1f2937\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fcfcfd\"/>\n\
         <text x=\"24\" y=\"30\" font-size=\"18\" font-weight=\"600\">tandem-bench: {}</text>\n\
         <text x=\"24\" y=\"51\" fill=\"{GREY}\">tandem {} · {} cores, shared with the load · {} s a cell · every \
         write is on the disk before it is answered</text>\n",
        escaped(&report.subject),
        report.version,
        report.cores,
        report.seconds
    );
    for (place, panel) in panels.iter().enumerate() {
        let (x, y) = ((place % 2) as f64 * PANEL.0, HEAD + (place / 2) as f64 * PANEL.1);
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        panel.draw(&mut svg);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn connections_panel(report: &Report, operation: Operation) -> Panel {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| row.operation == operation).collect();
    Panel {
        title: format!("{}, by connections", operation.title()),
        x_title: "connections",
        y_title: "answers a second",
        ticks: rows.iter().map(|row| row.connections.to_string()).collect(),
        band: None,
        lines: connection_lines(report, &rows),
    }
}

fn connection_lines(report: &Report, rows: &[&Row]) -> Vec<Line> {
    let line = |name: &str, colour, dashed, values| Line { name: name.into(), colour, dashed, values };
    let bare: Vec<f64> =
        rows.iter().filter_map(|row| row.bare_rows.as_ref()).map(|bare| bare.figures.rate).collect();
    let in_order = rows.iter().map(|row| row.rows_in_order.figures.rate).collect();
    let mut lines = vec![
        line("hub", COLOURS[0], false, rows.iter().map(|row| row.hub.rate).collect()),
        line(report.against, GREY, true, in_order),
    ];
    if !bare.is_empty() {
        lines.push(line("bare rows", LIGHT_GREY, true, bare));
    }
    lines
}

fn growth_panel(report: &Report) -> Panel {
    let of = |operation: Operation| report.growth.iter().filter(move |row| row.operation == operation);
    let operations =
        [Operation::CreateTask, Operation::SendMessage, Operation::ReadTask, Operation::ListTasks];
    let lines = operations.into_iter().zip(COLOURS).map(|(operation, colour)| Line {
        name: operation.short().into(),
        colour,
        dashed: false,
        values: of(operation).map(|row| report.flatness(row).1 * 100.0).collect(),
    });
    Panel {
        title: "by stored tasks, 64 connections".into(),
        x_title: "stored tasks",
        y_title: "% of the first, by ratio to rows in order",
        ticks: of(Operation::CreateTask).map(|row| row.stored.unwrap_or_default()).map(power).collect(),
        band: Some((80.0, 120.0)),
        lines: lines.collect(),
    }
}

/// A power of ten with a raised exponent.
fn power(number: u64) -> String {
    let exponent = number.checked_ilog10().unwrap_or_default();
    let raised = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
    raised.get(exponent as usize).map_or_else(|| number.to_string(), |raised| format!("10{raised}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The distance of grid lines: 1, 2 or 5 times a power of ten, for about five of them.
fn grid_step(max: f64) -> f64 {
    let rough = (max / 5.0).max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough)
        .unwrap_or(rough)
}

/// A number with separated thousands.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Panel {
    fn draw(&self, svg: &mut String) {
        let highest = self.lines.iter().flat_map(|line| line.values.iter().copied()).fold(1.0, f64::max);
        let highest = highest.max(self.band.map_or(0.0, |band| band.1));
        let step = grid_step(highest);
        let top = (highest / step).ceil() * step;
        let (left, right) = (INSET.0, PANEL.0 - INSET.2);
        let (upper, lower) = (INSET.1, PANEL.1 - INSET.3);
        let x = |place: usize| {
            let gaps = self.ticks.len().saturating_sub(1).max(1) as f64;
            left + 24.0 + (right - left - 48.0) * place as f64 / gaps
        };
        let y = |value: f64| lower - (lower - upper) * value / top;

        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"22\" font-weight=\"600\" font-size=\"14\">{}</text>",
            escaped(&self.title)
        );
        self.legend(svg, left);
        if let Some((from, to)) = self.band {
            let (width, height) = (right - left, y(from) - y(to));
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#dcfce7\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#166534\">within 20 %</text>",
                y(to),
                left + 6.0,
                y(from) - 6.0
            );
        }
        let mut value = 0.0;
        while value <= top + step / 2.0 {
            let at = y(value);
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e5e7eb\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{GREY}\">{}</text>",
                left - 8.0,
                at + 4.5,
                grouped(value)
            );
            value += step;
        }
        for (place, tick) in self.ticks.iter().enumerate() {
            let (at, below) = (x(place), lower + 18.0);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{below:.1}\" text-anchor=\"middle\" fill=\"{GREY}\">{tick}</text>"
            );
        }
        let (middle, between) = (f64::midpoint(left, right), f64::midpoint(upper, lower));
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{GREY}\">{}</text>\n\
             <text transform=\"translate(18 {between:.1}) rotate(-90)\" text-anchor=\"middle\" fill=\"{GREY}\">{}</text>",
            lower + 38.0,
            self.x_title,
            self.y_title
        );
        for line in &self.lines {
            line.draw(svg, x, y);
        }
    }

    fn legend(&self, svg: &mut String, left: f64) {
        let mut at = left;
        for line in &self.lines {
            let dash = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            let _ = writeln!(
                svg,
                "<line x1=\"{at:.1}\" x2=\"{:.1}\" y1=\"44\" y2=\"44\" stroke=\"{}\" stroke-width=\"2.5\"{dash}/>\
                 <text x=\"{:.1}\" y=\"48\" font-size=\"12\">{}</text>",
                at + 22.0,
                line.colour,
                at + 28.0,
                escaped(&line.name)
            );
            at += 44.0 + 6.6 * line.name.chars().count() as f64;
        }
    }
}

impl Line {
    fn draw(&self, svg: &mut String, x: impl Fn(usize) -> f64, y: impl Fn(f64) -> f64) {
        let points: Vec<String> = self
            .values
            .iter()
            .enumerate()
            .map(|(place, value)| format!("{:.1},{:.1}", x(place), y(*value)))
            .collect();
        let dash = if self.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"{dash}/>",
            points.join(" "),
            self.colour
        );
        for (place, value) in self.values.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{}\"><title>{}: {}</title></circle>",
                x(place),
                y(*value),
                self.colour,
                escaped(&self.name),
                grouped(*value)
            );
        }
    }
}
