//! Why a request to an S3 service failed, and how often it is repeated.

use std::time::{Duration, Instant};

use http::StatusCode;
use tokio::time::sleep;

use super::xml;
use crate::files::Error;

/// The pauses before the retries of a request.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(200)];
/// Time from the start of a request after which it is not repeated.
const RETRY_TIME_MAX: Duration = Duration::from_secs(10);
/// Errors that pass, even if the status does not say so.
const TEMPORARY: [&str; 3] = ["InternalError", "RequestTimeout", "SlowDown"];

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(in crate::files) enum Failure {
    #[error("the object does not exist")]
    Missing,
    #[error("{request} was answered with {status}{}", code.as_ref().map(|code| format!(", {code}")).unwrap_or_default())]
    Refused { request: String, status: StatusCode, code: Option<String> },
    #[error("error sending request {request}: {cause}")]
    Lost { request: String, cause: String },
    #[error("{0}")]
    Unexpected(String),
}

impl Failure {
    /// An answer with an error, of which only the code is kept.
    pub(super) fn refused(request: String, status: StatusCode, answer: &str) -> Self {
        let is_code = |code: &String| code.len() <= 64 && code.bytes().all(|b| b.is_ascii_alphanumeric());
        Self::Refused { request, status, code: xml::text_of(answer, "Code").filter(is_code) }
    }

    /// An answer may say that there is no such object. A missing bucket is not that, nor a proxy without a service.
    pub(super) fn of_object(self) -> Self {
        match &self {
            Self::Refused { status: StatusCode::NOT_FOUND, .. } if self.has_code("NoSuchKey") => {
                Self::Missing
            }
            _ => self,
        }
    }

    pub(super) fn has_code(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code: Some(code), .. } if code == wanted)
    }

    /// Whether the same request may succeed a little later.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Refused { status, code, .. } => {
                status.is_server_error()
                    || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(status)
                    || code.as_ref().is_some_and(|code| TEMPORARY.contains(&code.as_str()))
            }
            Self::Lost { .. } => true,
            Self::Missing | Self::Unexpected(_) => false,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Missing => Self::Missing,
            _ => Self::Bucket(failure.to_string()),
        }
    }
}

/// The retries of one request. All requests here can be repeated; that an upload is completed twice is looked at there.
pub(super) struct Retries {
    used: usize,
    started: Instant,
}

impl Default for Retries {
    fn default() -> Self {
        Self { used: 0, started: Instant::now() }
    }
}

impl Retries {
    /// Waits before the next retry. Returns false if there is none.
    pub(super) async fn wait(&mut self) -> bool {
        let Some(pause) = PAUSES.get(self.used).filter(|_| self.started.elapsed() <= RETRY_TIME_MAX) else {
            return false;
        };
        self.used += 1;
        sleep(*pause).await;
        true
    }
}
