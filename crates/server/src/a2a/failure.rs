//! Why a call failed, in the words of A2A, and as each binding writes it.

use std::collections::BTreeMap;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::json;
use serde_json::value::RawValue;
use tandem_api::a2a::{ErrorDetail, FieldViolation, Reason, Wrong};
use tandem_api::error::Code;
use tandem_hub::Error;
use tandem_hub::rates::Rate;

use crate::http::error::show_rate;
use crate::http::json_response;

/// Why a call failed.
#[derive(Debug)]
pub(super) struct Failure {
    reason: Reason,
    message: String,
    metadata: BTreeMap<String, String>,
    violations: Vec<FieldViolation>,
    retry_after_seconds: Option<i64>,
    rate: Option<Rate>,
}

impl Failure {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            metadata: BTreeMap::new(),
            violations: Vec::new(),
            retry_after_seconds: None,
            rate: None,
        }
    }

    /// A wrong field.
    pub(super) fn field(field: &str, why: &str) -> Self {
        Wrong::field(field, why).into()
    }

    /// An error of the hub, with the reason that its code has for any call.
    pub(super) fn of(error: &Error) -> Self {
        Self::with_reason(error, reason_of(error.code()))
    }

    /// The same for a call that cancels a task: what no longer takes messages can no longer be cancelled.
    pub(super) fn of_cancel(error: &Error) -> Self {
        let reason = match reason_of(error.code()) {
            Reason::UnsupportedOperation => Reason::TaskNotCancelable,
            reason => reason,
        };
        Self::with_reason(error, reason)
    }

    fn with_reason(error: &Error, reason: Reason) -> Self {
        let body = &error.body;
        let mut metadata = BTreeMap::from([("code".to_owned(), body.code.word().to_owned())]);
        if let Some(status) = body.status {
            metadata.insert("status".to_owned(), status.to_string());
        }
        let details = body.details.iter().flatten();
        let violations = details.flat_map(|(field, whys)| {
            whys.iter().map(|why| FieldViolation { field: field.clone(), description: why.clone() })
        });
        Self {
            reason,
            message: body.error.clone(),
            metadata,
            violations: violations.collect(),
            retry_after_seconds: error.retry_after_seconds,
            rate: error.rate,
        }
    }

    fn details(&self) -> Vec<ErrorDetail> {
        let info = ErrorDetail::Info { reason: self.reason, metadata: self.metadata.clone() };
        let fields = (!self.violations.is_empty()).then(|| ErrorDetail::BadRequest(self.violations.clone()));
        [Some(info), fields].into_iter().flatten().collect()
    }

    /// The error as JSON-RPC writes it, with the id of the request.
    pub(super) fn as_rpc(&self, id: &RawValue) -> String {
        let error =
            json!({ "code": self.reason.rpc_code(), "message": self.message, "data": self.details() });
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}", id.get())
    }

    /// The error as HTTP+JSON writes it.
    pub(super) fn as_http(&self) -> String {
        let error = json!({ "code": self.reason.http_status(), "status": self.reason.status_word(),
            "message": self.message, "details": self.details() });
        json!({ "error": error }).to_string()
    }

    /// The response with such a body. JSON-RPC has a status of its own for what concerns the connection and not the call.
    pub(super) fn respond(&self, body: String, is_rpc: bool) -> Response {
        let status = self.reason.http_status();
        let is_shown = !is_rpc || matches!(status, 401 | 403 | 413 | 429 | 500..);
        let status = if is_shown { StatusCode::from_u16(status).ok() } else { None };
        let mut response = json_response(status.unwrap_or(StatusCode::OK), body);
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(rate) = &self.rate {
            show_rate(rate, headers);
        }
        if self.reason == Reason::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        let mut failure = Self::new(Reason::InvalidParams, format!("Invalid parameters: {wrong}"));
        failure.metadata.insert("code".to_owned(), Code::Validation.word().to_owned());
        failure.violations.push(FieldViolation { field: wrong.field, description: wrong.why });
        failure
    }
}

/// The reason that a code of the hub has for a client of A2A.
fn reason_of(code: Code) -> Reason {
    use Code as C;
    match code {
        C::NotFound => Reason::TaskNotFound,
        C::TaskTerminal
        | C::ApprovalPending
        | C::MessageBudget
        | C::InvalidTransition
        | C::InvalidState
        | C::RoleNotAllowed
        | C::ReviewRequired
        | C::TaskDraft
        | C::TaskLive
        | C::TaskEncrypted
        | C::Conflict => Reason::UnsupportedOperation,
        C::UnsupportedMediaType | C::NotAcceptable => Reason::ContentTypeNotSupported,
        C::Validation
        | C::IdempotencyConflict
        | C::IdTaken
        | C::AliasTaken
        | C::KeyTaken
        | C::AlreadyConnected
        | C::AlreadyMember
        | C::OwnerStays
        | C::NoWebhook
        | C::SignatureReplayed
        | C::NoSuchRange => Reason::InvalidParams,
        C::MethodNotAllowed => Reason::MethodNotFound,
        C::Timeout | C::UpgradeRequired => Reason::InvalidRequest,
        C::TooLarge | C::FileQuota => Reason::TooLarge,
        C::Unauthorized => Reason::Unauthenticated,
        C::NoCredits
        | C::Suspended
        | C::AdminOnly
        | C::NotConnected
        | C::NotAutoAccept
        | C::Blocked
        | C::OwnerOnly
        | C::NotSender
        | C::ForeignHost
        | C::ForeignOrigin
        | C::ForeignSession
        | C::GuestOnly => Reason::PermissionDenied,
        C::RateLimited
        | C::TooManyOpenTasks
        | C::TooManyCodes
        | C::NetworkFull
        | C::TooManyStreams
        | C::TooManySessions
        | C::TooManyGuests
        | C::TooManyRemotes => Reason::ResourceExhausted,
        C::Unavailable | C::StorageFull => Reason::Unavailable,
        C::Internal | C::Unknown => Reason::Internal,
    }
}
