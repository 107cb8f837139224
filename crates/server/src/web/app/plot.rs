//! Lines over time as SVG. Everything is computed here, in percent of the plot's area; `app/plot.html` only prints it.
//! The same values always give the same drawing.

use std::fmt::Write as _;

use tandem_core::Timestamp;

/// Width and height of the box in which curves are drawn; it is stretched to the plot's area.
const BOX: (f64, f64) = (600.0, 100.0);
/// Grid lines above zero.
const INTERVALS: u32 = 3;
/// The least distance of two labels at the right end, in percent of the height.
const LABEL_GAP: f64 = 12.0;
/// A gap that is at least so wide, in percent, has room for words.
const NAMED_GAP: f64 = 14.0;

/// What is known about one step: `None` if nothing is, `Some(None)` if there was nothing to measure.
pub(crate) type Known = Option<Option<f64>>;

#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// How it is drawn: `p50`, `p95` or `p99`.
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Known>,
}

/// Lines over the same steps of time.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    /// Unique on the page.
    pub(crate) id: &'static str,
    pub(crate) from: Timestamp,
    pub(crate) step_ms: i64,
    pub(crate) lines: Vec<Line>,
    /// Whether the ground below the only line is tinted, and its end shows the value instead of the name.
    pub(crate) is_single: bool,
}

/// A plot as the template prints it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) id: &'static str,
    /// Height and label of each grid line.
    pub(crate) grid: Vec<(String, String)>,
    /// Left edge, width and middle of each time without data; the last is empty if there is no room for words.
    pub(crate) gaps: Vec<(String, String, Option<String>)>,
    pub(crate) areas: Vec<String>,
    /// Class and points of each curve.
    pub(crate) curves: Vec<(&'static str, String)>,
    /// Height of the dot, if the line reaches the end, height of the label, and the label.
    pub(crate) ends: Vec<(Option<String>, String, String)>,
    /// Place, anchor and label of the times below.
    pub(crate) ticks: Vec<(String, &'static str, String)>,
    /// The heads of the table's columns, after the time.
    pub(crate) heads: Vec<&'static str>,
    /// The rows of the table, newest first.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

impl Plot {
    pub(crate) fn draw(&self) -> Drawing {
        let known = self.lines.iter().flat_map(|line| line.values.iter().copied().flatten().flatten());
        let scale = Scale::up_to(known.fold(0.0, f64::max));
        let mut drawing = Drawing {
            id: self.id,
            grid: (0..=INTERVALS).map(|n| scale.grid_line(n)).collect(),
            gaps: self.gaps(),
            areas: Vec::new(),
            curves: Vec::new(),
            ends: self.ends(&scale),
            ticks: self.ticks(),
            heads: self.lines.iter().map(|line| line.name).collect(),
            rows: self.rows(),
        };
        // The thick line is drawn last, above the others.
        for line in self.lines.iter().rev() {
            for run in runs(&line.values) {
                let points: Vec<(f64, f64)> =
                    run.iter().map(|(at, value)| (self.x(*at) * BOX.0, scale.y(*value) * BOX.1)).collect();
                if self.is_single {
                    drawing.areas.push(area(&points));
                }
                drawing.curves.push((line.class, curve(&points)));
            }
        }
        drawing
    }

    fn steps(&self) -> usize {
        self.lines.first().map_or(0, |line| line.values.len())
    }

    /// The place of a step's value, from 0 to 1: the first is at the left edge, the last at the right one.
    #[expect(clippy::cast_precision_loss, reason = "a plot has a hundred steps")]
    fn x(&self, step: usize) -> f64 {
        step as f64 / self.steps().saturating_sub(1).max(1) as f64
    }

    fn time(&self, step: usize) -> String {
        let steps = i64::try_from(step).unwrap_or(0);
        clock(self.from.plus_ms(steps.saturating_mul(self.step_ms)), self.step_ms)
    }

    /// Times about which nothing is known, from the last known value before to the first after.
    fn gaps(&self) -> Vec<(String, String, Option<String>)> {
        let Some(line) = self.lines.first() else { return Vec::new() };
        let mut gaps = Vec::new();
        let mut begin = None;
        for (at, value) in line.values.iter().map(Some).chain([None]).enumerate() {
            match (value, begin) {
                (Some(None), None) => begin = Some(at.saturating_sub(1)),
                (Some(Some(_)) | None, Some(first)) => {
                    begin = None;
                    let end = at.min(self.steps().saturating_sub(1));
                    let (left, width) = (self.x(first) * 100.0, (self.x(end) - self.x(first)) * 100.0);
                    let middle = (width >= NAMED_GAP).then(|| number(left + width / 2.0));
                    gaps.push((number(left), number(width), middle));
                }
                _ => {}
            }
        }
        gaps
    }

    fn ends(&self, scale: &Scale) -> Vec<(Option<String>, String, String)> {
        let last = self.steps().saturating_sub(1);
        let mut ends: Vec<(bool, f64, f64, String)> = Vec::new();
        for line in &self.lines {
            let newest = line.values.iter().enumerate().rev();
            let newest = newest.filter_map(|(at, known)| Some((at, known.flatten()?))).next();
            let Some((at, value)) = newest else { continue };
            let label = if self.is_single { figure(value) } else { line.class.to_owned() };
            // A single line's label is its value now. An old one would be a lie.
            if at == last || !self.is_single {
                let y = scale.y(value) * 100.0;
                ends.push((at == last, y, y, label));
            }
        }
        // From the bottom up, so that the labels keep their distance and their order.
        let mut limit = 100.0 + LABEL_GAP;
        ends.sort_by(|a, b| b.1.total_cmp(&a.1));
        for end in &mut ends {
            end.2 = end.2.min(limit - LABEL_GAP);
            limit = end.2;
        }
        let print = |(has_dot, dot, y, label): (bool, f64, f64, String)| {
            (has_dot.then(|| number(dot)), number(y), label)
        };
        ends.into_iter().map(print).collect()
    }

    fn ticks(&self) -> Vec<(String, &'static str, String)> {
        let last = self.steps().saturating_sub(1);
        let tick = |n: usize| {
            let anchor = ["start", "middle", "middle", "end"][n];
            let zone = if n == 3 { " UTC" } else { "" };
            let label = self.time(last * n / 3).get(..5).unwrap_or_default().to_owned() + zone;
            (number(self.x(last * n / 3) * 100.0), anchor, label)
        };
        (0..4).map(tick).collect()
    }

    fn rows(&self) -> Vec<(String, Vec<String>)> {
        let cell = |known: Known| match known {
            None => "no data".to_owned(),
            Some(None) => "–".to_owned(),
            Some(Some(value)) => figure(value),
        };
        let row = |at| {
            let cells = self.lines.iter().map(|line| cell(line.values.get(at).copied().flatten()));
            (self.time(at), cells.collect())
        };
        (0..self.steps()).rev().map(row).collect()
    }
}

/// The runs of values without a gap, with their places.
fn runs(values: &[Known]) -> Vec<Vec<(usize, f64)>> {
    let mut runs: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut is_open = false;
    for (at, known) in values.iter().enumerate() {
        match (known.flatten(), is_open) {
            (None, _) => is_open = false,
            (Some(value), true) => runs.last_mut().into_iter().for_each(|run| run.push((at, value))),
            (Some(value), false) => {
                runs.push(vec![(at, value)]);
                is_open = true;
            }
        }
    }
    runs
}

/// A single value is drawn as a line of no length, which round ends make a dot.
fn curve(points: &[(f64, f64)]) -> String {
    match points {
        [only] => print_points(&[*only, *only]),
        _ => print_points(points),
    }
}

fn area(points: &[(f64, f64)]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    print_points(&[&[(first.0, BOX.1)], points, &[(last.0, BOX.1)]].concat())
}

fn print_points(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (x, y) in points {
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{space}{x:.1},{y:.1}");
    }
    text
}

/// From zero to a round number.
#[derive(Debug)]
struct Scale {
    /// The distance of two grid lines.
    step: f64,
    decimals: usize,
}

impl Scale {
    fn up_to(max: f64) -> Self {
        let mut power = 0.001_f64;
        let mut decimals = 3_usize;
        while power < 1e12 {
            for (factor, more) in [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0)] {
                let step = power * factor;
                if step * f64::from(INTERVALS) >= max && max > 0.0 {
                    let decimals = if power * 10.0 > 10.0 { 0 } else { decimals + more };
                    return Self { step, decimals };
                }
            }
            power *= 10.0;
            decimals = decimals.saturating_sub(1);
        }
        Self { step: 1.0, decimals: 0 }
    }

    /// The place of a value, from 0 at the top to 1 at zero.
    fn y(&self, value: f64) -> f64 {
        1.0 - (value / (self.step * f64::from(INTERVALS))).clamp(0.0, 1.0)
    }

    fn grid_line(&self, n: u32) -> (String, String) {
        let value = self.step * f64::from(n);
        let label = if n == 0 { "0".to_owned() } else { format!("{value:.*}", self.decimals) };
        (number(self.y(value) * 100.0), label)
    }
}

/// A number with as many digits as a reader needs.
pub(crate) fn figure(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        ..0.1 => format!("{value:.2}"),
        ..10.0 => format!("{value:.1}").trim_end_matches(".0").to_owned(),
        _ => format!("{value:.0}"),
    }
}

fn number(percent: f64) -> String {
    format!("{percent:.1}")
}

/// The time of day; with seconds if steps are shorter than a minute.
fn clock(at: Timestamp, step_ms: i64) -> String {
    let end = if step_ms < 60_000 { 19 } else { 16 };
    at.to_string().get(11..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(values: &[Known]) -> Plot {
        let line = Line { class: "p50", name: "Events", values: values.to_vec() };
        let from = Timestamp(1_800_000_000_000);
        Plot { id: "events", from, step_ms: 60_000, lines: vec![line], is_single: true }
    }

    const fn at(value: f64) -> Known {
        Some(Some(value))
    }

    #[test]
    fn scales_are_round_and_begin_at_zero() {
        for (max, labels) in [
            (0.0, ["0", "1", "2", "3"]),
            (0.04, ["0", "0.02", "0.04", "0.06"]),
            (0.7, ["0", "0.25", "0.50", "0.75"]),
            (3.0, ["0", "1", "2", "3"]),
            (7.5, ["0", "2.5", "5.0", "7.5"]),
            (58.0, ["0", "20", "40", "60"]),
            (61.0, ["0", "25", "50", "75"]),
            (1_400.0, ["0", "500", "1000", "1500"]),
        ] {
            let scale = Scale::up_to(max);
            let found: Vec<String> = (0..=INTERVALS).map(|n| scale.grid_line(n).1).collect();
            assert_eq!(found, labels, "{max}");
            assert!(scale.y(max) >= 0.0 && (scale.y(0.0) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn unknown_time_is_a_gap_and_never_bridged() {
        let drawing = plot(&[None, None, at(3.0), at(0.0), None, at(1.5), at(3.0)]).draw();
        let curves: Vec<&str> = drawing.curves.iter().map(|curve| &*curve.1).collect();
        assert_eq!(curves, ["200.0,0.0 300.0,100.0", "500.0,50.0 600.0,0.0"]);
        assert_eq!(drawing.areas[0], "200.0,100.0 200.0,0.0 300.0,100.0 300.0,100.0");
        let gaps: Vec<(&str, &str)> = drawing.gaps.iter().map(|gap| (&*gap.0, &*gap.1)).collect();
        assert_eq!(gaps, [("0.0", "33.3"), ("50.0", "33.3")]);
        assert_eq!(drawing.rows[0], ("08:06".to_owned(), vec!["3".to_owned()]));
        assert_eq!(drawing.rows[2].1, ["no data"]);
    }

    #[test]
    fn a_hub_that_has_just_started_is_one_gap() {
        let drawing = plot(&[None; 4]).draw();
        assert_eq!(drawing.gaps, [("0.0".to_owned(), "100.0".to_owned(), Some("50.0".to_owned()))]);
        assert!(drawing.curves.is_empty() && drawing.ends.is_empty());
        assert_eq!(drawing.grid.len(), 4);
        assert_eq!(plot(&[]).draw().curves, []);
    }

    #[test]
    fn a_step_without_a_measurement_is_no_gap_and_no_zero() {
        let drawing = plot(&[at(1.0), Some(None), at(2.0), Some(None)]).draw();
        assert!(drawing.gaps.is_empty());
        // Each is a dot.
        let curves: Vec<&str> = drawing.curves.iter().map(|curve| &*curve.1).collect();
        assert_eq!(curves, ["0.0,66.7 0.0,66.7", "400.0,33.3 400.0,33.3"]);
        assert!(drawing.ends.is_empty(), "the value now is not known");
        assert_eq!(drawing.rows[0].1, ["–"]);
    }

    #[test]
    fn labels_at_the_end_keep_their_distance() {
        let line = |class, value| Line { class, name: class, values: vec![at(value); 2] };
        let lines = vec![line("p50", 1.0), line("p95", 1.1), line("p99", 30.0)];
        let drawing = Plot { lines, is_single: false, ..plot(&[]) }.draw();
        let heights: Vec<f64> = drawing.ends.iter().map(|end| end.1.parse().unwrap()).collect();
        assert!(heights.windows(2).all(|pair| pair[0] - pair[1] >= LABEL_GAP - 0.1), "{heights:?}");
        let labels: Vec<&str> = drawing.ends.iter().map(|end| &*end.2).collect();
        assert_eq!(labels, ["p50", "p95", "p99"]);
        assert!(drawing.areas.is_empty());
        assert_eq!(drawing.curves.iter().map(|curve| curve.0).collect::<Vec<_>>(), ["p99", "p95", "p50"]);
    }

    #[test]
    fn figures_are_short() {
        assert_eq!([0.0, 0.033, 0.5, 4.0, 41.4].map(figure), ["0", "0.03", "0.5", "4", "41"]);
    }
}
