//! The record of messages and files that were opened, shared by all programs of an agent: a folder with one file per task.
//!
//! A file has an entry of 32 bytes for each content: a hash of it, and a hash of the id of the message that it came with.
//! Entries are appended under a lock and never change. Nothing of a task is forgotten while the pins remember the task: when
//! its file is full, no more is opened. So nothing makes an old message acceptable again.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use tandem_core::{MessageId, TaskId};

use super::pinned::TASKS_MAX;
use super::pins_file::failed;
use crate::Error;

/// Bytes of a hash. Half of SHA-256 is enough: only the sender of a message could prepare two with the same one.
const HASH_BYTES: usize = 16;
const ENTRY_BYTES: usize = 2 * HASH_BYTES;
/// Contents of one task. A hub takes 1,000 messages, unless its operator allows more. The file has 512 KiB then.
const CONTENTS_MAX: usize = 16_384;
/// Files beyond the number of remembered tasks before those of forgotten tasks are removed.
const SLACK: usize = 1_000;
/// Tasks whose record a process keeps in memory, if it has files.
const CACHED_MAX: usize = 64;

type Hash = [u8; HASH_BYTES];
/// A content, and the message that it came with.
pub(super) type Entry = (Hash, Hash);
/// The contents of a task, each with its message.
type Contents = HashMap<Hash, Hash>;

/// What was opened under which message id.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// None if it is kept in memory only.
    folder: Option<PathBuf>,
    tasks: Mutex<HashMap<Hash, Contents>>,
}

impl Seen {
    /// A record in a folder, which is created with the first entry.
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder: Some(folder), tasks: Mutex::default() }
    }

    pub(super) fn entry(text: &str, message: &MessageId) -> Entry {
        (hash(text), hash(message.as_str()))
    }

    /// Records contents of a task that were opened now. Says of each whether it may be shown: not if it came with another
    /// message before. `remembered` gives the tasks whose record is kept.
    pub(super) fn record(
        &self,
        task: &TaskId,
        read: &[Entry],
        remembered: impl FnOnce() -> Vec<TaskId>,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let name = hash(task.as_str());
        // Most of what is read was read before. The file has it then, and no other process can have it otherwise.
        let is_known = |known: &Contents| read.iter().all(|(text, message)| known.get(text) == Some(message));
        if tasks.get(&name).is_some_and(is_known) {
            return Ok(read.iter().map(|_| Ok(())).collect());
        }
        let Some(folder) = &self.folder else {
            if tasks.len() >= TASKS_MAX + SLACK && !tasks.contains_key(&name) {
                let kept: HashSet<Hash> = remembered().iter().map(|task| hash(task.as_str())).collect();
                tasks.retain(|task, _| kept.contains(task));
            }
            return Ok(add(tasks.entry(name).or_default(), read).0);
        };
        let path = folder.join(hex(&name));
        let cannot = failed("cannot record what was read in", &path);
        let mut file = TaskFile::open(folder, &path).map_err(&cannot)?;
        if file.is_new {
            remove_forgotten(folder, &path, remembered);
        }
        let mut contents = file.read().map_err(&cannot)?;
        let (outcomes, new) = add(&mut contents, read);
        file.append(&new).map_err(&cannot)?;
        if tasks.len() >= CACHED_MAX {
            tasks.clear();
        }
        tasks.insert(name, contents);
        Ok(outcomes)
    }
}

/// Adds entries. Returns what is to be said of each, and those that are new.
fn add(contents: &mut Contents, read: &[Entry]) -> (Vec<Result<(), Error>>, Vec<Entry>) {
    let mut new = Vec::new();
    let outcomes = read.iter().map(|(text, message)| match contents.get(text) {
        Some(known) if known == message => Ok(()),
        Some(_) => Err(Error::Repeated),
        None if contents.len() >= CONTENTS_MAX => Err(Error::RecordFull),
        None => {
            contents.insert(*text, *message);
            new.push((*text, *message));
            Ok(())
        }
    });
    (outcomes.collect(), new)
}

/// The file of a task, locked until it is dropped.
struct TaskFile {
    file: File,
    is_new: bool,
    /// How long the whole entries are. A process that was killed may have left a part behind them.
    bytes: u64,
}

impl TaskFile {
    fn open(folder: &Path, path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path)?;
        file.lock()?;
        let is_new = file.metadata()?.len() == 0;
        if is_new {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self { file, is_new, bytes: 0 })
    }

    fn read(&mut self) -> io::Result<Contents> {
        let mut bytes = Vec::new();
        // It is never longer, unless something else has written to it.
        (&self.file).take((CONTENTS_MAX * ENTRY_BYTES) as u64).read_to_end(&mut bytes)?;
        let mut contents = Contents::new();
        for entry in bytes.chunks_exact(ENTRY_BYTES) {
            let (text, message) = entry.split_at(HASH_BYTES);
            if let (Ok(text), Ok(message)) = (text.try_into(), message.try_into()) {
                contents.entry(text).or_insert(message);
            }
            self.bytes += ENTRY_BYTES as u64;
        }
        Ok(contents)
    }

    fn append(&mut self, new: &[Entry]) -> io::Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = new.iter().flat_map(|(text, message)| [*text, *message].concat()).collect();
        self.file.seek(SeekFrom::Start(self.bytes))?;
        self.file.write_all(&bytes)?;
        self.file.set_len(self.bytes + bytes.len() as u64)?;
        self.file.sync_data()
    }
}

/// Removes the files of tasks that are no longer remembered, if there are many. What cannot be removed stays.
fn remove_forgotten(folder: &Path, except: &Path, remembered: impl FnOnce() -> Vec<TaskId>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    if files.len() <= TASKS_MAX + SLACK {
        return;
    }
    let kept: HashSet<PathBuf> =
        remembered().iter().map(|task| folder.join(hex(&hash(task.as_str())))).collect();
    for file in files.iter().filter(|file| *file != except && !kept.contains(*file)) {
        let _ = fs::remove_file(file);
    }
}

fn hash(text: &str) -> Hash {
    let mut hash = [0; HASH_BYTES];
    hash.copy_from_slice(&digest(&SHA256, text.as_bytes()).as_ref()[..HASH_BYTES]);
    hash
}

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: usize, message: &str) -> Entry {
        Seen::entry(&text.to_string(), &message.parse().unwrap())
    }

    /// What the record says of one content.
    fn recorded(seen: &Seen, task: &str, entry: Entry) -> Result<(), Error> {
        seen.record(&task.parse().unwrap(), &[entry], Vec::new).unwrap().remove(0)
    }

    #[test]
    fn a_full_record_takes_nothing_new_and_forgets_nothing() {
        let folder = std::env::temp_dir().join(format!("tandem-seen-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for seen in [Seen::default(), Seen::at(folder.clone())] {
            let all: Vec<Entry> = (0..=CONTENTS_MAX).map(|text| entry(text, "msg_1")).collect();
            let outcomes = seen.record(&"task_1".parse().unwrap(), &all, Vec::new).unwrap();
            assert!(outcomes[..CONTENTS_MAX].iter().all(Result::is_ok));
            assert!(matches!(outcomes[CONTENTS_MAX], Err(Error::RecordFull)));
            assert!(recorded(&seen, "task_1", entry(0, "msg_1")).is_ok());
            assert!(matches!(recorded(&seen, "task_1", entry(0, "msg_2")), Err(Error::Repeated)));
            assert!(recorded(&seen, "task_2", entry(0, "msg_2")).is_ok(), "others go on");
        }
        let file = folder.join(hex(&hash("task_1")));
        assert_eq!(fs::metadata(file).unwrap().len(), (CONTENTS_MAX * ENTRY_BYTES) as u64);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_record_of_a_remembered_task_stays() {
        let folder = std::env::temp_dir().join(format!("tandem-seen-many-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let seen = Seen::at(folder.clone());
        assert!(recorded(&seen, "kept", entry(1, "msg_1")).is_ok());
        (0..TASKS_MAX + SLACK).for_each(|n| fs::write(folder.join(n.to_string()), "").unwrap());
        let remembered = || vec!["kept".parse().unwrap()];
        seen.record(&"new".parse().unwrap(), &[entry(1, "msg_1")], remembered).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        assert!(matches!(recorded(&seen, "kept", entry(1, "msg_2")), Err(Error::Repeated)));
        fs::remove_dir_all(folder).unwrap();
    }
}
