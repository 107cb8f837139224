//! Follows the agent's events, and reports to the hub that the bridge runs.

use std::time::Duration;

use tandem_api::actor::Actor;
use tandem_api::agents::ReportReach;
use tandem_api::events::EventType;
use tandem_api::tasks::PageQuery;
use tandem_client::{Followed, Notice, StreamEvent};
use tandem_core::events::EventKind;
use tandem_core::messages::Kind as MessageKind;
use tandem_core::wake::{REPORT_EVERY, Rung};

use super::Wakes;
use super::pending::{Kind, News};
use crate::commands::courtesies::is_looping;

/// Pause after an error that a new connection does not cure, such as a key that is no longer valid.
const PAUSE: Duration = Duration::from_secs(20);
/// Messages among which the one of an event is looked for, the newest ones.
const MESSAGES: i64 = 50;

impl Wakes {
    /// Follows the events for ever.
    pub(super) async fn follow(&self) {
        let mut cursor = None;
        loop {
            let mut stream = self.hub.client().follow(cursor);
            loop {
                match stream.next().await {
                    Ok(Followed::Event(event)) => self.take(&event).await,
                    Ok(Followed::Notice(Notice::Connected { cursor: start, .. })) => {
                        // Without a cursor a stream begins at the end of the log.
                        if cursor.is_none() {
                            self.correct_lock(start);
                            cursor = Some(start);
                        }
                        self.connected.notify_one();
                    }
                    // A hub that was restored gives numbers out again.
                    Ok(Followed::Notice(Notice::Rewound { to, .. })) => {
                        self.state().rewind(to);
                        self.correct_lock(to);
                    }
                    Ok(Followed::Notice(_)) => {}
                    Err(_) => break,
                }
            }
            cursor = stream.cursor().or(cursor);
            drop(stream);
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn take(&self, event: &StreamEvent) {
        let EventType::Logged(event_kind) = &event.kind else { return };
        let kind = match event_kind {
            EventKind::TaskCreated => Kind::Task,
            EventKind::TaskApprovalRequired => Kind::Approval,
            EventKind::MessageCreated => Kind::Message,
            EventKind::BroadcastCreated => Kind::Broadcast,
            EventKind::AgentConnected => return self.hub.pin_connected(event.fields()).await,
            _ => return,
        };
        self.inbox.send_modify(|changes| *changes += 1);
        // A reply ends a task. Models that woke for it would thank each other for ever.
        if kind == Kind::Message && !self.may_wake(event).await {
            return;
        }
        self.state().add(News {
            kind,
            task: event.task_id.clone(),
            from: event.from_agent_id.clone(),
            cursor: event.cursor,
            arrived: tokio::time::Instant::now(),
            tries: 0,
        });
        self.changed.notify_one();
    }

    /// Whether the message of an event is an ordinary one, which the event does not say, and no part of a loop.
    async fn may_wake(&self, event: &StreamEvent) -> bool {
        if self.state().way.is_none() {
            return false;
        }
        let (Some(task), Some(id)) = (&event.task_id, event.fields().message_id) else { return false };
        let query = PageQuery { limit: Some(MESSAGES), cursor: None };
        let client = self.hub.client();
        let Ok(page) = client.messages(task, &query).await else { return false };
        let message = page.items.iter().find(|message| message.id == id);
        let sender = message.filter(|message| message.kind == MessageKind::Message);
        let Some(Actor::Agent(other)) = sender.map(|message| message.sender_agent_id.clone()) else {
            return false;
        };
        !is_looping(&client, task, &other, page.items).await
    }

    /// Sends resource updates to a client that has subscribed.
    pub(super) async fn update(&self) {
        let mut inbox = self.inbox();
        while inbox.changed().await.is_ok() {
            let subscriber = self.state().subscriber.clone();
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
            if self.state().works {
                let _ = client.report_reach(&ReportReach::provided(Rung::Channel, true)).await;
            }
            // A new connection may be to a hub that was restarted, so it renews the report as well.
            let _ = tokio::time::timeout(REPORT_EVERY, self.connected.notified()).await;
        }
    }
}
