//! The files that pages load: built into the program, and served below a path that changes with their content, so that
//! browsers may keep them for ever.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use tandem_app::keys;
use tandem_hub::Error;

use super::error::PageError;
use crate::http::compression::Constant;

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:ident),+ $(,)?) => {
        [$(($name, Constant::new($kind, include_str!(concat!("../../../static/app/", $name))))),+]
    };
}

/// By name.
static FILES: [(&str, Constant); 18] = files! {
    "app.css": CSS,
    "icons.svg": SVG,
    "app.js": JS,
    "live.js": JS,
    "tail.js": JS,
    "times.js": JS,
    "copy.js": JS,
    "theme.js": JS,
    "theme-boot.js": JS,
    "keys.js": JS,
    "palette.js": JS,
    "codes.js": JS,
    "sealed.js": JS,
    "dom.js": JS,
    "keystore.js": JS,
    "refresh.js": JS,
    "toast.js": JS,
    "unseal.js": JS,
};

static BASE: LazyLock<String> = LazyLock::new(|| {
    let mut hashing = keys::Hashing::default();
    for (name, file) in &FILES {
        hashing.add(name.as_bytes());
        hashing.add(file.text().as_bytes());
    }
    format!("/static/{}", keys::hex(&hashing.finish()[..8]))
});

/// The path below which the files are.
pub(crate) fn base() -> &'static str {
    &BASE
}

/// `GET /static/{hash}/{file}`
pub(crate) async fn serve(
    Path((hash, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let found = FILES.iter().find(|file| file.0 == name);
    let Some((_, file)) = found else { return Err(Error::not_found("file").into()) };
    // A page of an older version of the hub asks for a file of its time. It gets today's, for this once.
    let is_current = base().ends_with(&hash);
    let lifetime = if is_current { "public, max-age=31536000, immutable" } else { "no-store" };
    let mut response = file.response(&headers);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(lifetime));
    Ok(response)
}
