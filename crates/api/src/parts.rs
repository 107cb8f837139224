//! Parts: what a message or an artifact is made of, beside or instead of one text. The spelling is that of A2A.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tandem_core::FileId;
use tandem_core::messages::Foreign;
use tandem_core::text::ForeignId;
use utoipa::ToSchema;

use crate::fence::Fence;
use crate::text::{Author, PeerJson, PeerTags, PeerText};

/// One part of a message or an artifact. It has exactly one of `text`, `data`, `url`, `raw` and `fileId`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// A text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub text: Option<String>,
    /// Any JSON value but null, kept as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Value>)]
    pub data: Option<Box<RawValue>>,
    /// Where the content is. The hub does not fetch it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub url: Option<String>,
    /// Bytes in base64. They are stored as a file of the task, and `fileId` stands in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub raw: Option<String>,
    /// A file of the task.
    #[serde(default, alias = "file_id", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub file_id: Option<FileId>,
    /// The name of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub filename: Option<String>,
    /// The media type of the content.
    #[serde(default, alias = "media_type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub media_type: Option<String>,
    /// A JSON object for programs, kept as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>)]
    pub metadata: Option<Box<RawValue>>,
}

impl Part {
    /// A text, and nothing else.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Whether it is a text, and nothing else.
    #[must_use]
    pub fn is_plain_text(&self) -> bool {
        self.text.is_some() && self.filename.is_none() && self.media_type.is_none() && self.metadata.is_none()
    }

    /// How many kinds of content it has. One is right.
    #[must_use]
    pub fn contents(&self) -> usize {
        let has = [
            self.text.is_some(),
            self.data.is_some(),
            self.url.is_some(),
            self.raw.is_some(),
            self.file_id.is_some(),
        ];
        has.into_iter().filter(|has| *has).count()
    }
}

/// What else a message of an A2A client carries. It is given back as it was sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Extras {
    /// A JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<RawValue>>,
    /// Tasks that it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
    /// Media types that the client accepts in answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// Addresses of the extensions that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// The trace that the request belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// What tracing systems add to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// How many hubs it has come through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<i64>,
}

/// What an artifact is called, and how its parts continue those that came before.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactHeader {
    /// Several messages may have the same.
    pub artifact_id: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the parts continue the artifact with this id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether the artifact is complete with these parts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last_chunk: bool,
}

/// A part of the work that the target hands over.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddArtifact {
    /// An id of your choice: 1 to 256 bytes. Another artifact with the same id takes the place of the earlier one, or
    /// continues it if `append` is true. Default: a new id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, min_length = 1, max_length = 256)]
    pub artifact_id: Option<ForeignId>,
    /// A name for people; at most 256 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name: Option<String>,
    /// A description for people; at most 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub description: Option<String>,
    /// The content: 1 to 1,000 parts.
    #[serde(deserialize_with = "parts_of_values")]
    pub parts: Vec<Part>,
    /// Whether the parts continue the artifact with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub append: Option<bool>,
    /// Whether the artifact is complete with these parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub last_chunk: Option<bool>,
}

/// A request has become values before it is read. Only from text can JSON be taken over as it is written.
fn parts_of_values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Part>, D::Error> {
    let values = Vec::<Value>::deserialize(deserializer)?;
    let why = "must be objects with text, data, url, raw or fileId";
    let parts = values.into_iter().map(|value| serde_json::from_value(value).map_err(|_| why));
    parts.collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

/// The header of an artifact, as a reader sees it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactView {
    /// The id of the artifact. Several messages may have the same.
    #[schema(value_type = String)]
    pub artifact_id: PeerText,
    /// Its name.
    #[schema(value_type = Option<String>)]
    pub name: Option<PeerText>,
    /// Its description.
    #[schema(value_type = Option<String>)]
    pub description: Option<PeerText>,
    /// Whether the parts continue the artifact with this id.
    pub append: bool,
    /// Whether the artifact is complete with these parts.
    pub last_chunk: bool,
}

impl ArtifactView {
    /// The header by this author; `None` if the text is none.
    pub(crate) fn new(author: Author, header: &str) -> Option<Self> {
        let header: ArtifactHeader = serde_json::from_str(header).ok()?;
        Some(Self {
            artifact_id: PeerText::new(author, header.artifact_id),
            name: header.name.map(|name| PeerText::new(author, name)),
            description: header.description.map(|text| PeerText::new(author, text)),
            append: header.append,
            last_chunk: header.last_chunk,
        })
    }
}

/// What a client of another protocol sent beside the text, as a reader sees it.
#[derive(Debug, Default)]
pub(crate) struct ForeignView {
    pub(crate) message_id: Option<PeerText>,
    pub(crate) parts: Option<PeerJson>,
    pub(crate) metadata: Option<PeerJson>,
    pub(crate) reference_task_ids: Option<PeerTags>,
    pub(crate) accepted_output_modes: Option<PeerTags>,
}

impl ForeignView {
    pub(crate) fn new(author: Author, foreign: Foreign) -> Self {
        let extras = foreign.extras.and_then(|extras| serde_json::from_str::<Extras>(&extras).ok());
        let extras = extras.unwrap_or_default();
        let tags = |words: Vec<String>| (!words.is_empty()).then(|| PeerTags::new(author, words));
        Self {
            message_id: foreign.id.map(|id| PeerText::new(author, id)),
            parts: foreign.parts.and_then(|parts| PeerJson::new(author, parts)),
            metadata: extras.metadata.and_then(|json| PeerJson::new(author, json.get().to_owned())),
            reference_task_ids: tags(extras.reference_task_ids),
            accepted_output_modes: tags(extras.accepted_output_modes),
        }
    }
}
