//! HTML pages: the start page and the reference. They need no JavaScript and no other host.

pub(crate) mod app;
mod reference;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};

use tandem_hub::{Error, Hub};

use crate::http::ApiError;
use crate::http::compression::Constant;
use crate::http::connection::Connection;
use crate::http::hosts::{self, Hosts};

const STYLE: &str = include_str!("../../static/style.css");
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
     frame-ancestors 'none'; base-uri 'none'";

/// The pages. They never change while the hub runs, so they are rendered once.
pub(crate) fn routes(document: &'static str) -> Router<Hub> {
    let reference: &'static str = String::leak(reference::page(document));
    Router::new()
        .route("/", get(home))
        .route("/openapi.json", fixed("application/json", document))
        .route("/docs", fixed("text/html; charset=utf-8", reference))
        .route("/static/style.css", fixed("text/css; charset=utf-8", STYLE))
        .merge(app::routes())
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
    let listening = Connection::of(request.extensions())?.local.unwrap_or(hub.config.listen);
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
    let html = home.render().map_err(|_| Error::internal())?;
    Ok(protected(Html(html).into_response()))
}

/// A text that stays the same while the hub runs.
fn fixed(kind: &'static str, text: &'static str) -> MethodRouter<Hub> {
    let constant = Arc::new(Constant::new(kind, text));
    get(async move |headers: HeaderMap| {
        let mut response = constant.response(&headers);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
        if kind.starts_with("text/html") { protected(response) } else { response }
    })
}

/// Bounds what a page may load.
fn protected(mut page: Response) -> Response {
    page.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    page.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    page
}
