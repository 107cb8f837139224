//! What happened in the last day, for the plots of the dashboard: events of each agent, and how long pushes took.
//!
//! The figures are kept in memory, in rings of equal steps, so a page costs the same however much is stored. The log
//! could answer the same question, but it has no index by time, and one would make every write dearer. What was before
//! the start of the hub is unknown, and plots say so.
//!
//! Memory is bounded: pushes have one ring for the whole hub, and events are counted for the [`AGENTS_MAX`] agents that
//! had one last. An agent that is not among them had no event since the last one of those that were dropped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tandem_core::{AgentId, Timestamp};
use tandem_store::EventNotice;

/// Agents whose events are counted at the same time; about 1 KiB each.
pub const AGENTS_MAX: usize = 2_000;

/// The time that a plot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// 15 minutes in steps of 10 seconds.
    Minutes15,
    /// 3 hours in steps of 2 minutes.
    Hours3,
    /// 24 hours in steps of 15 minutes.
    Hours24,
}

impl Period {
    /// Every period, the shortest first.
    pub const ALL: [Self; 3] = [Self::Minutes15, Self::Hours3, Self::Hours24];

    #[must_use]
    pub const fn step_ms(self) -> i64 {
        match self {
            Self::Minutes15 => 10_000,
            Self::Hours3 => 120_000,
            Self::Hours24 => 900_000,
        }
    }

    #[must_use]
    pub const fn steps(self) -> usize {
        match self {
            Self::Minutes15 | Self::Hours3 => 90,
            Self::Hours24 => 96,
        }
    }
}

/// One figure for each step of a period, oldest first. Only steps that are over are in it; `None` is a step about which
/// nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps<T> {
    /// When the first step begins.
    pub from: Timestamp,
    pub step_ms: i64,
    pub values: Vec<Option<T>>,
}

/// How long pushes took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// Half of them took no longer.
    pub p50: f64,
    /// 95 of 100 took no longer.
    pub p95: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    pub count: u64,
}

#[derive(Debug)]
pub struct History {
    started_at: Timestamp,
    events: Mutex<Events>,
    pushes: Mutex<Rings<Durations>>,
}

#[derive(Debug)]
struct Events {
    /// An agent that has no series had no event since then.
    absent_since: Timestamp,
    of_agent: HashMap<AgentId, Series>,
}

#[derive(Debug)]
struct Series {
    rings: Rings<u32>,
    /// Events before this were not counted.
    since: Timestamp,
    last_at: Timestamp,
}

impl History {
    /// An empty history.
    #[must_use]
    pub fn new(started_at: Timestamp) -> Self {
        let events = Events { absent_since: started_at, of_agent: HashMap::new() };
        Self { started_at, events: Mutex::new(events), pushes: Mutex::new(Rings::new()) }
    }

    /// Counts events that were written to agents' logs.
    pub fn count_events(&self, notices: &[EventNotice]) {
        let mut events = lock(&self.events);
        for notice in notices {
            events.count(&notice.agent, notice.at);
        }
    }

    /// Counts a push and the time since its commit.
    pub fn count_push(&self, took: Duration, at: Timestamp) {
        lock(&self.pushes).at(at, |durations: &mut Durations| durations.add(took));
    }

    #[must_use]
    pub fn events(&self, agent: &AgentId, period: Period, now: Timestamp) -> Steps<u32> {
        let events = lock(&self.events);
        match events.of_agent.get(agent) {
            Some(series) => series.rings.read(period, series.since, now, |count| *count),
            None => Rings::<u32>::new().read(period, events.absent_since, now, |count| *count),
        }
    }

    /// The durations of the hub's pushes, and those of all steps together. A step without pushes has no durations, but
    /// is known.
    #[must_use]
    pub fn pushes(&self, period: Period, now: Timestamp) -> (Steps<Option<Quantiles>>, Option<Quantiles>) {
        let pushes = lock(&self.pushes);
        let mut all = Durations::default();
        let steps = pushes.read(period, self.started_at, now, |durations| {
            all.add_all(durations);
            durations.quantiles()
        });
        (steps, all.quantiles())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Events {
    fn count(&mut self, agent: &AgentId, at: Timestamp) {
        if let Some(series) = self.of_agent.get_mut(agent) {
            series.last_at = series.last_at.max(at);
            series.rings.at(at, |count| *count = count.saturating_add(1));
            return;
        }
        if self.of_agent.len() >= AGENTS_MAX {
            self.drop_oldest();
        }
        let mut series = Series { rings: Rings::new(), since: self.absent_since, last_at: at };
        series.rings.at(at, |count| *count = 1);
        self.of_agent.insert(agent.clone(), series);
    }

    /// Makes room: a quarter at once, so that the search for the oldest is rare.
    fn drop_oldest(&mut self) {
        let mut times: Vec<Timestamp> = self.of_agent.values().map(|series| series.last_at).collect();
        let (_, limit, _) = times.select_nth_unstable(AGENTS_MAX / 4);
        let limit = *limit;
        self.of_agent.retain(|_, series| series.last_at > limit);
        self.absent_since = self.absent_since.max(limit);
    }
}

/// The same figure in the steps of every period.
#[derive(Debug)]
struct Rings<T>([Ring<T>; 3]);

impl<T: Default + Clone> Rings<T> {
    fn new() -> Self {
        Self(Period::ALL.map(|period| Ring::new(period.step_ms(), period.steps())))
    }

    fn at(&mut self, at: Timestamp, mut change: impl FnMut(&mut T)) {
        for ring in &mut self.0 {
            if let Some(slot) = ring.slot(at) {
                change(slot);
            }
        }
    }

    fn read<R>(
        &self,
        period: Period,
        since: Timestamp,
        now: Timestamp,
        value: impl FnMut(&T) -> R,
    ) -> Steps<R> {
        let [minutes, hours, day] = &self.0;
        let ring = match period {
            Period::Minutes15 => minutes,
            Period::Hours3 => hours,
            Period::Hours24 => day,
        };
        ring.read(since, now, value)
    }
}

/// The last steps, by the number of a step modulo the size of the ring.
#[derive(Debug)]
struct Ring<T> {
    step_ms: i64,
    slots: Vec<T>,
    /// The number of the newest step that was written to; steps are numbered since the epoch.
    newest: i64,
}

impl<T: Default + Clone> Ring<T> {
    fn new(step_ms: i64, steps: usize) -> Self {
        // One more than are shown: the step that is not over.
        Self { step_ms, slots: vec![T::default(); steps + 1], newest: i64::MIN }
    }

    fn len(&self) -> i64 {
        i64::try_from(self.slots.len()).unwrap_or(i64::MAX)
    }

    fn index(&self, number: i64) -> usize {
        usize::try_from(number.rem_euclid(self.len())).unwrap_or(0)
    }

    /// The slot of a moment; none if it is too long ago.
    fn slot(&mut self, at: Timestamp) -> Option<&mut T> {
        let number = at.0.div_euclid(self.step_ms);
        if number > self.newest {
            let first = number - self.len() + 1;
            for stale in first.max(self.newest.saturating_add(1))..=number {
                let index = self.index(stale);
                self.slots[index] = T::default();
            }
            self.newest = number;
        }
        let index = self.index(number);
        (number > self.newest - self.len()).then(|| &mut self.slots[index])
    }

    fn read<R>(&self, since: Timestamp, now: Timestamp, mut value: impl FnMut(&T) -> R) -> Steps<R> {
        let end = now.0.div_euclid(self.step_ms);
        let first = end - self.len() + 1;
        let empty = T::default();
        let values = (first..end).map(|number| {
            let is_known = number * self.step_ms >= since.0;
            let is_written = number <= self.newest && number > self.newest.saturating_sub(self.len());
            is_known.then(|| value(if is_written { &self.slots[self.index(number)] } else { &empty }))
        });
        Steps { from: Timestamp(first * self.step_ms), step_ms: self.step_ms, values: values.collect() }
    }
}

/// Eight buckets for each doubling of microseconds, up to about a minute: a quantile is right within a tenth.
const BUCKETS: usize = 192;

/// How many pushes took how long.
#[derive(Debug, Clone, Default)]
struct Durations {
    /// Empty until there is something to count.
    buckets: Vec<u32>,
}

impl Durations {
    fn add(&mut self, took: Duration) {
        self.buckets.resize(BUCKETS, 0);
        let count = &mut self.buckets[bucket(took)];
        *count = count.saturating_add(1);
    }

    fn add_all(&mut self, other: &Self) {
        self.buckets.resize(BUCKETS, 0);
        for (count, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *count = count.saturating_add(*more);
        }
    }

    fn quantiles(&self) -> Option<Quantiles> {
        let count: u64 = self.buckets.iter().map(|count| u64::from(*count)).sum();
        let at = |percent: u64| {
            let rank = (count * percent).div_ceil(100);
            let mut before = 0;
            let found = self.buckets.iter().position(|in_it| {
                before += u64::from(*in_it);
                before >= rank
            });
            middle_ms(found.unwrap_or(0))
        };
        (count > 0).then(|| Quantiles { p50: at(50), p95: at(95), p99: at(99), count })
    }
}

fn bucket(took: Duration) -> usize {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
    let exponent = micros.ilog2();
    let index =
        if exponent < 3 { micros } else { u64::from(exponent - 2) * 8 + ((micros >> (exponent - 3)) & 7) };
    usize::try_from(index).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The middle of a bucket.
#[expect(clippy::cast_precision_loss, reason = "buckets end at a minute")]
fn middle_ms(index: usize) -> f64 {
    let micros = match index {
        0..8 => index as f64,
        _ => {
            let width = f64::from(1_u32 << (index / 8 - 1));
            (8 + index % 8) as f64 * width + width / 2.0
        }
    };
    micros / 1_000.0
}
