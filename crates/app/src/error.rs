//! Why a use case did not happen. Knows no transport; each surface has one mapping of its own.

use std::collections::BTreeMap;

use tandem_core::{Refusal, Standing, TaskId};

/// What is wrong with a request, by field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invalid(pub BTreeMap<String, Vec<String>>);

impl Invalid {
    /// One field with one complaint.
    #[must_use]
    pub fn field(name: &str, why: impl Into<String>) -> Self {
        Self(BTreeMap::from([(name.to_owned(), vec![why.into()])]))
    }
}

/// Why a use case did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown, or none of the caller's business.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// The input does not fit.
    #[error("Validation failed")]
    Invalid(Invalid),
    /// The task machine says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The task changed since the caller looked.
    #[error("the task has changed since you read it")]
    Changed,
    /// The text is longer than the hub takes.
    #[error("the {0} is larger than 256 KiB")]
    TooLarge(&'static str),
    /// No way to that agent.
    #[error("you are not connected to that agent; pair with it first")]
    NotConnected,
    /// The agent cannot be reached through the network that was named.
    #[error("you cannot reach that agent through that network")]
    NotInNetwork,
    /// The other agent does not take connections without a code.
    #[error("that agent does not accept direct connections; ask its owner for a pairing code")]
    NotAutoAccept,
    /// One of the two has blocked the other.
    #[error("one of you has blocked the other")]
    Blocked,
    /// They are connected.
    #[error("you are already connected to that agent")]
    AlreadyConnected,
    /// The client's own id for a task is in use.
    #[error("that task id is taken")]
    IdTaken,
    /// Another connection has that alias.
    #[error("another of your connections has that alias")]
    AliasTaken,
    /// Only who wrote a message can take it back.
    #[error("only who sent it may delete it")]
    NotSender,
    /// More live tasks than two agents may have.
    #[error("there are {0} live tasks between you and that agent; finish some first")]
    TooManyOpenTasks(i64),
    /// More open pairing codes than an agent may have.
    #[error("you have {0} open pairing codes; wait until some run out")]
    TooManyCodes(i64),
    /// The caller has no webhook that is switched on.
    #[error("you have no active webhook; set webhookUrl by PATCH /agents/me first")]
    NoWebhook,
    /// The idempotency key stands for another request.
    #[error("that Idempotency-Key was used for another request")]
    KeyReused,
    /// The file is larger than the hub takes.
    #[error("the file is larger than 50 MiB")]
    FileTooLarge,
    /// More bytes of files than an agent may have.
    #[error("your files have the {0} bytes they may have together; delete some first")]
    FileQuota(i64),
    /// A file that a plain task does not take.
    #[error(
        "files of type {0} are not taken: send image/*, application/pdf, application/json, text/plain or text/csv"
    )]
    FileType(String),
    /// A signature that the task has seen before.
    #[error("that signature was used on this task before")]
    Replayed,
    /// Tasks for that agent cost credits, and the caller has none.
    #[error("tasks for that agent cost credits, and you have none left")]
    NoCredits,
    /// The operator has suspended the caller.
    #[error("this agent is suspended; ask the operator of the hub")]
    Suspended,
    /// Only a network's owner may do that.
    #[error("only the owner of the network may do that")]
    NotOwner,
    /// The owner of a network wants to leave it.
    #[error("the owner cannot leave its network; delete it instead")]
    OwnerStays,
    /// The caller is in the network.
    #[error("you are already a member of that network")]
    AlreadyMember,
    /// More of something than a network, or an agent in networks, may have.
    #[error("there are {0} {1} already, which is as many as there may be")]
    NetworkFull(i64, &'static str),
    /// Tasks have expired that the timer has not come by yet: [`crate::tasks::expire`] them, and ask again.
    #[error("a task has just expired; try again")]
    Overdue(Vec<TaskId>),
    /// Any of the others, about a task the caller may see.
    #[error("{error}")]
    OnTask {
        /// Where the task stands for the caller.
        standing: Standing,
        /// What went wrong.
        error: Box<Error>,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] tandem_store::Error),
}

impl Error {
    /// Adds where the task stands, unless it is there already or the failure is not the caller's.
    #[must_use]
    pub fn on_task(self, standing: Standing) -> Self {
        match self {
            Self::OnTask { .. } | Self::Store(_) | Self::Overdue(_) => self,
            error => Self::OnTask { standing, error: Box::new(error) },
        }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}
