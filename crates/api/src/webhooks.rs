//! The log of webhook deliveries.

use serde::Serialize;
use tandem_core::webhooks::State;
use tandem_core::{DeliveryId, Timestamp};
use utoipa::ToSchema;

/// One event on its way to your receiver.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// Its id: the `webhook-id` of every try.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// What happened, such as `task.created`; `ping` for a test.
    pub event: String,
    /// The event's number in your log; null for a test.
    pub event_id: Option<i64>,
    /// Where it went.
    pub url: String,
    /// `pending`, `delivered` or `failed`.
    #[schema(value_type = String)]
    pub status: State,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried next.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_attempt_at: Option<Timestamp>,
    /// When it was last tried.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_attempt_at: Option<Timestamp>,
    /// What was sent, cut to 4 KiB.
    pub request: String,
    /// What your receiver answered.
    pub response_status: Option<i64>,
    /// The beginning of what it said, cut to 4 KiB.
    pub response: Option<String>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// How long the last try took.
    pub duration_ms: Option<i64>,
    /// When it was put into the queue.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}
