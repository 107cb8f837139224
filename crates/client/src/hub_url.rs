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
/// assert_eq!(hub, "https://HUB.example.com:443/tandem".parse().unwrap());
/// assert!("ftp://hub.example.com".parse::<HubUrl>().is_err());
/// assert!("https://hub.example.com:65536".parse::<HubUrl>().is_err());
/// // A password is not repeated in the error.
/// let refused = "https://ada:secret@hub.example.com".parse::<HubUrl>().unwrap_err();
/// assert!(!refused.to_string().contains("secret"));
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
        let wrong = |why| NotAHubUrl { text: without_user(text), why };
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
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        let port = match authority.strip_prefix(host).unwrap_or_default().strip_prefix(':') {
            Some(port) => {
                Some(port_of(port).ok_or_else(|| wrong("its port is not a number from 1 to 65535"))?)
            }
            None => None,
        };
        let secure = match scheme.map(str::to_ascii_lowercase).as_deref() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err(wrong("only http and https are supported")),
            None => !is_local(host.trim_start_matches('[').trim_end_matches(']')),
        };
        let prefix = uri.path().trim_end_matches('/').to_owned();
        // One spelling per address, so that two addresses can be compared.
        let usual_port = if secure { 443 } else { 80 };
        let port = port.filter(|port| *port != usual_port);
        Ok(Self { secure, host: host.to_ascii_lowercase(), port, prefix })
    }
}

/// The port in an address. What is no port must not become the usual one: the key would go to another program.
fn port_of(digits: &str) -> Option<u16> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|port| *port != 0)
}

/// An address for an error: without a user's name and password.
fn without_user(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => text.to_owned(),
    }
}
