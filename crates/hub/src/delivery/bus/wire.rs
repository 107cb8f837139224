//! What nodes say to each other by NATS, and on which subjects.

use aws_lc_rs::hmac;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tandem_core::events::EventKind;
use tandem_core::{AgentId, NodeId, TaskId, Timestamp};
use tandem_store::EventNotice;

use crate::callers::rates::SharedCount;

/// The length of a seal.
const SEAL_BYTES: usize = 32;

/// The subjects of one hub. Several hubs can share a NATS server.
#[derive(Debug, Clone)]
pub(super) struct Subjects {
    hub: String,
}

impl Subjects {
    /// `hub` is the same on all nodes of a hub and made of letters and digits.
    pub(super) fn new(hub: String) -> Self {
        Self { hub }
    }

    /// Wake-ups of one agent. Ids consist of letters, digits, `_` and `-`, which have no meaning in a subject.
    pub(super) fn agent(&self, agent: &AgentId) -> String {
        format!("tandem.{}.agent.{agent}", self.hub)
    }

    /// Wake-ups of all agents.
    pub(super) fn every_agent(&self) -> String {
        format!("tandem.{}.agent.*", self.hub)
    }

    /// The agent whose wake-ups have this subject.
    pub(super) fn agent_of(subject: &str) -> Option<AgentId> {
        subject.rsplit_once('.').and_then(|(_, agent)| agent.parse().ok())
    }

    /// What concerns all nodes.
    pub(super) fn control(&self) -> String {
        format!("tandem.{}.nodes", self.hub)
    }

    /// Request counts of the nodes.
    pub(super) fn rates(&self) -> String {
        format!("tandem.{}.rates", self.hub)
    }

    /// One of the other nodes answers here; if there is none, NATS says so. Either proves that NATS has handled everything
    /// before that.
    pub(super) fn echo(&self) -> String {
        format!("tandem.{}.echo", self.hub)
    }
}

/// Seals messages with the secret of the nodes, so that whoever else may publish at the broker cannot end keys or change
/// request counts. A wake-up has no content and no seal.
#[derive(Debug, Clone)]
pub(super) struct Seal(hmac::Key);

impl Seal {
    pub(super) fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &[b"bus", secret].concat()))
    }

    /// The message with its seal in front.
    pub(super) fn put(&self, message: &impl Serialize) -> Bytes {
        // These messages always can be written as JSON.
        let text = serde_json::to_vec(message).unwrap_or_default();
        let mut sealed = hmac::sign(&self.0, &text).as_ref().to_vec();
        sealed.extend(text);
        sealed.into()
    }

    /// The message, if the seal is right and its version is known.
    pub(super) fn open<T: DeserializeOwned>(&self, sealed: &[u8]) -> Option<T> {
        let (seal, text) = sealed.split_at_checked(SEAL_BYTES)?;
        hmac::verify(&self.0, text, seal).ok()?;
        serde_json::from_slice(text).ok()
    }
}

/// Something that all nodes have to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Control {
    KeyEnded(AgentId),
    SignedOut(AgentId),
    WebhookChanged(AgentId),
    /// An agent has a delivery that is due now.
    WebhookDue(AgentId),
    /// The sender has lost wake-ups or messages like these: look at everything.
    Lost,
    /// A node stops; nobody waits to hear of it.
    Leaving(NodeId),
    /// Somebody observes the events of the hub at the sender, for the next seconds.
    Observing,
    /// Events, for those who observe.
    Events(Vec<Notice>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Notice {
    agent: AgentId,
    seq: i64,
    kind: String,
    task: Option<TaskId>,
    at: Timestamp,
}

impl From<&EventNotice> for Notice {
    fn from(notice: &EventNotice) -> Self {
        let EventNotice { agent, seq, kind, task, at } = notice.clone();
        Self { agent, seq, kind: kind.as_str().into(), task, at }
    }
}

impl Notice {
    /// The notice; `None` if its type is of a newer version.
    pub(super) fn into_event(self) -> Option<EventNotice> {
        let kind = EventKind::ALL.iter().copied().find(|kind| kind.as_str() == self.kind)?;
        Some(EventNotice { agent: self.agent, seq: self.seq, kind, task: self.task, at: self.at })
    }
}

/// What a node says several times a second: that it is heard, and how many requests it has counted.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gossip {
    pub(super) node: NodeId,
    #[serde(default)]
    pub(super) counts: Vec<SharedCount>,
}
