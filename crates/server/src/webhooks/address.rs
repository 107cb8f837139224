//! Where a webhook may go: names are resolved here, and a connection is only ever made to an address that
//! was looked at.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::Uri;
use tandem_app::Invalid;
use tandem_core::webhooks::is_public;

use crate::config::Config;

/// The most characters of a webhook's address.
const URL_CHARS_MAX: usize = 2_048;

/// Answers of a scripted resolver, by name: each look-up takes the next, the last one stays.
pub type Script = HashMap<String, VecDeque<Vec<IpAddr>>>;

/// How names become addresses.
#[derive(Debug, Clone)]
pub enum Names {
    /// As the machine does it.
    System,
    /// As a test says.
    Scripted(Arc<Mutex<Script>>),
}

impl Names {
    async fn look_up(&self, host: &str, port: u16) -> Result<Vec<IpAddr>, String> {
        match self {
            Self::System => {
                let found = tokio::net::lookup_host((host, port)).await;
                found
                    .map(|found| found.map(|address| address.ip()).collect())
                    .map_err(|error| error.to_string())
            }
            Self::Scripted(script) => {
                let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
                let answers = script.get_mut(host).ok_or("no such name")?;
                let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                Ok(next.unwrap_or_default())
            }
        }
    }
}

/// A webhook's address in its parts.
#[derive(Debug, Clone)]
pub struct Target {
    /// Whether to speak TLS.
    pub tls: bool,
    /// The name or literal address, without brackets.
    pub host: String,
    /// What stands in the `Host` header.
    pub authority: String,
    /// The port.
    pub port: u16,
    /// Path and query.
    pub path: String,
}

/// Takes an address apart and refuses what can never be used.
pub fn parse(url: &str, config: &Config) -> Result<Target, Invalid> {
    let refuse = |why: &str| Err(Invalid::field("webhookUrl", why));
    if url.len() > URL_CHARS_MAX {
        return refuse("must be at most 2048 characters long");
    }
    let Ok(uri) = url.parse::<Uri>() else {
        return refuse("must be an address such as https://example.com/hook");
    };
    let tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") if config.webhook_allow_http => false,
        Some("http") => return refuse("must begin with https://"),
        _ => return refuse("must be an address such as https://example.com/hook"),
    };
    let Some(authority) = uri.authority() else { return refuse("must name a host") };
    if authority.as_str().contains('@') {
        return refuse("must not hold a user name or password");
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
    if host.is_empty() || port == 0 {
        return refuse("must name a host");
    }
    if let Ok(literal) = host.parse::<IpAddr>()
        && !allowed(literal, config)
    {
        return refuse("must not point into a private network or at this machine");
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    Ok(Target { tls, host, authority: authority.to_string(), port, path })
}

fn allowed(address: IpAddr, config: &Config) -> bool {
    config.webhook_allow_private || is_public(address)
}

/// The addresses of a target, all of them fit to be connected to; one that is not spoils the rest.
pub async fn vetted(target: &Target, names: &Names, config: &Config) -> Result<Vec<SocketAddr>, String> {
    let found = match target.host.parse::<IpAddr>() {
        Ok(literal) => vec![literal],
        Err(_) => names
            .look_up(&target.host, target.port)
            .await
            .map_err(|why| format!("cannot resolve the host: {why}"))?,
    };
    if found.is_empty() {
        return Err("cannot resolve the host: it has no address".into());
    }
    if found.iter().any(|address| !allowed(*address, config)) {
        return Err("refused: the host resolves to a private or reserved address".into());
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port)).collect())
}
