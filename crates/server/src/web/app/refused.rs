//! A form that was refused: the page is shown again, with why and with what was typed.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use tandem_api::error::Code;
use tandem_hub::{Error, Hub};

use super::error::PageError;
use super::session::{Sent, Viewer};
use super::shell::{Section, Shell};

/// Fields of forms as people read them.
const FIELDS: &[(&str, &str)] = &[
    ("alias", "The name"),
    ("capabilities", "The capabilities:"),
    ("capability", "The capability"),
    ("code", "The code"),
    ("content", "The text"),
    ("contentType", "The text"),
    ("description", "The description"),
    ("expiresInSeconds", "The time"),
    ("key", "The key"),
    ("file", "The file"),
    ("maxMessages", "The number of messages"),
    ("maxUses", "The number of uses"),
    ("name", "The name"),
    ("q", "The text"),
    ("reason", "The reason"),
    ("targetAgentId", "The agent"),
    ("webhookEvents", "The events:"),
    ("webhookSecret", "The secret"),
    ("webhookUrl", "The URL"),
];

/// What a page says about a form that was sent to it and refused. Without one it says nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refused {
    /// The form, as its page calls it.
    form: String,
    /// What happened in between, if that is why.
    pub(crate) headline: Option<String>,
    why: Option<String>,
    /// What is wrong by field, on pages that say it beside the field.
    fields: BTreeMap<String, String>,
    status: u16,
    sent: Sent,
}

impl Refused {
    /// A refused form. An error that is not about its fields has a page of its own.
    pub(crate) fn new(form: impl Into<String>, error: Error, sent: Sent) -> Result<Self, PageError> {
        if error.is_internal() || error.code() == Code::Unauthorized {
            return Err(error.into());
        }
        Ok(Self::about(form, &error, sent))
    }

    /// A refused form, whatever the error is about.
    pub(crate) fn about(form: impl Into<String>, error: &Error, sent: Sent) -> Self {
        let why = Some(sentence(error));
        Self { form: form.into(), why, status: error.status, sent, ..Self::default() }
    }

    /// A form with what is wrong in each field, or with one sentence about all of it.
    pub(crate) fn fields(
        fields: BTreeMap<String, String>,
        why: Option<String>,
        status: u16,
        sent: Sent,
    ) -> Self {
        Self { fields, why, status, sent, ..Self::default() }
    }

    /// A form that nobody has sent yet, filled in by the address of its page.
    pub(crate) fn filled(sent: Sent) -> Self {
        Self { sent, ..Self::default() }
    }

    /// The same with what happened in between.
    pub(crate) fn because(self, headline: Option<String>) -> Self {
        Self { headline, ..self }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK)
    }

    /// Whether this form was refused.
    pub(crate) fn is(&self, form: &str) -> bool {
        self.form == form && self.why.is_some()
    }

    pub(crate) fn is_any(&self) -> bool {
        self.why.is_some() || !self.fields.is_empty()
    }

    /// Why a form was refused.
    pub(crate) fn why(&self, form: &str) -> Option<&str> {
        self.why.as_deref().filter(|_| self.form == form)
    }

    /// The task that the refused form was about, where each task has its own.
    pub(crate) fn form_of_task(&self) -> Option<String> {
        self.why.is_some().then(|| self.form.clone())
    }

    /// Why whatever form it was is refused.
    pub(crate) fn sentence(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// What is wrong in a field.
    pub(crate) fn field(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }

    pub(crate) fn fields_wrong(&self) -> usize {
        self.fields.len()
    }

    /// What was typed into a field of the page's only form.
    pub(crate) fn value(&self, field: &str) -> &str {
        self.sent.get(field)
    }

    /// What stands in a field: what was typed into the refused form, else what is stored.
    pub(crate) fn typed<'t>(&'t self, form: &str, field: &str, stored: &'t str) -> &'t str {
        if self.is(form) { self.sent.get(field) } else { stored }
    }

    /// Whether a box is ticked.
    pub(crate) fn ticked(&self, form: &str, field: &str, stored: bool) -> bool {
        if self.is(form) { !self.sent.get(field).is_empty() } else { stored }
    }
}

/// The frame of a page that may show a refused form. Such a page has the address of the form, which cannot be fetched again:
/// it stays live by the page that the form was on, or not at all if the browser does not tell.
pub(crate) async fn frame(
    hub: &Hub,
    viewer: &Viewer,
    section: Section,
    refused: &Refused,
) -> Result<Shell, Error> {
    let shell = Shell::of(hub, viewer, section).await?;
    if !refused.is_any() {
        return Ok(shell);
    }
    let refused_at = viewer.browser.form_page.clone();
    let live = shell.live.clone().filter(|_| refused_at.is_some());
    Ok(Shell { live, refused_at, ..shell })
}

/// An error as a sentence. Fields have names that people know.
pub(crate) fn sentence(error: &Error) -> String {
    let invalid = error.body.details.as_ref().and_then(|details| details.iter().next());
    match invalid {
        Some((field, why)) => {
            let name = FIELDS.iter().find(|known| known.0 == field).map_or(field.as_str(), |known| known.1);
            format!("{name} {}.", why.first().map_or("is wrong", String::as_str))
        }
        None => {
            let hint = error.body.hint.map_or_else(String::new, |hint| format!(" {hint}"));
            format!("{}.{hint}", error.to_string().trim_end_matches('.'))
        }
    }
}
