//! The dashboard: pages for people who watch, approve and step in.
//!
//! A page is rendered by the server and every action is a form, so everything but live updates and decryption works
//! without JavaScript. Pages call the operations of the hub, as REST and MCP do; they know no rule about tasks. Sessions,
//! the check of forms and the HTML of errors are here.

mod add_agent;
mod admin;
mod agents;
mod approvals;
pub(crate) mod assets;
mod connection;
pub(crate) mod copy;
mod discover;
mod drawing;
mod error;
mod events;
mod figures;
#[expect(unreachable_pub, reason = "askama makes public items of them")]
mod filters;
mod graph;
mod home;
mod live;
mod markdown;
mod network;
mod networks;
mod pair;
mod pair_link;
mod people;
mod profile;
mod reach;
mod refused;
mod regions;
mod resume;
mod search;
mod sentence;
mod session;
mod shell;
mod sign_in;
mod tasks;
mod thread;
mod webhooks;
mod words;

use askama::Template;
use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use tandem_hub::{Error, Hub};

pub(crate) use error::{PageError, as_page};
pub(crate) use session::{Browser, Form, Operator, Viewer};
pub(crate) use shell::{Section, Shell};

/// What pages may load: only what this hub serves, and no script or style in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

pub(crate) type Page = Result<Response, PageError>;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/static/{hash}/{file}", get(assets::serve))
        .route("/app", get(sign_in::start))
        .route("/app/sign-in", get(sign_in::page).post(sign_in::submit))
        .route("/app/sign-out", post(sign_in::sign_out))
        .route("/setup", get(sign_in::setup_page).post(sign_in::use_setup_code))
        .route("/app/{agent}/live", get(live::stream))
        .merge(admin::routes())
        .merge(home::routes())
        .merge(tasks::routes())
        .merge(add_agent::routes())
        .merge(agents::routes())
        .merge(connection::routes())
        .merge(discover::routes())
        .merge(events::routes())
        .merge(figures::routes())
        .merge(network::routes())
        .merge(networks::routes())
        .merge(pair::routes())
        .merge(pair_link::routes())
        .merge(profile::routes())
        .merge(search::routes())
        .merge(webhooks::routes())
        .merge(approvals::routes())
        .merge(thread::routes())
}

pub(crate) fn html(status: StatusCode, template: &impl Template) -> Result<Response, PageError> {
    let rendered = template.render().map_err(|cause| {
        tracing::error!(%cause, "a page could not be rendered");
        Error::internal()
    })?;
    let body = regions::finish(&rendered);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        // With `no-referrer`, browsers send the forms of the page with `Origin: null`, which is refused.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    ];
    Ok((status, headers, body).into_response())
}

/// The same for a page with texts of agents, which take long: on a thread where nothing waits for it.
pub(crate) async fn html_aside(page: impl FnOnce() -> Page + Send + 'static) -> Page {
    let span = tracing::Span::current();
    let made = tokio::task::spawn_blocking(move || span.in_scope(page)).await;
    made.unwrap_or_else(|cause| {
        tracing::error!(%cause, "a page could not be made");
        Err(Error::internal().into())
    })
}

/// Leads the browser to another page of this hub, with GET.
pub(crate) fn redirect(path: &str) -> Response {
    let headers = [
        (header::LOCATION, HeaderValue::from_str(path).unwrap_or_else(|_| HeaderValue::from_static("/app"))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
