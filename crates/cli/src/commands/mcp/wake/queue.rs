//! What waits for the model: news that it was not woken for yet, and those that have to wait longer.
//!
//! Everything here is bounded. Nothing here waits, reads a clock or does I/O.

use std::collections::VecDeque;
use std::time::Duration;

use tandem_core::{AgentId, TaskId};
use tokio::time::Instant;

use super::news::{Clock, News};
use crate::profiles::Woken;

/// News that a model was not woken for yet. Older ones are in its inbox all the same.
pub(super) const NEWS_MAX: usize = 100;
/// How often a model is woken for the same news.
pub(super) const TRIES_MAX: u8 = 3;
/// Wakes for one task within an hour. Two models that answer every wake with a message would otherwise never stop.
const TASK_WAKES_MAX: usize = 10;
pub(super) const HOUR: Duration = Duration::from_secs(3_600);
/// Wakes that are remembered for this limit.
const REMEMBERED_MAX: usize = 1_000;
/// How often the lock of the wake is tried, and the pause in between.
pub(super) const LOCK_TRIES: u8 = 5;
pub(super) const LOCK_PAUSE: Duration = Duration::from_millis(500);

/// News for which the model is not woken yet.
#[derive(Debug)]
pub(super) struct Postponed {
    news: News,
    until: Instant,
    why: Why,
}

impl AsRef<News> for Postponed {
    fn as_ref(&self) -> &News {
        &self.news
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Another bridge of this agent wakes its own model, which may not react.
    OtherBridge,
    /// Another program kept the lock. Usually it wakes the model itself, but it can also be suspended.
    Lock,
    /// The sender has woken the model too often.
    Limit,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    news: VecDeque<News>,
    postponed: VecDeque<Postponed>,
    /// The tasks of the wakes of the last hour.
    woken: VecDeque<(Instant, TaskId)>,
    /// The model was shown all news up to this event. An answer may be faster than the event itself.
    shown_to: i64,
    /// Up to which event this client was told the news, if it was.
    reported: Option<i64>,
    lock_tries: u8,
    /// When the lock is tried again.
    retry_at: Option<Instant>,
}

impl Queue {
    /// Adds something that may wake the model, unless the model has seen it.
    pub(super) fn add(&mut self, news: News) {
        if news.cursor <= self.shown_to {
            return;
        }
        if self.news.len() == NEWS_MAX {
            self.news.pop_front();
        }
        self.news.push_back(news);
    }

    /// Removes the news about a task, which the model looks at.
    pub(super) fn forget_task(&mut self, task: &str) {
        let is_other = |news: &News| news.task.as_ref().map(TaskId::as_str) != Some(task);
        self.news.retain(is_other);
        self.postponed.retain(|one| is_other(&one.news));
    }

    /// Notes that the model was shown all news up to an event.
    pub(super) fn shown(&mut self, cursor: i64) {
        self.reported = Some(cursor);
        self.shown_to = cursor;
        self.news.retain(|news| news.cursor > cursor);
        self.postponed.retain(|one| one.news.cursor > cursor);
    }

    pub(super) fn reported(&self) -> Option<i64> {
        self.reported
    }

    /// Notes that the log ends at a number that was passed before: the hub was restored and gives numbers out again.
    pub(super) fn rewind(&mut self, to: i64) {
        self.shown_to = self.shown_to.min(to);
        self.reported = None;
        self.news.retain(|news| news.cursor <= to);
        self.postponed.retain(|one| one.news.cursor <= to);
    }

    /// Whether the model can be woken for something now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.news.is_empty() && self.retry_at.is_none_or(|at| at <= now)
    }

    /// When there is something to do even if nothing happens. A blocked queue only takes up what was postponed.
    pub(super) fn next_look(&self, is_blocked: bool) -> Option<Instant> {
        let retry_at = self.retry_at.filter(|_| !is_blocked && !self.news.is_empty());
        let postponed_until = self.postponed.iter().map(|one| one.until).min();
        [retry_at, postponed_until].into_iter().flatten().min()
    }

    /// Leaves the news where they are until a time.
    pub(super) fn wait_until(&mut self, at: Instant) {
        self.retry_at = Some(at);
    }

    /// Notes that another program has the lock. If it keeps the lock, it does the waking itself; whether it did is looked at
    /// after the time in which a model reacts.
    pub(super) fn lock_is_taken(&mut self, now: Instant, reaction: Duration) {
        self.lock_tries += 1;
        self.retry_at = Some(now + LOCK_PAUSE);
        if self.lock_tries >= LOCK_TRIES {
            (self.lock_tries, self.retry_at) = (0, None);
            for news in std::mem::take(&mut self.news) {
                self.postpone(news, now + reaction, Why::Lock);
            }
        }
    }

    /// Takes the news that may wake the model now. The others are in its inbox all the same; some are postponed. `wait_of` says
    /// how long an agent has to wait that has woken the model too often.
    pub(super) fn take(
        &mut self,
        woken: Option<Woken>,
        wait_of: impl Fn(&AgentId) -> Option<Duration>,
        clock: Clock,
    ) -> Vec<News> {
        (self.lock_tries, self.retry_at) = (0, None);
        while self.woken.front().is_some_and(|(at, _)| clock.now.duration_since(*at) >= HOUR) {
            self.woken.pop_front();
        }
        let mut taken = Vec::new();
        for news in std::mem::take(&mut self.news) {
            if clock.now.duration_since(news.arrived) < clock.age_min {
                self.retry_at = Some(clock.now + clock.age_min);
                self.news.push_back(news);
                continue;
            }
            let wakes = self.woken.iter().filter(|(_, task)| Some(task) == news.task.as_ref()).count();
            if news.task.is_some() && wakes >= TASK_WAKES_MAX {
                continue;
            }
            let by_other = woken.filter(|woken| news.tries == 0 && news.cursor <= woken.up_to);
            let wait = news.from.as_ref().and_then(&wait_of);
            match (by_other, wait) {
                (Some(woken), _) if news.cursor <= woken.answered => {}
                (Some(_), _) => self.postpone(news, clock.now + clock.reaction, Why::OtherBridge),
                (None, Some(wait)) => self.postpone(news, clock.now + wait, Why::Limit),
                (None, None) => taken.push(news),
            }
        }
        taken
    }

    /// Notes that the model is woken for tasks.
    pub(super) fn note_wake(&mut self, tasks: &[TaskId], now: Instant) {
        for task in tasks {
            if self.woken.len() == REMEMBERED_MAX {
                self.woken.pop_front();
            }
            self.woken.push_back((now, task.clone()));
        }
    }

    fn postpone(&mut self, news: News, until: Instant, why: Why) {
        if self.postponed.len() == NEWS_MAX {
            self.postponed.pop_front();
        }
        self.postponed.push_back(Postponed { news, until, why });
    }

    /// Takes out the postponed news whose time has come.
    pub(super) fn due_postponed(&mut self, now: Instant) -> Vec<Postponed> {
        let (due, rest) = std::mem::take(&mut self.postponed).into_iter().partition(|one| one.until <= now);
        self.postponed = rest;
        Vec::from(due)
    }

    /// Puts postponed news back among the others, unless another bridge has had an answer up to this event.
    pub(super) fn take_up(&mut self, postponed: Vec<Postponed>, answered: i64) {
        let is_open = |one: &Postponed| one.why == Why::Limit || one.news.cursor > answered;
        let taken_up = |one: Postponed| {
            // Nobody is known to have been woken while the lock was taken.
            let tries = one.news.tries + u8::from(one.why != Why::Lock);
            News { tries, ..one.news }
        };
        self.put_back(postponed.into_iter().filter(is_open).map(taken_up).collect());
    }

    /// News of a wake that nobody has answered, as far as the model can be woken for them again.
    pub(super) fn again(&self, mut news: Vec<News>) -> Vec<News> {
        news.iter_mut().for_each(|one| one.tries += 1);
        news.retain(|one| one.tries < TRIES_MAX && one.cursor > self.shown_to);
        news
    }

    /// Puts news back, before the others.
    pub(super) fn put_back(&mut self, again: Vec<News>) {
        for news in again.into_iter().rev().filter(|news| news.tries < TRIES_MAX) {
            if self.news.len() < NEWS_MAX && news.cursor > self.shown_to {
                self.news.push_front(news);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.news.len()
    }
}
