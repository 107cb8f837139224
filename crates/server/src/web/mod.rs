//! HTML pages: the start page and the reference. They need no JavaScript and no other host.

pub(crate) mod app;
pub(crate) mod cookie;
mod reference;

use askama::Template;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use utoipa::openapi::OpenApi;

use tandem_hub::{Error, Hub};

use crate::http::ApiError;
use crate::http::front::Local;
use crate::mcp::hosts::{self, Hosts};

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
        .merge(app::routes())
}

/// Whether a path is a page of the dashboard, where a cookie counts.
pub(crate) fn is_page(path: &str) -> bool {
    path == "/app" || path.starts_with("/app/") || path == "/setup" || path == "/pair"
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    url: String,
    /// Where MCP is served. A host name that MCP refuses must not be advertised.
    mcp_url: String,
    /// The host name of this request, if MCP refuses it.
    refused_host: Option<String>,
    version: &'static str,
}

async fn home(State(hub): State<Hub>, request: Request) -> Result<Response, ApiError> {
    let host = hosts::of_request(request.headers());
    let listening = match request.extensions().get::<Local>() {
        Some(local) => local.0,
        None => hub.config.listen,
    };
    let refused_host = host.clone().filter(|host| !Hosts::new(&hub.config).accept(host));
    let url = match (hub.config.public_address(), &host) {
        (Some(url), _) => url.to_owned(),
        (None, Some(host)) => format!("http://{host}"),
        (None, None) => format!("http://{listening}"),
    };
    let mcp_url = match (hub.config.public_address(), &refused_host) {
        (None, Some(_)) => format!("http://{listening}/mcp"),
        _ => format!("{url}/mcp"),
    };
    let refused_host = refused_host.map(|host| host.host().to_owned());
    let home = Home { url, mcp_url, refused_host, version: env!("CARGO_PKG_VERSION") };
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
