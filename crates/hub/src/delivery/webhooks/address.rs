//! The addresses of webhooks. Hosts are resolved and checked here, and connections go only to checked addresses.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use http::Uri;
use http::uri::Authority;
use tandem_app::Invalid;
use tandem_core::webhooks::is_public;

use crate::delivery::webhooks::dns::Dns;

/// Maximum length of a webhook URL.
const URL_CHARS_MAX: usize = 2_048;

/// Answers of a scripted resolver by host: each query takes the next, the last one repeats.
pub type Script = HashMap<String, VecDeque<Vec<IpAddr>>>;

#[derive(Debug, Clone)]
pub enum Resolver {
    /// By the hosts file and DNS.
    Dns(Arc<Dns>),
    /// By a script, in tests.
    Scripted(Arc<Mutex<Script>>),
}

impl Resolver {
    /// With the settings of the system.
    #[must_use]
    pub fn system() -> Self {
        Self::Dns(Arc::new(Dns::system()))
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        match self {
            Self::Dns(dns) => dns.look_up(host).await,
            Self::Scripted(script) => {
                let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
                let answers = script.get_mut(host).ok_or("no such name")?;
                let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                Ok(next.unwrap_or_default())
            }
        }
    }
}

/// The parts of a webhook URL.
#[derive(Debug, Clone)]
pub struct Target {
    pub tls: bool,
    /// Host name or literal address, without brackets.
    pub host: String,
    /// The `Host` header.
    pub authority: String,
    pub port: u16,
    /// Path and query.
    pub path: String,
}

/// Addresses beyond public ones over HTTPS that webhooks may go to.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    pub http: bool,
    /// Private networks and this machine.
    pub private: bool,
}

/// Parses a URL and refuses those that can never be used; `field` is what its owner calls it.
pub fn parse(field: &str, url: &str, allow: Allowed) -> Result<Target, Invalid> {
    let refuse = |why: &str| Err(Invalid::field(field, why));
    if url.len() > URL_CHARS_MAX {
        return refuse("must be at most 2048 characters long");
    }
    let Ok(uri) = url.parse::<Uri>() else {
        return refuse("must be a URL such as https://example.com/hook");
    };
    let tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") if allow.http => false,
        Some("http") => return refuse("must start with https://"),
        _ => return refuse("must be a URL such as https://example.com/hook"),
    };
    let Some(authority) = uri.authority() else { return refuse("must name a host") };
    if authority.as_str().contains('@') {
        return refuse("must not contain a user name or password");
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    if host.is_empty() {
        return refuse("must name a host");
    }
    let Some(port) = port_of(authority, if tls { 443 } else { 80 }) else {
        return refuse("must have a port from 1 to 65535, or none");
    };
    if let Ok(literal) = host.parse::<IpAddr>()
        && !allowed(literal, allow)
    {
        return refuse("must not point to a private network or to this machine");
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    Ok(Target { tls, host, authority: authority.to_string(), port, path })
}

/// The port of an authority without user name and password; `None` if it is not a port.
pub(crate) fn port_of(authority: &Authority, default: u16) -> Option<u16> {
    match authority.as_str().strip_prefix(authority.host())? {
        "" => Some(default),
        port => port.strip_prefix(':')?.parse().ok().filter(|port| *port > 0),
    }
}

fn allowed(address: IpAddr, allow: Allowed) -> bool {
    allow.private || is_public(address)
}

/// Why a host cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The host cannot be resolved now.
    #[error("cannot resolve the host: {0}")]
    Unresolved(String),
    /// The host has an address that is not allowed.
    #[error("refused: the host resolves to a private or reserved address")]
    NotPublic,
}

/// Resolves the host. If one of its addresses is not allowed, none is used.
pub async fn resolve_allowed(
    target: &Target,
    resolver: &Resolver,
    allow: Allowed,
) -> Result<Vec<SocketAddr>, AddressError> {
    let found = match target.host.parse::<IpAddr>() {
        Ok(literal) => vec![literal],
        Err(_) => resolver.look_up(&target.host).await.map_err(AddressError::Unresolved)?,
    };
    if found.is_empty() {
        return Err(AddressError::Unresolved("it has no address".into()));
    }
    if found.iter().any(|address| !allowed(*address, allow)) {
        return Err(AddressError::NotPublic);
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port)).collect())
}
