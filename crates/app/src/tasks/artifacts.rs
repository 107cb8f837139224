//! Artifacts: parts of the work that the target hands over, beside or before its reply.

use tandem_core::messages::{Kind, Message};
use tandem_core::{AgentId, FileId, Now, Refusal, Role, Task, TaskId};
use tandem_store::{Tx, files, tasks as rows};

use super::{PLAIN_ON_ENCRYPTED, on_task};
use crate::files::{NewFile, add_files, check_quota, checked_files};
use crate::messages::{NewMessage, add, check_message, pause_if_budget_spent};
use crate::{Error, Invalid};

/// Bytes of the parts of all artifacts of a task, as JSON. Whoever reads the task gets all of them.
pub const ARTIFACT_BYTES_MAX: i64 = 2 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// What readers see who know texts only, with the parts and the header.
    pub message: NewMessage,
    /// Bytes of the parts.
    pub bytes: i64,
    /// Files that come with it.
    pub files: Vec<NewFile>,
    /// Files of the task that it names.
    pub named: Vec<FileId>,
}

/// Adds an artifact, or a piece of one, as the target. It wakes no model, so no limit of messages in a minute holds; the
/// task's budget does.
pub fn add_artifact(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewArtifact,
    now: &Now,
) -> Result<Message, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        if role != Role::Target {
            return Err(Refusal::NotYourMove.into());
        }
        if task.content.encrypted {
            return Err(Invalid::field("parts", PLAIN_ON_ENCRYPTED).into());
        }
        check_message(&task, &new.message)?;
        check_room(&task, new)?;
        for file in &new.named {
            if files::find(tx, file)?.is_none_or(|file| file.task != task.id) {
                return Err(Invalid::field("fileId", "must be a file of this task").into());
            }
        }
        let files = checked_files(task.content.encrypted, &new.files)?;
        check_quota(tx, by, &new.files)?;
        new.message.count(tx, &task, now)?;
        add_files(tx, &mut task, role, &files, now)?;
        let message = add(tx, &mut task, role, &new.message, Kind::Artifact, now)?;
        task.counts.artifact_bytes += new.bytes;
        rows::update_thread(tx, &task)?;
        pause_if_budget_spent(tx, &mut task, role, now)?;
        Ok(message)
    })
}

fn check_room(task: &Task, new: &NewArtifact) -> Result<(), Error> {
    if task.counts.artifact_bytes.saturating_add(new.bytes) > ARTIFACT_BYTES_MAX {
        return Err(Error::ArtifactsTooLarge(ARTIFACT_BYTES_MAX));
    }
    let files = i64::try_from(new.files.len()).unwrap_or(i64::MAX);
    if task.counts.spoken.saturating_add(files) >= task.terms.max_messages {
        return Err(Refusal::MessageBudget(task.terms.max_messages).into());
    }
    Ok(())
}
