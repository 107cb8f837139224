//! The plots of Home: events of the agent, and the time from commit to push on the whole hub.

use tandem_hub::history::{Period, Quantiles, Steps};

use crate::web::app::plot::{Drawing, Known, Line, Plot, figure};

/// Below this many events per second, minutes are counted.
const SLOW_PER_SECOND: f64 = 1.0;

/// The choice of a period.
pub(super) struct PeriodLink {
    pub(super) href: String,
    pub(super) word: &'static str,
    pub(super) is_current: bool,
}

pub(super) struct PlotCard {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    /// The figure that matters most; none if nothing is known.
    pub(super) key: Option<String>,
    pub(super) note: String,
    /// All of it in a sentence, for those who do not see it.
    pub(super) label: String,
    pub(super) drawing: Drawing,
}

/// The period in the URL; anything unknown is the shortest.
pub(super) fn period(target: &str) -> Period {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "period");
    let known = |(_, word): (_, std::borrow::Cow<'_, str>)| {
        Period::ALL.into_iter().find(|period| parts(*period).0 == word)
    };
    asked.and_then(known).unwrap_or(Period::Minutes15)
}

/// The word in the URL, and the one for people.
fn parts(period: Period) -> (&'static str, &'static str) {
    match period {
        Period::Minutes15 => ("15m", "15 min"),
        Period::Hours3 => ("3h", "3 h"),
        Period::Hours24 => ("24h", "24 h"),
    }
}

pub(super) fn links(base: &str, current: Period) -> Vec<PeriodLink> {
    let link = |period| PeriodLink {
        href: format!("{base}?period={}", parts(period).0),
        word: parts(period).1,
        is_current: period == current,
    };
    Period::ALL.into_iter().map(link).collect()
}

/// Events that were written to the agent's log, per second, or per minute if there are few.
#[expect(clippy::cast_precision_loss, reason = "a step is minutes at most")]
pub(super) fn events(steps: &Steps<u32>) -> PlotCard {
    let seconds = steps.step_ms as f64 / 1_000.0;
    let known: Vec<f64> = steps.values.iter().flatten().map(|count| f64::from(*count) / seconds).collect();
    let peak = known.iter().copied().fold(0.0, f64::max);
    let (heading, unit, factor) = if peak >= SLOW_PER_SECOND {
        ("Events per second", "per second", 1.0)
    } else {
        ("Events per minute", "per minute", 60.0)
    };
    let values: Vec<Known> = steps
        .values
        .iter()
        .map(|count| count.map(|count| Some(f64::from(count) / seconds * factor)))
        .collect();
    let last = values.last().copied().flatten().flatten();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64 * factor;
    let (note, figures) = if known.is_empty() {
        let note = "No figures yet: the hub has just started.".to_owned();
        (note.clone(), note)
    } else {
        let (mean, peak) = (figure(mean), figure(peak * factor));
        let now = last.map_or_else(|| "unknown".to_owned(), figure);
        (format!("now · {mean} mean · {peak} peak"), format!("{now} now, {mean} mean, {peak} peak"))
    };
    let lines = vec![Line { class: "p50", name: heading, values }];
    let plot = Plot { id: "events", from: steps.from, step_ms: steps.step_ms, lines, is_single: true };
    let label = format!("Events in this agent’s log {unit}. {figures}{}", unknown(&plot));
    PlotCard { id: "events", heading, key: last.map(figure), note, label, drawing: plot.draw() }
}

/// How long pushes took, from the commit to the socket or stream.
pub(super) fn pushes((steps, all): (Steps<Option<Quantiles>>, Option<Quantiles>)) -> PlotCard {
    let line = |class, value: fn(Quantiles) -> f64| Line {
        class,
        name: class,
        values: steps.values.iter().map(|known| known.map(|found| found.map(value))).collect(),
    };
    let lines = vec![line("p50", |q| q.p50), line("p95", |q| q.p95), line("p99", |q| q.p99)];
    let plot = Plot { id: "pushes", from: steps.from, step_ms: steps.step_ms, lines, is_single: false };
    let (key, note, figures) = match all {
        Some(all) => {
            let [p50, p95, p99] = [all.p50, all.p95, all.p99].map(|ms| format!("{} ms", figure(ms)));
            let figures = format!("Half within {p50}, 95 of 100 within {p95}, 99 of 100 within {p99}");
            let count = crate::web::app::words::thousands(i64::try_from(all.count).unwrap_or(i64::MAX));
            let what = if all.count == 1 { "push" } else { "pushes" };
            (Some(p95), format!("95 of 100 are faster · half within {p50} · {count} {what}"), figures)
        }
        None => (None, "Nothing was pushed in this time.".to_owned(), "Nothing was pushed".to_owned()),
    };
    let label = format!("Commit to push on this hub, in milliseconds. {figures}{}", unknown(&plot));
    PlotCard { id: "pushes", heading: "Commit to push, ms", key, note, label, drawing: plot.draw() }
}

/// The end of the sentence about a plot.
fn unknown(plot: &Plot) -> &'static str {
    let is_cut = plot.lines.first().is_some_and(|line| line.values.iter().any(Option::is_none));
    if is_cut { "; for part of the time there are no figures." } else { "." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_core::Timestamp;

    fn steps(values: &[Option<u32>]) -> Steps<u32> {
        Steps { from: Timestamp(1_800_000_000_000), step_ms: 10_000, values: values.to_vec() }
    }

    #[test]
    fn few_events_are_counted_by_the_minute() {
        let card = events(&steps(&[None, Some(0), Some(1)]));
        assert_eq!((card.heading, card.key.as_deref()), ("Events per minute", Some("6")));
        assert_eq!(card.note, "now · 3 mean · 6 peak");
        assert!(card.label.ends_with("for part of the time there are no figures."), "{}", card.label);
        let card = events(&steps(&[Some(410), Some(200)]));
        assert_eq!((card.heading, card.key.as_deref()), ("Events per second", Some("20")));
    }

    #[test]
    fn nothing_known_is_said_plainly() {
        let card = events(&steps(&[None, None]));
        assert_eq!((card.key, &*card.note), (None, "No figures yet: the hub has just started."));
        let card = pushes((Steps { from: Timestamp(0), step_ms: 10_000, values: vec![Some(None); 2] }, None));
        assert_eq!((card.key, &*card.note), (None, "Nothing was pushed in this time."));
    }

    #[test]
    fn the_period_is_in_the_url() {
        assert_eq!(period("/app/a?period=3h&x=1"), Period::Hours3);
        assert_eq!(period("/app/a?period=<script>"), Period::Minutes15);
        assert_eq!(period("/app/a"), Period::Minutes15);
    }
}
