//! Links to files that are too large for an answer. A link is signed, so that whoever the client hands it to can use it
//! without a key, for an hour and as long as the client itself may read the file.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;
use tandem_core::{AgentId, FileId};
use tandem_hub::ops::a2a::link_text;
use tandem_hub::ops::files;
use tandem_hub::ops::parse_id;
use tandem_hub::{Error, Hub};

use crate::http::files::{BUFFER_BYTES, as_attachment};
use crate::http::visitor::FromAddress;
use crate::http::{ApiError, Query};

#[derive(Debug, Deserialize)]
pub(super) struct Link {
    #[serde(rename = "for")]
    reader: Option<String>,
    until: Option<i64>,
    signature: Option<String>,
}

/// `GET /a2a/agents/{agent}/files/{file}`
pub(super) async fn download(
    State(hub): State<Hub>,
    Path((host, file)): Path<(String, String)>,
    FromAddress(address): FromAddress,
    Query(link): Query<Link>,
) -> Result<Response, ApiError> {
    let hidden = || Error::not_found("file");
    let (host, file): (AgentId, FileId) = (parse_id(&host, "file")?, parse_id(&file, "file")?);
    let Link { reader: Some(reader), until: Some(until), signature: Some(word) } = link else {
        return Err(hidden().into());
    };
    let text = link_text(&host, &file, &reader, until);
    if !hub.signing.is_link(&text, &word) || until < hub.time().0 / 1_000 {
        return Err(hidden().into());
    }
    let file = files::find_for(&hub, &parse_id(&reader, "file")?, &file).await?;
    let held = hub.budget.hold(&address, BUFFER_BYTES)?;
    let bytes = files::read_whole(&hub, &file).await?;
    let bytes = futures_util::StreamExt::inspect(bytes, move |_| {
        // The stream owns its buffers' memory.
        let _ = &held;
    });
    Ok(as_attachment(&file, file.size_bytes.unsigned_abs(), Body::from_stream(bytes)))
}
