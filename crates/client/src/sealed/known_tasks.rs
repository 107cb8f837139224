//! What is known of a task, whatever the hub says about it now: whether it is encrypted.

use tandem_api::tasks::TaskView;
use tandem_core::TaskId;

use crate::call::random_key;
use crate::{Client, Error};

/// The beginning of the ids of encrypted tasks that this client makes. The hub says whether a task is encrypted, but it
/// cannot change an id that both parties know and that signatures cover; so a task with this id is never treated as a plain
/// one. Other clients give their tasks other ids; those are known when they were seen.
const SEALED_ID: &str = "task_sealed_";

impl Client {
    /// Whether content for a task must be sealed. An error if the task is known to be encrypted, but the hub says that it
    /// is not: then nothing may be sent in the clear, and nothing that the hub shows is by the other party.
    pub fn is_encrypted(&self, task: &TaskView) -> Result<bool, Error> {
        if !task.encrypted && self.is_known_encrypted(&task.id)? {
            return Err(Error::PresentedAsPlain(task.id.clone()));
        }
        Ok(task.encrypted)
    }

    /// Whether a task is known to be encrypted without asking the hub: by its id, or because it was seen encrypted before.
    pub fn is_known_encrypted(&self, task: &TaskId) -> Result<bool, Error> {
        if task.as_str().starts_with(SEALED_ID) {
            return Ok(true);
        }
        match self.keyring() {
            Ok(keyring) => Ok(keyring.pins()?.is_sealed(task)),
            // An agent without a private key has opened no encrypted task.
            Err(_) => Ok(false),
        }
    }
}

/// An id for an encrypted task. The signature covers it, so the hub cannot make it.
pub(super) fn new_task_id() -> Result<TaskId, Error> {
    let id = format!("{SEALED_ID}{}", &random_key()[..16]);
    id.parse().map_err(|_| Error::Unreadable(format!("{id} is no task id")))
}
