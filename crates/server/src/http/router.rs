//! All surfaces as one router. It and the middleware before it are the only places that know them all.

use axum::http::Uri;
use axum::{Router, middleware};
use tandem_hub::Hub;

use crate::http::browser::is_page;
use crate::http::{ApiError, error, front};
use crate::{a2a, rest, web};

/// All routes, with those of MCP.
pub(crate) fn router(hub: Hub, mcp: Router<Hub>) -> Router {
    rest::served()
        .merge(web::routes(rest::DOCUMENT))
        .merge(mcp)
        .merge(a2a::routes())
        .fallback(async |uri: Uri| {
            ApiError(if is_page(uri.path()) { error::no_page() } else { error::no_route() })
        })
        .method_not_allowed_fallback(async |uri: Uri| {
            ApiError(if is_page(uri.path()) { error::no_page_method() } else { error::no_method() })
        })
        .layer(middleware::from_fn_with_state(hub.clone(), front::front))
        .with_state(hub)
}
