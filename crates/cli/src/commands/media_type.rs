//! The media type of a file, by its name and, if that says nothing, by its content.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

/// Bytes that decide whether a file of unknown type is text.
const SNIFFED_BYTES: u64 = 64 * 1024;

/// The media type by the name, or plain text if the content is text.
pub(crate) fn mime_type(path: &Path) -> &'static str {
    by_name_or(path, || File::open(path).and_then(beginning))
}

/// The same for a file that is open, at its beginning. The path is only a name here.
pub(crate) fn mime_type_of(mut file: &File, path: &Path) -> &'static str {
    by_name_or(path, || {
        let read = beginning(file)?;
        file.rewind()?;
        Ok(read)
    })
}

fn by_name_or(path: &Path, content: impl FnOnce() -> io::Result<Vec<u8>>) -> &'static str {
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
        _ if content().is_ok_and(|beginning| is_text(&beginning)) => "text/plain",
        _ => "application/octet-stream",
    }
}

fn beginning(file: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(SNIFFED_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_text(beginning: &[u8]) -> bool {
    let valid = match std::str::from_utf8(beginning) {
        Ok(_) => true,
        // Only the last character may be cut off.
        Err(error) => error.error_len().is_none() && beginning.len() as u64 == SNIFFED_BYTES,
    };
    valid && !beginning.contains(&0)
}
