//! The client's address behind proxies.
//!
//! Each proxy appends the address of whoever connected to it to `X-Forwarded-For`. So the end of the header is written
//! by our own proxy, and everything before that may be made up by the client.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use tandem_hub::Config;

/// The address of the client of a request from this TCP peer.
pub(crate) fn client(config: &Config, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    if config.trusted_proxies.is_empty() {
        let last = || hops(headers).next().flatten();
        return if config.behind_proxy { last().unwrap_or(peer) } else { peer };
    }
    let mut client = peer;
    for hop in hops(headers) {
        if !config.trusted_proxies.contains(client) {
            break;
        }
        // What stands before an unreadable entry was not written by a proxy of ours.
        let Some(hop) = hop else { break };
        client = hop;
    }
    client
}

/// The entries of all header lines from the last to the first; `None` for what is not an address.
fn hops(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    let lines: Vec<&[u8]> = headers.get_all("x-forwarded-for").iter().map(|line| line.as_bytes()).collect();
    lines.into_iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b',')).map(parse)
}

/// An address, which some proxies write with a port.
fn parse(hop: &[u8]) -> Option<IpAddr> {
    let hop = str::from_utf8(hop).ok()?.trim();
    let bare = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let ip = hop.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|hop| hop.ip())).or_else(bare)?;
    Some(ip.to_canonical())
}
