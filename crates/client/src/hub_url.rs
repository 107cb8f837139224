//! The address of a hub.

use std::fmt;
use std::str::FromStr;

/// The address of a hub: scheme, host, port and an optional path in front of all routes.
///
/// The scheme may be left out: then it is `http` on this machine and `https` elsewhere.
///
/// ```
/// use tandem_client::HubUrl;
///
/// let hub: HubUrl = "127.0.0.1:3000".parse().unwrap();
/// assert_eq!(hub.to_string(), "http://127.0.0.1:3000");
/// let hub: HubUrl = "hub.example.com/tandem/".parse().unwrap();
/// assert_eq!(hub.to_string(), "https://hub.example.com/tandem");
/// assert!("ftp://hub.example.com".parse::<HubUrl>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HubUrl {
    secure: bool,
    host: String,
    port: Option<u16>,
    prefix: String,
}

/// The text is not the address of a hub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not the address of a hub: {why}")]
pub struct NotAHubUrl {
    text: String,
    why: &'static str,
}

impl HubUrl {
    /// Whether the connection is encrypted with TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Host without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port, or the usual one of the scheme.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.secure { 443 } else { 80 })
    }

    /// Whether the hub runs on this machine, as far as its name tells.
    #[must_use]
    pub fn is_local(&self) -> bool {
        is_local(self.host())
    }

    /// The value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        match self.port {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// The path of a route, with the hub's own path in front.
    pub(crate) fn target(&self, path_and_query: &str) -> String {
        format!("{}{path_and_query}", self.prefix)
    }

    /// The address of the WebSocket route.
    pub(crate) fn socket(&self, path_and_query: &str) -> String {
        let scheme = if self.secure { "wss" } else { "ws" };
        format!("{scheme}://{}{}{path_and_query}", self.authority(), self.prefix)
    }
}

fn is_local(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for HubUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.prefix)
    }
}

impl FromStr for HubUrl {
    type Err = NotAHubUrl;

    fn from_str(text: &str) -> Result<Self, NotAHubUrl> {
        let wrong = |why| NotAHubUrl { text: text.to_owned(), why };
        let (scheme, rest) = match text.trim().split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, text.trim()),
        };
        if rest.contains(['?', '#', '@']) || rest.contains(char::is_whitespace) {
            return Err(wrong("give only scheme, host, port and path, such as https://hub.example.com"));
        }
        let uri: http::Uri =
            format!("http://{rest}").parse().map_err(|_| wrong("it has no valid host and port"))?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("it names no host"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().ends_with(':')) {
            return Err(wrong("its port is empty"));
        }
        let secure = match scheme.map(str::to_ascii_lowercase).as_deref() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err(wrong("only http and https are supported")),
            None => !is_local(host.trim_start_matches('[').trim_end_matches(']')),
        };
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { secure, host: host.to_owned(), port: uri.port_u16(), prefix })
    }
}
