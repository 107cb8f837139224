//! Errors of the use cases. They know no transport: each surface maps them once.

use std::collections::BTreeMap;
use std::fmt;

use tandem_core::{AgentId, Refusal, Standing, TaskId};

use crate::limits::Exceeded;

/// Validation errors, by field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invalid(pub BTreeMap<String, Vec<String>>);

/// Names the first wrong field, because many clients show this sentence and no details.
impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validation failed")?;
        match self.0.first_key_value() {
            Some((field, why)) => write!(f, ": {field} {}", why.first().map_or("is wrong", String::as_str)),
            None => Ok(()),
        }
    }
}

impl Invalid {
    #[must_use]
    pub fn field(name: &str, why: impl Into<String>) -> Self {
        Self(BTreeMap::from([(name.to_owned(), vec![why.into()])]))
    }
}

/// Why a use case was not carried out. The caller's data is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object does not exist, or the caller may not see it.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The pairing code or invitation does not exist, was used or has expired.
    #[error("no such {0}; it may have expired or been used")]
    UnknownCode(&'static str),
    #[error("{0}")]
    Invalid(Invalid),
    /// The rules of the task life cycle do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The task has another version than the caller expected.
    #[error("the task has changed since you read it")]
    Changed,
    /// The text exceeds the size limit.
    #[error("the {0} is larger than 256 KiB")]
    TooLarge(&'static str),
    /// The artifacts of a task exceed the size limit.
    #[error("the artifacts of this task are larger than {0} bytes; send the rest as files")]
    ArtifactsTooLarge(i64),
    /// There is no connection to that agent and no shared network.
    #[error("you are not connected to that agent; pair with it first")]
    NotConnected,
    /// The agent is not a member of the named network.
    #[error("you cannot reach that agent through that network")]
    NotInNetwork,
    /// The other agent requires a pairing code.
    #[error("that agent does not accept direct connections; ask its owner for a pairing code")]
    NotAutoAccept,
    /// One of the two has blocked the other.
    #[error("one of you has blocked the other")]
    Blocked,
    /// The two agents are already connected.
    #[error("you are already connected to that agent")]
    AlreadyConnected,
    /// The id that the client chose for its task is in use.
    #[error("that task id is taken")]
    IdTaken,
    /// The API key that the client made is in use.
    #[error("an agent has that API key already")]
    KeyTaken,
    /// Another connection has that alias.
    #[error("another of your connections has that alias")]
    AliasTaken,
    /// Only the sender may delete a message or file.
    #[error("only the sender may delete it")]
    NotSender,
    /// The limit of live tasks between two agents is reached.
    #[error("there are {0} live tasks between you and that agent; finish some first")]
    TooManyOpenTasks(i64),
    /// The limit of open pairing codes is reached.
    #[error("you have {0} open pairing codes; wait until some expire")]
    TooManyCodes(i64),
    /// The limit of guests is reached.
    #[error("you have {0} guests; end some first")]
    TooManyGuests(i64),
    /// The limit of remotes is reached.
    #[error("you have {0} agents elsewhere; remove some first")]
    TooManyRemotes(i64),
    /// The key is a guest's, and the request goes elsewhere than to its host.
    #[error("this key is a guest's: it is good at /a2a/agents/{0} only")]
    GuestOnly(AgentId),
    /// The caller has no active webhook.
    #[error("you have no active webhook; set webhookUrl with PATCH /agents/me first")]
    NoWebhook,
    /// The idempotency key was used for a different request.
    #[error("that Idempotency-Key was used for a different request")]
    KeyReused,
    /// The file exceeds the size limit.
    #[error("the file is larger than 50 MiB")]
    FileTooLarge,
    /// The caller's storage quota for files is used up.
    #[error("your files have reached the limit of {0} bytes; delete some first")]
    FileQuota(i64),
    /// Unencrypted tasks accept a fixed list of media types.
    #[error(
        "files of type {0} are not accepted: send image/*, application/pdf, application/json, text/plain or text/csv"
    )]
    FileType(String),
    /// The signature was already used on this task.
    #[error("that signature was used on this task before")]
    Replayed,
    /// Tasks for that agent cost credits, and the caller's balance is zero.
    #[error("tasks for that agent cost credits, and you have none left")]
    NoCredits,
    /// The caller's key was rotated or its account deleted after the request started.
    #[error("this API key is no longer valid")]
    KeyEnded,
    /// The operator has suspended the caller's account.
    #[error("this agent is suspended; ask the operator of the hub")]
    Suspended,
    /// Only the owner of the network may do that.
    #[error("only the owner of the network may do that")]
    NotOwner,
    /// The owner cannot leave its own network.
    #[error("the owner cannot leave its network; delete it instead")]
    OwnerStays,
    /// The caller is already a member of the network.
    #[error("you are already a member of that network")]
    AlreadyMember,
    /// A limit of networks is reached.
    #[error("the limit of {0} {1} is reached")]
    NetworkFull(i64, &'static str),
    /// The limit is used up until its window ends.
    #[error("too many requests; try again in {} s", .0.retry_seconds)]
    LimitExceeded(Exceeded),
    /// These tasks have expired, but the timer has not handled them yet. Run [`crate::tasks::expire`] on them and
    /// repeat the use case.
    #[error("a task has just expired; try again")]
    Overdue(Vec<TaskId>),
    /// Another error, with the state of the task that it concerns.
    #[error("{error}")]
    OnTask {
        /// The status of the task and the statuses that the caller may set.
        standing: Standing,
        error: Box<Error>,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] tandem_store::Error),
}

impl Error {
    /// Adds the state of the task, unless it is present or the error is not about the task.
    #[must_use]
    pub fn on_task(self, standing: Standing) -> Self {
        match self {
            Self::OnTask { .. } | Self::Store(_) | Self::Overdue(_) | Self::KeyEnded => self,
            error => Self::OnTask { standing, error: Box::new(error) },
        }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}
