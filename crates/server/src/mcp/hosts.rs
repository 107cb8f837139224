//! The host names and origins that MCP is served for.
//!
//! A web page can make its own host name resolve to the hub's address (DNS rebinding), so unknown names are refused. An
//! IP address in `Host` is always accepted: nobody can redirect an address.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use tandem_hub::{Config, Error};

use crate::mcp::foreign_host;

/// Host names from the settings, some with a port.
#[derive(Debug, Clone)]
pub(crate) struct Hosts(Vec<Authority>);

impl Hosts {
    pub(crate) fn new(config: &Config) -> Self {
        let public = config.public_address().map(|url| split_url(url).1);
        Self(public.into_iter().chain(listed(config)).filter_map(|name| name.parse().ok()).collect())
    }

    /// Whether MCP is served under this `Host`.
    pub(crate) fn accept(&self, host: &Authority) -> bool {
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        let is_listed = |known: &Authority| {
            known.host().eq_ignore_ascii_case(host.host())
                && known.port_u16().is_none_or(|port| host.port_u16() == Some(port))
        };
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok()
            || self.0.iter().any(is_listed)
    }

    /// Refuses a request for an unknown host name. The SDK refuses a request without a valid one.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Error> {
        match of_request(headers) {
            Some(host) if !self.accept(&host) => Err(foreign_host("host", host.as_str())),
            _ => Ok(()),
        }
    }
}

/// The `Host` of a request.
pub(crate) fn of_request(headers: &HeaderMap) -> Option<Authority> {
    headers.get(header::HOST)?.to_str().ok()?.parse().ok()
}

/// The origins of web pages that may use MCP.
pub(crate) fn origins(config: &Config) -> Vec<String> {
    let mut origins: Vec<String> =
        ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned).to_vec();
    if let Some(url) = config.public_address() {
        let (scheme, authority) = split_url(url);
        origins.push(origin(scheme, authority));
    }
    for host in listed(config) {
        origins.extend(["http", "https"].map(|scheme| origin(scheme, host)));
    }
    origins
}

/// An origin as the SDK compares it: always with a port.
fn origin(scheme: &str, authority: &str) -> String {
    match (authority.contains(':'), scheme) {
        (true, _) => format!("{scheme}://{authority}"),
        (false, "https") => format!("https://{authority}:443"),
        (false, _) => format!("{scheme}://{authority}:80"),
    }
}

/// The host names in `mcp_hosts`.
fn listed(config: &Config) -> impl Iterator<Item = &str> {
    config.mcp_hosts.split(',').map(str::trim).filter(|host| !host.is_empty())
}

/// Scheme and authority of a URL.
fn split_url(url: &str) -> (&str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    (scheme, rest.split('/').next().unwrap_or_default())
}
