//! One connection to a hub or to the baseline.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::{Bytes, Incoming};

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

    /// Sends a request, and tells how long the first part of the answer took. The rest is read to its end.
    pub(super) async fn first(&mut self, request: Request<Full<Bytes>>) -> anyhow::Result<(u16, Duration)> {
        let asked = Instant::now();
        let response = self.0.send(request).await?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let first = body.frame().await.context("an empty answer")??;
        let took = asked.elapsed();
        drop(first);
        body.collect().await?;
        Ok((status, took))
    }

    /// Sends a request, and leaves the answer open after its first part.
    pub(super) async fn begin(mut self, request: Request<Full<Bytes>>) -> anyhow::Result<(Self, Incoming)> {
        let response = self.0.send(request).await?;
        let status = response.status().as_u16();
        if status != 200 {
            bail!("a stream was answered with {status}");
        }
        let mut body = response.into_body();
        body.frame().await.context("an empty stream")??;
        Ok((self, body))
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
