//! The client library against real hubs, bad networks and servers that misbehave.

mod files;
mod lies;
pub mod relay;
mod retries;
mod routes;
mod sealed;
mod sealed_parties;
pub mod server;
mod stream;
mod stream_network;
mod stream_restore;
mod unsigned;

use std::net::SocketAddr;

use serde_json::Value;
use tandem_client::Client;

use crate::harness::Agent;

/// A client of the hub at this address.
pub fn client_at(address: SocketAddr, key: &str) -> Client {
    Client::new(format!("http://{address}").parse().unwrap()).unwrap().with_key(key)
}

pub fn client_of(agent: &Agent) -> Client {
    client_at(agent.client.address, &agent.key)
}

/// A wire type from its JSON.
pub fn wire<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}
