//! Files of a task: allowed types and safe names.

use crate::ids::{AgentId, FileId, MessageId, TaskId};
use crate::text::is_invisible;
use crate::time::Timestamp;

/// The largest size of a file (50 MiB).
pub const FILE_BYTES_MAX: u64 = 50 * 1024 * 1024;
/// The visible name of an encrypted file; the real name is encrypted.
pub const ENCRYPTED_NAME: &str = "encrypted_file";
/// The visible media type of an encrypted file.
pub const ENCRYPTED_TYPE: &str = "application/octet-stream";
/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 200;

/// The row of a file. Its bytes are on disk or in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The place of the bytes follows from it.
    pub id: FileId,
    pub task: TaskId,
    /// The message that the upload created.
    pub message: MessageId,
    /// The only agent that may delete it.
    pub uploader: AgentId,
    /// Sanitised name for downloads.
    pub name: String,
    /// Media type without parameters.
    pub mime_type: String,
    /// Size of the stored bytes.
    pub size_bytes: i64,
    pub created_at: Timestamp,
}

/// A name without path and without anything that a terminal or a header would take for a command; nothing if no
/// character is left.
#[must_use]
pub fn safe_name(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: &char| !c.is_control() && !is_invisible(*c);
    let clean: String = last.chars().filter(is_plain).take(NAME_CHARS_MAX).collect();
    let clean = clean.trim().trim_start_matches('.').trim();
    (!clean.is_empty()).then(|| clean.to_owned())
}

/// A media type without its parameters, in lower case; `None` if the text is not a media type.
#[must_use]
pub fn essence(mime_type: &str) -> Option<String> {
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let token = |part: &str| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b);
        (1..=64).contains(&part.len()) && part.bytes().all(fits)
    };
    let (kind, rest) = essence.split_once('/')?;
    (token(kind) && token(rest)).then_some(essence)
}

/// Whether an unencrypted task accepts files of this type.
#[must_use]
pub fn is_allowed(essence: &str) -> bool {
    essence.starts_with("image/")
        || ["application/pdf", "application/json", "text/plain", "text/csv"].contains(&essence)
}
