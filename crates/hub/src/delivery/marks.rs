//! Delivery marks: which tasks were pushed to their target or fetched by it, and how far an agent has polled its log.
//!
//! A mark is kept in memory until a background worker has written it, so that a read never waits for the writer and
//! works with a full disk. Task views show the marks that are not written yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tandem_app::tasks::DeliveryMark;
use tandem_app::{Error, events, tasks};
use tandem_core::wake::Rung;
use tandem_core::{AgentId, Task, TaskId, Timestamp};
use tokio::sync::Notify;

use crate::db::Db;
use crate::upkeep::housekeeping::Pacing;

/// Tasks with unwritten marks, and agents with an unwritten position. Beyond that, marks are dropped.
const WAITING_MAX: usize = 10_000;
/// Rows per transaction.
const BATCH: usize = 200;
/// Pause after a failed write.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How long a shutdown waits for the last marks.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// Marks that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    waiting: Mutex<PendingMarks>,
    added: Notify,
}

#[derive(Debug, Default)]
struct PendingMarks {
    /// Shared with readers; changed as a copy while one of them holds it.
    tasks: Arc<HashMap<TaskId, DeliveryMark>>,
    /// How far each agent has polled its log.
    polled: HashMap<AgentId, i64>,
    /// Whether the last write failed.
    failing: bool,
}

/// The unwritten marks of one moment. Taken before a read of the database: a mark that is missing here was written
/// before that read.
#[derive(Debug)]
pub(crate) struct Unwritten(Arc<HashMap<TaskId, DeliveryMark>>);

impl Unwritten {
    /// Adds the marks to a task that was read from the database.
    pub(crate) fn apply(&self, task: &mut Task) {
        let Some(mark) = self.0.get(&task.id).filter(|mark| mark.target == task.target) else { return };
        let of_this_attempt =
            |at: &Timestamp| task.delivery.queued_at.is_some_and(|queued_at| queued_at <= *at);
        task.delivery.pushed_at = task.delivery.pushed_at.or(mark.pushed_at.filter(of_this_attempt));
        task.delivery.fetched_at = task.delivery.fetched_at.or(mark.fetched_at.filter(of_this_attempt));
        if let Some((at, rung)) =
            mark.surfaced.filter(|(at, _)| task.delivery.surfaced_at.is_none() && of_this_attempt(at))
        {
            (task.delivery.surfaced_at, task.delivery.surfaced_by) = (Some(at), Some(rung));
        }
    }
}

fn unmarked(task: TaskId, target: &AgentId) -> DeliveryMark {
    DeliveryMark { task, target: target.clone(), pushed_at: None, fetched_at: None, surfaced: None }
}

impl PendingMarks {
    /// Merges marks. The later time wins: it may belong to a new attempt. Returns false if there was no room.
    fn add(&mut self, marks: impl IntoIterator<Item = DeliveryMark>) -> bool {
        let tasks = Arc::make_mut(&mut self.tasks);
        for mark in marks {
            if tasks.len() >= WAITING_MAX && !tasks.contains_key(&mark.task) {
                return false;
            }
            match tasks.get_mut(&mark.task).filter(|known| known.target == mark.target) {
                Some(known) => {
                    known.pushed_at = mark.pushed_at.or(known.pushed_at);
                    known.fetched_at = mark.fetched_at.or(known.fetched_at);
                    known.surfaced = mark.surfaced.or(known.surfaced);
                }
                None => drop(tasks.insert(mark.task.clone(), mark)),
            }
        }
        true
    }

    fn add_polled(&mut self, agent: AgentId, cursor: i64) -> bool {
        if self.polled.len() >= WAITING_MAX && !self.polled.contains_key(&agent) {
            return false;
        }
        let known = self.polled.entry(agent).or_default();
        *known = cursor.max(*known);
        true
    }
}

impl Marks {
    fn change<T>(&self, change: impl FnOnce(&mut PendingMarks) -> T) -> T {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The marks that are not written yet.
    pub(crate) fn unwritten(&self) -> Unwritten {
        Unwritten(self.change(|waiting| Arc::clone(&waiting.tasks)))
    }

    /// How many marks are not written yet.
    pub(crate) fn waiting(&self) -> usize {
        self.change(|waiting| waiting.tasks.len() + waiting.polled.len())
    }

    /// Records that tasks were pushed to their target.
    pub(crate) fn pushed(&self, target: &AgentId, tasks: Vec<TaskId>, at: Timestamp) {
        let mark = |task| DeliveryMark { pushed_at: Some(at), ..unmarked(task, target) };
        self.add(tasks.into_iter().map(mark), None);
    }

    /// Records that the target has fetched tasks.
    pub(crate) fn fetched(&self, target: &AgentId, tasks: impl IntoIterator<Item = TaskId>, at: Timestamp) {
        let mark = |task| DeliveryMark { fetched_at: Some(at), ..unmarked(task, target) };
        self.add(tasks.into_iter().map(mark), None);
    }

    /// Records that tasks were shown to their target's model.
    pub(crate) fn surfaced(
        &self,
        target: &AgentId,
        tasks: impl IntoIterator<Item = TaskId>,
        rung: Rung,
        at: Timestamp,
    ) {
        let mark = |task| DeliveryMark { surfaced: Some((at, rung)), ..unmarked(task, target) };
        self.add(tasks.into_iter().map(mark), None);
    }

    /// Records that an agent has polled its log up to a cursor, and so fetched these tasks.
    pub(crate) fn polled(&self, agent: &AgentId, cursor: i64, tasks: Vec<TaskId>, at: Timestamp) {
        let mark = |task| DeliveryMark { fetched_at: Some(at), ..unmarked(task, agent) };
        self.add(tasks.into_iter().map(mark), Some((agent.clone(), cursor)));
    }

    fn add(&self, marks: impl Iterator<Item = DeliveryMark>, polled: Option<(AgentId, i64)>) {
        let mut marks = marks.peekable();
        if marks.peek().is_none() && polled.is_none() {
            return;
        }
        let kept = self.change(|waiting| {
            let kept = waiting.add(marks);
            polled.is_none_or(|(agent, cursor)| waiting.add_polled(agent, cursor)) && kept
        });
        if !kept {
            tracing::debug!("a delivery mark was dropped: too many wait to be written");
        }
        self.added.notify_one();
    }

    /// Writes everything that waits. A mark leaves the memory after its commit.
    async fn write_all(&self, db: &Db) -> Result<(), Error> {
        loop {
            let (marks, polled) = self.change(|waiting| {
                let mut marks: Vec<_> = waiting.tasks.values().take(BATCH).cloned().collect();
                // In one order, because each task is locked by its change.
                marks.sort_by(|one, other| one.task.cmp(&other.task));
                let polled: Vec<_> = waiting
                    .polled
                    .iter()
                    .take(BATCH)
                    .map(|(agent, cursor)| (agent.clone(), *cursor))
                    .collect();
                (marks, polled)
            });
            if marks.is_empty() && polled.is_empty() {
                return Ok(());
            }
            let (written, positions) = (marks.clone(), polled.clone());
            db.write(move |tx, _| {
                tasks::write_delivery_marks(tx, &marks)?;
                events::write_polled(tx, &polled)
            })
            .await?;
            self.change(|waiting| {
                let tasks = Arc::make_mut(&mut waiting.tasks);
                for mark in written {
                    // One that has changed meanwhile is written again.
                    if tasks.get(&mark.task) == Some(&mark) {
                        tasks.remove(&mark.task);
                    }
                }
                for (agent, cursor) in positions {
                    if waiting.polled.get(&agent) == Some(&cursor) {
                        waiting.polled.remove(&agent);
                    }
                }
            });
        }
    }

    async fn write_and_log(&self, db: &Db) -> bool {
        let written = self.write_all(db).await;
        let was_failing = self.change(|waiting| std::mem::replace(&mut waiting.failing, written.is_err()));
        if let Err(error) = &written
            && !was_failing
        {
            tracing::warn!(%error, "could not write delivery marks; they are kept and tried again");
        }
        written.is_ok()
    }
}

/// Writes marks until the hub stops, and the last ones then.
pub(crate) async fn write(db: Db, marks: Arc<Marks>, mut pacing: Pacing) {
    loop {
        tokio::select! {
            () = marks.added.notified() => {}
            () = pacing.stopped() => break,
        }
        while !marks.write_and_log(&db).await {
            tokio::select! {
                () = tokio::time::sleep(RETRY_AFTER) => {}
                () = pacing.stopped() => break,
            }
        }
    }
    if tokio::time::timeout(LAST_WRITE, marks.write_and_log(&db)).await.is_err() {
        tracing::warn!("the last delivery marks could not be written in time");
    }
}
