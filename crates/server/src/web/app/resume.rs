//! A form that came after its session had ended: it goes through the sign-in and is then offered to be sent.

use std::sync::Arc;

use askama::Template;
use axum::http::StatusCode;
use tandem_app::keys;
use tandem_hub::ops::sign_ins::{self, SigningIn};
use tandem_hub::{Address, Error, Hub};

use super::pair_link::with_cookie;
use super::session::Sent;
use super::{Browser, Page, filters, html};

/// Fields whose text a person writes, with their labels.
const WRITTEN: [(&str, &str); 5] = [
    ("title", "Title"),
    ("description", "Description"),
    ("content", "Text"),
    ("reason", "Reason"),
    ("note", "Note"),
];
/// Fields that belong to the session, and secrets, which are not repeated.
const LEFT_OUT: [&str; 6] = ["csrf", "once", "key", "code", "webhookSecret", "confirm"];

/// A form that was not sent.
#[derive(Debug, Clone)]
pub(crate) struct Unsent {
    /// Where it goes.
    pub(crate) path: String,
    /// What a person wrote: field, label and text.
    pub(crate) written: Vec<(String, &'static str, String)>,
    /// The other fields.
    pub(crate) others: Vec<(String, String)>,
}

impl Unsent {
    /// None if nobody wrote anything into it.
    pub(crate) fn of(path: &str, sent: &Sent) -> Option<Self> {
        let is_ours = path.starts_with("/app/") && path.bytes().all(|b| b.is_ascii_graphic());
        let mut form = Self { path: path.to_owned(), written: Vec::new(), others: Vec::new() };
        for (name, value) in sent.fields().iter().filter(|field| !LEFT_OUT.contains(&field.0.as_str())) {
            match WRITTEN.iter().find(|known| known.0 == name) {
                Some((_, label)) if !value.trim().is_empty() => {
                    form.written.push((name.clone(), label, value.clone()));
                }
                Some(_) => {}
                None => form.others.push((name.clone(), value.clone())),
            }
        }
        (is_ours && !form.written.is_empty()).then_some(form)
    }

    /// All of it as one field of the form of the sign-in.
    pub(crate) fn packed(&self) -> String {
        let written = self.written.iter().map(|(name, _, value)| (name, value));
        let others = self.others.iter().map(|(name, value)| (name, value));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(others.chain(written)).finish()
    }
}

#[derive(Template)]
#[template(path = "app/resume.html")]
struct ResumePage {
    form: Unsent,
    csrf: String,
    once: String,
}

/// The page after the sign-in on which the form is sent; none if the sign-in had no form with it.
pub(super) async fn page(
    hub: &Hub,
    address: &Address,
    signing_in: &SigningIn,
    sent: &Sent,
) -> Result<Option<axum::response::Response>, super::PageError> {
    let fields = Sent::parse(sent.get("fields").as_bytes());
    let Some(form) = Unsent::of(sent.get("form"), &fields) else { return Ok(None) };
    let session = sign_ins::session(hub, address, &signing_in.token).await?.ok_or_else(Error::internal)?;
    let browser = Browser {
        session: Arc::new(session),
        address: address.clone(),
        target: form.path.clone(),
        form_page: None,
        known: String::new(),
        memory: None,
    };
    let page = ResumePage { form, csrf: browser.csrf(), once: keys::random_hex::<12>() };
    let page: Page = html(StatusCode::OK, &page);
    Ok(Some(with_cookie(hub, page?, &signing_in.token)))
}
