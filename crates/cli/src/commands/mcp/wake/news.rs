//! Something that may wake a model.

use std::time::Duration;

use tandem_core::events::Subject;
use tandem_core::{AgentId, TaskId, Timestamp};
use tokio::time::Instant;

/// Tasks that a wake names.
pub(super) const TASKS_MAX: usize = 20;

#[derive(Debug, Clone)]
pub(super) struct News {
    pub(super) subject: Subject,
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

/// What time it is, and how long a model may take to react.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: Instant,
    pub(super) time: Timestamp,
    pub(super) reaction: Duration,
    /// How long news are left to bridges that are surer of their model.
    pub(super) age_min: Duration,
}

/// The tasks of news, each once.
pub(super) fn tasks_of(news: &[News]) -> Vec<TaskId> {
    let mut tasks: Vec<TaskId> = Vec::new();
    for task in news.iter().filter_map(|one| one.task.as_ref()) {
        if !tasks.contains(task) && tasks.len() < TASKS_MAX {
            tasks.push(task.clone());
        }
    }
    tasks
}

/// "2 new tasks, 1 message".
pub(super) fn counted(news: &[News]) -> String {
    let subjects = [
        (Subject::Task, "new task", "new tasks"),
        (Subject::Approval, "task that needs your approval", "tasks that need your approval"),
        (Subject::Message, "message", "messages"),
        (Subject::Broadcast, "broadcast", "broadcasts"),
    ];
    let parts = subjects.into_iter().filter_map(|(subject, one, several)| {
        match news.iter().filter(|news| news.subject == subject).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {several}")),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}
