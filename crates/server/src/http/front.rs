//! The middleware of every request: its id, its log span, its response headers, and what happens to a body that nobody
//! has read.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tandem_hub::rates::Rate;
use tandem_hub::{Error, Hub, RunToCompletion};
use tracing::Instrument as _;

use crate::http::admission::admit;
use crate::http::browser::is_page;
use crate::http::compression::{self, compress};
use crate::http::connection::Connection;
use crate::http::counted_body::hold_body;
use crate::http::error::show_rate;
use crate::http::unread_body::UnreadBody;
use crate::http::visitor::Visitor;
use crate::http::{ApiError, origin, request_id};
use crate::{a2a, mcp, web};

/// Removes a leading double slash and `/api/v1` before routing, so that both forms of a path are equal. Returns what was
/// sent if it was another.
pub fn normalise(uri: &mut Uri) -> Option<Uri> {
    let path = uri.path();
    let collapsed = path.trim_start_matches('/');
    let bare = match collapsed.strip_prefix("api/v1") {
        Some("") => "",
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => collapsed,
    };
    if path.len() == bare.len() + 1 {
        return None;
    }
    let target = match uri.query() {
        Some(query) => format!("/{bare}?{query}"),
        None => format!("/{bare}"),
    };
    Some(std::mem::replace(uri, target.parse().ok()?))
}

/// Wraps every handler.
pub async fn front(State(hub): State<Hub>, request: Request, next: Next) -> Response {
    let arrived = Instant::now();
    let id = request_id::of(request.headers());
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    // Every log line of this request carries its id, also in the store's threads. The span has the highest level: a filter
    // that lets errors through must let it through with them.
    let span = tracing::error_span!("request", id);
    let response = respond(&hub, request, next, &id).instrument(span.clone()).await;

    let route = matched.as_ref().map_or("none", MatchedPath::as_str);
    let took = arrived.elapsed();
    let status = response.status().as_u16();
    hub.metrics.request(method.as_str(), route, status, took.as_secs_f64());
    hub.plot_counts.count_answer(status >= 500);
    if status == 429 {
        hub.metrics.rate_limited.inc();
    }
    let _in_request = span.entered();
    // Other server errors say that the hub is busy; under load there would be a line for each request.
    if status == 500 {
        tracing::error!(%method, route, status, took_ms = took.as_millis(), "answered");
    } else {
        tracing::debug!(%method, route, status, took_ms = took.as_millis(), "answered");
    }
    response
}

async fn respond(hub: &Hub, request: Request, next: Next, id: &str) -> Response {
    let page = origin::allowed_page(&hub.config, request.headers());
    if let Some(page) = page.clone().filter(|_| origin::is_preflight(&request)) {
        let mut response = finish(origin::preflight(), id, None);
        origin::share(page, response.headers_mut());
        return response;
    }
    let is_page = is_page(request.uri().path());
    let is_compressed = compression::is_accepted(request.headers()) && (is_page || is_far(&request));
    let called = Some(request.uri().path().to_owned()).filter(|path| a2a::is_call(path));
    let (mut request, unread_body) = UnreadBody::watch(request);
    let mut rate = None;
    let admitted = admit(hub, &mut request, &mut rate).await;
    let response = match admitted {
        Err(error) => ApiError(error).into_response(),
        Ok(memory) => {
            let is_read = is_read(request.method());
            let unknown = request.extensions().get::<Visitor>().and_then(|visitor| visitor.unknown.clone());
            let handled = AssertUnwindSafe(handle(hub, request, next)).catch_unwind().await;
            let mut response = handled.unwrap_or_else(|_| ApiError(Error::internal()).into_response());
            if let Some(unknown) = unknown {
                unknown.show(&mut response);
            }
            // Before its memory is held: what the client has to read is what counts.
            let response = if is_compressed { compress(response).await } else { response };
            match memory {
                Some(memory) => hold_body(response, memory.take(), is_read).await,
                None => response,
            }
        }
    };
    let response = if is_page { web::app::as_page(response) } else { response };
    let response = match called {
        Some(path) => a2a::as_call(&path, response),
        None => response,
    };
    let mut response = finish(response, id, rate);
    if let Some(page) = page {
        origin::share(page, response.headers_mut());
    }
    if !unread_body.discard().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Whether the client is on another machine. On this one, compressing an answer costs more than sending it.
fn is_far(request: &Request) -> bool {
    Connection::of(request.extensions()).is_ok_and(|connection| !connection.peer.ip.is_loopback())
}

/// Runs a handler. One that may write runs to completion even if its client disconnects; otherwise it would stop at any
/// `await`. MCP does this by itself for each tool.
async fn handle(hub: &Hub, request: Request, next: Next) -> Response {
    if is_read(request.method()) || request.uri().path() == mcp::PATH {
        return next.run(request).await;
    }
    RunToCompletion::new(&hub.writing, next.run(request).in_current_span()).await
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn finish(mut response: Response, id: &str, rate: Option<Rate>) -> Response {
    let headers = response.headers_mut();
    headers.insert("api-version", HeaderValue::from_static("v1"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(request_id::HEADER, id);
    }
    // The route may have set its own limit.
    if let Some(rate) = rate.filter(|_| !headers.contains_key("ratelimit-limit")) {
        show_rate(&rate, headers);
    }
    response
}
