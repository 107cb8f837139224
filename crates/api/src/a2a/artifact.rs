//! What an agent has made.

use serde::Serialize;
use serde_json::value::RawValue;

use super::message::Part;
use super::proto::{FromProto, JsonObject, Object, Wrong};

/// A result of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Its id within the task.
    pub artifact_id: String,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it holds.
    pub parts: Vec<Part>,
    /// Free data of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// The extensions that it uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl FromProto for Artifact {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let artifact = Object::read(json)?;
        Ok(Self {
            artifact_id: artifact.required_text("artifactId")?,
            name: artifact.text("name")?,
            description: artifact.text("description")?,
            parts: artifact.list("parts")?,
            metadata: artifact.metadata("metadata")?,
            extensions: artifact.list("extensions")?,
        })
    }
}
