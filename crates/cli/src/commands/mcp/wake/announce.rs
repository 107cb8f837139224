//! Wakes the model for news: once for several that come together, and not again before it has reacted.

use std::time::Duration;

use rmcp::model::{CustomNotification, ServerNotification};
use serde_json::json;
use tandem_core::TaskId;
use tandem_server::mcp::shared::fence;

use super::super::titles::title_of;
use super::{Kind, News, Wake, Wakes, Way, codex};
use crate::profiles::WakeLock;

/// News that come together are announced together.
const PAUSE: Duration = Duration::from_millis(300);
/// Titles that are shown.
const TITLES_MAX: usize = 3;
/// Tasks that are named.
const TASKS_MAX: usize = 20;

impl Wakes {
    /// Wakes the model for ever.
    pub(super) async fn announce(&self) {
        loop {
            self.changed.notified().await;
            if self.is_due() {
                tokio::time::sleep(PAUSE).await;
                if let Some((way, news)) = self.begin() {
                    self.wake(&way, &news).await;
                }
            }
        }
    }

    fn is_due(&self) -> bool {
        let state = self.state();
        !state.news.is_empty() && state.outstanding.is_none() && state.showing == 0 && state.way.is_some()
    }

    /// Takes the news, unless another process of this agent wakes its own model for them.
    fn begin(&self) -> Option<(Way, Vec<News>)> {
        if !self.is_due() {
            return None;
        }
        let mut state = self.state();
        let way = state.way.clone()?;
        let mut news: Vec<News> = state.news.drain(..).collect();
        let lock = self.hub.lock_wake()?;
        if let Some(woken_for) = lock.as_ref().and_then(WakeLock::woken_for) {
            news.retain(|one| one.cursor > woken_for);
        }
        let newest = news.iter().map(|one| one.cursor).max()?;
        if let Some(lock) = &lock {
            lock.set_woken_for(newest);
        }
        let tasks = tasks_of(&news);
        state.outstanding = Some(Wake { tasks, was_idle: state.running == 0 });
        Some((way, news))
    }

    async fn wake(&self, way: &Way, news: &[News]) {
        match way {
            Way::Channel(peer) => {
                let tasks = tasks_of(news);
                let ids: Vec<String> = tasks.iter().map(|task| fence::id(task.as_str())).collect();
                let meta = json!({ "news": news.len().to_string(), "tasks": ids.join(" ") });
                let params = json!({ "content": self.content(news, &tasks).await, "meta": meta });
                let note = CustomNotification::new("notifications/claude/channel", Some(params));
                // A client that does not read any more is noticed elsewhere.
                let _ = peer.send_notification(ServerNotification::CustomNotification(note)).await;
            }
            // It arrives as words of the user, so it contains nothing that others wrote.
            Way::Queue(thread) => {
                codex::queue(thread, &format!("Tandem: {}. Call check_updates.", counted(news))).await
            }
        }
    }

    async fn content(&self, news: &[News], tasks: &[TaskId]) -> String {
        let client = self.hub.client();
        let mut lines =
            vec![format!("Tandem: {}. Call check_updates, or get_task for one task.", counted(news))];
        for task in tasks.iter().take(TITLES_MAX) {
            let id = fence::id(task.as_str());
            lines.push(match title_of(&client, task.as_str()).await {
                Some(title) => format!("- {id}: {title}"),
                None => format!("- {id}"),
            });
        }
        lines.join("\n")
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

/// "2 new tasks, 1 message".
fn counted(news: &[News]) -> String {
    let kinds = [
        (Kind::Task, "new task", "new tasks"),
        (Kind::Approval, "task that needs your approval", "tasks that need your approval"),
        (Kind::Message, "message", "messages"),
        (Kind::Broadcast, "broadcast", "broadcasts"),
    ];
    let parts = kinds.into_iter().filter_map(|(kind, one, several)| {
        match news.iter().filter(|news| news.kind == kind).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {several}")),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}
