//! Artifacts that a target adds to its task.

use tandem_api::messages::MessageView;
use tandem_api::parts::{AddArtifact, ArtifactHeader, Part};
use tandem_app::Invalid;
use tandem_app::messages::{NewMessage, Sent};
use tandem_app::tasks::{self, NewArtifact};
use tandem_core::ids;
use tandem_core::messages::{ContentType, Foreign};
use tandem_core::text::Body;
use tandem_core::{FileId, Id, TaskId};

use super::a2a::REPLY_ID;
use super::parts::{self, StoredFiles};
use crate::{Caller, Error, HubParts};

/// Characters of an artifact's name.
const NAME_CHARS_MAX: usize = 256;
/// Characters of its description.
const DESCRIPTION_CHARS_MAX: usize = 1_000;

fn check(body: &AddArtifact) -> Result<(), Invalid> {
    parts::check(&body.parts)?;
    if body.artifact_id.as_ref().is_some_and(|id| id.as_str() == REPLY_ID) {
        return Err(Invalid::field("artifactId", "must not be result: that is the reply"));
    }
    if body.append == Some(true) && body.artifact_id.is_none() {
        return Err(Invalid::field("artifactId", "is required with append"));
    }
    for (field, text, chars_max) in
        [("name", &body.name, NAME_CHARS_MAX), ("description", &body.description, DESCRIPTION_CHARS_MAX)]
    {
        if text.as_ref().is_some_and(|text| text.chars().count() > chars_max) {
            return Err(Invalid::field(field, format!("must be at most {chars_max} characters long")));
        }
    }
    Ok(())
}

/// What readers see of an artifact who know texts only.
fn readable(body: &AddArtifact) -> (String, ContentType) {
    let (text, content_type) = parts::readable(&body.parts);
    if !text.is_empty() {
        return (text, content_type);
    }
    let named = body.parts.iter().find_map(|part| part.filename.clone());
    (body.name.clone().or(named).unwrap_or_else(|| "file".to_owned()), ContentType::Text)
}

/// Adds an artifact to a task, or a piece of one.
pub async fn add(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    mut body: AddArtifact,
) -> Result<MessageView, Error> {
    // Before the checks: the task may have changed since the first request.
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    hub.on_task(caller, task, check(&body)).await?;
    let named: Vec<FileId> = body.parts.iter().filter_map(|part| part.file_id.clone()).collect();
    let made: Id<ids::Artifact> = hub.db.now().new_id();
    let id = body.artifact_id.as_ref().map_or_else(|| made.to_string(), ToString::to_string);
    let (text, content_type) = readable(&body);
    let content = Body::try_from(text).map_err(|unfit| Invalid::field("parts", unfit.0));
    let content = hub.on_task(caller, task, content).await?;
    let stored = store_raw(hub, caller, task, &mut body.parts).await?;
    let files = StoredFiles { new: stored.new.clone() };
    let new = new_artifact(body, id, (content, content_type), stored, named);
    let (by, to) = (caller.agent.clone(), task.clone());
    let added = hub.write_once(caller, move |tx, now| {
        Ok(MessageView::new(tasks::add_artifact(tx, &by, &to, &new, now)?, &by))
    });
    let added = added.await;
    if caller.was_replayed() || added.as_ref().is_err_and(parts::has_no_rows) {
        files.discard(hub).await;
    }
    added
}

/// What a remote has made, as the target that it is would add it, with its files.
pub(crate) async fn of_remote(
    hub: &HubParts,
    caller: &Caller,
    mut body: AddArtifact,
) -> Result<(NewArtifact, StoredFiles), Error> {
    let (text, content_type) = readable(&body);
    let content = Body::try_from(text).map_err(|unfit| Invalid::field("parts", unfit.0))?;
    let made: Id<ids::Artifact> = hub.db.now().new_id();
    let id = body.artifact_id.as_ref().map_or_else(|| made.to_string(), ToString::to_string);
    let stored = parts::store_files(hub, caller, &mut body.parts).await?;
    let files = StoredFiles { new: stored.new.clone() };
    Ok((new_artifact(body, id, (content, content_type), stored, Vec::new()), files))
}

/// Stores the bytes among the parts, if the caller may add files to the task.
async fn store_raw(
    hub: &HubParts,
    caller: &Caller,
    task: &TaskId,
    parts: &mut [Part],
) -> Result<StoredFiles, Error> {
    if parts.iter().all(|part| part.raw.is_none()) {
        return Ok(StoredFiles::default());
    }
    super::files::check(hub, caller, task).await?;
    let stored = parts::store_files(hub, caller, parts).await;
    hub.on_task(caller, task, stored).await
}

fn new_artifact(
    body: AddArtifact,
    id: String,
    (content, content_type): (Body, ContentType),
    mut stored: StoredFiles,
    named: Vec<FileId>,
) -> NewArtifact {
    for file in &mut stored.new {
        let foreign = Foreign { id: Some(id.clone()), ..Foreign::default() };
        file.sent = Some(Sent { foreign, hash: None });
    }
    let header = ArtifactHeader {
        artifact_id: id,
        name: body.name,
        description: body.description,
        append: body.append.unwrap_or(false),
        last_chunk: body.last_chunk.unwrap_or(false),
    };
    let kept = parts::kept(&body.parts);
    let bytes = kept.as_ref().map_or(content.as_str().len(), String::len);
    let foreign = Foreign { parts: kept, ..Foreign::default() };
    let message = NewMessage {
        content_type,
        sent: Some(Sent { foreign, hash: None }),
        artifact: serde_json::to_string(&header).ok(),
        ..NewMessage::plain(content)
    };
    NewArtifact { message, bytes: i64::try_from(bytes).unwrap_or(i64::MAX), files: stored.new, named }
}
