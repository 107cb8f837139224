//! Webhook deliveries.

use serde::{Deserialize, Serialize};
use tandem_core::webhooks::State;
use tandem_core::{DeliveryId, Timestamp};
use utoipa::ToSchema;

use crate::events::EventType;
use crate::words;

/// A delivery of an event to your webhook.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// The delivery id: the `webhook-id` header of every attempt.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The event type, such as `task.created`; `ping` for a test.
    #[schema(value_type = words::WebhookEventType)]
    pub event: EventType,
    /// The event's number in your log; null for a test.
    pub event_id: Option<i64>,
    /// The URL it was sent to.
    pub url: String,
    /// `pending`, `delivered` or `failed`.
    #[schema(value_type = words::DeliveryStatus)]
    pub status: State,
    /// Number of attempts.
    pub attempts: i64,
    /// When the next attempt is due.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// When the last attempt was made.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_attempt_at: Option<Timestamp>,
    /// The request body, cut to 4 KiB.
    pub request: String,
    /// HTTP status of the last response.
    pub response_status: Option<i64>,
    /// Start of the last response body, cut to 4 KiB.
    pub response: Option<String>,
    /// The error, if there was no response.
    pub error: Option<String>,
    /// Duration of the last attempt.
    pub duration_ms: Option<i64>,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}
