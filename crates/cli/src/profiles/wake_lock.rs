//! The right to wake an agent's model, for one program on this machine at a time.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::PathBuf;

use super::files::try_lock;

/// The lock, held until it is dropped. Its file contains the number of the last event that a model was woken for, so that
/// another program does not wake for it again.
#[derive(Debug)]
pub(crate) struct WakeLock {
    file: File,
    path: PathBuf,
}

impl WakeLock {
    /// Takes the lock; `None` if another program has it, or if there can be none.
    pub(super) fn take(path: PathBuf) -> Option<Self> {
        let file = try_lock(&path).ok()??;
        Some(Self { file, path })
    }

    /// The number of the last event that a model was woken for.
    pub(crate) fn woken_for(&self) -> Option<i64> {
        std::fs::read_to_string(&self.path).ok()?.trim().parse().ok()
    }

    /// Notes the number of the last event that a model is woken for.
    pub(crate) fn set_woken_for(&self, cursor: i64) {
        let mut file = &self.file;
        // Without the number another program may wake once more, which does no harm.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{cursor}"));
    }
}
