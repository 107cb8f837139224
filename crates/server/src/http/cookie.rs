//! The cookie of the dashboard.

use axum::http::{HeaderMap, HeaderValue, header};
use tandem_hub::Config;

/// The name on plain http.
const NAME: &str = "tandem_session";
/// The name where people reach the hub by https. A browser takes a cookie of this name only from this very host by https, for
/// all paths, so neither a neighbouring host nor somebody on the network can put one into the browser.
const HOST_NAME: &str = "__Host-tandem_session";
/// Length of a token: 32 bytes as hexadecimal text.
const TOKEN_LEN: usize = 64;

fn is_https(config: &Config) -> bool {
    config.public_address().is_some_and(|url| url.starts_with("https://"))
}

fn name(config: &Config) -> &'static str {
    if is_https(config) { HOST_NAME } else { NAME }
}

/// The token that a browser has sent, if it has the form of one.
pub(crate) fn token<'a>(config: &Config, headers: &'a HeaderMap) -> Option<&'a str> {
    let wanted = name(config);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookie| cookie.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let token = pairs.find(|(name, _)| *name == wanted)?.1;
    let is_token = token.len() == TOKEN_LEN && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_token.then_some(token)
}

/// A cookie that the browser sends to this hub only, with requests of the hub's own pages only, and that no script can
/// read. It has no end of its own: the session has one, and the browser forgets it when it is closed.
pub(crate) fn set(config: &Config, token: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("{}={token}; {}", name(config), attributes(config))).ok()
}

/// Makes the browser forget the cookie.
pub(crate) fn clear(config: &Config) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("{}=; {}; Max-Age=0", name(config), attributes(config))).ok()
}

/// `Secure` only where people reach the hub by https: a browser would drop such a cookie on plain http.
fn attributes(config: &Config) -> &'static str {
    if is_https(config) {
        "Path=/; HttpOnly; SameSite=Strict; Secure"
    } else {
        "Path=/; HttpOnly; SameSite=Strict"
    }
}
