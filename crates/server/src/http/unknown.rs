//! Fields and parameters that a request has and the hub does not know. They are ignored, because clients of another version
//! send them; so that a misspelt one does not go unnoticed, the answer names them, and a client may ask to be refused instead.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use tandem_app::Invalid;
use tandem_hub::nearest;

/// The answer names what was not known.
const WARNING: HeaderName = HeaderName::from_static("tandem-warning");
/// The request asks to be refused if something is not known.
const STRICT: HeaderName = HeaderName::from_static("tandem-strict");
/// The same as a parameter.
pub(crate) const STRICT_PARAMETER: &str = "strict";

/// How many an answer names.
const NAMED_MAX: usize = 5;
/// What is shown of a name.
const NAME_CHARS_MAX: usize = 40;

/// A name that is not known, and the known one that is most like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownName {
    name: String,
    nearest: Option<String>,
}

impl UnknownName {
    /// The name is the client's own text: it is cut, and shown without what no name has.
    pub(crate) fn new<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.[]$@".contains(c);
        let name: String =
            name.chars().take(NAME_CHARS_MAX).map(|c| if is_plain(c) { c } else { '?' }).collect();
        let nearest = nearest(&name, known).map(Into::into);
        Self { name, nearest }
    }

    /// For a person or a model.
    pub(crate) fn sentence(&self) -> String {
        match &self.nearest {
            Some(nearest) => format!("{} is not known and was ignored; did you mean {nearest}?", self.name),
            None => format!("{} is not known and was ignored", self.name),
        }
    }

    fn refusal(&self) -> String {
        match &self.nearest {
            Some(nearest) => format!("is not known; did you mean {nearest}?"),
            None => "is not known".into(),
        }
    }

    fn parameter(&self) -> String {
        match &self.nearest {
            Some(nearest) => format!("unknown;name=\"{}\";nearest=\"{nearest}\"", self.name),
            None => format!("unknown;name=\"{}\"", self.name),
        }
    }
}

/// The first names that are not known. Others are not kept.
#[derive(Debug, Default)]
pub(crate) struct UnknownNames(Vec<UnknownName>);

impl UnknownNames {
    pub(crate) fn add<'k>(&mut self, name: &str, known: impl IntoIterator<Item = &'k str>) {
        if self.0.len() < NAMED_MAX {
            self.0.push(UnknownName::new(name, known));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a model is told.
    pub(crate) fn sentences(&self) -> Vec<String> {
        self.0.iter().map(UnknownName::sentence).collect()
    }
}

/// What is to be done about unknown names of a request, and which there were.
#[derive(Debug, Clone)]
pub(crate) struct UnknownOfRequest {
    is_strict: bool,
    found: Arc<Mutex<UnknownNames>>,
}

impl UnknownOfRequest {
    /// Nothing for a request that says nothing.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        let query = request.uri().query();
        if is_reading && query.is_none() {
            return None;
        }
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let asked = request
            .headers()
            .get(STRICT)
            .map(|value| value.as_bytes() == b"1" || value.as_bytes() == b"true");
        let is_strict = asked.unwrap_or(false)
            || pairs
                .into_iter()
                .any(|(name, value)| name == STRICT_PARAMETER && (value == "1" || value == "true"));
        Some(Self { is_strict, found: Arc::default() })
    }

    /// Notes names for the answer, or refuses them.
    pub(crate) fn note(&self, names: UnknownNames) -> Result<(), Invalid> {
        if names.is_empty() {
            return Ok(());
        }
        if self.is_strict {
            return Err(Invalid(
                names.0.into_iter().map(|one| (one.name.clone(), vec![one.refusal()])).collect(),
            ));
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let room = NAMED_MAX.saturating_sub(found.0.len());
        found.0.extend(names.0.into_iter().take(room));
        Ok(())
    }

    /// Names them in an answer that otherwise says that all is well.
    pub(crate) fn show(&self, response: &mut Response) {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_empty() || !response.status().is_success() {
            return;
        }
        let names: Vec<String> = found.0.iter().map(UnknownName::parameter).collect();
        if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
            response.headers_mut().insert(WARNING, value);
        }
    }
}
