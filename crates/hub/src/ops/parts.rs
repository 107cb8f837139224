//! Parts of messages and artifacts: what they may hold, what a reader sees of them as text, and the files among them.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, engine};
use tandem_api::error::Code;
use tandem_api::parts::Part;
use tandem_app::files::NewFile;
use tandem_app::{Error as AppError, Invalid};
use tandem_core::FileId;
use tandem_core::files::FILE_BYTES_MAX;
use tandem_core::messages::ContentType;

use super::files::{begin, storage_error};
use crate::{Caller, Error, HubParts};

/// Parts of one message.
pub const PARTS_MAX: usize = 1_000;
/// Bytes of one object of metadata.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;
/// The name of a file that was sent without one.
const FILE_NAME: &str = "file";
/// The media type of a file that was sent without one.
const FILE_TYPE: &str = "application/octet-stream";
/// Base64 characters that are decoded at once, in groups of four.
const DECODED_AT_ONCE: usize = 1024 * 1024;

/// Base64 as it is written in JSON by different libraries: in either alphabet, with padding or without.
const LENIENT: GeneralPurposeConfig =
    engine::general_purpose::PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Checks that metadata is a JSON object of a limited size.
pub fn check_metadata(field: &str, json: &str) -> Result<(), Invalid> {
    if json.len() > METADATA_BYTES_MAX {
        return Err(Invalid::field(field, format!("must be at most {METADATA_BYTES_MAX} bytes of JSON")));
    }
    if json.starts_with('{') { Ok(()) } else { Err(Invalid::field(field, "must be a JSON object")) }
}

/// Checks that each part has one kind of content.
pub fn check(parts: &[Part]) -> Result<(), Invalid> {
    if parts.is_empty() || parts.len() > PARTS_MAX {
        return Err(Invalid::field("parts", format!("must be 1 to {PARTS_MAX} parts")));
    }
    for (number, part) in parts.iter().enumerate() {
        if part.contents() != 1 {
            let why = "must have exactly one of text, data, url, raw and fileId";
            return Err(Invalid::field(&format!("parts[{number}]"), why));
        }
        if let Some(metadata) = &part.metadata {
            check_metadata(&format!("parts[{number}].metadata"), metadata.get())?;
        }
    }
    Ok(())
}

/// The texts of parts, in lines.
pub fn texts(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
    texts.join("\n")
}

/// What a reader sees of parts who knows texts only: the texts; without any, data and addresses; and how to read it.
pub fn readable(parts: &[Part]) -> (String, ContentType) {
    let texts = texts(parts);
    if !texts.is_empty() {
        return (texts, ContentType::Text);
    }
    if let [Part { data: Some(data), .. }] = parts {
        return (data.get().to_owned(), ContentType::Json);
    }
    let shown =
        |part: &Part| part.data.as_ref().map(|data| data.get().to_owned()).or_else(|| part.url.clone());
    (parts.iter().filter_map(shown).collect::<Vec<_>>().join("\n"), ContentType::Text)
}

/// The parts as they are kept; nothing if they are one text.
pub fn kept(parts: &[Part]) -> Option<String> {
    match parts {
        [part] if part.is_plain_text() => None,
        parts => serde_json::to_string(parts).ok(),
    }
}

/// Files whose bytes are stored, and whose rows are not written yet.
#[derive(Debug, Default)]
pub struct StoredFiles {
    pub new: Vec<NewFile>,
}

impl StoredFiles {
    fn ids(&self) -> Vec<FileId> {
        self.new.iter().map(|file| file.id.clone()).collect()
    }

    /// Deletes the bytes again: there will be no rows.
    pub async fn discard(&self, hub: &HubParts) {
        hub.files.remove(&self.ids()).await;
    }
}

/// Stores the bytes among the parts as files, which take their places. Those of a request that fails here are deleted.
pub async fn store_files(hub: &HubParts, caller: &Caller, parts: &mut [Part]) -> Result<StoredFiles, Error> {
    let mut stored = StoredFiles::default();
    for (number, part) in parts.iter_mut().enumerate() {
        let Some(raw) = part.raw.take() else { continue };
        match store_file(hub, caller, part, &raw, number).await {
            Ok(file) => {
                part.file_id = Some(file.id.clone());
                stored.new.push(file);
            }
            Err(error) => {
                stored.discard(hub).await;
                return Err(error);
            }
        }
    }
    Ok(stored)
}

async fn store_file(
    hub: &HubParts,
    caller: &Caller,
    part: &Part,
    raw: &str,
    number: usize,
) -> Result<NewFile, Error> {
    let mut upload = begin(hub, caller).await?;
    let is_url_safe = raw.bytes().any(|byte| matches!(byte, b'-' | b'_'));
    let alphabet = if is_url_safe { URL_SAFE } else { STANDARD };
    let wrong = || Invalid::field(&format!("parts[{number}].raw"), "must be base64");
    let mut pieces = raw.as_bytes().chunks(DECODED_AT_ONCE).peekable();
    while let Some(piece) = pieces.next() {
        // Padding ends the text.
        if pieces.peek().is_some() && piece.contains(&b'=') {
            return Err(wrong().into());
        }
        let bytes = alphabet.decode(piece).map_err(|_| wrong())?;
        upload.write(&bytes).await.map_err(storage_error)?;
        if upload.size > FILE_BYTES_MAX {
            return Err(AppError::FileTooLarge.into());
        }
    }
    let file = NewFile {
        id: upload.id().clone(),
        name: part.filename.clone().unwrap_or_else(|| FILE_NAME.to_owned()),
        mime_type: part.media_type.clone().unwrap_or_else(|| FILE_TYPE.to_owned()),
        size_bytes: i64::try_from(upload.size).unwrap_or(i64::MAX),
        sealed: None,
        limit: None,
        sent: None,
        quota: hub.config.file_quota_bytes(),
    };
    hub.files.store(upload).await.map_err(storage_error)?;
    Ok(file)
}

/// Whether a request that ended like this may have written rows. After an internal error nobody knows; if it did not, the
/// sweep removes the bytes.
pub fn has_no_rows(error: &Error) -> bool {
    !error.is_internal() || error.code() == Code::StorageFull
}
