//! Messages and their parts.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::proto::{Base64, FromProto, Json, JsonObject, Object, Wrong};

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Role {
    /// Not said.
    #[serde(rename = "ROLE_UNSPECIFIED")]
    Unspecified,
    /// The client.
    #[serde(rename = "ROLE_USER")]
    User,
    /// The agent that is called.
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

impl FromProto for Role {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        match json.get() {
            r#""ROLE_USER""# | "1" => Ok(Self::User),
            r#""ROLE_AGENT""# | "2" => Ok(Self::Agent),
            r#""ROLE_UNSPECIFIED""# | "0" => Ok(Self::Unspecified),
            _ => Err(Wrong::here("must be ROLE_USER or ROLE_AGENT")),
        }
    }
}

/// What a part holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// The bytes of a file.
    Raw(Base64),
    /// Where a file is.
    Url(String),
    /// Any JSON, as it was written.
    Data(Json),
}

/// A part of a message or artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it holds.
    pub content: Content,
    /// Free data of its author.
    pub metadata: Option<JsonObject>,
    /// The name of the file.
    pub filename: Option<String>,
    /// The media type of the content.
    pub media_type: Option<String>,
}

impl Part {
    /// A part with nothing but a content.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self { content, metadata: None, filename: None, media_type: None }
    }

    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.content {
            Content::Text(text) => map.serialize_entry("text", text)?,
            Content::Raw(bytes) => map.serialize_entry("raw", bytes)?,
            Content::Url(url) => map.serialize_entry("url", url)?,
            Content::Data(json) => map.serialize_entry("data", json)?,
        }
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        if let Some(filename) = &self.filename {
            map.serialize_entry("filename", filename)?;
        }
        if let Some(media_type) = &self.media_type {
            map.serialize_entry("mediaType", media_type)?;
        }
        map.end()
    }
}

impl FromProto for Part {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let part = Object::read(json)?;
        let given = [
            part.get("text")?.map(Content::Text),
            part.get("raw")?.map(Content::Raw),
            part.get("url")?.map(Content::Url),
            part.get("data")?.map(Content::Data),
        ];
        let mut given = given.into_iter().flatten();
        let content = match (given.next(), given.next()) {
            (Some(content), None) => content,
            (None, _) => return Err(Wrong::here("must have one of text, raw, url and data")),
            (Some(_), Some(_)) => {
                return Err(Wrong::here("must have only one of text, raw, url and data"));
            }
        };
        Ok(Self {
            content,
            metadata: part.metadata("metadata")?,
            filename: part.text("filename")?,
            media_type: part.text("mediaType")?,
        })
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id that its author gave it.
    pub message_id: String,
    /// The context that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// The task that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Who wrote it.
    pub role: Role,
    /// What it says.
    pub parts: Vec<Part>,
    /// Free data of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// The extensions that it uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Other tasks that it mentions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

impl FromProto for Message {
    fn read(json: &RawValue) -> Result<Self, Wrong> {
        let message = Object::read(json)?;
        Ok(Self {
            message_id: message.required_text("messageId")?,
            context_id: message.text("contextId")?,
            task_id: message.text("taskId")?,
            role: message.get("role")?.unwrap_or(Role::Unspecified),
            parts: message.list("parts")?,
            metadata: message.metadata("metadata")?,
            extensions: message.list("extensions")?,
            reference_task_ids: message.list("referenceTaskIds")?,
        })
    }
}
