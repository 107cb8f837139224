//! Figures as drawings: pure functions from numbers to SVG attributes in percent. `app/drawing.html` prints them. The same
//! numbers always give the same drawing.

use tandem_core::Timestamp;
use tandem_hub::ops::figures::{STEP_MS, Series};

use super::words::{self, When};

/// The part of a step that its bar takes.
const BAR_PERMILLE: i64 = 760;
/// What is not nothing is at least so high, in permille.
const LEAST_PERMILLE: i64 = 40;

/// A part of a whole as an attribute.
pub(crate) fn percent(part: i64, whole: i64) -> String {
    let tenths = part.saturating_mul(1_000) / whole.max(1);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// A rectangle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    /// `ok`, `bad` or `gap`.
    pub(crate) class: &'static str,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) width: String,
    pub(crate) height: String,
}

/// Bars over the steps of a day, bad ones above good ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bars {
    pub(crate) bars: Vec<Bar>,
    /// The height of the drawing.
    pub(crate) max: i64,
    pub(crate) good: i64,
    pub(crate) bad: i64,
    /// For the table, newest first: when, good and bad; nothing where no hub ran.
    pub(crate) rows: Vec<(When, Option<(i64, i64)>)>,
}

impl Bars {
    /// `bad` is empty if nothing can be bad.
    pub(crate) fn of(good: &Series, bad: &Series, now: Timestamp) -> Self {
        let steps = good.values.len();
        let count = i64::try_from(steps).unwrap_or(1);
        let bad_at = |step: usize| bad.values.get(step).copied().flatten().unwrap_or(0);
        let at = |step: usize| good.values[step].map(|ok| (ok, bad_at(step)));
        let max = (0..steps).filter_map(at).map(|(ok, bad)| ok + bad).max().unwrap_or(0).max(1);
        let mut bars = Vec::new();
        for (number, step) in (0_i64..).zip(0..steps) {
            let x = percent(number * 1_000 + (1_000 - BAR_PERMILLE) / 2, count * 1_000);
            let width = percent(BAR_PERMILLE, count * 1_000);
            let mut push = |class, from: i64, height: i64| {
                let (y, height) = (percent(1_000 - from - height, 1_000), percent(height, 1_000));
                bars.push(Bar { class, x: x.clone(), y, width: width.clone(), height });
            };
            match at(step) {
                None => push("gap", 0, 1_000),
                Some((ok, bad)) => {
                    let height = |value: i64| match value {
                        0 => 0,
                        value => (value * 1_000 / max).max(LEAST_PERMILLE),
                    };
                    let low = height(ok);
                    if ok > 0 {
                        push("ok", 0, low);
                    }
                    if bad > 0 {
                        push(
                            "bad",
                            low.min(1_000 - LEAST_PERMILLE),
                            height(bad).min(1_000 - low).max(LEAST_PERMILLE),
                        );
                    }
                }
            }
        }
        let time = |number: i64| When::new(good.from.plus_ms(number * STEP_MS), now);
        let rows = (0_i64..).zip(0..steps).map(|(number, step)| (time(number), at(step)));
        let mut rows: Vec<_> = rows.collect();
        rows.reverse();
        Self { bars, max, good: good.total(), bad: bad.total(), rows }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.good + self.bad == 0
    }

    /// How many of a hundred were good.
    pub(crate) fn share(&self) -> Option<i64> {
        (!self.is_empty()).then(|| self.good * 100 / (self.good + self.bad))
    }

    /// All of it in a sentence, for those who do not see it.
    pub(crate) fn label(&self, what: &str) -> String {
        let most = words::thousands(self.max);
        let gaps = if self.bars.iter().any(|bar| bar.class == "gap") {
            " For part of the time nothing is known."
        } else {
            ""
        };
        match self.bad {
            0 => format!(
                "{what}: {} in 24 hours, at most {most} in half an hour.{gaps}",
                words::thousands(self.good)
            ),
            bad => format!(
                "{what}: {} good and {} bad in 24 hours, at most {most} in half an hour.{gaps}",
                words::thousands(self.good),
                words::thousands(bad)
            ),
        }
    }
}

/// The place of an age on an axis from a minute on, where each step is a multiple of the one before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgeAxis {
    max_ms: i64,
}

impl AgeAxis {
    const MIN_MS: i64 = 60_000;
    const TICKS: [(i64, &'static str); 7] = [
        (60_000, "1 min"),
        (600_000, "10 min"),
        (3_600_000, "1 h"),
        (21_600_000, "6 h"),
        (86_400_000, "1 d"),
        (604_800_000, "7 d"),
        (2_592_000_000, "30 d"),
    ];

    /// An axis up to an age, of a day at least.
    pub(crate) fn up_to(age_ms: i64) -> Self {
        Self { max_ms: age_ms.max(86_400_000) * 5 / 4 }
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a place in a drawing")]
    pub(crate) fn place(self, age_ms: i64) -> String {
        let part = |ms: i64| (ms.max(Self::MIN_MS) as f64 / Self::MIN_MS as f64).ln();
        percent((part(age_ms) / part(self.max_ms) * 1_000_000.0) as i64, 1_000_000)
    }

    pub(crate) fn ticks(self) -> Vec<(String, &'static str)> {
        let shown = Self::TICKS.into_iter().filter(|tick| tick.0 <= self.max_ms);
        shown.map(|(ms, word)| (self.place(ms), word)).collect()
    }
}

/// A round number that is no smaller, for the end of an axis.
pub(crate) fn round_up(value: i64) -> i64 {
    let mut power = 1_i64;
    loop {
        for factor in [1, 2, 4, 6] {
            if power.saturating_mul(factor) >= value {
                return power.saturating_mul(factor);
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Timestamp = Timestamp(1_800_000_000_000);

    fn series(values: &[Option<i64>]) -> Series {
        Series { from: FROM, values: values.to_vec() }
    }

    #[test]
    fn time_without_a_hub_is_a_gap_and_no_zero() {
        let bars = Bars::of(&series(&[None, Some(0), Some(4)]), &series(&[]), FROM);
        let drawn: Vec<_> = bars.bars.iter().map(|bar| (bar.class, &*bar.y, &*bar.height)).collect();
        assert_eq!(drawn, [("gap", "0.0%", "100.0%"), ("ok", "0.0%", "100.0%")]);
        assert_eq!(bars.rows.iter().map(|row| row.1).collect::<Vec<_>>(), [Some((4, 0)), Some((0, 0)), None]);
        assert!(bars.label("Events").ends_with("nothing is known."));
    }

    #[test]
    fn bad_ones_stand_above_good_ones_and_are_always_seen() {
        let bars = Bars::of(&series(&[Some(75), Some(1_000)]), &series(&[Some(25), Some(1)]), FROM);
        let drawn: Vec<_> = bars.bars.iter().map(|bar| (bar.class, &*bar.y, &*bar.height)).collect();
        assert_eq!(drawn[..2], [("ok", "92.6%", "7.4%"), ("bad", "88.6%", "4.0%")]);
        assert_eq!(drawn[3], ("bad", "0.0%", "4.0%"));
        assert_eq!((bars.share(), bars.good, bars.bad), (Some(97), 1_075, 26));
        assert_eq!(Bars::of(&series(&[]), &series(&[]), FROM).share(), None);
    }

    #[test]
    fn an_age_has_its_place_whatever_it_is() {
        let axis = AgeAxis::up_to(0);
        assert_eq!((&*axis.place(-5), &*axis.place(60_000)), ("0.0%", "0.0%"));
        let places: Vec<f64> =
            axis.ticks().iter().map(|tick| tick.0.trim_end_matches('%').parse().unwrap()).collect();
        assert!(places.len() == 5 && places.is_sorted() && places[4] < 100.0, "{places:?}");
        assert!(AgeAxis::up_to(i64::MAX / 10).ticks().len() == 7);
        assert_eq!([0, 1, 3, 7, 21, 61].map(round_up), [1, 1, 4, 10, 40, 100]);
    }
}
