//! The host names and origins that MCP is served for.
//!
//! A web page can make its own host name resolve to the hub's address (DNS rebinding), so unknown names are refused. An
//! IP address in `Host` is always accepted: nobody can redirect an address.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use tandem_api::error::Code;
use tandem_hub::{Config, Error};

use crate::http::error::foreign_host;

/// Hosts whose pages may use MCP over http, at any port.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Host names from the settings, some with a port, and the origins of web pages that may use MCP.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    names: Vec<Authority>,
    origins: Vec<(Scheme, Authority)>,
}

impl Hosts {
    pub(crate) fn new(config: &Config) -> Self {
        let public: Option<Uri> = config.public_address().and_then(|url| url.parse().ok());
        let public = public.map(Uri::into_parts).and_then(|parts| parts.scheme.zip(parts.authority));
        let listed = config.mcp_hosts.split(',').filter_map(|name| name.trim().parse::<Authority>().ok());
        let listed: Vec<Authority> = listed.collect();
        let names = public.iter().map(|(_, name)| name.clone()).chain(listed.iter().cloned()).collect();
        let of_listed =
            listed.iter().flat_map(|name| [Scheme::HTTP, Scheme::HTTPS].map(|scheme| (scheme, name.clone())));
        Self { names, origins: public.iter().cloned().chain(of_listed).collect() }
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
            || self.names.iter().any(is_listed)
    }

    /// Refuses a request for an unknown host name, and one of a web page that may not use MCP.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Error> {
        let host = of_request(request.headers()).or_else(|| request.uri().authority().cloned());
        let Some(host) = host else {
            return Err(Error::new(Code::Validation, "the request has no valid Host header"));
        };
        if !self.accept(&host) {
            return Err(foreign_host("host", host.as_str()));
        }
        for origin in request.headers().get_all(header::ORIGIN) {
            if !self.accept_origin(origin) {
                return Err(foreign_host("origin", &String::from_utf8_lossy(origin.as_bytes())));
            }
        }
        Ok(())
    }

    fn accept_origin(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok()).map(Uri::into_parts);
        let Some((scheme, page)) = origin.and_then(|parts| parts.scheme.zip(parts.authority)) else {
            return false;
        };
        let is_local = LOCAL.iter().any(|local| page.host().eq_ignore_ascii_case(local));
        let is_listed = |(known_scheme, known): &(Scheme, Authority)| {
            *known_scheme == scheme
                && known.host().eq_ignore_ascii_case(page.host())
                && port(&scheme, known) == port(&scheme, &page)
        };
        (is_local && scheme == Scheme::HTTP) || self.origins.iter().any(is_listed)
    }
}

/// The port of an origin, which leaves out the usual one of its scheme.
fn port(scheme: &Scheme, authority: &Authority) -> u16 {
    authority.port_u16().unwrap_or(if *scheme == Scheme::HTTPS { 443 } else { 80 })
}

/// The `Host` of a request.
pub(crate) fn of_request(headers: &HeaderMap) -> Option<Authority> {
    headers.get(header::HOST)?.to_str().ok()?.parse().ok()
}
