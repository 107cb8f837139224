//! The one mapping of errors to HTTP.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tandem_api::error::ErrorBody;
use tandem_app::{Error, Invalid};
use tandem_core::{Refusal, Standing, Status};

use crate::http::json_response;
use crate::hub::json;
use crate::rates::Rate;

/// Every code there is, with its status and when it is met.
pub const CODES: &[(&str, u16, &str)] = &[
    ("validation", 400, "the request does not fit; details says where"),
    ("invalid_transition", 400, "no task goes from its status to that one"),
    ("unauthorized", 401, "no key, or one that nobody has"),
    ("no_credits", 402, "tasks for that agent cost credits, and you have none"),
    ("suspended", 403, "the operator has suspended you"),
    ("admin_only", 403, "the operator's token is needed"),
    ("not_connected", 403, "there is no way to that agent; pair first"),
    ("not_auto_accept", 403, "that agent takes no direct connections"),
    ("blocked", 403, "one of you has blocked the other"),
    ("role_not_allowed", 403, "only the other party of the task may do that"),
    ("review_required", 403, "the initiator completes this task, not the target"),
    ("owner_only", 403, "only the network's owner may do that"),
    ("not_sender", 403, "only who wrote a message may delete it"),
    ("foreign_host", 403, "MCP is not served under that host name, or to pages of that origin"),
    ("foreign_session", 403, "the MCP session belongs to another key"),
    ("not_found", 404, "unknown, or none of your business"),
    ("method_not_allowed", 405, "not with that method"),
    ("not_acceptable", 406, "an MCP client accepts application/json and text/event-stream"),
    ("timeout", 408, "the body did not arrive in time"),
    ("conflict", 409, "the task is no longer what you saw (412 with If-Match)"),
    ("task_terminal", 409, "the task has ended"),
    ("approval_pending", 409, "the task waits for its target's approval"),
    ("task_draft", 409, "the task is a draft"),
    ("task_live", 409, "the task has not ended"),
    ("invalid_state", 409, "that cannot be done in the task's status"),
    ("task_encrypted", 409, "an encrypted task cannot go to another agent"),
    ("message_budget", 409, "the task has had as many messages as it may have"),
    ("owner_stays", 409, "the owner cannot leave its network; delete it instead"),
    ("already_member", 409, "you are in that network"),
    ("signature_replayed", 409, "that signature was used on this task before"),
    ("id_taken", 409, "that task id is in use"),
    ("alias_taken", 409, "another of your connections has that alias"),
    ("already_connected", 409, "you are connected"),
    ("no_webhook", 409, "you have no active webhook"),
    ("idempotency_conflict", 409, "that Idempotency-Key stands for another request"),
    ("too_large", 413, "the body (413), the address (414) or the headers (431) are too large"),
    ("file_quota", 413, "your files have as many bytes as they may have together"),
    ("unsupported_media_type", 415, "send plain application/json; or a file of a type that tasks take"),
    ("no_such_range", 416, "the file has no bytes in that range"),
    ("upgrade_required", 426, "this address speaks WebSocket"),
    ("rate_limited", 429, "too many requests; Retry-After says when to come back"),
    ("too_many_open_tasks", 429, "10,000 live tasks between two agents"),
    ("too_many_codes", 429, "100 open pairing codes"),
    ("network_full", 429, "1,000 members, 100 invitations, or 100 networks of an agent"),
    ("too_many_streams", 429, "16 sockets and streams"),
    ("too_many_sessions", 429, "32 MCP sessions in use"),
    ("internal", 500, "something went wrong here; it was logged"),
    ("unavailable", 503, "the hub is busy, or cannot reach its files; Retry-After says when to come back"),
];

/// Why a request is not answered with 2xx.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A use case said no.
    #[error(transparent)]
    App(#[from] Error),
    /// A request about a task was refused, and where the task stands.
    #[error("{0}")]
    OnTask(Box<ApiError>, Standing),
    /// No key, or one that nobody has.
    #[error("a valid API key is needed: send it as 'Authorization: Bearer tdm_…'")]
    Unauthorized,
    /// An agent's key where the operator's token is needed.
    #[error("this needs the operator's token")]
    AdminOnly,
    /// Too many requests.
    #[error("too many requests; try again in {retry_seconds} s")]
    RateLimited {
        /// When to try again.
        retry_seconds: i64,
        /// The limit that was met.
        rate: Rate,
    },
    /// The body is larger than the hub takes.
    #[error("the request body is larger than {0} bytes")]
    BodyTooLarge(usize),
    /// The answer is larger than a model is given.
    #[error("the answer is larger than {0} bytes; ask for it by REST")]
    AnswerTooLarge(usize),
    /// The body is not a form.
    #[error("send the file as multipart/form-data with a field \"file\", or as JSON to /files/json")]
    NotAForm,
    /// The bytes of a file could not be written or read.
    #[error("something went wrong here; it was logged")]
    Disk,
    /// The bucket of files does not answer.
    #[error("files cannot be kept or fetched right now; try again shortly")]
    NoFiles,
    /// A part of a file that it does not have.
    #[error("the file has {0} bytes, and none of them is in that range")]
    NoSuchRange(u64),
    /// The body is not said to be JSON.
    #[error("send the body as application/json")]
    NotJson,
    /// The body is compressed.
    #[error("send the body without a Content-Encoding")]
    Encoded,
    /// The body did not come.
    #[error("the request body did not arrive in time")]
    BodyTimeout,
    /// The headers are larger than the hub takes.
    #[error("the request headers are larger than {0} bytes")]
    HeadersTooLarge(usize),
    /// The address is longer than the hub takes.
    #[error("the request target is longer than {0} bytes")]
    TargetTooLong(usize),
    /// No such route.
    #[error("there is nothing at this address; GET /docs lists what there is")]
    NoRoute,
    /// Not with this method.
    #[error("this address does not take that method; GET /docs lists what it takes")]
    NoMethod,
    /// The agent has as many sockets and streams as it may have.
    #[error("you have {} sockets and streams open; close one first", crate::bus::STREAMS_MAX)]
    TooManyStreams,
    /// The hub has.
    #[error("the hub has no room for another socket or stream; try again later, or poll GET /events")]
    HubFull,
    /// A plain request where a WebSocket handshake is needed.
    #[error("this address speaks WebSocket; for plain HTTP there is GET /events and GET /events/stream")]
    UpgradeNeeded,
    /// A session that is not there, or not any more.
    #[error("there is no such session; begin a new one with initialize")]
    NoSession,
    /// A session that another agent's key has begun.
    #[error("this session belongs to another key")]
    ForeignSession,
    /// The agent has as many sessions as it may have.
    #[error("you have {} MCP sessions in use; end one first", crate::mcp::SESSIONS_MAX)]
    TooManySessions,
    /// What the MCP library says about a request that is no message.
    #[error("{0}")]
    NoMessage(String, StatusCode),
    /// A handler panicked.
    #[error("something went wrong here; it was logged")]
    Panicked,
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::App(invalid.into())
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::App(refusal.into())
    }
}

/// Status, code and, where one should come back, after how many seconds.
struct Shape(StatusCode, &'static str, Option<i64>);

fn shape_of_refusal(refusal: &Refusal) -> Shape {
    use StatusCode as S;
    let (status, code) = match refusal {
        Refusal::Conflict => (S::CONFLICT, "conflict"),
        Refusal::Terminal => (S::CONFLICT, "task_terminal"),
        Refusal::ApprovalPending => (S::CONFLICT, "approval_pending"),
        Refusal::Draft => (S::CONFLICT, "task_draft"),
        Refusal::NoSuchMove { .. } => (S::BAD_REQUEST, "invalid_transition"),
        Refusal::NotYourMove => (S::FORBIDDEN, "role_not_allowed"),
        Refusal::ReviewRequired => (S::FORBIDDEN, "review_required"),
        Refusal::InvalidState(_) => (S::CONFLICT, "invalid_state"),
        Refusal::Encrypted => (S::CONFLICT, "task_encrypted"),
        Refusal::MessageBudget(_) => (S::CONFLICT, "message_budget"),
        Refusal::Live => (S::CONFLICT, "task_live"),
    };
    Shape(status, code, None)
}

fn shape_of_store(error: &tandem_store::Error) -> Shape {
    use tandem_store::Error as E;
    match error {
        E::Busy => Shape(StatusCode::SERVICE_UNAVAILABLE, "unavailable", Some(1)),
        E::Unreachable(_) => {
            tracing::error!(%error, "the database cannot be reached");
            Shape(StatusCode::SERVICE_UNAVAILABLE, "unavailable", Some(5))
        }
        E::LostRace | E::Taken(_) | E::Unknown(_) | E::Panicked(_) | E::Failed(_) => {
            tracing::error!(%error, "the store failed");
            Shape(StatusCode::INTERNAL_SERVER_ERROR, "internal", None)
        }
    }
}

fn shape_of_app(error: &Error) -> Shape {
    use StatusCode as S;
    let (status, code) = match error {
        Error::NotFound(_) => (S::NOT_FOUND, "not_found"),
        Error::Invalid(_) => (S::BAD_REQUEST, "validation"),
        Error::Refused(refusal) => return shape_of_refusal(refusal),
        Error::Changed => (S::PRECONDITION_FAILED, "conflict"),
        Error::TooLarge(_) => (S::PAYLOAD_TOO_LARGE, "too_large"),
        Error::NotConnected | Error::NotInNetwork => (S::FORBIDDEN, "not_connected"),
        Error::NotAutoAccept => (S::FORBIDDEN, "not_auto_accept"),
        Error::Blocked => (S::FORBIDDEN, "blocked"),
        Error::AlreadyConnected => (S::CONFLICT, "already_connected"),
        Error::IdTaken => (S::CONFLICT, "id_taken"),
        Error::AliasTaken => (S::CONFLICT, "alias_taken"),
        Error::NotSender => (S::FORBIDDEN, "not_sender"),
        Error::TooManyOpenTasks(_) => return Shape(S::TOO_MANY_REQUESTS, "too_many_open_tasks", Some(60)),
        Error::TooManyCodes(_) => return Shape(S::TOO_MANY_REQUESTS, "too_many_codes", Some(600)),
        Error::NoWebhook => (S::CONFLICT, "no_webhook"),
        Error::FileTooLarge => (S::PAYLOAD_TOO_LARGE, "too_large"),
        Error::FileQuota(_) => (S::PAYLOAD_TOO_LARGE, "file_quota"),
        Error::FileType(_) => (S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
        Error::Replayed => (S::CONFLICT, "signature_replayed"),
        Error::NoCredits => (S::PAYMENT_REQUIRED, "no_credits"),
        Error::Suspended => (S::FORBIDDEN, "suspended"),
        Error::NotOwner => (S::FORBIDDEN, "owner_only"),
        Error::OwnerStays => (S::CONFLICT, "owner_stays"),
        Error::AlreadyMember => (S::CONFLICT, "already_member"),
        Error::NetworkFull(..) => return Shape(S::TOO_MANY_REQUESTS, "network_full", Some(600)),
        // The hub lets them expire and asks again; ten thousand at once, or a clock that runs away, get here.
        Error::Overdue(_) => return Shape(S::SERVICE_UNAVAILABLE, "unavailable", Some(1)),
        Error::KeyReused => (S::CONFLICT, "idempotency_conflict"),
        Error::OnTask { error, .. } => return shape_of_app(error),
        Error::Store(error) => return shape_of_store(error),
    };
    Shape(status, code, None)
}

impl ApiError {
    fn shape(&self) -> Shape {
        use StatusCode as S;
        let (status, code) = match self {
            Self::App(error) => return shape_of_app(error),
            Self::OnTask(error, _) => return error.shape(),
            Self::Unauthorized => (S::UNAUTHORIZED, "unauthorized"),
            Self::AdminOnly => (S::FORBIDDEN, "admin_only"),
            Self::RateLimited { retry_seconds, .. } => {
                return Shape(S::TOO_MANY_REQUESTS, "rate_limited", Some(*retry_seconds));
            }
            Self::BodyTooLarge(_) | Self::AnswerTooLarge(_) => (S::PAYLOAD_TOO_LARGE, "too_large"),
            Self::NotAForm => (S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::Disk => (S::INTERNAL_SERVER_ERROR, "internal"),
            Self::NoFiles => return Shape(S::SERVICE_UNAVAILABLE, "unavailable", Some(5)),
            Self::NoSuchRange(_) => (S::RANGE_NOT_SATISFIABLE, "no_such_range"),
            Self::NotJson => (S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::Encoded => (S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::BodyTimeout => (S::REQUEST_TIMEOUT, "timeout"),
            Self::HeadersTooLarge(_) => (S::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large"),
            Self::TargetTooLong(_) => (S::URI_TOO_LONG, "too_large"),
            Self::TooManyStreams => return Shape(S::TOO_MANY_REQUESTS, "too_many_streams", Some(5)),
            Self::HubFull => return Shape(S::SERVICE_UNAVAILABLE, "unavailable", Some(30)),
            Self::UpgradeNeeded => (S::UPGRADE_REQUIRED, "upgrade_required"),
            Self::NoSession => (S::NOT_FOUND, "not_found"),
            Self::ForeignSession => (S::FORBIDDEN, "foreign_session"),
            Self::TooManySessions => return Shape(S::TOO_MANY_REQUESTS, "too_many_sessions", Some(60)),
            Self::NoMessage(_, status) => {
                let code = match *status {
                    S::FORBIDDEN => "foreign_host",
                    S::NOT_ACCEPTABLE => "not_acceptable",
                    S::METHOD_NOT_ALLOWED => "method_not_allowed",
                    S::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
                    S::NOT_FOUND => "not_found",
                    _ => "validation",
                };
                (*status, code)
            }
            Self::NoRoute => (S::NOT_FOUND, "not_found"),
            Self::NoMethod => (S::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::Panicked => (S::INTERNAL_SERVER_ERROR, "internal"),
        };
        Shape(status, code, None)
    }

    /// The sentence for a person. A failure of the database is logged, never told.
    fn sentence(&self) -> String {
        match self {
            Self::App(error) => {
                let inner = if let Error::OnTask { error, .. } = error { error } else { error };
                match inner {
                    Error::Store(tandem_store::Error::Busy | tandem_store::Error::Unreachable(_)) => {
                        "the hub is busy; try again shortly".into()
                    }
                    Error::Store(_) => Self::Panicked.to_string(),
                    other => other.to_string(),
                }
            }
            other => other.to_string(),
        }
    }
}

impl ApiError {
    /// The error as it is told, on any surface.
    pub(crate) fn body(&self) -> ErrorBody {
        self.told(self.shape().1)
    }

    /// After how many seconds one may come back, where that helps.
    pub(crate) fn retry_seconds(&self) -> Option<i64> {
        self.shape().2
    }

    /// Whether the hub is to blame, and not who asked.
    pub(crate) fn is_ours(&self) -> bool {
        self.shape().0.is_server_error()
    }

    fn told(&self, code: &str) -> ErrorBody {
        let mut body = ErrorBody {
            error: capitalised(&self.sentence()),
            code: code.into(),
            details: None,
            status: None,
            next_statuses: None,
        };
        let (standing, cause) = match self {
            Self::App(Error::OnTask { standing, error }) => (Some(standing), Some(&**error)),
            Self::App(error) => (None, Some(error)),
            Self::OnTask(_, standing) => (Some(standing), None),
            _ => (None, None),
        };
        if let Some(standing) = standing {
            body.status = Some(standing.status.to_string());
            body.next_statuses = Some(standing.next.iter().map(Status::to_string).collect());
        }
        if let Some(Error::Invalid(invalid)) = cause {
            body.details = Some(invalid.0.clone());
        }
        body
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Shape(status, code, retry_seconds) = self.shape();
        let mut response = json_response(status, json(&self.told(code)));
        if let Some(seconds) = retry_seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let refused = if let Self::OnTask(error, _) = &self { error } else { &self };
        if let Self::RateLimited { rate, .. } = refused {
            rate.show(response.headers_mut());
        }
        if let Self::NoSuchRange(size) = &self
            && let Ok(range) = HeaderValue::try_from(format!("bytes */{size}"))
        {
            response.headers_mut().insert(header::CONTENT_RANGE, range);
        }
        if status == StatusCode::UPGRADE_REQUIRED {
            response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Errors are fragments inside; on the wire they are sentences.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
