//! Origins: to which addresses the credentials of a remote may go.

use http::Uri;
use tandem_core::remotes::Terms;

use crate::delivery::webhooks::address::port_of;

/// The origin of an address: scheme, host and port, without a port that goes without saying.
pub(crate) fn origin(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let authority = uri.authority()?;
    if authority.as_str().contains('@') {
        return None;
    }
    let default = if scheme == "https" { 443 } else { 80 };
    let port = port_of(authority, default)?;
    let host = authority.host().to_ascii_lowercase();
    Some(if port == default { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{port}") })
}

/// Whether the owner of a remote has seen this origin: that of the card, or one that it has named.
pub(crate) fn is_seen(terms: &Terms, wanted: &str) -> bool {
    let named = terms.origins.iter().filter_map(|named| origin(named));
    origin(&terms.card_url).into_iter().chain(named).any(|seen| seen == wanted)
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for (url, expected) in [
            ("https://Example.com/a?b", Some("https://example.com")),
            ("https://example.com:443/", Some("https://example.com")),
            ("https://example.com:8443/", Some("https://example.com:8443")),
            ("http://[::1]:80/x", Some("http://[::1]")),
            ("https://user@example.com/", None),
            ("/relative", None),
            ("nonsense", None),
        ] {
            assert_eq!(origin(url).as_deref(), expected, "{url}");
        }
    }
}
