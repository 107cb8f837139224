//! Files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tandem_core::files::File;
use tandem_core::{FileId, MessageId};
use utoipa::ToSchema;

/// A file to upload, as JSON.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadFile<'a> {
    /// What it is called; path parts and control characters are left out.
    #[schema(value_type = String, example = "report.pdf")]
    pub filename: String,
    /// What it is: image/*, application/pdf, application/json, text/plain or text/csv; anything on an encrypted
    /// task.
    #[schema(value_type = String, example = "application/pdf")]
    pub mime_type: String,
    /// Its bytes in base64, at most 50 MiB of them.
    #[serde(borrow)]
    #[schema(value_type = String)]
    pub base64_content: Cow<'a, str>,
    /// On an encrypted task: each party's wrapped key.
    #[schema(value_type = Option<Object>)]
    pub encrypted_keys: Option<BTreeMap<String, String>>,
    /// On an encrypted task: your signature.
    pub sender_signature: Option<String>,
}

/// A file in parts, as a form.
#[derive(Debug, Clone, ToSchema)]
pub struct UploadForm {
    /// The file, with its name and type.
    #[schema(value_type = String, format = Binary)]
    pub file: String,
    /// On an encrypted task: each party's wrapped key, a JSON object as text.
    #[schema(rename = "encryptedKeys")]
    pub encrypted_keys: Option<String>,
    /// On an encrypted task: your signature.
    #[schema(rename = "senderSignature")]
    pub sender_signature: Option<String>,
}

/// A file that was uploaded.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedFile {
    /// Its id.
    #[schema(value_type = String)]
    pub id: FileId,
    /// The same.
    #[schema(value_type = String)]
    pub file_id: FileId,
    /// Where to get it.
    pub url: String,
    /// The message that brings it.
    #[schema(value_type = String)]
    pub message_id: MessageId,
    /// What it is called.
    pub filename: String,
    /// What it is.
    pub mime_type: String,
    /// How large it is.
    pub size_bytes: i64,
}

impl From<File> for UploadedFile {
    fn from(file: File) -> Self {
        Self {
            url: format!("/files/{}", file.id),
            file_id: file.id.clone(),
            id: file.id,
            message_id: file.message,
            filename: file.name,
            mime_type: file.mime_type,
            size_bytes: file.size_bytes,
        }
    }
}

/// A file that was taken back.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedFile {
    /// Always true.
    pub deleted: bool,
    /// Its id.
    #[schema(value_type = String)]
    pub file_id: FileId,
}
