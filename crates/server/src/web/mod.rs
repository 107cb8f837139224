//! HTML pages: the start page and the reference. They need no JavaScript and no other host.

mod reference;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use utoipa::openapi::OpenApi;

use tandem_hub::{Error, Hub};

use crate::http::ApiError;

const STYLE: &str = include_str!("../../static/style.css");
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
     frame-ancestors 'none'; base-uri 'none'";

/// The pages. They never change while the hub runs, so they are rendered once.
pub(crate) fn routes(document: &OpenApi) -> Router<Hub> {
    let json: &'static str = String::leak(document.to_json().unwrap_or_default());
    let reference: &'static str = String::leak(reference::page(json));
    Router::new()
        .route("/", get(home))
        .route("/openapi.json", get(async move || fixed("application/json", json)))
        .route("/docs", get(async move || page(reference.to_owned())))
        .route("/static/style.css", get(async || fixed("text/css; charset=utf-8", STYLE)))
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    url: String,
    version: &'static str,
}

async fn home(State(hub): State<Hub>, headers: HeaderMap) -> Result<Response, ApiError> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let url = match (hub.config.public_address(), host) {
        (Some(url), _) => url.to_owned(),
        (None, Some(host)) => format!("http://{host}"),
        (None, None) => format!("http://{}", hub.config.listen),
    };
    let home = Home { url, version: env!("CARGO_PKG_VERSION") };
    Ok(page(home.render().map_err(|_| Error::internal())?))
}

fn fixed(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
    ];
    (headers, text).into_response()
}

fn page(html: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, html).into_response()
}
