//! What the requests of a connection have in common.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::Extensions;
use tandem_hub::{Address, Error};

use crate::http::slots::Slot;

#[derive(Debug)]
pub(crate) struct Connection {
    /// The address of whoever has connected: the client, or a proxy.
    pub(crate) peer: Address,
    /// The address of the hub that it has connected to.
    pub(crate) local: Option<SocketAddr>,
    _slot: Slot,
}

impl Connection {
    pub(crate) fn new(peer: IpAddr, local: Option<SocketAddr>, slot: Slot) -> Arc<Self> {
        Arc::new(Self { peer: Address::new(peer), local, _slot: slot })
    }

    /// The connection on which a request came.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Arc<Self>, Error> {
        extensions.get().ok_or_else(Error::internal)
    }
}
