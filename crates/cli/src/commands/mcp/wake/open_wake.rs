//! The wake that the model was last given, and whether it has answered. Nothing here reads a clock or does I/O.

use std::time::Duration;

use tandem_core::TaskId;
use tokio::time::Instant;

use super::news::{News, tasks_of};

/// Within this time after a wake a call about its task counts as the answer to it.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(60);

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

#[derive(Debug, Default)]
pub(super) struct OpenWake {
    last: Option<Wake>,
    count: u64,
    /// The last event of a wake that the model has answered, until other bridges can read that.
    answered: Option<i64>,
}

impl OpenWake {
    /// Notes that the model is woken for news. Returns the number of the wake and the tasks that it names.
    pub(super) fn begin(&mut self, news: &[News], was_idle: bool) -> (u64, Vec<TaskId>) {
        self.count += 1;
        let (number, news, tasks) = (self.count, news.to_vec(), tasks_of(news));
        let named = tasks.clone();
        self.last = Some(Wake { number, news, tasks, was_idle, sent_at: None, is_answered: false });
        (number, named)
    }

    /// Notes that a wake is sent to the client, which may answer at once.
    pub(super) fn sent(&mut self, number: u64, now: Instant) {
        if let Some(wake) = self.last.as_mut().filter(|wake| wake.number == number) {
            wake.sent_at = Some(now);
        }
    }

    fn unanswered(&self) -> Option<&Wake> {
        self.last.as_ref().filter(|wake| !wake.is_answered)
    }

    /// Whether an answer is still waited for.
    pub(super) fn is_open(&self) -> bool {
        self.unanswered().is_some()
    }

    /// When the wake counts as ignored.
    pub(super) fn ignored_at(&self, reaction: Duration) -> Option<Instant> {
        Some(self.unanswered()?.sent_at? + reaction)
    }

    /// The number of the wake that a call which begins now can answer.
    pub(super) fn answerable(&self, now: Instant) -> Option<u64> {
        let in_time = |sent_at: Instant| now.duration_since(sent_at) < ANSWER_MAX;
        let wake = self.last.as_ref().filter(|wake| wake.was_idle && wake.sent_at.is_some_and(in_time));
        wake.map(|wake| wake.number)
    }

    /// Notes that the model looks at tasks of the last wake. Returns those of them that it has looked at because of it:
    /// `answers` is the wake that was answerable when the call began.
    pub(super) fn confirm(&mut self, answers: Option<u64>, is_seen: impl Fn(&TaskId) -> bool) -> Vec<TaskId> {
        let Some(wake) = &mut self.last else { return Vec::new() };
        let (seen, unseen): (Vec<TaskId>, _) = std::mem::take(&mut wake.tasks).into_iter().partition(is_seen);
        wake.tasks = unseen;
        let number = wake.number;
        if !seen.is_empty() {
            self.answer();
        }
        if answers == Some(number) { seen } else { Vec::new() }
    }

    /// Notes that the model was shown all news.
    pub(super) fn answer(&mut self) {
        if let Some(wake) = &mut self.last {
            wake.is_answered = true;
            self.answered = wake.news.iter().map(|news| news.cursor).max().max(self.answered);
        }
    }

    /// The last event of a wake that was answered and that other bridges do not know yet.
    pub(super) fn answered(&self) -> Option<i64> {
        self.answered
    }

    /// Notes that the other bridges know of an answer.
    pub(super) fn answer_is_known(&mut self, answered: i64) {
        self.answered.take_if(|noted| *noted == answered);
    }

    /// Gives a wake up that was not answered in time. Returns its news.
    pub(super) fn expire(&mut self, reaction: Duration, now: Instant) -> Option<Vec<News>> {
        let is_ignored = |wake: &mut Wake| {
            !wake.is_answered && wake.sent_at.is_some_and(|at| now.duration_since(at) >= reaction)
        };
        Some(self.last.take_if(is_ignored)?.news)
    }

    /// Forgets everything, because the hub was restored and gives numbers out again.
    pub(super) fn forget(&mut self) {
        (self.last, self.answered) = (None, None);
    }
}
