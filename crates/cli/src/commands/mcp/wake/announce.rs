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
use super::pending::{Clock, Kind, News, Way};
use super::{Wakes, codex};
use crate::profiles::{WakeLock, Woken};
use crate::terminal::time;

/// News that come together are announced together.
const PAUSE: Duration = Duration::from_millis(300);
/// How much longer a bridge waits that has not seen its model react to a wake. One of another session that has comes first.
const UNSURE_PAUSE: Duration = Duration::from_millis(300);
/// How long it leaves each of the news to others: longer than the pause of one that is sure.
const UNSURE_AGE: Duration = Duration::from_millis(400);
/// Titles that are shown.
const TITLES_MAX: usize = 3;
/// How long all titles together may take.
const TITLES_TIME: Duration = Duration::from_secs(2);
/// Items of the inbox that are looked at before the model is woken again.
const INBOX_MAX: i64 = 200;

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
            self.note_answer();
            self.give_up_ignored().await;
            self.take_up_postponed().await;
            if !self.is_due() {
                continue;
            }
            let (pause, age_min) = match self.state().works {
                true => (PAUSE, Duration::ZERO),
                false => (PAUSE + UNSURE_PAUSE, UNSURE_AGE),
            };
            tokio::time::sleep(pause).await;
            if let Some(begun) = self.begin(age_min) {
                self.wake(&begun).await;
            }
        }
    }

    fn is_due(&self) -> bool {
        self.state().is_due(Instant::now())
    }

    /// Takes the news, unless another process of this agent wakes its own model for them.
    fn begin(&self, age_min: Duration) -> Option<Begun> {
        let now = Instant::now();
        let mut state = self.state();
        if !state.is_due(now) {
            return None;
        }
        let way = state.way.clone()?;
        let Some(lock) = self.hub.lock_wake() else {
            state.lock_is_taken(now, self.reaction);
            return None;
        };
        let stored = lock.as_ref().and_then(WakeLock::woken);
        let woken = match state.log_end.take() {
            Some(end) => stored.map(|stored| stored.at_most(end)),
            None => stored,
        };
        let clock = Clock { now, time: time::now(), reaction: self.reaction, age_min };
        let news = state.take_news(woken, clock);
        let newest = news.iter().map(|one| one.cursor).max().max(woken.map(|woken| woken.up_to));
        let noted = newest.map(|up_to| Woken { up_to, ..woken.unwrap_or_default() });
        if let (Some(lock), Some(noted)) = (&lock, noted.filter(|noted| Some(*noted) != stored)) {
            lock.set_woken(noted);
        }
        if news.is_empty() {
            return None;
        }
        let (number, tasks) = state.begin_wake(&news, clock);
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
        let until = Instant::now() + TITLES_TIME;
        for task in tasks.iter().take(TITLES_MAX) {
            let id = fence::id(task.as_str());
            let title = tokio::time::timeout_at(until, title_of(&client, task.as_str())).await;
            lines.push(match title.ok().flatten() {
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
        let mut again = self.still_waiting(ignored.again).await;
        // The model of another session may have reacted.
        let answered = self.answered_anywhere();
        again.retain(|news| news.cursor > answered);
        self.state().put_back(again);
    }

    /// Takes up news that were postponed, if they still wait: another bridge has woken its model for them and got no
    /// answer, or their sender may wake the model again.
    async fn take_up_postponed(&self) {
        let due = self.state().due_postponed(Instant::now());
        let waiting = self.still_waiting(due).await;
        if waiting.is_empty() {
            return;
        }
        let answered = self.answered_anywhere();
        self.state().take_up(waiting, answered);
    }

    /// Up to which event a model of this agent has reacted to a wake, in any session.
    fn answered_anywhere(&self) -> i64 {
        self.hub.woken().map_or(0, |woken| woken.answered)
    }

    /// Tells the other bridges of this agent that the model has answered a wake, so that they wake nobody for it.
    fn note_answer(&self) {
        let Some(answered) = self.state().answered else { return };
        // It is tried again when something happens next.
        let Some(lock) = self.hub.lock_wake() else { return };
        if let Some(lock) = lock {
            let woken = lock.woken().unwrap_or_default();
            if answered > woken.answered {
                lock.set_woken(Woken { up_to: woken.up_to.max(answered), answered });
            }
        }
        self.state().answered.take_if(|noted| *noted == answered);
    }

    /// The news that are still in the inbox.
    async fn still_waiting<T: AsRef<News>>(&self, news: Vec<T>) -> Vec<T> {
        if news.is_empty() {
            return news;
        }
        let query = PageQuery { limit: Some(INBOX_MAX), cursor: None };
        let inbox = self.hub.client().with_patience(Duration::ZERO).inbox(&query).await;
        let still_waits = |news: &News| match (&inbox, &news.task) {
            // Without an answer of the hub nothing is known.
            (Err(_), _) => true,
            (Ok(inbox), _) if inbox.has_more => true,
            (Ok(inbox), Some(task)) => inbox.items.iter().any(|item| item.task_id.as_ref() == Some(task)),
            (Ok(inbox), None) => inbox.items.iter().any(|item| item.kind == InboxKind::Broadcast),
        };
        news.into_iter().filter(|one| still_waits(one.as_ref())).collect()
    }
}

/// Waits until a time; without one for ever.
pub(super) async fn until(at: Option<Instant>) {
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
