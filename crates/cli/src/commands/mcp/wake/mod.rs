//! News, and how the model of the tool learns of them.
//!
//! A tool's model sleeps between its turns. Claude Code can be woken by a channel notification, and Codex by its command
//! `codex queue`; other tools get a resource update. Whether a model really woke up shows only when it calls a tool about
//! the news; before that, nothing is claimed to the hub.

mod announce;
mod codex;
mod follow;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tandem_api::agents::ReportReach;
use tandem_core::TaskId;
use tandem_core::wake::Rung;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::hub::Hub;

/// The experimental capability of channels.
pub(super) const CHANNEL: &str = "claude/channel";
/// The name with which Claude Code introduces itself.
pub(super) const CLAUDE_CODE: &str = "claude-code";
/// The name with which Codex introduces itself.
const CODEX: &str = "codex-mcp-client";
/// News that a model was not woken for yet. Older ones are in its inbox all the same.
const NEWS_MAX: usize = 100;
/// Tools that show all news. A model that has called one is not woken.
const NEWS_TOOLS: [&str; 2] = ["check_updates", "wait_for_updates"];

/// What happened that may wake a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Task,
    Approval,
    Message,
    Broadcast,
}

/// Something that may wake a model.
#[derive(Debug, Clone)]
struct News {
    kind: Kind,
    task: Option<TaskId>,
    cursor: i64,
}

/// A wake that no tool call has answered yet.
#[derive(Debug)]
struct Wake {
    tasks: Vec<TaskId>,
    /// Whether the model did nothing when it was woken, so that its next call can be an answer.
    was_idle: bool,
}

/// How the model of this client can be woken.
#[derive(Debug, Clone)]
enum Way {
    Channel(Peer<RoleServer>),
    /// With the id of the thread.
    Queue(String),
}

#[derive(Debug, Default)]
struct State {
    way: Option<Way>,
    subscriber: Option<Peer<RoleServer>>,
    news: VecDeque<News>,
    outstanding: Option<Wake>,
    /// Tool calls that run, and those of them that will show news.
    running: usize,
    showing: usize,
    /// The model was shown all news up to this event. An answer may be faster than the event itself.
    shown_to: i64,
    /// Whether a wake was seen to work.
    works: bool,
}

/// The news of an agent.
#[derive(Debug)]
pub(super) struct Wakes {
    hub: Arc<Hub>,
    state: Mutex<State>,
    changed: Notify,
    connected: Notify,
    inbox: watch::Sender<u64>,
}

impl Wakes {
    /// Starts to follow the agent's events.
    pub(super) fn start(hub: Arc<Hub>, closing: CancellationToken) -> Arc<Self> {
        let wakes = Arc::new(Self {
            hub,
            state: Mutex::default(),
            changed: Notify::new(),
            connected: Notify::new(),
            inbox: watch::Sender::new(0),
        });
        let all = Arc::clone(&wakes);
        tokio::spawn(async move {
            tokio::select! {
                () = closing.cancelled() => {}
                () = all.follow() => {}
                () = all.announce() => {}
                () = all.update() => {}
                () = all.report() => {}
            }
        });
        wakes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which client has introduced itself.
    pub(super) fn met(&self, client: &str, peer: Peer<RoleServer>) {
        if client == CLAUDE_CODE {
            self.state().way = Some(Way::Channel(peer));
        }
    }

    /// Notes who wants to hear of changes of the inbox.
    pub(super) fn subscribe(&self, peer: Option<Peer<RoleServer>>) {
        self.state().subscriber = peer;
    }

    /// Changes when the inbox does.
    pub(super) fn inbox(&self) -> watch::Receiver<u64> {
        self.inbox.subscribe()
    }

    /// Notes a tool call, until the returned value is dropped. It may be the answer to a wake.
    pub(super) fn began(
        self: &Arc<Self>,
        client: &str,
        thread: Option<&str>,
        tool: &str,
        task: Option<&str>,
    ) -> Running {
        let shows_all = NEWS_TOOLS.contains(&tool);
        let mut state = self.state();
        if let Some(thread) = thread.filter(|_| client == CODEX) {
            state.way = Some(Way::Queue(thread.to_owned()));
        }
        if let Some(wake) = state.outstanding.take() {
            let is_about = shows_all || wake.tasks.iter().any(|one| Some(one.as_str()) == task);
            if is_about && wake.was_idle {
                state.works = true;
                tokio::spawn(Arc::clone(self).surfaced(wake.tasks));
            }
        }
        if task.is_some() {
            state.news.retain(|news| news.task.as_ref().map(TaskId::as_str) != task);
        }
        state.running += 1;
        state.showing += usize::from(shows_all);
        drop(state);
        self.changed.notify_one();
        Running { wakes: Arc::clone(self), shows_all }
    }

    /// Notes that the model was shown all news up to an event.
    pub(super) fn shown(&self, cursor: i64) {
        let mut state = self.state();
        state.shown_to = cursor;
        state.news.retain(|news| news.cursor > cursor);
    }

    /// Reports what was observed: the model has reacted to a wake.
    async fn surfaced(self: Arc<Self>, tasks: Vec<TaskId>) {
        let client = self.hub.client();
        // The report is lost if the hub is not there; the next one comes with the next wake.
        let _ = client.report_reach(&ReportReach::provided(Rung::Channel, true)).await;
        if !tasks.is_empty() {
            let _ = client.report_reach(&ReportReach::surfaced(Rung::Channel, tasks)).await;
        }
    }

    /// Reports to the hub that this bridge ends.
    pub(super) async fn farewell(&self) {
        let client = self.hub.client().with_patience(Duration::ZERO);
        let works = self.state().works;
        let pull = ReportReach::provided(Rung::Pull, false);
        let channel = ReportReach::provided(Rung::Channel, false);
        let (_, _) = tokio::join!(client.report_reach(&pull), async {
            if works {
                let _ = client.report_reach(&channel).await;
            }
        });
    }
}

/// A tool call that runs.
#[derive(Debug)]
pub(super) struct Running {
    wakes: Arc<Wakes>,
    shows_all: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.wakes.state();
        state.running -= 1;
        state.showing -= usize::from(self.shows_all);
        drop(state);
        self.wakes.changed.notify_one();
    }
}
