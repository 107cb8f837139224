//! Files within a task: what they may be, and what they are called.

use crate::ids::{AgentId, FileId, MessageId, TaskId};
use crate::time::Timestamp;

/// The most bytes a file may have (50 MiB).
pub const FILE_BYTES_MAX: u64 = 50 * 1024 * 1024;
/// What an encrypted file is called, whatever its name is inside.
pub const ENCRYPTED_NAME: &str = "encrypted_file";
/// What an encrypted file is, as far as anybody but its readers can tell.
pub const ENCRYPTED_TYPE: &str = "application/octet-stream";
/// The most characters of a name.
const NAME_CHARS_MAX: usize = 200;

/// What is known of a file; its bytes lie elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its id.
    pub id: FileId,
    /// The task it belongs to.
    pub task: TaskId,
    /// The message that brought it.
    pub message: MessageId,
    /// Who uploaded it.
    pub uploader: AgentId,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub mime_type: String,
    /// How large it is.
    pub size_bytes: i64,
    /// When it was uploaded.
    pub created_at: Timestamp,
}

/// A name without path and without anything that a terminal or a header would take for a command.
#[must_use]
pub fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    // Marks that turn the direction of text around make one name look like another.
    let turns =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let clean: String = last.chars().filter(|c| !c.is_control() && !turns(*c)).take(NAME_CHARS_MAX).collect();
    let clean = clean.trim().trim_start_matches('.').trim();
    if clean.is_empty() { "file".to_owned() } else { clean.to_owned() }
}

/// A media type without its parameters, in lower case; nothing if it is none.
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

/// Whether a task whose content is not encrypted takes files of this type.
#[must_use]
pub fn is_allowed(essence: &str) -> bool {
    essence.starts_with("image/")
        || ["application/pdf", "application/json", "text/plain", "text/csv"].contains(&essence)
}
