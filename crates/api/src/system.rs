//! The hub about itself.

use serde::Serialize;
use utoipa::ToSchema;

/// The hub is there.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Always `ok`.
    pub status: &'static str,
    /// The version that runs.
    pub version: &'static str,
}

/// The hub can work.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Always `ready`.
    pub status: &'static str,
    /// Which database it works on.
    pub database: &'static str,
}
