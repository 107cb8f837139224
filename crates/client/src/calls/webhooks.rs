//! Webhook deliveries.

use tandem_api::tasks::PageQuery;
use tandem_api::webhooks::DeliveryView;
use tandem_core::DeliveryId;

use crate::call::Call;
use crate::{Client, Error, Page};

impl Client {
    /// The caller's webhook deliveries, newest first.
    pub async fn deliveries(&self, query: &PageQuery) -> Result<Page<DeliveryView>, Error> {
        self.page(&Call::get("/webhooks/deliveries").query(query)).await
    }

    /// Sends a delivery again.
    pub async fn replay_delivery(&self, delivery: &DeliveryId) -> Result<DeliveryView, Error> {
        self.call(&Call::post(format!("/webhooks/deliveries/{delivery}/replay"))).await
    }

    /// Sends a test event to the caller's webhook.
    pub async fn ping_webhook(&self) -> Result<DeliveryView, Error> {
        self.call(&Call::post("/webhooks/ping")).await
    }
}
