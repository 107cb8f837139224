//! Answers of requests with an idempotency key. Only ids and figures are stored, no text of a party: a repetition reads
//! the rest again as the caller may see it now. So a deleted text stays deleted, and a stored answer is small.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tandem_api::agents::{Blocked, NewKey};
use tandem_api::connections::{ConnectedView, PairingCodeView};
use tandem_api::files::UploadedFile;
use tandem_api::messages::MessageView;
use tandem_api::networks::{BroadcastSent, InviteView, LeftNetwork, NetworkView};
use tandem_api::remotes::RemoteView;
use tandem_api::tasks::{AcknowledgedView, ReadView, RepliedView, TaskView, UsageView};
use tandem_api::text::HubText;
use tandem_api::webhooks::DeliveryView;
use tandem_app::{Error, connections, files, messages, networks, remotes, tasks, webhooks};
use tandem_core::{AgentId, ConnectionId, DeliveryId, FileId, MessageId, NetworkId, Now, TaskId, Timestamp};
use tandem_store::Tx;

use crate::ops;
use crate::ops::a2a::Sent;

/// An answer that can be given again.
pub trait Replay: Sized + Send + 'static {
    /// What is stored. Its JSON is a part of the answer's JSON, so that a newer version can read older answers.
    type Kept: Serialize + DeserializeOwned;

    /// What to store of an answer.
    fn kept(&self) -> Self::Kept;

    /// The answer, as the caller may see it now.
    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: Self::Kept, now: &Now) -> Result<Self, Error>;
}

/// Answers without text of a party, which are stored as they are.
macro_rules! stored_as_they_are {
    ($($answer:ty),+) => {$(
        impl Replay for $answer {
            type Kept = Self;

            fn kept(&self) -> Self {
                self.clone()
            }

            fn replay(_: &mut Tx<'_>, _: &AgentId, kept: Self, _: &Now) -> Result<Self, Error> {
                Ok(kept)
            }
        }
    )+};
}

stored_as_they_are!(
    AcknowledgedView,
    Blocked,
    BroadcastSent,
    InviteView,
    LeftNetwork,
    PairingCodeView,
    UsageView
);

/// A key that the client made. There is nothing to store: an answer that holds a key is never kept.
impl Replay for NewKey {
    type Kept = KeptNothing;

    fn kept(&self) -> KeptNothing {
        KeptNothing {}
    }

    fn replay(_: &mut Tx<'_>, _: &AgentId, _: KeptNothing, _: &Now) -> Result<Self, Error> {
        Ok(Self { api_key: None })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptNothing {}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptId<Id> {
    id: Id,
}

/// A task. Older versions let its id be used again after it was deleted, so its time counts too.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptTask {
    id: TaskId,
    created_at: Timestamp,
}

impl Replay for TaskView {
    type Kept = KeptTask;

    fn kept(&self) -> KeptTask {
        KeptTask { id: self.id.clone(), created_at: self.created_at }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: KeptTask, now: &Now) -> Result<Self, Error> {
        let (task, _) = tasks::view(tx, by, &kept.id, now)?;
        if task.created_at != kept.created_at {
            return Err(Error::NotFound("task"));
        }
        Ok(Self::new(task, by))
    }
}

/// What is stored of a message of A2A.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptSent {
    id: TaskId,
    created_at: Timestamp,
    step: i64,
}

impl Replay for Sent {
    type Kept = KeptSent;

    fn kept(&self) -> KeptSent {
        KeptSent { id: self.task.clone(), created_at: self.created_at, step: self.step }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: KeptSent, now: &Now) -> Result<Self, Error> {
        let (task, _) = tasks::view(tx, by, &kept.id, now)?;
        if task.created_at != kept.created_at {
            return Err(Error::NotFound("task"));
        }
        Ok(Self { task: kept.id, created_at: kept.created_at, step: kept.step, joined: true })
    }
}

impl Replay for UploadedFile {
    type Kept = KeptId<FileId>;

    fn kept(&self) -> Self::Kept {
        KeptId { id: self.id.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: Self::Kept, _: &Now) -> Result<Self, Error> {
        Ok(Self::new(files::find(tx, by, &kept.id)?.0, by))
    }
}

impl Replay for NetworkView {
    type Kept = KeptId<NetworkId>;

    fn kept(&self) -> Self::Kept {
        KeptId { id: self.id.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: Self::Kept, _: &Now) -> Result<Self, Error> {
        Ok(Self::new(networks::view(tx, by, &kept.id)?, by))
    }
}

impl Replay for ConnectedView {
    type Kept = KeptId<ConnectionId>;

    fn kept(&self) -> Self::Kept {
        KeptId { id: self.id.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: Self::Kept, _: &Now) -> Result<Self, Error> {
        Ok(Self::new(kept.id.clone(), connections::view(tx, by, &kept.id)?.peer))
    }
}

impl Replay for DeliveryView {
    type Kept = KeptId<DeliveryId>;

    fn kept(&self) -> Self::Kept {
        KeptId { id: self.id.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: Self::Kept, _: &Now) -> Result<Self, Error> {
        Ok(ops::webhooks::view(webhooks::view(tx, by, &kept.id)?))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptMessage {
    id: MessageId,
    task_id: TaskId,
}

impl Replay for MessageView {
    type Kept = KeptMessage;

    fn kept(&self) -> KeptMessage {
        KeptMessage { id: self.id.clone(), task_id: self.task_id.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: KeptMessage, now: &Now) -> Result<Self, Error> {
        let found = messages::by_ids(tx, by, &kept.task_id, &[kept.id], now)?;
        let message = found.into_iter().next().ok_or(Error::NotFound("message"))?;
        Ok(Self::new(message, by))
    }
}

/// What is stored of messages that were read.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRead {
    messages: Vec<KeptMessage>,
    unread_count: i64,
}

impl Replay for ReadView {
    type Kept = KeptRead;

    fn kept(&self) -> KeptRead {
        let messages = self.messages.iter().map(Replay::kept).collect();
        KeptRead { messages, unread_count: self.unread_count }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: KeptRead, now: &Now) -> Result<Self, Error> {
        let Some(first) = kept.messages.first() else {
            return Ok(Self { messages: Vec::new(), unread_count: kept.unread_count });
        };
        let task = first.task_id.clone();
        let ids: Vec<MessageId> = kept.messages.into_iter().map(|message| message.id).collect();
        let found = messages::by_ids(tx, by, &task, &ids, now)?;
        let messages = found.into_iter().map(|message| MessageView::new(message, by)).collect();
        Ok(Self { messages, unread_count: kept.unread_count })
    }
}

/// What is stored of a reply: the task, the message, and the hub's note.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptReply {
    #[serde(flatten)]
    task: KeptTask,
    message: KeptMessage,
    note: Option<HubText>,
}

impl Replay for RepliedView {
    type Kept = KeptReply;

    fn kept(&self) -> KeptReply {
        KeptReply { task: self.task.kept(), message: self.message.kept(), note: self.note.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: KeptReply, now: &Now) -> Result<Self, Error> {
        Ok(Self {
            task: TaskView::replay(tx, by, kept.task, now)?,
            message: MessageView::replay(tx, by, kept.message, now)?,
            note: kept.note,
        })
    }
}

impl Replay for RemoteView {
    type Kept = KeptId<AgentId>;

    fn kept(&self) -> KeptId<AgentId> {
        KeptId { id: self.agent_id.clone() }
    }

    fn replay(tx: &mut Tx<'_>, by: &AgentId, kept: KeptId<AgentId>, _: &Now) -> Result<Self, Error> {
        Ok(ops::remotes::view(remotes::view(tx, by, &kept.id)?))
    }
}
