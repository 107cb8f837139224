//! News, and how the model of the tool learns of them.
//!
//! A tool's model sleeps between its turns. A session of Claude Code can be woken by its inbox or by a channel notification,
//! and Codex by its command `codex queue`; other tools get a resource update. Whether a model really woke up shows only when it
//! soon looks at a task that it was woken for; before that, nothing is claimed to the hub.
//!
//! What is known is in three parts that do no I/O: what waits ([`queue`]), the wake that is not answered ([`open_wake`]), and
//! who can be woken by which way ([`rungs`]). The rest of this module carries out what they decide.

mod announce;
mod codex;
mod codex_server;
mod follow;
mod news;
mod open_wake;
mod queue;
mod rungs;
mod session_inbox;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::CallToolResult;
use rmcp::service::Peer;
use serde_json::Value;
use tandem_api::agents::ReportReach;
use tandem_core::TaskId;
use tandem_core::wake::Rung;
use tandem_server::mcp::shared::fence;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::hub::Hub;
use crate::profiles::{WakeLimit, WakeLock};
use crate::tool_process::ToolProcess;
use codex_server::CodexServer;
use news::News;
use open_wake::OpenWake;
use queue::Queue;
use rungs::{Rungs, Way, takes_channels};
use session_inbox::SessionInbox;

/// The experimental capability of channels.
pub(super) const CHANNEL: &str = "claude/channel";
/// The name with which Claude Code introduces itself.
pub(super) const CLAUDE_CODE: &str = "claude-code";
/// The name with which Codex introduces itself.
const CODEX: &str = "codex-mcp-client";
/// Tools that show all news. A model that has called one is not woken.
const NEWS_TOOLS: [&str; 2] = ["check_updates", "wait_for_updates"];
/// Tools that show what waits, so that a call can be the answer to a wake.
const INBOX_TOOLS: [&str; 3] = ["check_updates", "wait_for_updates", "get_inbox"];
/// How long a tool call waits for the report that comes before it.
const REPORT_MAX: Duration = Duration::from_secs(1);

/// What is known about the model of this client.
#[derive(Debug, Default)]
struct State {
    queue: Queue,
    wake: OpenWake,
    rungs: Rungs,
}

impl State {
    /// Whether the model is to be woken now.
    fn is_due(&self, now: Instant) -> bool {
        self.queue.is_due(now) && self.rungs.can_wake() && !self.rungs.is_showing() && !self.wake.is_open()
    }

    /// When there is something to do even if nothing happens.
    fn next_look(&self, reaction: Duration) -> Option<Instant> {
        let is_blocked = self.wake.is_open() || self.rungs.is_showing();
        [self.wake.ignored_at(reaction), self.queue.next_look(is_blocked)].into_iter().flatten().min()
    }

    /// Notes that the model looks at tasks. Returns those to which it was brought by a wake.
    fn confirm(&mut self, answers: Option<u64>, is_seen: impl Fn(&TaskId) -> bool) -> Vec<TaskId> {
        let surfaced = self.wake.confirm(answers, is_seen);
        if !surfaced.is_empty() {
            self.rungs.has_worked();
        }
        surfaced
    }

    /// Gives a wake up that was not answered in time. Returns what the model can be woken for again, and whether it was seen
    /// to react to wakes and no longer does.
    fn expire(&mut self, reaction: Duration, now: Instant) -> Option<(Vec<News>, bool)> {
        let again = self.queue.again(self.wake.expire(reaction, now)?);
        let no_longer_works = again.is_empty() && self.rungs.works_no_longer();
        Some((again, no_longer_works))
    }

    /// Notes that the log ends at a number that was passed before.
    fn rewind(&mut self, to: i64) {
        self.queue.rewind(to);
        self.wake.forget();
    }
}

/// Connections to the client.
#[derive(Debug, Default)]
struct Peers {
    /// The client that takes channel notifications.
    channel: Option<Peer<RoleServer>>,
    /// The client that wants to hear of changes of the inbox.
    subscriber: Option<Peer<RoleServer>>,
    /// Says to the hooks of the session that this bridge wakes it by its inbox.
    inbox_mark: Option<File>,
}

/// What the programs of this agent share on this machine, as far as it is not in their files.
#[derive(Debug)]
struct Shared {
    /// How often other agents may wake the model.
    limit: WakeLimit,
    /// Up to where the number in the lock can be right, if that could not be written yet.
    log_end: Option<i64>,
}

/// The news of an agent.
#[derive(Debug)]
pub(super) struct Wakes {
    hub: Arc<Hub>,
    /// How long a model may take to react before it is woken again.
    reaction: Duration,
    session_inbox: Option<SessionInbox>,
    codex_server: Option<CodexServer>,
    state: Mutex<State>,
    peers: Mutex<Peers>,
    shared: Mutex<Shared>,
    changed: Notify,
    connected: Notify,
    /// Whether the stream of events is open now.
    is_connected: AtomicBool,
    inbox: watch::Sender<u64>,
}

impl Wakes {
    /// Starts to follow the agent's events.
    pub(super) fn start(hub: Arc<Hub>, reaction: Duration, closing: CancellationToken) -> Arc<Self> {
        let shared = Shared { limit: hub.wake_limit(), log_end: None };
        let wakes = Arc::new(Self {
            hub,
            reaction,
            session_inbox: SessionInbox::of_session(),
            codex_server: CodexServer::of_session(),
            state: Mutex::default(),
            peers: Mutex::default(),
            shared: Mutex::new(shared),
            changed: Notify::new(),
            connected: Notify::new(),
            is_connected: AtomicBool::new(false),
            inbox: watch::Sender::new(0),
        });
        let all = Arc::clone(&wakes);
        tokio::spawn(
            async move {
                tokio::select! {
                    () = closing.cancelled() => {}
                    () = all.follow() => {}
                    () = all.announce() => {}
                    () = all.update() => {}
                    () = all.report() => {}
                }
            }
            .boxed(),
        );
        wakes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which client has introduced itself.
    pub(super) fn met(&self, client: &str, peer: Peer<RoleServer>) {
        let mut ways = Vec::new();
        if client == CODEX {
            ways.extend(self.codex_server.iter().map(|_| Way::CodexServer(None)));
        } else if client == CLAUDE_CODE {
            if self.session_inbox.is_some() {
                ways.push(Way::SessionInbox);
                self.mark_inbox();
            }
            if has_channels() {
                ways.push(Way::Channel);
                self.peers().channel = Some(peer);
            }
        }
        self.state().rungs.set(ways);
        // News may have come before.
        self.changed.notify_one();
    }

    /// Says to the hooks of the session that this bridge wakes it, unless they know. A hook that looks at the mark has it for a
    /// moment, so it is tried again with the next wake.
    fn mark_inbox(&self) {
        let mut peers = self.peers();
        if let (Some(inbox), None) = (&self.session_inbox, &peers.inbox_mark) {
            peers.inbox_mark = self.hub.mark_inbox(inbox.socket());
        }
    }

    /// Notes who wants to hear of changes of the inbox.
    pub(super) fn subscribe(&self, peer: Option<Peer<RoleServer>>) {
        self.peers().subscriber = peer;
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
            let server = self.codex_server.iter().map(|_| Way::CodexServer(Some(thread.to_owned())));
            state.rungs.set(server.chain([Way::CodexQueue(thread.to_owned())]).collect());
        }
        let answers = state.wake.answerable(Instant::now());
        let mut surfaced = Vec::new();
        if let Some(task) = task.map(fence::unfenced) {
            surfaced = state.confirm(answers, |one| one.as_str() == task);
            state.queue.forget_task(task);
        }
        state.rungs.call_begins(shows_all);
        drop(state);
        self.changed.notify_one();
        let shows_inbox = INBOX_TOOLS.contains(&tool);
        Running { wakes: Arc::clone(self), shows_all, shows_inbox, answers, surfaced }
    }

    /// Up to which event this client was told the news, if it was.
    pub(super) fn reported(&self) -> Option<i64> {
        self.state().queue.reported()
    }

    /// Notes that the model was shown all news up to an event.
    pub(super) fn shown(&self, cursor: i64) {
        self.state().queue.shown(cursor);
    }

    /// Notes where the hub's log ends. A number in the lock beyond that is from before the hub was restored, and would keep
    /// the model from news that get the same numbers again.
    fn correct_lock(&self, log_end: i64) {
        match self.hub.lock_wake() {
            Some(lock) => {
                let woken = lock.as_ref().and_then(WakeLock::woken);
                if let (Some(lock), Some(woken)) = (lock, woken)
                    && woken != woken.at_most(log_end)
                {
                    lock.set_woken(woken.at_most(log_end));
                }
            }
            // Another program has the lock at the moment.
            None => self.shared().log_end = Some(log_end),
        }
    }

    /// Reports what was observed: the model has reacted to a wake.
    async fn surfaced(&self, tasks: Vec<TaskId>) {
        let client = self.hub.client().with_patience(Duration::ZERO);
        let report = ReportReach { rung: Rung::Channel, provided: Some(true), surfaced: Some(tasks) };
        // The report is lost if the hub is not there; the next one comes with the next wake.
        let _ = client.report_reach(&report).await;
    }

    /// Reports to the hub that this bridge ends.
    pub(super) async fn farewell(&self) {
        let client = self.hub.client().with_patience(Duration::ZERO);
        let works = self.state().rungs.works();
        let pull = ReportReach::provided(Rung::Pull, false);
        let channel = ReportReach::provided(Rung::Channel, false);
        let (_, _) = tokio::join!(client.report_reach(&pull), async {
            if works {
                let _ = client.report_reach(&channel).await;
            }
        });
    }
}

#[derive(Debug)]
pub(super) struct Running {
    wakes: Arc<Wakes>,
    shows_all: bool,
    shows_inbox: bool,
    /// The wake that it can answer.
    answers: Option<u64>,
    /// Tasks that it shows to have been surfaced.
    surfaced: Vec<TaskId>,
}

impl Running {
    /// Reports what the call itself shows. The hub counts the first sight of a task, and the call will be one: so the
    /// report comes first.
    pub(super) async fn report(&mut self) {
        let tasks = std::mem::take(&mut self.surfaced);
        if !tasks.is_empty() {
            let _ = tokio::time::timeout(REPORT_MAX, self.wakes.surfaced(tasks)).await;
        }
    }

    /// Notes the result. What a list of news contains, the model has seen.
    pub(super) fn ended(&self, result: &CallToolResult) {
        if !self.shows_inbox || result.is_error == Some(true) {
            return;
        }
        let data = result.structured_content.as_ref().unwrap_or(&Value::Null);
        let mut state = self.wakes.state();
        let surfaced = state.confirm(self.answers, |task| names(data, task.as_str()));
        if self.shows_all {
            state.wake.answer();
        }
        drop(state);
        if !surfaced.is_empty() {
            let wakes = Arc::clone(&self.wakes);
            // The model need not wait for it.
            tokio::spawn(async move { wakes.surfaced(surfaced).await }.boxed());
        }
    }
}

/// Whether a result contains the id of a task.
fn names(data: &Value, task: &str) -> bool {
    match data {
        Value::String(text) => fence::unfenced(text) == task,
        Value::Array(items) => items.iter().any(|item| names(item, task)),
        Value::Object(fields) => fields.values().any(|field| names(field, task)),
        _ => false,
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.wakes.state();
        state.rungs.call_ends(self.shows_all);
        drop(state);
        self.wakes.changed.notify_one();
    }
}

/// Whether the session that has started this bridge takes channel notifications, as far as the system shows that.
fn has_channels() -> bool {
    let Some(tool) = ToolProcess::find() else { return true };
    match (tool.program(), tool.arguments()) {
        (Some(program), Some(arguments)) => {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            takes_channels(&name, &arguments)
        }
        _ => true,
    }
}
