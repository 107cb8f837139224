//! The one shape of every error.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// A sentence for a person.
    pub error: String,
    /// A word for a program; it stays the same when the sentence changes.
    #[schema(example = "not_connected")]
    pub code: String,
    /// By field, what is wrong with the request. Only with code `validation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<BTreeMap<String, Vec<String>>>,
    /// Where the task stands. Only in errors about a task that you may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "working")]
    pub status: Option<String>,
    /// What you may set the task's status to now. Only in errors about a task that you may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_statuses: Option<Vec<String>>,
}
