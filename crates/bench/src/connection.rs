//! One connection to a hub or to the baseline.

use std::net::SocketAddr;

use anyhow::{Context as _, bail};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;

pub(super) struct Connection(tandem_client::Connection);

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self(tandem_client::Connection::open(&format!("http://{address}").parse()?).await?))
    }

    /// Sends a request and reads the answer to its end.
    pub(super) async fn ask(&mut self, request: Request<Full<Bytes>>) -> anyhow::Result<(u16, Bytes)> {
        let response = self.0.send(request).await?;
        let status = response.status().as_u16();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}

/// The address of a plain HTTP URL.
pub(super) async fn address_of(url: &str) -> anyhow::Result<SocketAddr> {
    let uri: hyper::Uri = url.parse().with_context(|| format!("{url:?} is not a URL"))?;
    if uri.scheme_str() != Some("http") {
        bail!("the bench speaks plain HTTP only: give a URL such as http://127.0.0.1:3000");
    }
    let host = uri.host().with_context(|| format!("{url:?} names no host"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut found = tokio::net::lookup_host((host, uri.port_u16().unwrap_or(80))).await?;
    found.next().with_context(|| format!("{host} has no address"))
}
