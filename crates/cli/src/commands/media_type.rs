//! The media type of a file, by its name and, if that says nothing, by its content.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes that decide whether a file of unknown type is text.
const SNIFFED_BYTES: u64 = 64 * 1024;

/// The media type by the name, or plain text if the content is text.
pub(crate) fn mime_type(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_lowercase();
    match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "csv" => "text/csv",
        _ if is_text(path) => "text/plain",
        _ => "application/octet-stream",
    }
}

fn is_text(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFFED_BYTES).read_to_end(&mut beginning));
    let valid = match std::str::from_utf8(&beginning) {
        Ok(_) => true,
        // Only the last character may be cut off.
        Err(error) => error.error_len().is_none() && beginning.len() as u64 == SNIFFED_BYTES,
    };
    read.is_ok() && valid && !beginning.contains(&0)
}
