//! Follows the agent's events, and reports to the hub that the bridge runs.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tandem_api::agents::ReportReach;
use tandem_api::events::EventType;
use tandem_api::tasks::PageQuery;
use tandem_client::{Error, Followed, Notice, StreamEvent};
use tandem_core::events::{EventKind, Subject};
use tandem_core::messages::Kind as MessageKind;
use tandem_core::wake::{REPORT_EVERY, Rung};
use tokio::time::Instant;

use super::Wakes;
use super::announce::until;
use super::news::News;
use super::queue::NEWS_MAX;
use crate::commands::loop_detection::is_looping;

/// Pause after an error that a new connection does not cure, such as a key that is no longer valid.
const PAUSE: Duration = Duration::from_secs(20);
/// Pause before a message is looked at again that could not be read.
const READ_AGAIN: Duration = Duration::from_secs(2);
/// The messages that show a loop, and one of the hub among them.
const NEWEST: i64 = 4;

/// Events of messages that could not be read yet.
#[derive(Debug, Default)]
struct Unread {
    events: VecDeque<StreamEvent>,
    /// When the next look is due; never if there are none.
    look_at: Option<Instant>,
}

impl Unread {
    fn add(&mut self, event: StreamEvent) {
        // Older ones are in the inbox all the same.
        if self.events.len() == NEWS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
        self.look_at.get_or_insert_with(|| Instant::now() + READ_AGAIN);
    }
}

impl Wakes {
    /// Follows the events for ever.
    pub(super) async fn follow(&self) {
        let (mut cursor, mut epoch, mut unread) = (None, None, Unread::default());
        loop {
            let (is_live, mut is_old) = (cursor.is_none(), false);
            let mut stream = self.hub.client().follow(cursor).in_epoch(epoch);
            loop {
                let followed = tokio::select! {
                    followed = stream.next() => followed,
                    () = until(unread.look_at) => {
                        self.read_again(&mut unread).await;
                        continue;
                    }
                };
                match followed {
                    Ok(Followed::Event(event)) => self.take(event, &mut unread).await,
                    Ok(Followed::Notice(Notice::Connected { cursor: start, .. })) => {
                        // Without a cursor a stream begins at the end of the log.
                        if cursor.is_none() {
                            self.correct_lock(start);
                            cursor = Some(start);
                        }
                        self.is_connected.store(true, Ordering::Relaxed);
                        self.connected.notify_one();
                    }
                    // A hub that was restored gives numbers out again.
                    Ok(Followed::Notice(Notice::Rewound { to, .. })) => {
                        unread.events.retain(|event| event.cursor <= to);
                        self.state().rewind(to);
                        self.correct_lock(to);
                        // What comes now may have woken the model before: only what is new counts.
                        is_old = !is_live;
                        if is_old {
                            break;
                        }
                    }
                    Ok(Followed::Notice(Notice::Lost { .. })) => {
                        self.is_connected.store(false, Ordering::Relaxed);
                    }
                    Ok(Followed::Notice(_)) => {}
                    Err(_) => break,
                }
            }
            self.is_connected.store(false, Ordering::Relaxed);
            if is_old {
                (cursor, epoch) = (None, None);
                continue;
            }
            (cursor, epoch) = (stream.cursor().or(cursor), stream.epoch().map(ToOwned::to_owned));
            drop(stream);
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn take(&self, event: StreamEvent, unread: &mut Unread) {
        let EventType::Logged(event_kind) = &event.kind else { return };
        if *event_kind == EventKind::AgentConnected {
            return self.hub.pin_connected(event.fields()).await;
        }
        let subject = event_kind.subject();
        if !subject.is_for_inbox() {
            return;
        }
        self.inbox.send_modify(|changes| *changes += 1);
        // A reply ends a task. Models that woke for it would thank each other for ever.
        if subject == Subject::Message {
            match self.may_wake(&event).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => return unread.add(event),
            }
        }
        self.add(subject, &event);
    }

    fn add(&self, subject: Subject, event: &StreamEvent) {
        // A client that cannot be woken yet may say in a moment how it can: Claude Code when it introduces itself, Codex with
        // its first call.
        self.state().queue.add(News {
            subject,
            task: event.task_id.clone(),
            from: event.from_agent_id.clone(),
            cursor: event.cursor,
            arrived: Instant::now(),
            tries: 0,
        });
        self.changed.notify_one();
    }

    /// Looks again at messages that could not be read, the oldest first, until one cannot be read again.
    async fn read_again(&self, unread: &mut Unread) {
        while let Some(event) = unread.events.front() {
            match self.may_wake(event).await {
                Ok(true) => self.add(Subject::Message, event),
                Ok(false) => {}
                Err(_) => break,
            }
            unread.events.pop_front();
        }
        unread.look_at = (!unread.events.is_empty()).then(|| Instant::now() + READ_AGAIN);
    }

    /// Whether the message of an event is an ordinary one, and no part of a loop. An error is one that passes.
    async fn may_wake(&self, event: &StreamEvent) -> Result<bool, Error> {
        let is_ordinary = event.fields().message_kind == Some(MessageKind::Message);
        let (Some(task), Some(other)) = (&event.task_id, &event.from_agent_id) else { return Ok(false) };
        if !is_ordinary || !self.state().rungs.can_wake() {
            return Ok(false);
        }
        let query = PageQuery { limit: Some(NEWEST), cursor: None };
        // Other events must not wait for this one.
        let client = self.hub.client().with_patience(Duration::ZERO);
        match client.messages(task, &query).await {
            Ok(page) => Ok(!is_looping(&client, task, other, page.items).await),
            Err(error) if error.is_temporary() => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Sends resource updates to a client that has subscribed.
    pub(super) async fn update(&self) {
        let mut inbox = self.inbox();
        while inbox.changed().await.is_ok() {
            let subscriber = self.peers().subscriber.clone();
            if let Some(peer) = subscriber {
                let note = rmcp::model::ResourceUpdatedNotificationParam::new(
                    tandem_server::mcp::shared::resources::INBOX,
                );
                // It waits until the client reads; changes meanwhile become one.
                let _ = peer.notify_resource_updated(note).await;
            }
        }
    }

    /// Reports what this bridge provides, now and again: the hub forgets a program that it does not hear from.
    pub(super) async fn report(&self) {
        self.connected.notified().await;
        loop {
            let client = self.hub.client().with_patience(Duration::ZERO);
            let _ = client.report_reach(&ReportReach::provided(Rung::Pull, true)).await;
            if self.state().rungs.works() {
                let _ = client.report_reach(&ReportReach::provided(Rung::Channel, true)).await;
            }
            // A new connection may be to a hub that was restarted, so it renews the report as well.
            let _ = tokio::time::timeout(REPORT_EVERY, self.connected.notified()).await;
            // Without a connection no news arrive, so nothing is claimed.
            if !self.is_connected.load(Ordering::Relaxed) {
                self.connected.notified().await;
            }
        }
    }
}
