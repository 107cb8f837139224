//! What a remote says about a task, as the use cases take it: words, artifacts with their files, and a word that tells one answer
//! from the next.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;
use tandem_api::a2a::{Artifact, Content, Message, Part, Task};
use tandem_api::parts::{self as kept, AddArtifact};
use tandem_app::keys::{hex, sha256};
use tandem_app::remotes::{self, Observed, Words};
use tandem_core::files::{essence, is_allowed};
use tandem_core::messages::Foreign;
use tandem_core::text::{BODY_BYTES_MAX, Body, ForeignId};

use crate::ops::a2a::REPLY_ID;
use crate::ops::artifacts;
use crate::ops::parts::{self, METADATA_BYTES_MAX, PARTS_MAX, StoredFiles};
use crate::{Caller, Error, HubParts};

/// Texts and data that are kept in a message; larger ones become files.
const INLINE_BYTES_MAX: usize = 64 * 1024;
/// Artifacts of one answer.
const ARTIFACTS_MAX: usize = 200;
/// Characters of names.
const NAME_CHARS_MAX: usize = 256;
const DESCRIPTION_CHARS_MAX: usize = 1_000;
const CUT: &str = "\n[the rest was cut]";

/// What was seen, and the files that it stored on the way.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) observed: Observed,
    pub(super) files: StoredFiles,
}

/// Reads an answer about a task. `taken` says which artifacts are here already, and `caller` stands for the remote.
pub(super) async fn see(
    hub: &HubParts,
    caller: &Caller,
    task: Task,
    taken: &[String],
) -> Result<Seen, Error> {
    let state = task.status.state;
    let seen = hash(&(&task.status, task.artifacts.iter().map(hash).collect::<Vec<_>>()));
    let mut files = StoredFiles::default();
    let mut observed = Observed { state, context: task.context_id, seen, words: None, artifacts: Vec::new() };
    let mut given = task.artifacts;
    given.truncate(ARTIFACTS_MAX);
    if let Some(message) = task.status.message {
        // Files of a message are handed over like those of an artifact.
        let (files, said): (Vec<Part>, Vec<Part>) =
            message.parts.iter().cloned().partition(|part| matches!(part.content, Content::Raw(_)));
        if !files.is_empty() {
            given.insert(0, artifact_of(&message, files));
        }
        observed.words = words(&message, said);
    }
    let hands_over = state.is_end() || state.is_interruption();
    for artifact in given.into_iter().filter(|_| hands_over) {
        let known = hash(&artifact);
        if taken.contains(&known) {
            continue;
        }
        match take(hub, caller, artifact, known).await {
            Ok((artifact, stored)) => {
                files.new.extend(stored.new);
                observed.artifacts.push(artifact);
            }
            Err(error) => {
                files.discard(hub).await;
                return Err(error);
            }
        }
    }
    Ok(Seen { observed, files })
}

/// The same without what was handed over, which cannot be taken for this reason.
pub(super) fn without_artifacts(observed: &Observed, why: &str) -> Observed {
    let mut lean = observed.clone();
    lean.artifacts.clear();
    let note = format!("[what the remote agent handed over could not be taken: {why}]");
    let text = match &lean.words {
        Some(words) => format!("{}\n\n{note}", words.text.as_str()),
        None => note,
    };
    lean.words = text_words(text, Foreign::default());
    lean
}

fn hash(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).unwrap_or_default();
    hex(&sha256(&json)[..16])
}

/// What a message says, if it says anything.
pub(super) fn words(message: &Message, said: Vec<Part>) -> Option<Words> {
    let said: Vec<kept::Part> = said.into_iter().take(PARTS_MAX).map(part).collect();
    let (text, content_type) = parts::readable(&said);
    if text.trim().is_empty() {
        return None;
    }
    let id = ForeignId::try_from(message.message_id.clone()).ok().map(|id| id.to_string());
    let kept = parts::kept(&said).filter(|kept| kept.len() <= BODY_BYTES_MAX);
    let words = text_words(text, Foreign { id, parts: kept, extras: None })?;
    Some(Words { content_type, ..words })
}

fn text_words(mut text: String, foreign: Foreign) -> Option<Words> {
    text.retain(|c| c != '\0');
    if text.len() > BODY_BYTES_MAX {
        text.truncate(text.floor_char_boundary(BODY_BYTES_MAX - CUT.len()));
        text.push_str(CUT);
    }
    let text = Body::try_from(text).ok()?;
    Some(Words { text, content_type: tandem_core::messages::ContentType::Text, foreign })
}

fn artifact_of(message: &Message, parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: format!("message-{}", message.message_id),
        name: None,
        description: None,
        parts,
        metadata: None,
        extensions: Vec::new(),
    }
}

/// A part as we keep it.
fn part(part: Part) -> kept::Part {
    let Part { content, metadata, filename, media_type } = part;
    let metadata = metadata.filter(|metadata| metadata.as_str().len() <= METADATA_BYTES_MAX);
    let rest =
        kept::Part { metadata: metadata.map(Into::into), filename, media_type, ..kept::Part::default() };
    match content {
        Content::Text(text) => kept::Part { text: Some(text), ..rest },
        Content::Raw(bytes) => kept::Part { raw: Some(bytes.into()), ..rest },
        Content::Url(url) => kept::Part { url: Some(url), ..rest },
        Content::Data(json) => kept::Part { data: Some(Box::<RawValue>::from(json)), ..rest },
    }
}

/// A part of an artifact: what is large becomes a file, and a file that no task takes becomes a line that says so.
fn artifact_part(given: Part) -> kept::Part {
    let mut given = part(given);
    let large = |text: &str| text.len() > INLINE_BYTES_MAX;
    if let Some(text) = given.text.take_if(|text| large(text)) {
        return as_file(given, text.as_bytes(), "artifact.txt", "text/plain");
    }
    if let Some(data) = given.data.take_if(|data| large(data.get())) {
        return as_file(given, data.get().as_bytes(), "artifact.json", "application/json");
    }
    let kind = given.media_type.as_deref().unwrap_or_default();
    if given.raw.is_some() && !essence(kind).is_some_and(|kind| is_allowed(&kind)) {
        let name = given.filename.as_deref().unwrap_or("without a name");
        return kept::Part::text(format!("[the file {name} is of a type that is not taken: {kind}]"));
    }
    given
}

fn as_file(given: kept::Part, bytes: &[u8], name: &str, kind: &str) -> kept::Part {
    kept::Part {
        raw: Some(STANDARD.encode(bytes)),
        filename: Some(given.filename.unwrap_or_else(|| name.to_owned())),
        media_type: Some(kind.to_owned()),
        ..given
    }
}

/// An artifact as a target of ours would add it.
async fn take(
    hub: &HubParts,
    caller: &Caller,
    artifact: Artifact,
    known: String,
) -> Result<(remotes::Artifact, StoredFiles), Error> {
    let short = |text: Option<String>, chars_max| text.map(|text| text.chars().take(chars_max).collect());
    // That one is the reply here.
    let id = match artifact.artifact_id.as_str() {
        REPLY_ID => format!("remote-{REPLY_ID}"),
        id => id.to_owned(),
    };
    let id = ForeignId::try_from(id).or_else(|_| ForeignId::try_from(known.clone()));
    let parts: Vec<kept::Part> = artifact.parts.into_iter().take(PARTS_MAX).map(artifact_part).collect();
    let is_text = !parts.is_empty() && parts.iter().all(|part| part.text.is_some());
    let body = AddArtifact {
        artifact_id: id.ok(),
        name: short(artifact.name, NAME_CHARS_MAX),
        description: short(artifact.description, DESCRIPTION_CHARS_MAX),
        parts: if parts.is_empty() { vec![kept::Part::text("")] } else { parts },
        append: None,
        last_chunk: Some(true),
    };
    let (new, stored) = artifacts::of_remote(hub, caller, body).await?;
    Ok((remotes::Artifact { hash: known, new, is_text }, stored))
}
