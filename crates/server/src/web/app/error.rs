//! Failures of pages: a page that says what happened and what to do, or the way to the sign-in.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tandem_hub::Error;

use super::resume::Unsent;
use super::{filters, html};
use crate::http::error::Refused;

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum PageError {
    /// An operation refused or failed.
    Failed(Error),
    /// Nobody is signed in for this page. A reader is sent to the sign-in, and back to `next` afterwards.
    SignIn {
        /// The page that was asked for.
        next: Option<String>,
        /// Whether the browser follows a redirect to another page; a script or a form must be told instead.
        redirects: bool,
        /// The form that was sent, to be sent after the sign-in.
        form: Option<Unsent>,
    },
}

impl<E: Into<Error>> From<E> for PageError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

#[derive(Template)]
#[template(path = "app/error.html")]
struct ErrorPage {
    status: u16,
    sentence: String,
    is_sign_in: bool,
    /// The query of the way back.
    back: String,
    form: Option<Unsent>,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        match self {
            Self::Failed(error) => {
                let mut response = page(error.status, error.to_string(), error.status == 401);
                if let Some(seconds) = error.retry_after_seconds {
                    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
                }
                response
            }
            Self::SignIn { next, redirects: true, .. } => {
                super::redirect(&format!("/app/sign-in{}", back_to(next.as_deref())))
            }
            Self::SignIn { next, redirects: false, form } => {
                let what = match &form {
                    None => "Sign in again and look whether it has taken effect.",
                    Some(_) => "Nothing was sent. What you typed is kept: sign in again, then send it.",
                };
                show(ErrorPage {
                    status: 401,
                    sentence: format!("You are not signed in any more. {what}"),
                    is_sign_in: true,
                    back: back_to(next.as_deref()),
                    form,
                })
            }
        }
    }
}

/// The query that leads from the sign-in back to a page.
fn back_to(next: Option<&str>) -> String {
    next.map_or_else(String::new, |next| {
        let query: String =
            form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
        format!("?{query}")
    })
}

/// A refusal of what comes before the pages, such as a limit, as a page of its own.
pub(crate) fn as_page(mut refusal: Response) -> Response {
    let Some(Refused(sentence)) = refusal.extensions_mut().remove() else { return refusal };
    let status = refusal.status().as_u16();
    let mut page = page(status, sentence, status == 401);
    for (name, value) in refusal.headers() {
        let is_of_body =
            [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::WWW_AUTHENTICATE].contains(name);
        if !is_of_body {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

fn page(status: u16, sentence: String, is_sign_in: bool) -> Response {
    show(ErrorPage { status, sentence, is_sign_in, back: String::new(), form: None })
}

fn show(page: ErrorPage) -> Response {
    let code = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match html(code, &page) {
        Ok(response) => response,
        Err(_) => code.into_response(),
    }
}
