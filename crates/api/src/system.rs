//! Health and readiness of the hub.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::text::HubText;

/// The health of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    /// The process is running.
    Ok,
}

/// The health of the process.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Always `ok`.
    #[schema(value_type = String)]
    pub status: HealthStatus,
    /// The running version.
    #[schema(value_type = String)]
    pub version: HubText,
    /// The address of the hub for others, as its operator has set it (`public_url`).
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub public_url: Option<HubText>,
}

/// Whether the hub can serve requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadyStatus {
    /// The database answers.
    Ready,
}

/// The kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Database {
    /// An SQLite file.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

impl Database {
    /// The text on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The readiness of the hub.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Always `ready`.
    #[schema(value_type = String)]
    pub status: ReadyStatus,
    /// `sqlite` or `postgres`.
    #[schema(value_type = String)]
    pub database: Database,
    /// What is wrong although the hub can serve, such as a lost connection to NATS; omitted if nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub warnings: Vec<HubText>,
}
