//! Progress of a run: a bar on a terminal, plain lines elsewhere. Always on standard error.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a line is printed during a long step.
const LINE_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    steps: u64,
    done: u64,
}

impl Progress {
    pub(super) fn new(steps: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            ProgressBar::new(steps)
                .with_style(style("{elapsed_precise} [{bar:30}] {pos}/{len} {msg} · {eta} left"))
        });
        if let Some(bar) = &bar {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Self { bar, steps, done: 0 }
    }

    /// Begins a step; the one before is done.
    pub(super) fn step(&mut self, what: String) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.done.min(self.steps));
                bar.set_message(what);
            }
            None => eprintln!("[{}/{}] {what}", self.done + 1, self.steps),
        }
        self.done += 1;
    }

    /// Work within the current step that is counted in units of its own.
    pub(super) fn work(&self, what: &str, units: u64) -> Work {
        let bar = self.bar.as_ref().map(|steps| {
            steps.set_message(what.to_owned());
            let inner = ProgressBar::new(units).with_style(style(
                "{elapsed_precise} [{bar:30}] {human_pos}/{human_len} {msg} · {per_sec} · {eta} left",
            ));
            inner.set_message(what.to_owned());
            steps.disable_steady_tick();
            inner
        });
        Work {
            bar,
            steps: self.bar.clone(),
            what: what.to_owned(),
            units,
            done: 0,
            begun: Instant::now(),
            told: Instant::now(),
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Work that is counted in units.
#[derive(Debug)]
pub(super) struct Work {
    bar: Option<ProgressBar>,
    steps: Option<ProgressBar>,
    what: String,
    units: u64,
    done: u64,
    begun: Instant,
    told: Instant,
}

impl Work {
    pub(super) fn advance(&mut self, units: u64) {
        self.done += units;
        if let Some(bar) = &self.bar {
            bar.inc(units);
        } else if self.told.elapsed() > LINE_EVERY {
            self.told = Instant::now();
            let rate = self.done as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
            let left = self.units.saturating_sub(self.done) as f64 / rate.max(1.0);
            eprintln!("      {} {}/{} · {rate:.0}/s · {left:.0} s left", self.what, self.done, self.units);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if let Some(steps) = &self.steps {
            steps.enable_steady_tick(Duration::from_millis(250));
        }
    }
}
