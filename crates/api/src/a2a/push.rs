//! Where what happens to a task is pushed to.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use super::proto::{FromProto, Object, Wrong};

/// How a push authenticates.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct AuthenticationInfo {
    /// The scheme of the `Authorization` header.
    pub scheme: String,
    /// What follows the scheme. Never in an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}

impl fmt::Debug for AuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticationInfo").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl FromProto for AuthenticationInfo {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self { scheme: given.required_text("scheme")?, credentials: given.text("credentials")? })
    }
}

/// A receiver of pushes about one task.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushConfig {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its id within the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Where to push to.
    pub url: String,
    /// A word of the client's that each push carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// How a push authenticates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

impl fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushConfig").field("id", &self.id).finish_non_exhaustive()
    }
}

impl FromProto for PushConfig {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            tenant: given.text("tenant")?,
            id: given.text("id")?,
            task_id: given.text("taskId")?,
            url: given.required_text("url")?,
            token: given.text("token")?,
            authentication: given.get("authentication")?,
        })
    }
}

/// Names a push config: to get or to delete it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushConfigRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: String,
    /// The config.
    pub id: String,
}

impl FromProto for PushConfigRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self {
            tenant: given.text("tenant")?,
            task_id: given.required_text("taskId")?,
            id: given.required_text("id")?,
        })
    }
}

/// Asks for the push configs of a task. There are few, so the page is always the whole list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPushConfigsRequest {
    /// Empty, or the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The task.
    pub task_id: String,
}

impl FromProto for ListPushConfigsRequest {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let given = Object::read(json)?;
        Ok(Self { tenant: given.text("tenant")?, task_id: given.required_text("taskId")? })
    }
}

/// The push configs of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPushConfigsResponse {
    /// The configs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<PushConfig>,
}

impl FromProto for ListPushConfigsResponse {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        Ok(Self { configs: Object::read(json)?.list("configs")? })
    }
}
