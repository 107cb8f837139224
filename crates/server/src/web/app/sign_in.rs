//! Signing in and out.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde::Deserialize;
use tandem_hub::ops::sign_ins::{self, SigningIn, Subject};
use tandem_hub::{Error, Holder, Hub};

use super::resume::{self, Unsent};
use super::session::{Browser, Form, Sent};
use super::shell::path_of;
use super::{Page, PageError, filters, html, redirect};
use crate::http::cookie;
use crate::http::visitor::{FromAddress, Identity};
use crate::http::{Query, input};

#[derive(Template)]
#[template(path = "app/sign-in.html")]
struct SignInPage {
    next: String,
    error: Option<String>,
    notice: Option<&'static str>,
    /// A form that is sent after the sign-in.
    form: Option<Unsent>,
    /// Whether somebody is signed in already, so that this adds another agent.
    is_addition: bool,
}

#[derive(Template)]
#[template(path = "app/setup.html")]
struct SetupPage {
    code: String,
    error: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct SignInQuery {
    next: Option<String>,
    done: Option<String>,
}

/// How often a browser is asked to send the form again.
const AGAIN_MAX: u8 = 4;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct SubmitQuery {
    /// How often it was sent again.
    again: Option<u8>,
}

impl SubmitQuery {
    pub(super) fn begins_anew(&self) -> bool {
        self.again.is_some_and(|again| again >= AGAIN_MAX)
    }

    /// Has the browser send the same form again, with the cookie that it has by now: two windows may have signed somebody
    /// in at the same moment, and the token that the other one has got is the only way into that session.
    pub(super) fn send_again(&self, path: &str) -> Response {
        let again = self.again.unwrap_or(0).saturating_add(1);
        let mut response = redirect(&format!("{path}?again={again}"));
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        response
    }
}

/// `GET /app`: leads to the pages of whoever is signed in.
pub(crate) async fn start(State(hub): State<Hub>, browser: Browser) -> Response {
    let agent = browser.session.agents().next();
    match agent {
        Some(agent) => redirect(&path_of(agent)),
        None if browser.is_operator(&hub) => redirect("/app/admin"),
        None => redirect("/app/sign-in"),
    }
}

/// `GET /app/sign-in`
pub(crate) async fn page(Query(query): Query<SignInQuery>, identity: Identity) -> Page {
    let is_addition = matches!(identity, Identity::Browser(_));
    let notice = query.done.filter(|word| word == "signed-out").map(|_| "Signed out.");
    let next = query.next.unwrap_or_default();
    html(StatusCode::OK, &SignInPage { next, error: None, notice, form: None, is_addition })
}

/// `POST /app/sign-in`. Nobody is signed in yet, so there is no session that the form could prove to belong to; `Origin`
/// is checked as for every request that writes.
pub(crate) async fn submit(
    State(hub): State<Hub>,
    FromAddress(address): FromAddress,
    headers: HeaderMap,
    Query(query): Query<SubmitQuery>,
    request: Request,
) -> Page {
    let sent = read_form(&hub, &address, request).await?;
    let browser = SigningIn::new(cookie::token(&hub.config, &headers), query.begins_anew());
    match sign_ins::sign_in(&hub, &address, &browser, sent.get("key")).await {
        Ok(None) => Ok(query.send_again("/app/sign-in")),
        Ok(Some(subject)) => {
            let home = match subject {
                Subject::Agent(agent) => path_of(&agent),
                Subject::Operator => "/app/admin".to_owned(),
            };
            match resume::page(&hub, &address, &browser, &sent).await? {
                Some(page) => Ok(page),
                None => signed_in(&hub, &browser, &next(sent.get("next"), &home)),
            }
        }
        Err(error) => {
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::UNAUTHORIZED);
            let page = SignInPage {
                next: sent.get("next").to_owned(),
                error: Some(error.to_string()),
                notice: None,
                form: Unsent::of(sent.get("form"), &Sent::parse(sent.get("fields").as_bytes())),
                is_addition: false,
            };
            html(status, &page)
        }
    }
}

/// `GET /setup`: the page of a one-time link. The code is in the fragment, which browsers do not send.
pub(crate) async fn setup_page() -> Page {
    html(StatusCode::OK, &SetupPage { code: String::new(), error: None })
}

/// `POST /setup`
pub(crate) async fn use_setup_code(
    State(hub): State<Hub>,
    FromAddress(address): FromAddress,
    headers: HeaderMap,
    Query(query): Query<SubmitQuery>,
    request: Request,
) -> Page {
    let sent = read_form(&hub, &address, request).await?;
    let browser = SigningIn::new(cookie::token(&hub.config, &headers), query.begins_anew());
    let code = sent.get("code");
    match sign_ins::use_setup_code(&hub, &address, &browser, code).await {
        Ok(false) => Ok(query.send_again("/setup")),
        Ok(true) => signed_in(&hub, &browser, "/app/admin"),
        Err(error) => {
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::UNAUTHORIZED);
            html(status, &SetupPage { code: code.to_owned(), error: Some(error.to_string()) })
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct SignOut {
    /// The agent, `admin`, or nothing for everybody in this browser.
    who: Option<String>,
    /// Whether this one is signed out of all browsers.
    everywhere: Option<bool>,
}

/// `POST /app/sign-out`
pub(crate) async fn sign_out(State(hub): State<Hub>, form: Form<Browser, SignOut>) -> Page {
    let (fields, session) = (form.fields?, &form.by.session);
    let subject = match fields.who.as_deref() {
        None => {
            sign_ins::end(&hub, session.id.clone()).await?;
            let mut response = redirect("/app/sign-in?done=signed-out");
            if let Some(cookie) = cookie::clear(&hub.config) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            return Ok(response);
        }
        Some("admin") => Subject::Operator,
        Some(agent) => Subject::Agent(agent.parse().map_err(|_| Error::not_found("agent"))?),
    };
    if !session.sign_ins.iter().any(|sign_in| sign_in.subject == subject) {
        return Err(Error::not_found("agent").into());
    }
    if fields.everywhere.unwrap_or(false) {
        sign_ins::sign_out_everywhere(&hub, subject).await?;
    } else {
        sign_ins::sign_out(&hub, session.id.clone(), subject).await?;
    }
    Ok(redirect("/app"))
}

fn signed_in(hub: &Hub, browser: &SigningIn, to: &str) -> Page {
    let mut response = redirect(to);
    if let Some(cookie) = cookie::set(&hub.config, &browser.token) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Where to go after the sign-in: the page that was asked for, if it is one of ours.
fn next(asked: &str, home: &str) -> String {
    let is_ours =
        asked.starts_with("/app/") && !asked.contains("//") && asked.bytes().all(|b| b.is_ascii_graphic());
    if is_ours { asked.to_owned() } else { home.to_owned() }
}

pub(super) async fn read_form(
    hub: &Hub,
    address: &tandem_hub::Address,
    request: Request,
) -> Result<Sent, PageError> {
    let (parts, body) = request.into_parts();
    let (_, bytes, _held) = input::read_bytes(hub, Holder::from(address), &parts.headers, body).await?;
    Ok(Sent::parse(&bytes))
}
