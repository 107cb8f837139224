//! The id of a request: the client's own if it is valid, otherwise a new one. It names a request in the log and in its
//! response, and is no secret.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::HeaderMap;
use tandem_app::keys;

pub(crate) const HEADER: &str = "x-request-id";
const CHARS_MAX: usize = 128;

/// Tells apart the requests of two processes.
static PROCESS: LazyLock<String> = LazyLock::new(keys::random_hex::<6>);
static COUNT: AtomicU64 = AtomicU64::new(0);

pub(crate) fn of(headers: &HeaderMap) -> String {
    let given = headers.get(HEADER).and_then(|value| value.to_str().ok());
    given.filter(|id| is_valid(id)).map_or_else(new, Into::into)
}

fn is_valid(id: &str) -> bool {
    let may_contain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=CHARS_MAX).contains(&id.len()) && id.bytes().all(may_contain)
}

pub(crate) fn new() -> String {
    format!("req_{}{:012x}", *PROCESS, COUNT.fetch_add(1, Relaxed))
}
