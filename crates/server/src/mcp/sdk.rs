//! The SDK's HTTP service: its settings, and its refusals in the hub's words.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use rmcp::ServerHandler;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tandem_api::error::Code;
use tandem_hub::Error;

use super::BODY_BYTES_MAX;
use crate::http::ApiError;
use crate::http::input::SMALL_BYTES_MAX;
use crate::mcp::handler::Handler;
use crate::mcp::message;
use crate::mcp::wake::InboxFeed;

/// What the SDK does with a request. One that listens comes with its feed.
pub(super) type Sdk = Arc<dyn Fn(Request, Option<InboxFeed>) -> BoxFuture<'static, Response> + Send + Sync>;

/// The SDK with a handler around the hub's.
pub(super) fn new<H: ServerHandler>(handler: Handler, extend: fn(Handler) -> H) -> Sdk {
    let service = move |handler: Handler| {
        let workers = Arc::clone(&handler.sessions.workers);
        Arc::new(StreamableHttpService::new(move || Ok(extend(handler.clone())), workers, config()))
    };
    let usual = service(handler.clone());
    Arc::new(move |request, inbox| {
        let service = match inbox {
            Some(inbox) => service(handler.with_inbox(inbox)),
            None => Arc::clone(&usual),
        };
        let answering = async move { service.handle(request).await };
        answering.map(|response| response.map(|body| Body::new(body.map_err(|never| match never {})))).boxed()
    })
}

/// Hosts and origins are checked before: the SDK would refuse IP addresses that the hub does not know to be its own.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
}

/// A refusal in the hub's format, unless it is an error of JSON-RPC.
pub(super) async fn refusal(response: Response, is_json: bool) -> Result<Response, Error> {
    let status = response.status();
    let content = response.headers().get(header::CONTENT_TYPE);
    if content.is_some_and(|content| content == "application/json") {
        return Ok(response);
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let said = axum::body::to_bytes(response.into_body(), SMALL_BYTES_MAX).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let code = match status {
        StatusCode::NOT_ACCEPTABLE => Code::NotAcceptable,
        StatusCode::METHOD_NOT_ALLOWED => {
            let mut refused = ApiError(Error::new(Code::MethodNotAllowed, said)).into_response();
            let allow = allow.unwrap_or(HeaderValue::from_static("GET, POST, DELETE"));
            refused.headers_mut().insert(header::ALLOW, allow);
            return Ok(refused);
        }
        // The SDK says so of JSON that is no message.
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => {
            let why = "the body is not a JSON-RPC message of MCP";
            return Ok(message::refusal(ErrorCode::INVALID_REQUEST, why));
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Code::UnsupportedMediaType,
        StatusCode::NOT_FOUND => Code::NotFound,
        _ => Code::Validation,
    };
    Err(Error::new(code, said).with_status(status.as_u16()))
}
