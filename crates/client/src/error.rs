//! Errors of calls.

use std::time::Duration;

use tandem_api::error::{Code, ErrorBody};
use tandem_core::{AgentId, TaskId};
use tandem_seal::Fingerprint;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The hub answered with an error.
    #[error("{}", .0.body.error)]
    Refused(Box<Refusal>),
    /// No connection to the hub could be made. Nothing was sent.
    #[error("cannot reach the hub at {hub}: {cause}")]
    Unreachable {
        /// The hub's address.
        hub: String,
        /// The cause.
        cause: String,
    },
    /// The connection ended before the answer arrived, or a proxy answered that it got none. The call may have taken
    /// effect.
    #[error("lost the connection to the hub at {hub}: {cause}")]
    Lost {
        /// The hub's address.
        hub: String,
        /// The cause.
        cause: String,
    },
    /// The answer took too long. The call may have taken effect.
    #[error("the hub at {hub} did not answer within {} seconds", .after.as_secs())]
    TimedOut {
        /// The hub's address.
        hub: String,
        /// The time limit.
        after: Duration,
    },
    /// Something answered that does not behave like a hub.
    #[error("{hub} does not answer like a Tandem hub: {detail}")]
    NotAHub {
        /// The address.
        hub: String,
        /// What is wrong with the answer.
        detail: String,
    },
    /// A list came without an end: its cursor does not advance, or it has more pages than any hub's.
    #[error("the hub sends a list without an end")]
    EndlessList,
    /// A file on this machine could not be read or written.
    #[error("{what}: {cause}")]
    File {
        /// What was tried with which file.
        what: String,
        /// The cause.
        cause: std::io::Error,
    },
    /// The caller has no private key, so it can neither seal nor open.
    #[error("this agent has no private key here, so it cannot encrypt or decrypt")]
    NoKey,
    /// The other agent has no public key, so nothing can be sealed for it.
    #[error("{name} ({agent}) has no public key, so nothing can be encrypted for it")]
    NoPeerKey {
        /// The other agent.
        agent: AgentId,
        /// Its name.
        name: String,
    },
    /// The agent is neither a connection nor a member of one of the caller's networks.
    #[error("{0} is not connected to this agent, so the hub does not show its public key")]
    UnknownPeer(AgentId),
    /// The hub presents another public key for an agent than the first time.
    #[error(
        "the public key of {name} ({agent}) has changed; it may belong to someone else\n  \
         pinned: {}\n  now:    {}\nCompare the words with the owner of {name} over another channel before you accept it",
        .pinned.words(), .found.words()
    )]
    KeyChanged {
        /// The other agent.
        agent: AgentId,
        /// Its name.
        name: String,
        /// The fingerprint of the pinned key.
        pinned: Fingerprint,
        /// The fingerprint of the key that the hub presents now.
        found: Fingerprint,
    },
    /// The hub presents another agent under the name of a pinned one.
    #[error(
        "another agent has the name or alias of {}, whose key is pinned; it may belong to someone else\n  \
         pinned: {} ({})\n  now:    {} ({})\n\
         Compare the words with the owner of {} over another channel before you accept it",
        .0.name, .0.pinned.words(), .0.pinned_agent, .0.found_words(), .0.agent, .0.name
    )]
    AnotherAgent(Box<AnotherAgent>),
    /// So many keys are pinned that a new one has to be accepted by the owner.
    #[error("the keys of very many agents are pinned, so no further one is pinned at first sight")]
    TooManyPins,
    /// Several agents are pinned under one name.
    #[error("{name:?} can mean {}: the keys of these agents are pinned under it", list(.agents))]
    SameName {
        /// The name.
        name: String,
        /// The agents.
        agents: Vec<AgentId>,
    },
    /// The hub presents an encrypted task as one with another agent than before.
    #[error(
        "{task} is an encrypted task with {known}, but the hub now presents it as one with {found}; nothing was sent"
    )]
    OtherParty {
        /// The task.
        task: TaskId,
        /// The other party when the task was created or first opened.
        known: AgentId,
        /// The other party that the hub presents now.
        found: AgentId,
    },
    /// The sender has signed it once, and it came with another message before.
    #[error("it is a repeated message")]
    Repeated,
    /// So much of a task was read that a repetition could no longer be noticed.
    #[error("too much of this task was read to notice a repeated message; go on in a new task")]
    RecordFull,
    /// The key of the other party of an existing task is not pinned, and existing tasks pin none.
    #[error("{task} is an encrypted task with {agent}, but no key of {agent} is pinned here")]
    NotPinned {
        /// The task.
        task: TaskId,
        /// The other party that the hub presents.
        agent: AgentId,
    },
    /// The pinned keys cannot be used. They count as damaged, never as empty.
    #[error("the pinned keys in {place} cannot be used: {why}")]
    Pins {
        /// The file.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// Content could not be sealed, or a key could not be read.
    #[error(transparent)]
    Seal(#[from] tandem_seal::Error),
    /// The hub presents an encrypted task as a plain one.
    #[error(
        "{0} was created as an encrypted task, but the hub now presents it as a plain one; nothing was sent"
    )]
    PresentedAsPlain(TaskId),
    /// Sealed content could not be opened, or is not by the agent that it claims.
    #[error("the encrypted content cannot be opened: {0}")]
    Unreadable(String),
    /// A file is larger than its receiver takes: the hub when it is uploaded, the caller when it is downloaded.
    #[error("the file has {size} bytes, more than the {max} that are accepted")]
    TooLarge {
        /// The size of the file; of an encrypted one, its size after encryption.
        size: u64,
        /// The size that is accepted.
        max: u64,
    },
    /// The certificates of this machine cannot be used for TLS.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

fn list(agents: &[AgentId]) -> String {
    agents.iter().map(AgentId::as_str).collect::<Vec<_>>().join(" or ")
}

/// An agent that the hub presents under the name of another one, whose key is pinned.
#[derive(Debug, Clone)]
pub struct AnotherAgent {
    /// The agent that the hub presents.
    pub agent: AgentId,
    /// The name of the pinned agent.
    pub name: String,
    /// The fingerprint of the key that the hub presents, if it presents one.
    pub found: Option<Fingerprint>,
    /// The agent that is pinned.
    pub pinned_agent: AgentId,
    /// The fingerprint of its key.
    pub pinned: Fingerprint,
}

impl AnotherAgent {
    /// The words of the key that the hub presents.
    #[must_use]
    pub fn found_words(&self) -> String {
        self.found.map_or_else(|| "no key".to_owned(), |found| found.words())
    }
}

/// An error answer of the hub.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The error as the hub sent it.
    pub body: ErrorBody,
    /// After which time to try again, if the hub said so.
    pub retry_after: Option<Duration>,
    /// The id under which the hub logged the request.
    pub request_id: Option<String>,
}

impl Error {
    /// The code of the hub's error, if it answered with one.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused(refusal) => Some(refusal.body.code),
            _ => None,
        }
    }

    /// Whether the call may have taken effect, although it failed: its answer was lost, something else has answered in the
    /// hub's place, or the hub was too busy to tell.
    #[must_use]
    pub fn may_have_taken_effect(&self) -> bool {
        matches!(self, Self::Lost { .. } | Self::TimedOut { .. } | Self::NotAHub { .. })
            || self.code() == Some(Code::Unavailable)
    }

    /// Whether the same call may succeed later. A refused key counts: if it was just replaced, the hub knows the new one a
    /// moment before the caller does.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Refused(refusal) => matches!(refusal.status, 401 | 429 | 500..),
            Self::Unreachable { .. } | Self::Lost { .. } | Self::TimedOut { .. } | Self::NotAHub { .. } => {
                true
            }
            _ => false,
        }
    }

    /// Whether the hub answered that it does not exist, or that the caller may not see it.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(Code::NotFound)
    }
}
