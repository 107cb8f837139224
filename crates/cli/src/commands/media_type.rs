//! The media type of a file, by its name and, if that says nothing, by its content.

use std::fs::File;
use std::io::{Read, Seek as _};
use std::path::Path;

/// Bytes that decide whether a file of unknown type is text.
const SNIFFED_BYTES: u64 = 64 * 1024;

/// The media type by the name, or plain text if the content is text.
pub(crate) fn mime_type(path: &Path) -> &'static str {
    by_name(path).unwrap_or_else(|| by_content(File::open(path)))
}

/// The same of a file that is open, and stands at its beginning then.
pub(crate) fn mime_type_of(name: &Path, file: &mut File) -> std::io::Result<&'static str> {
    if let Some(known) = by_name(name) {
        return Ok(known);
    }
    let mime_type = by_content(Ok(&mut *file));
    file.rewind()?;
    Ok(mime_type)
}

fn by_name(path: &Path) -> Option<&'static str> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "csv" => "text/csv",
        _ => return None,
    })
}

fn by_content(file: std::io::Result<impl Read>) -> &'static str {
    let mut beginning = Vec::new();
    let read = file.and_then(|file| file.take(SNIFFED_BYTES).read_to_end(&mut beginning));
    let valid = match std::str::from_utf8(&beginning) {
        Ok(_) => true,
        // Only the last character may be cut off.
        Err(error) => error.error_len().is_none() && beginning.len() as u64 == SNIFFED_BYTES,
    };
    let is_text = read.is_ok() && valid && !beginning.contains(&0);
    if is_text { "text/plain" } else { "application/octet-stream" }
}
