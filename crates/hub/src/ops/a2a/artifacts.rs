//! What messages are for a client of A2A: parts, and artifacts. One rule for a task as it stands and for one step of it.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tandem_api::parts::{ArtifactHeader, Extras, Part};
use tandem_core::Task;
use tandem_core::messages::{ContentType, Foreign, Kind, Message};

/// The id of the artifact that a reply is.
pub const REPLY_ID: &str = "result";

/// Something that the target handed over, or a piece of it.
#[derive(Debug, Clone)]
pub struct Artifact {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub parts: Vec<Part>,
    /// Whether these parts continue those that came before.
    pub append: bool,
    /// Whether it is complete with these parts.
    pub last_chunk: bool,
}

/// What else was sent with a message.
#[must_use]
pub fn extras_of(foreign: &Foreign) -> Extras {
    let extras = foreign.extras.as_deref().and_then(|extras| serde_json::from_str(extras).ok());
    extras.unwrap_or_default()
}

fn kept_parts(foreign: &Foreign) -> Option<Vec<Part>> {
    serde_json::from_str(foreign.parts.as_deref()?).ok()
}

/// The parts of a message.
#[must_use]
pub fn parts_of(message: &Message) -> Vec<Part> {
    if let Some(parts) = kept_parts(&message.foreign) {
        return parts;
    }
    let part = match message.content_type {
        ContentType::File => Part { file_id: message.content.parse().ok(), ..Part::default() },
        ContentType::Json => match RawValue::from_string(message.content.clone()) {
            Ok(data) => Part { data: Some(data), ..Part::default() },
            Err(_) => Part::text(message.content.as_str()),
        },
        ContentType::Text | ContentType::Encrypted => Part::text(message.content.as_str()),
    };
    vec![part]
}

/// The parts of the first message: the task itself.
#[must_use]
pub fn parts_of_task(task: &Task) -> Vec<Part> {
    kept_parts(&task.foreign).unwrap_or_else(|| {
        vec![Part::text(task.content.description.as_deref().unwrap_or(&task.content.title))]
    })
}

/// The artifact that a message of the target is, if it is one.
pub(super) fn artifact_of(message: &Message, task: &Task) -> Option<Artifact> {
    let by_target = message.sender.as_ref().is_some_and(|sender| *sender != task.initiator);
    if !by_target || message.deleted {
        return None;
    }
    let (id, header) = match message.kind {
        Kind::Reply => (REPLY_ID.to_owned(), None),
        Kind::Artifact => {
            let header: ArtifactHeader = serde_json::from_str(message.artifact.as_deref()?).ok()?;
            (header.artifact_id.clone(), Some(header))
        }
        // A file that belongs to an artifact is one of its parts.
        Kind::Message if message.content_type == ContentType::File && message.foreign.id.is_none() => {
            (message.content.clone(), None)
        }
        Kind::Message | Kind::System | Kind::Broadcast => return None,
    };
    let is_whole = header.is_none();
    let header = header.unwrap_or_default();
    Some(Artifact {
        id,
        name: header.name,
        description: header.description,
        parts: parts_of(message),
        append: header.append,
        last_chunk: is_whole || header.last_chunk,
    })
}

/// Artifacts as they stand after these pieces, in the order in which each began.
pub(super) fn folded(pieces: impl Iterator<Item = Artifact>) -> Vec<Artifact> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut artifacts: Vec<Artifact> = Vec::new();
    for piece in pieces {
        let place = *places.entry(piece.id.clone()).or_insert(artifacts.len());
        match artifacts.get_mut(place) {
            None => artifacts.push(piece),
            Some(artifact) if piece.append => {
                artifact.parts.extend(piece.parts);
                artifact.name = piece.name.or(artifact.name.take());
                artifact.description = piece.description.or(artifact.description.take());
                artifact.last_chunk = piece.last_chunk;
            }
            Some(artifact) => *artifact = piece,
        }
    }
    for artifact in &mut artifacts {
        artifact.append = false;
    }
    artifacts
}
