//! Errors of calls.

use std::time::Duration;

use tandem_api::error::{Code, ErrorBody};

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
    /// The connection ended before the answer arrived. The call may have taken effect.
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
    /// A file on this machine could not be read or written.
    #[error("{what}: {cause}")]
    File {
        /// What was tried with which file.
        what: String,
        /// The cause.
        cause: std::io::Error,
    },
    /// A file is larger than the caller accepts.
    #[error("the file has {size} bytes, more than the {max} that are accepted")]
    TooLarge {
        /// The size of the file.
        size: u64,
        /// The size that is accepted.
        max: u64,
    },
    /// The certificates of this machine cannot be used for TLS.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
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

    /// Whether the hub answered that it does not exist, or that the caller may not see it.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(Code::NotFound)
    }
}
