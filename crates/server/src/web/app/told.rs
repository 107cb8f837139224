//! A form that was refused: the page is shown again, with why and with what was typed.

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

/// What a page says about a form that was sent to it.
#[derive(Debug, Default)]
pub(crate) struct Told {
    form: &'static str,
    why: Option<String>,
    status: u16,
    sent: Sent,
}

impl Told {
    /// A refused form. An error that is not about its fields has a page of its own.
    pub(crate) fn refused(form: &'static str, error: Error, sent: Sent) -> Result<Self, PageError> {
        if error.is_internal() || error.code() == Code::Unauthorized {
            return Err(error.into());
        }
        Ok(Self::about(form, &error, sent))
    }

    /// A refused form, whatever the error is about.
    pub(crate) fn about(form: &'static str, error: &Error, sent: Sent) -> Self {
        Self { form, why: Some(sentence(error)), status: error.status, sent }
    }

    pub(crate) fn status(&self) -> StatusCode {
        let refused = StatusCode::from_u16(self.status).ok();
        refused.filter(|_| self.why.is_some()).unwrap_or(StatusCode::OK)
    }

    /// Why a form was refused.
    pub(crate) fn why(&self, form: &str) -> Option<&str> {
        self.why.as_deref().filter(|_| self.form == form)
    }

    /// What stands in a field: what was typed into the refused form, else what is stored.
    pub(crate) fn typed<'t>(&'t self, form: &str, field: &str, stored: &'t str) -> &'t str {
        if self.why(form).is_some() { self.sent.get(field) } else { stored }
    }

    /// Whether a box is ticked.
    pub(crate) fn ticked(&self, form: &str, field: &str, stored: bool) -> bool {
        if self.why(form).is_some() { !self.sent.get(field).is_empty() } else { stored }
    }
}

/// The frame of a page that may show a refused form. Such a page has the address of the form, which cannot be fetched again:
/// it stays live by the page that the form was on, or not at all if the browser does not tell.
pub(crate) async fn frame(hub: &Hub, viewer: &Viewer, section: Section, told: &Told) -> Result<Shell, Error> {
    let shell = Shell::of(hub, viewer, section).await?;
    if told.why.is_none() {
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
