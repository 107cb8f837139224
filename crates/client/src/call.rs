//! One call: what is sent, and how often it may be repeated.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
pub use http::Method;
use http::header::HeaderName;
use serde::Serialize;

/// Time limit for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A request that can be sent more than once.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Option<Bytes>,
    pub(crate) idempotency_key: Option<String>,
    /// Whether it may be sent again when nobody knows if it took effect.
    pub(crate) repeatable: bool,
    pub(crate) answer_max: Duration,
}

impl Call {
    fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: String::new(),
            headers: Vec::new(),
            body: None,
            idempotency_key: None,
            repeatable: true,
            answer_max: ANSWER_MAX,
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// A GET whose answer is its headers alone.
    pub(crate) fn head(path: impl Into<String>) -> Self {
        Self::new(Method::HEAD, path)
    }

    /// A POST. Its idempotency key makes a repetition harmless.
    pub(crate) fn post(path: impl Into<String>) -> Self {
        Self { idempotency_key: Some(random_key()), ..Self::new(Method::POST, path) }
    }

    /// A POST whose answer contains a secret: the hub does not keep it, so it must not be repeated.
    pub(crate) fn post_once(path: impl Into<String>) -> Self {
        Self { repeatable: false, ..Self::new(Method::POST, path) }
    }

    /// A PATCH. A second one could be refused because of the first.
    pub(crate) fn patch(path: impl Into<String>) -> Self {
        Self { repeatable: false, ..Self::new(Method::PATCH, path) }
    }

    /// A DELETE. A second one answers that nothing is there any more.
    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self { repeatable: false, ..Self::new(Method::DELETE, path) }
    }

    pub(crate) fn query(mut self, query: &impl Serialize) -> Self {
        // The query types are flat structs of texts and numbers, which always serialise.
        self.query = serde_urlencoded::to_string(query).unwrap_or_default();
        self
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Self {
        // The wire types have text keys only and always serialise.
        self.body = Some(serde_json::to_vec(body).unwrap_or_default().into());
        self
    }

    /// Allows more time for the answer.
    pub(crate) fn waiting(mut self, longer: Duration) -> Self {
        self.answer_max += longer;
        self
    }

    pub(crate) fn path_and_query(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query) }
    }
}

/// A random idempotency key. The system's randomness is enough, and is there at once: the crypto library collects its own
/// for 80 ms when a process first asks for some.
#[must_use]
pub fn random_key() -> String {
    let mut bytes = [0; 16];
    // Cannot fail on the systems that we support; a fixed key would only make the hub answer with a conflict.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
