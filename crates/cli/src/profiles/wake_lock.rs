//! The right to wake an agent's model, for one program on this machine at a time.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};

use tandem_disk::read_regular;

use super::files::try_lock;

/// More than the file has.
const BYTES_MAX: u64 = 1_000;

/// Up to which events models of this agent were woken, by any program on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Woken {
    /// The number of the last event that a model was woken for.
    pub(crate) up_to: i64,
    /// The number of the last event of a wake to which a model was seen to react.
    pub(crate) answered: i64,
}

impl Woken {
    /// The same for a log that ends at a number: higher ones are from before the hub was restored.
    pub(crate) fn at_most(self, log_end: i64) -> Self {
        Self { up_to: self.up_to.min(log_end), answered: self.answered.min(log_end) }
    }

    /// What the file of a lock says. It is written in one piece, so no lock is needed to read it.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let text = String::from_utf8(read_regular(path, BYTES_MAX).ok()?).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        let up_to = numbers.next()?.ok()?;
        // An older version writes one number only, and knows of no answers.
        let answered = numbers.next().unwrap_or(Ok(up_to)).ok()?;
        Some(Self { up_to, answered })
    }
}

/// What became of an attempt to take the lock.
#[derive(Debug)]
pub(crate) enum TakenLock {
    Held(WakeLock),
    /// Another program has it.
    Busy,
    /// There can be none: the disk is full, or nothing may be written there.
    Impossible,
}

/// The lock, held until it is dropped. Its file says what models were woken for, so that another program does not wake for
/// it again.
#[derive(Debug)]
pub(crate) struct WakeLock {
    file: File,
    path: PathBuf,
}

impl WakeLock {
    pub(super) fn take(path: PathBuf) -> TakenLock {
        match try_lock(&path) {
            Ok(Some(file)) => TakenLock::Held(Self { file, path }),
            Ok(None) => TakenLock::Busy,
            Err(_) => TakenLock::Impossible,
        }
    }

    /// What models were woken for; `None` if no program has noted anything yet.
    pub(crate) fn woken(&self) -> Option<Woken> {
        Woken::read(&self.path)
    }

    /// Notes what models were woken for.
    pub(crate) fn set_woken(&self, woken: Woken) {
        let text = format!("{:020} {:020}\n", woken.up_to, woken.answered);
        let mut file = &self.file;
        // Without the numbers another program may wake once more, which does no harm.
        let _ = file
            .rewind()
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.set_len(text.len() as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_has_is_told_from_one_that_cannot_be() {
        let folder = std::env::temp_dir().join(format!("tandem-wake-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("full"), "").unwrap();
        let held = WakeLock::take(folder.join("wake.lock"));
        assert!(matches!(held, TakenLock::Held(_)));
        assert!(matches!(WakeLock::take(folder.join("wake.lock")), TakenLock::Busy));
        assert!(matches!(WakeLock::take(folder.join("full/wake.lock")), TakenLock::Impossible));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
