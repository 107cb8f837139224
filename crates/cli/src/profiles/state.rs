//! What a profile remembers between commands. Nothing here is needed: a state that cannot be read is empty, and one that
//! cannot be written is not an error.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tandem_core::TaskId;

/// The state of a profile.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// The task that `@` means.
    #[serde(default)]
    last_task: Option<TaskId>,
    /// The cursor after the last event that `tandem wait` has shown.
    #[serde(default)]
    pub(crate) seen_cursor: Option<i64>,
    /// The cursor after the last event that `tandem listen` has forwarded.
    #[serde(default)]
    pub(crate) forwarded_cursor: Option<i64>,
    #[serde(skip)]
    path: PathBuf,
}

impl State {
    pub(super) fn at(path: PathBuf) -> Self {
        let read = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        Self { path, ..read.unwrap_or_default() }
    }

    pub(crate) fn last_task(&self) -> Option<&TaskId> {
        self.last_task.as_ref()
    }

    /// Remembers the task that `@` means.
    pub(crate) fn set_last_task(&mut self, task: &TaskId) {
        if self.last_task.as_ref() != Some(task) {
            self.last_task = Some(task.clone());
            self.write();
        }
    }

    pub(crate) fn write(&self) {
        let Ok(json) = serde_json::to_vec(self) else { return };
        if let Some(folder) = self.path.parent() {
            let _ = fs::create_dir_all(folder);
        }
        let beside = self.path.with_extension(format!("new-{}", std::process::id()));
        let _ = fs::write(&beside, json).and_then(|()| fs::rename(&beside, &self.path));
    }

    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}
