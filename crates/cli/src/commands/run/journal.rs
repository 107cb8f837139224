//! What the runner has done with each task: one small file per task, which is on the disk before the next step begins. So
//! a runner that was killed knows which results are still to be delivered, and which tasks to start again.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tandem_core::{MessageId, TaskId};

use super::processes::ProcessId;
use crate::exit::{Failure, Outcome};
use crate::profiles::write_secret;

/// Ends of runners that cost a task no try.
const INTERRUPTIONS_MAX: u32 = 5;

/// A task of the runner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) task: TaskId,
    pub(super) attempt: i64,
    /// How often a worker was started for it since it last needed one.
    pub(super) tries: u32,
    /// How often a runner was killed while a worker ran, since it last needed one.
    #[serde(default)]
    pub(super) interruptions: u32,
    /// How often a worker was started for this attempt in all.
    #[serde(default)]
    pub(super) runs: u32,
    /// How often in a row a worker could not be started.
    #[serde(default)]
    pub(super) failed_starts: u32,
    /// The idempotency key of what the present run delivers.
    pub(super) key: String,
    /// The newest message that the worker was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<MessageId>,
    /// Whether the folder stays when the task has ended, because it has files that were not sent.
    #[serde(default)]
    pub(super) keeps_folder: bool,
    pub(super) phase: Phase,
}

/// How far the runner is with a task. One that has ended has no entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub(super) enum Phase {
    /// It is taken, or about to be.
    Taken,
    /// A worker was started.
    Started {
        /// The worker, as soon as it is known.
        worker: Option<ProcessId>,
    },
    /// The worker has ended; what it said is still to be delivered.
    Ready {
        /// What to deliver.
        result: WorkResult,
    },
    /// The initiator was asked, or given a result to look at.
    Waiting,
}

/// What a worker has to say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WorkResult {
    pub(super) kind: ResultKind,
    pub(super) text: String,
    /// Files to send before the text.
    #[serde(default)]
    pub(super) files: Vec<PathBuf>,
    /// The output itself, if it is too long for a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<PathBuf>,
    /// Whether the folder has files that are not to be sent.
    #[serde(default)]
    pub(super) leaves_files: bool,
    /// The names of files that could not be sent, each with the reason.
    #[serde(default)]
    pub(super) refused: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ResultKind {
    Completed,
    Failed,
    Question,
}

impl Entry {
    /// The entry after the end of a runner that was killed while its worker ran. That is not the worker's fault, so it costs
    /// no try; unless it happens again and again, because then the worker may be what brings the machine down.
    pub(super) fn interrupted(mut self) -> Self {
        if self.interruptions < INTERRUPTIONS_MAX {
            self.interruptions += 1;
            self.tries = self.tries.saturating_sub(1);
        }
        Self { phase: Phase::Taken, ..self }
    }

    /// The entry of a task that needs a worker anew.
    pub(super) fn anew(self) -> Self {
        Self { tries: 0, interruptions: 0, phase: Phase::Taken, ..self }
    }

    /// The entry of a run that is about to be started.
    pub(super) fn starting(self, key: String, seen: Option<MessageId>) -> Self {
        let (tries, runs) = (self.tries + 1, self.runs + 1);
        Self { tries, runs, key, seen, keeps_folder: false, phase: Phase::Started { worker: None }, ..self }
    }

    /// The entry of a task whose worker could not be started.
    pub(super) fn not_started(self) -> Self {
        Self { failed_starts: self.failed_starts.saturating_add(1), phase: Phase::Taken, ..self }
    }
}

impl WorkResult {
    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self {
            kind: ResultKind::Failed,
            text: text.into(),
            files: Vec::new(),
            output: None,
            leaves_files: false,
            refused: Vec::new(),
        }
    }
}

/// The files of a runner.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
}

impl Journal {
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn file(&self, task: &TaskId) -> PathBuf {
        self.folder.join(format!("{}.json", file_name(task)))
    }

    pub(super) fn find(&self, task: &TaskId) -> Option<Entry> {
        read(&self.file(task)).filter(|entry| entry.task == *task)
    }

    /// Writes an entry. When this returns, it survives a power failure.
    pub(super) fn save(&self, entry: &Entry) -> Outcome {
        let json = serde_json::to_string(entry).map_err(|cause| Failure::refused(cause.to_string()))?;
        write_secret(&self.file(&entry.task), &json)
    }

    pub(super) fn forget(&self, task: &TaskId) {
        let _ = fs::remove_file(self.file(task));
    }

    /// Removes what a runner left that was killed while it wrote, and renames what an earlier version has named by the id
    /// itself. No other runner may be there.
    pub(super) fn tidy(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        for path in files.flatten().map(|file| file.path()) {
            if path.extension().is_none_or(|extension| extension != "json") {
                let _ = fs::remove_file(path);
            } else if let Some(entry) = read(&path)
                && self.file(&entry.task) != path
            {
                let _ = fs::rename(&path, self.file(&entry.task));
            }
        }
    }

    pub(super) fn all(&self) -> Vec<Entry> {
        let Ok(files) = fs::read_dir(&self.folder) else { return Vec::new() };
        files.flatten().filter_map(|file| read(&file.path())).collect()
    }
}

/// The name of a task's files and folders. A peer can choose an id that differs from another in case only, and some file systems
/// take such names for the same: so each capital letter is written as a small one after a `+`, which no id contains.
pub(super) fn file_name(task: &TaskId) -> String {
    let letter = |c: char| c.is_ascii_uppercase().then_some('+').into_iter().chain([c.to_ascii_lowercase()]);
    task.as_str().chars().flat_map(letter).collect()
}

fn read(file: &Path) -> Option<Entry> {
    if file.extension()? != "json" {
        return None;
    }
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}
