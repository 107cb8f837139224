//! Health of the hub.

use tandem_api::system::{Health, Ready};

use crate::call::Call;
use crate::{Client, Error};

impl Client {
    /// Whether the hub is alive, and its version.
    pub async fn health(&self) -> Result<Health, Error> {
        self.call(&Call::get("/health")).await
    }

    /// Whether the hub can reach its database.
    pub async fn ready(&self) -> Result<Ready, Error> {
        self.call(&Call::get("/ready")).await
    }

    /// The hub's metrics in Prometheus' text format. For the operator, or from the hub's own machine.
    pub async fn metrics(&self) -> Result<String, Error> {
        let (_, bytes) = self.answer(&Call::get("/metrics")).await?;
        String::from_utf8(bytes.into()).map_err(|cause| self.not_a_hub(cause.to_string()))
    }
}
