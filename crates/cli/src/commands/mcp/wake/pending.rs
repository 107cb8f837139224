//! What is known of the model: news that it has not seen, the wake that it has not answered, the calls that run.
//!
//! Everything here is bounded, and nothing here waits.

use std::collections::VecDeque;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tandem_core::{AgentId, TaskId, Timestamp};
use tokio::time::Instant;

use crate::profiles::{WakeLimit, Woken};

#[cfg(test)]
mod tests;

/// News that a model was not woken for yet. Older ones are in its inbox all the same.
pub(super) const NEWS_MAX: usize = 100;
/// Within this time after a notification a call about its task counts as the answer to it.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// How often a model is woken for the same news.
pub(super) const TRIES_MAX: u8 = 3;
/// Wakes for one task within an hour. Two models that answer every wake with a message would otherwise never stop.
const TASK_WAKES_MAX: usize = 10;
const HOUR: Duration = Duration::from_secs(3_600);
/// Wakes that are remembered for this limit.
const REMEMBERED_MAX: usize = 1_000;
/// How often the lock of the wake is tried, and the pause in between.
const LOCK_TRIES: u8 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(500);
/// Tasks that are named.
const TASKS_MAX: usize = 20;

/// What happened that may wake a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Task,
    Approval,
    Message,
    Broadcast,
}

/// Something that may wake a model.
#[derive(Debug, Clone)]
pub(super) struct News {
    pub(super) kind: Kind,
    pub(super) task: Option<TaskId>,
    /// The agent that caused it.
    pub(super) from: Option<AgentId>,
    pub(super) cursor: i64,
    pub(super) arrived: Instant,
    /// How often a model was woken for it.
    pub(super) tries: u8,
}

impl AsRef<Self> for News {
    fn as_ref(&self) -> &Self {
        self
    }
}

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

/// What time it is, and how long a model may take to react.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: Instant,
    pub(super) time: Timestamp,
    pub(super) reaction: Duration,
    /// How long news are left to bridges that are surer of their model.
    pub(super) age_min: Duration,
}

/// The last wake.
#[derive(Debug)]
struct Wake {
    number: u64,
    news: Vec<News>,
    /// The tasks that it named and that the model has not looked at since.
    tasks: Vec<TaskId>,
    /// Whether the model did nothing when it was woken, so that its next call can be an answer.
    was_idle: bool,
    /// When it was sent to the client.
    sent_at: Option<Instant>,
    is_answered: bool,
}

/// How the model of this client can be woken.
#[derive(Debug, Clone)]
pub(super) enum Way {
    Channel(Peer<RoleServer>),
    /// With the id of the thread.
    Queue(String),
}

/// A wake that nobody has answered in time.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    /// What the model can be woken for again.
    pub(super) again: Vec<News>,
    /// The model was seen to react to wakes, and no longer does.
    pub(super) no_longer_works: bool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) way: Option<Way>,
    pub(super) subscriber: Option<Peer<RoleServer>>,
    news: VecDeque<News>,
    postponed: VecDeque<Postponed>,
    /// How often other agents may wake the model.
    limit: WakeLimit,
    wake: Option<Wake>,
    /// The last event of a wake that the model has answered, until other bridges can read that.
    pub(super) answered: Option<i64>,
    wakes: u64,
    /// The tasks of the wakes of the last hour.
    woken: VecDeque<(Instant, TaskId)>,
    /// Tool calls that run, and those of them that will show news.
    pub(super) running: usize,
    pub(super) showing: usize,
    /// The model was shown all news up to this event. An answer may be faster than the event itself.
    shown_to: i64,
    /// Up to which event this client was told the news, if it was.
    pub(super) reported: Option<i64>,
    /// Whether a wake was seen to work.
    pub(super) works: bool,
    lock_tries: u8,
    /// When the lock is tried again.
    retry_at: Option<Instant>,
    /// Up to where the number in the lock can be right, if that could not be written yet.
    pub(super) log_end: Option<i64>,
}

impl State {
    pub(super) fn new(limit: WakeLimit) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Adds something that may wake the model, unless the model has seen it.
    pub(super) fn add(&mut self, news: News) {
        if self.way.is_none() || news.cursor <= self.shown_to {
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

    /// Notes that the log ends at a number that was passed before: the hub was restored and gives numbers out again.
    pub(super) fn rewind(&mut self, to: i64) {
        self.shown_to = self.shown_to.min(to);
        self.reported = None;
        self.news.retain(|news| news.cursor <= to);
        self.postponed.retain(|one| one.news.cursor <= to);
        (self.wake, self.answered) = (None, None);
    }

    /// Whether the model is to be woken now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.news.is_empty()
            && self.showing == 0
            && self.way.is_some()
            && self.retry_at.is_none_or(|at| at <= now)
            && self.wake.as_ref().is_none_or(|wake| wake.is_answered)
    }

    /// When there is something to do even if nothing happens.
    pub(super) fn next_look(&self, reaction: Duration) -> Option<Instant> {
        let unanswered = self.wake.as_ref().filter(|wake| !wake.is_answered);
        let ignored_at = unanswered.and_then(|wake| Some(wake.sent_at? + reaction));
        let is_blocked = unanswered.is_some() || self.showing > 0 || self.news.is_empty();
        let retry_at = self.retry_at.filter(|_| !is_blocked);
        let postponed_until = self.postponed.iter().map(|one| one.until).min();
        [ignored_at, retry_at, postponed_until].into_iter().flatten().min()
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

    /// Takes the news that may wake the model now. The others are in its inbox all the same; some are postponed.
    pub(super) fn take_news(&mut self, woken: Option<Woken>, clock: Clock) -> Vec<News> {
        (self.lock_tries, self.retry_at) = (0, None);
        while self.woken.front().is_some_and(|(at, _)| clock.now.duration_since(*at) >= HOUR) {
            self.woken.pop_front();
        }
        self.limit.refresh(clock.time);
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
            let wait = news.from.as_ref().and_then(|from| self.limit.wait_of(from, clock.time));
            match (by_other, wait) {
                (Some(woken), _) if news.cursor <= woken.answered => {}
                (Some(_), _) => self.postpone(news, clock.now + clock.reaction, Why::OtherBridge),
                (None, Some(wait)) => self.postpone(news, clock.now + wait, Why::Limit),
                (None, None) => taken.push(news),
            }
        }
        taken
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
        let mut news: Vec<News> = postponed.into_iter().filter(is_open).map(taken_up).collect();
        news.retain(|news| news.tries < TRIES_MAX);
        self.put_back(news);
    }

    /// Notes that the model is woken for news. Returns the number of the wake and the tasks that it names.
    pub(super) fn begin_wake(&mut self, news: &[News], clock: Clock) -> (u64, Vec<TaskId>) {
        let (tasks, now) = (tasks_of(news), clock.now);
        self.limit.note(news.iter().filter_map(|one| one.from.as_ref()), clock.time);
        for task in &tasks {
            if self.woken.len() == REMEMBERED_MAX {
                self.woken.pop_front();
            }
            self.woken.push_back((now, task.clone()));
        }
        self.wakes += 1;
        let was_idle = self.running == 0;
        self.wake = Some(Wake {
            number: self.wakes,
            news: news.to_vec(),
            tasks: tasks.clone(),
            was_idle,
            sent_at: None,
            is_answered: false,
        });
        (self.wakes, tasks)
    }

    /// Notes that a wake is sent to the client, which may answer at once.
    pub(super) fn wake_is_sent(&mut self, number: u64, now: Instant) {
        if let Some(wake) = self.wake.as_mut().filter(|wake| wake.number == number) {
            wake.sent_at = Some(now);
        }
    }

    /// The number of the wake that a call which begins now can answer.
    pub(super) fn answerable(&self, now: Instant) -> Option<u64> {
        let in_time = |sent_at: Instant| now.duration_since(sent_at) < ANSWER_MAX;
        let wake = self.wake.as_ref().filter(|wake| wake.was_idle && wake.sent_at.is_some_and(in_time));
        wake.map(|wake| wake.number)
    }

    /// Notes that the model looks at tasks of the last wake. Returns those of them that it has looked at because of it:
    /// `answers` is the wake that was answerable when the call began.
    pub(super) fn confirm(&mut self, answers: Option<u64>, is_seen: impl Fn(&TaskId) -> bool) -> Vec<TaskId> {
        let Some(wake) = &mut self.wake else { return Vec::new() };
        let (seen, unseen) = std::mem::take(&mut wake.tasks).into_iter().partition(is_seen);
        wake.tasks = unseen;
        let seen: Vec<TaskId> = seen;
        let number = wake.number;
        if !seen.is_empty() {
            self.answer_wake();
        }
        if seen.is_empty() || answers != Some(number) {
            return Vec::new();
        }
        self.works = true;
        seen
    }

    /// Notes that the model was shown all news.
    pub(super) fn answer_wake(&mut self) {
        if let Some(wake) = &mut self.wake {
            wake.is_answered = true;
            self.answered = wake.news.iter().map(|news| news.cursor).max().max(self.answered);
        }
    }

    /// Gives a wake up that was not answered in time.
    pub(super) fn expire(&mut self, reaction: Duration, now: Instant) -> Option<Ignored> {
        let is_ignored = |wake: &mut Wake| {
            !wake.is_answered && wake.sent_at.is_some_and(|at| now.duration_since(at) >= reaction)
        };
        let wake = self.wake.take_if(is_ignored)?;
        let mut again = wake.news;
        again.iter_mut().for_each(|news| news.tries += 1);
        again.retain(|news| news.tries < TRIES_MAX && news.cursor > self.shown_to);
        let no_longer_works = again.is_empty() && std::mem::take(&mut self.works);
        Some(Ignored { again, no_longer_works })
    }

    /// Puts news back, before the others.
    pub(super) fn put_back(&mut self, again: Vec<News>) {
        for news in again.into_iter().rev() {
            if self.news.len() < NEWS_MAX && news.cursor > self.shown_to {
                self.news.push_front(news);
            }
        }
    }
}

fn tasks_of(news: &[News]) -> Vec<TaskId> {
    let mut tasks: Vec<TaskId> = Vec::new();
    for task in news.iter().filter_map(|one| one.task.as_ref()) {
        if !tasks.contains(task) && tasks.len() < TASKS_MAX {
            tasks.push(task.clone());
        }
    }
    tasks
}
