//! Files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::files::File;
use tandem_core::{AgentId, FileId, MessageId};
use utoipa::ToSchema;

use crate::fence::Fence;
use crate::text::{Author, HubText, PeerText, PeerToken};

/// A file upload as JSON.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadFile<'a> {
    /// File name; folders and control characters are removed.
    #[schema(value_type = String, example = "report.pdf")]
    pub filename: String,
    /// Media type: image/*, application/pdf, application/json, text/plain or text/csv; any type on an encrypted task.
    #[schema(value_type = String, example = "application/pdf")]
    pub mime_type: String,
    /// The bytes in base64, at most 50 MiB decoded.
    #[serde(borrow)]
    #[schema(value_type = String)]
    pub base64_content: Cow<'a, str>,
    /// On an encrypted task: the wrapped key of each party.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// On an encrypted task: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
}

/// A file upload as a multipart form.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadForm {
    /// The file, with its name and type.
    #[schema(value_type = String, format = Binary)]
    pub file: String,
    /// On an encrypted task: the wrapped key of each party, a JSON object as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub encrypted_keys: Option<String>,
    /// On an encrypted task: your signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender_signature: Option<String>,
}

/// An uploaded file.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct UploadedFile {
    /// The file id.
    #[schema(value_type = String)]
    pub id: FileId,
    /// Same as `id`.
    #[schema(value_type = String)]
    pub file_id: FileId,
    /// URL of the bytes.
    #[schema(value_type = String)]
    pub url: HubText,
    /// The message that the file belongs to.
    #[schema(value_type = String)]
    pub message_id: MessageId,
    /// File name.
    #[schema(value_type = String)]
    pub filename: PeerText,
    /// Media type.
    #[schema(value_type = String)]
    pub mime_type: PeerText,
    /// Size in bytes.
    pub size_bytes: i64,
}

impl UploadedFile {
    /// The file as `reader` sees it.
    #[must_use]
    pub fn new(file: File, reader: &AgentId) -> Self {
        let author = Author::of(&file.uploader, reader);
        Self {
            url: HubText::new(format!("/files/{}", file.id)),
            file_id: file.id.clone(),
            id: file.id,
            message_id: file.message,
            filename: PeerText::new(author, file.name),
            mime_type: PeerText::new(author, file.mime_type),
            size_bytes: file.size_bytes,
        }
    }
}

/// A file with its bytes, for models.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DownloadedFile {
    /// The file id.
    #[schema(value_type = String)]
    pub file_id: FileId,
    /// File name.
    #[schema(value_type = String)]
    pub filename: PeerText,
    /// Media type.
    #[schema(value_type = String)]
    pub mime_type: PeerText,
    /// Size in bytes.
    pub size_bytes: i64,
    /// The content of a text file; otherwise null.
    #[schema(value_type = Option<String>)]
    pub text: Option<PeerText>,
    /// The bytes of any other file in base64; otherwise null.
    #[schema(value_type = Option<String>)]
    pub base64_content: Option<PeerToken>,
}

/// A file that was deleted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, Fence)]
#[serde(rename_all = "camelCase")]
pub struct DeletedFile {
    /// Always true.
    pub deleted: bool,
    /// The file id.
    #[schema(value_type = String)]
    pub file_id: FileId,
}
