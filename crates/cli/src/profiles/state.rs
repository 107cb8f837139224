//! What a profile remembers between commands. Nothing here is needed: a state that cannot be read is empty, and one that
//! cannot be written is not an error.
//!
//! Commands run at the same time, some for days. So a change never writes back what was read before: it locks the file,
//! reads it again, changes one field and replaces the file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tandem_core::TaskId;
use tandem_disk::replace;

/// Programs to which events were forwarded that are remembered.
const FORWARDED_MAX: usize = 32;

/// The state of a profile, as it was when it was read.
#[derive(Debug, Default)]
pub(crate) struct State {
    fields: Fields,
    /// None for an agent without a profile, which remembers nothing.
    path: Option<PathBuf>,
}

#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Fields {
    /// The task that `@` means.
    last_task: Option<TaskId>,
    /// The cursor after the last event that `tandem wait` has shown, and the epoch of its log.
    seen_cursor: Option<i64>,
    seen_epoch: Option<String>,
    /// How far each `tandem listen` has come, the newest one at the end.
    forwarded: Vec<Forwarded>,
}

/// How far events were forwarded to one program. Several may run at the same time with other events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Forwarded {
    to: String,
    /// The events that were asked for; none means all.
    events: Vec<String>,
    /// The cursor after the last event that was forwarded, or was not asked for.
    cursor: i64,
    /// The epoch of its log.
    #[serde(default)]
    epoch: Option<String>,
}

/// A place in an event log: a cursor, and the epoch to which it belongs, if that is known.
pub(crate) type LogPlace = (i64, Option<String>);

impl State {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { fields: read(&path), path: Some(path) }
    }

    pub(crate) fn last_task(&self) -> Option<&TaskId> {
        self.fields.last_task.as_ref()
    }

    pub(crate) fn seen(&self) -> Option<LogPlace> {
        Some((self.fields.seen_cursor?, self.fields.seen_epoch.clone()))
    }

    /// How far these events were forwarded to this program. If it never got just these: how far any were, so that one
    /// that is started again with other events misses none in between.
    pub(crate) fn forwarded(&self, to: &str, events: &[String]) -> Option<LogPlace> {
        let mut known = self.fields.forwarded.iter().rev().filter(|known| known.to == to);
        let same = known.clone().find(|known| known.events == events);
        same.or_else(|| known.next()).map(|known| (known.cursor, known.epoch.clone()))
    }

    /// Remembers the task that `@` means.
    pub(crate) fn set_last_task(&mut self, task: &TaskId) {
        self.change(|fields| fields.last_task = Some(task.clone()));
    }

    /// Remembers what `tandem wait` has shown.
    pub(crate) fn set_seen(&mut self, (cursor, epoch): LogPlace) {
        self.change(|fields| (fields.seen_cursor, fields.seen_epoch) = (Some(cursor), epoch));
    }

    /// Remembers what `tandem listen` has forwarded.
    pub(crate) fn set_forwarded(&mut self, to: &str, events: &[String], (cursor, epoch): LogPlace) {
        self.change(|fields| {
            let is_same = |known: &&mut Forwarded| known.to == to && known.events == events;
            if let Some(known) = fields.forwarded.iter_mut().find(is_same) {
                (known.cursor, known.epoch) = (cursor, epoch);
                return;
            }
            if fields.forwarded.len() >= FORWARDED_MAX {
                fields.forwarded.remove(0);
            }
            fields.forwarded.push(Forwarded { to: to.to_owned(), events: events.to_vec(), cursor, epoch });
        });
    }

    fn change(&mut self, set: impl FnOnce(&mut Fields)) {
        let Some(path) = &self.path else { return set(&mut self.fields) };
        if let Some(folder) = path.parent() {
            let _ = fs::create_dir_all(folder);
        }
        // Some file systems have no locks; a state without a lock is better than none.
        let _locked = lock(path);
        let before = read(path);
        let mut after = before.clone();
        set(&mut after);
        if after != before {
            // The next command does without it.
            let _ = serde_json::to_vec(&after).map(|bytes| replace(path, &bytes));
        }
        self.fields = after;
    }

    pub(super) fn remove(&self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(lock_file(path));
        }
    }
}

fn lock_file(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

/// Waits for other commands, which need the file for a moment only.
fn lock(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(lock_file(path))?;
    file.lock()?;
    Ok(file)
}

fn read(path: &Path) -> Fields {
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
