//! Errors of operations: one type for all surfaces, with a code from the table in `tandem-api`.

use tandem_api::error::{Code, ErrorBody};
use tandem_app::limits::Exceeded;
use tandem_app::{Error as AppError, Invalid};
use tandem_core::{Refusal, Standing};
use tandem_store::Error as StoreError;

use crate::callers::rates::Rate;
use crate::delivery::bus::{STREAMS_MAX, StreamLimit};

/// The sentence for an internal error. The cause is in the log.
const FAILED: &str = "Internal error; the cause is in the hub's log";

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[error("{}", .body.error)]
pub struct Error {
    /// The body that the client gets.
    pub body: Box<ErrorBody>,
    /// The HTTP status; usually that of the code.
    pub status: u16,
    /// Seconds until a retry makes sense.
    pub retry_after_seconds: Option<i64>,
    /// The state of the rate limit that was exceeded.
    pub rate: Option<Rate>,
}

impl Error {
    #[must_use]
    pub fn new(code: Code, sentence: impl AsRef<str>) -> Self {
        let body = Box::new(ErrorBody::new(code, capitalised(sentence.as_ref())));
        Self { body, status: code.status(), retry_after_seconds: None, rate: None }
    }

    /// An internal error. The caller of this function logs the cause.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(Code::Internal, FAILED)
    }

    /// There is no space left on the disk.
    #[must_use]
    pub fn storage_full() -> Self {
        Self::new(Code::StorageFull, "the hub's disk is full; nothing was saved").retry_after(60)
    }

    /// The object does not exist, or the caller may not see it.
    #[must_use]
    pub fn not_found(what: &'static str) -> Self {
        AppError::NotFound(what).into()
    }

    /// The request has no valid key.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(Code::Unauthorized, "a valid API key is needed: send it as 'Authorization: Bearer tdm_…'")
    }

    /// Replaces the HTTP status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Sets the time until a retry makes sense.
    #[must_use]
    pub fn retry_after(self, seconds: i64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// Adds the state of the task. Internal errors say nothing about tasks.
    #[must_use]
    pub fn on_task(mut self, standing: &Standing) -> Self {
        if !self.is_internal() && self.body.status.is_none() {
            self.body.status = Some(standing.status);
            self.body.next_statuses = Some(standing.next.clone());
        }
        self
    }

    /// The machine-readable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.body.code
    }

    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.status >= 500
    }
}

/// Inside the hub an error is a fragment; clients get a sentence.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        AppError::from(invalid).into()
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        AppError::from(refusal).into()
    }
}

impl From<Rate> for Error {
    fn from(rate: Rate) -> Self {
        rate_limited(rate, rate.reset_seconds)
    }
}

/// The error for an exceeded rate limit.
fn rate_limited(rate: Rate, retry_seconds: i64) -> Error {
    let sentence = format!("too many requests; try again in {retry_seconds} s");
    Error { rate: Some(rate), ..Error::new(Code::RateLimited, sentence).retry_after(retry_seconds) }
}

impl From<StreamLimit> for Error {
    fn from(limit: StreamLimit) -> Self {
        match limit {
            StreamLimit::Agent => {
                let why = format!("you have {STREAMS_MAX} sockets and streams open; close one first");
                Self::new(Code::TooManyStreams, why).retry_after(5)
            }
            StreamLimit::Hub => {
                let why =
                    "the hub has no room for another socket or stream; try again later, or poll GET /events";
                Self::new(Code::Unavailable, why).retry_after(30)
            }
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let busy = "the hub is busy; try again shortly";
        match error {
            StoreError::Busy => Self::new(Code::Unavailable, busy).retry_after(1),
            StoreError::OwnShare => {
                let why = "you have too much under way at once; read your responses, or wait until your requests have \
                           ended";
                Self::new(Code::RateLimited, why).retry_after(1)
            }
            StoreError::Unreachable(_) => {
                tracing::error!(%error, "the database cannot be reached");
                Self::new(Code::Unavailable, busy).retry_after(5)
            }
            StoreError::Full(_) => {
                tracing::error!(%error, "there is no space left");
                Self::storage_full()
            }
            StoreError::Unwritable(_) => {
                tracing::error!(%error, "the database cannot be written");
                Self::new(Code::Unavailable, "the hub cannot write at present; try again later")
                    .retry_after(5)
            }
            StoreError::TimedOut | StoreError::Unknown(_) => {
                tracing::error!(%error, "the database did not answer");
                let why = "the database did not answer in time; a change may have been saved or not, so look \
                           before you repeat it";
                Self::new(Code::Unavailable, why).retry_after(5)
            }
            StoreError::Stopped
            | StoreError::LostRace
            | StoreError::Locked
            | StoreError::Taken(_)
            | StoreError::Panicked(_)
            | StoreError::Failed(_) => {
                tracing::error!(%error, "the store failed");
                Self::internal()
            }
        }
    }
}

/// The one mapping of use-case errors to codes.
impl From<AppError> for Error {
    fn from(error: AppError) -> Self {
        use AppError as E;
        let code = match error {
            E::OnTask { standing, error } => return Self::from(*error).on_task(&standing),
            E::Store(error) => return error.into(),
            E::KeyEnded => return Self::unauthorized(),
            E::LimitExceeded(exceeded) => {
                let Exceeded { max: limit, reset_seconds, retry_seconds } = exceeded;
                let rate = Rate { limit, remaining: 0, reset_seconds, allowed: false };
                return rate_limited(rate, retry_seconds);
            }
            E::Invalid(invalid) => {
                let mut refused = Self::new(Code::Validation, AppError::Invalid(invalid.clone()).to_string());
                refused.body.details = Some(invalid.0);
                return refused;
            }
            E::Changed => return Self::new(Code::Conflict, E::Changed.to_string()).with_status(412),
            E::UnknownCode(_) => {
                let mut refused = Self::new(Code::NotFound, error.to_string());
                refused.body.hint = Some("Ask the other owner for a new code.");
                return refused;
            }
            E::Refused(ref refusal) => code_of_refusal(refusal),
            E::NotFound(_) => Code::NotFound,
            E::TooLarge(_) | E::ArtifactsTooLarge(_) | E::FileTooLarge => Code::TooLarge,
            E::NotConnected | E::NotInNetwork => Code::NotConnected,
            E::NotAutoAccept => Code::NotAutoAccept,
            E::Blocked => Code::Blocked,
            E::AlreadyConnected => Code::AlreadyConnected,
            E::IdTaken => Code::IdTaken,
            E::KeyTaken => Code::KeyTaken,
            E::AliasTaken => Code::AliasTaken,
            E::NotSender => Code::NotSender,
            E::TooManyOpenTasks(_) => Code::TooManyOpenTasks,
            E::TooManyCodes(_) => Code::TooManyCodes,
            E::TooManyGuests(_) => Code::TooManyGuests,
            E::TooManyRemotes(_) => Code::TooManyRemotes,
            E::GuestOnly(_) => Code::GuestOnly,
            E::NoWebhook => Code::NoWebhook,
            E::KeyReused => Code::IdempotencyConflict,
            E::FileQuota(_) => Code::FileQuota,
            E::FileType(_) => Code::UnsupportedMediaType,
            E::Replayed => Code::SignatureReplayed,
            E::NoCredits => Code::NoCredits,
            E::Suspended => Code::Suspended,
            E::NotOwner => Code::OwnerOnly,
            E::OwnerStays => Code::OwnerStays,
            E::AlreadyMember => Code::AlreadyMember,
            E::NetworkFull(..) => Code::NetworkFull,
            E::Overdue(_) => Code::Unavailable,
        };
        let refused = Self::new(code, error.to_string());
        match code {
            Code::Unavailable => refused.retry_after(1),
            Code::TooManyOpenTasks => refused.retry_after(60),
            Code::TooManyCodes | Code::NetworkFull => refused.retry_after(600),
            _ => refused,
        }
    }
}

fn code_of_refusal(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::Conflict => Code::Conflict,
        Refusal::Terminal => Code::TaskTerminal,
        Refusal::ApprovalPending => Code::ApprovalPending,
        Refusal::Draft => Code::TaskDraft,
        Refusal::NoSuchMove { .. } => Code::InvalidTransition,
        Refusal::NotYourMove => Code::RoleNotAllowed,
        Refusal::ReviewRequired => Code::ReviewRequired,
        Refusal::InvalidState(_) => Code::InvalidState,
        Refusal::Encrypted => Code::TaskEncrypted,
        Refusal::MessageBudget(_) => Code::MessageBudget,
        Refusal::Live => Code::TaskLive,
    }
}
