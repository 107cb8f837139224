//! Wakes the model for news: once for several that come together, and again only if it has not reacted for a while.

use std::time::Duration;

use rmcp::model::{CustomNotification, ServerNotification};
use serde_json::json;
use tandem_api::agents::ReportReach;
use tandem_api::inbox::InboxKind;
use tandem_api::tasks::PageQuery;
use tandem_core::TaskId;
use tandem_core::wake::Rung;
use tandem_server::mcp::shared::fence;
use tokio::time::Instant;

use super::super::titles::title_of;
use super::pending::{Kind, News, Way};
use super::{Wakes, codex};
use crate::profiles::WakeLock;

/// News that come together are announced together.
const PAUSE: Duration = Duration::from_millis(300);
/// Titles that are shown.
const TITLES_MAX: usize = 3;
/// Items of the inbox that are looked at before the model is woken again.
const INBOX_MAX: i64 = 200;

/// A wake that has begun.
struct Begun {
    way: Way,
    news: Vec<News>,
    number: u64,
    tasks: Vec<TaskId>,
}

impl Wakes {
    /// Wakes the model for ever.
    pub(super) async fn announce(&self) {
        loop {
            let look_at = self.state().next_look(self.reaction);
            tokio::select! {
                () = self.changed.notified() => {}
                () = until(look_at) => {}
            }
            self.give_up_ignored().await;
            if !self.is_due() {
                continue;
            }
            tokio::time::sleep(PAUSE).await;
            if let Some(begun) = self.begin() {
                self.wake(&begun).await;
            }
        }
    }

    fn is_due(&self) -> bool {
        self.state().is_due(Instant::now())
    }

    /// Takes the news, unless another process of this agent wakes its own model for them.
    fn begin(&self) -> Option<Begun> {
        let now = Instant::now();
        let mut state = self.state();
        if !state.is_due(now) {
            return None;
        }
        let way = state.way.clone()?;
        let Some(lock) = self.hub.lock_wake() else {
            state.lock_is_taken(now);
            return None;
        };
        let stored = lock.as_ref().and_then(WakeLock::woken_for);
        let woken_for = match state.log_end.take() {
            Some(end) => stored.map(|stored| stored.min(end)),
            None => stored,
        };
        let news = state.take_news(woken_for, now);
        let newest = news.iter().map(|one| one.cursor).max().max(woken_for);
        if let (Some(lock), Some(newest)) = (&lock, newest.filter(|newest| Some(*newest) != stored)) {
            lock.set_woken_for(newest);
        }
        if news.is_empty() {
            return None;
        }
        let (number, tasks) = state.begin_wake(&news, now);
        Some(Begun { way, news, number, tasks })
    }

    async fn wake(&self, begun: &Begun) {
        let news = &begun.news;
        match &begun.way {
            Way::Channel(peer) => {
                let ids: Vec<String> = begun.tasks.iter().map(|task| fence::id(task.as_str())).collect();
                let meta = json!({ "news": news.len().to_string(), "tasks": ids.join(" ") });
                let params = json!({ "content": self.content(news, &begun.tasks).await, "meta": meta });
                let note = CustomNotification::new("notifications/claude/channel", Some(params));
                self.state().wake_is_sent(begun.number, Instant::now());
                // A client that does not read any more is noticed elsewhere.
                let _ = peer.send_notification(ServerNotification::CustomNotification(note)).await;
            }
            // It arrives as words of the user, so it contains nothing that others wrote.
            Way::Queue(thread) => {
                self.state().wake_is_sent(begun.number, Instant::now());
                codex::queue(thread, &format!("Tandem: {}. Call check_updates.", counted(news))).await
            }
        }
    }

    async fn content(&self, news: &[News], tasks: &[TaskId]) -> String {
        // A hub that is away must not delay the notification: a title is not needed.
        let client = self.hub.client().with_patience(Duration::ZERO);
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

    /// A wake that nobody answers must not keep the model from later news. It is repeated for what still waits.
    async fn give_up_ignored(&self) {
        let Some(ignored) = self.state().expire(self.reaction, Instant::now()) else { return };
        let client = self.hub.client().with_patience(Duration::ZERO);
        if ignored.no_longer_works {
            // What was observed before is no longer so.
            let _ = client.report_reach(&ReportReach::provided(Rung::Channel, false)).await;
        }
        if ignored.again.is_empty() {
            return;
        }
        let query = PageQuery { limit: Some(INBOX_MAX), cursor: None };
        let inbox = client.inbox(&query).await;
        let still_waits = |news: &News| match (&inbox, &news.task) {
            // Without an answer of the hub nothing is known.
            (Err(_), _) => true,
            (Ok(inbox), _) if inbox.has_more => true,
            (Ok(inbox), Some(task)) => inbox.items.iter().any(|item| item.task_id.as_ref() == Some(task)),
            (Ok(inbox), None) => inbox.items.iter().any(|item| item.kind == InboxKind::Broadcast),
        };
        let again = ignored.again.into_iter().filter(still_waits).collect();
        self.state().put_back(again);
    }
}

/// Waits until a time; without one for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
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
