//! The record of messages that were opened, shared by all programs of an agent.
//!
//! The file has an entry of 32 bytes for each sealed text and each signature: a hash of it and of its task, and a hash of the
//! message id under which it came. Entries are appended under a lock; what other processes have appended is read first. At
//! its bound the older half is dropped.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use tandem_core::{MessageId, TaskId};

use super::pins_file::{failed, lock, version};
use crate::Error;
use crate::whole_files::replace;

/// Bytes of a hash. Half of SHA-256 is enough: only the sender of a message could prepare two with the same one.
const HASH_BYTES: usize = 16;
const ENTRY_BYTES: usize = 2 * HASH_BYTES;
/// Entries that are kept; a message has two. The file has 4 MiB then.
const ENTRIES_MAX: usize = 131_072;

type Hash = [u8; HASH_BYTES];
/// A text on a task, and the message that it came with.
pub(super) type Entry = (Hash, Hash);

/// What was opened under which message id.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// None if it is kept in memory only.
    file: Option<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    messages: HashMap<Hash, Hash>,
    /// The file that was read, and how much of it.
    inode: u64,
    bytes: u64,
}

impl Seen {
    /// A record in a file, which is created with the first entry.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { file: Some(path), known: Mutex::default() }
    }

    pub(super) fn entry(task: &TaskId, text: &str, message: &MessageId) -> Entry {
        // No id contains a blank.
        (hash(&format!("{task} {text}")), hash(message.as_str()))
    }

    /// Records what was read now. Returns the entries whose text was seen in another message before.
    pub(super) fn record(&self, read: &[Entry]) -> Result<HashSet<Entry>, Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Most of what is read was read before. The file has it then, and no other process can have it otherwise.
        if read.iter().all(|(text, message)| known.messages.get(text) == Some(message)) {
            return Ok(HashSet::new());
        }
        let Some(path) = &self.file else {
            if known.messages.len() >= ENTRIES_MAX {
                known.messages.clear();
            }
            return Ok(known.add(read).0);
        };
        let cannot = failed("cannot record what was read in", path);
        let _locked = lock(path).map_err(&cannot)?;
        known.catch_up(path).map_err(&cannot)?;
        let (repeated, new) = known.add(read);
        known.append(path, &new).map_err(&cannot)?;
        Ok(repeated)
    }
}

impl Known {
    /// Adds entries. Returns those whose text came with another message before, and those that are new.
    fn add(&mut self, read: &[Entry]) -> (HashSet<Entry>, Vec<Entry>) {
        let (mut repeated, mut new) = (HashSet::new(), Vec::new());
        for entry @ (text, message) in read {
            match self.messages.get(text) {
                Some(known) if known == message => {}
                Some(_) => drop(repeated.insert(*entry)),
                None => {
                    self.messages.insert(*text, *message);
                    new.push(*entry);
                }
            }
        }
        (repeated, new)
    }

    /// Reads what other processes have appended.
    fn catch_up(&mut self, path: &Path) -> io::Result<()> {
        let inode = version(path).map_or(0, |version| version.0);
        if inode != self.inode {
            *self = Self { inode, ..Self::default() };
        }
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.bytes))?;
        let mut bytes = Vec::new();
        // It is never longer, unless something else has written to it.
        file.take((2 * ENTRIES_MAX * ENTRY_BYTES) as u64).read_to_end(&mut bytes)?;
        for entry in bytes.chunks_exact(ENTRY_BYTES) {
            let (text, message) = entry.split_at(HASH_BYTES);
            if let (Ok(text), Ok(message)) = (text.try_into(), message.try_into()) {
                self.messages.entry(text).or_insert(message);
            }
            self.bytes += ENTRY_BYTES as u64;
        }
        Ok(())
    }

    /// Appends entries, after the last whole one: a process that was killed may have left a part behind it.
    fn append(&mut self, path: &Path, new: &[Entry]) -> io::Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = new.iter().flat_map(|(text, message)| [*text, *message].concat()).collect();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path)?;
        let begin = self.bytes;
        let max = (ENTRIES_MAX * ENTRY_BYTES) as u64;
        if begin + bytes.len() as u64 > max {
            let mut kept = Vec::new();
            file.seek(SeekFrom::Start(begin.saturating_sub(max / 2)))?;
            file.take(begin.min(max / 2)).read_to_end(&mut kept)?;
            kept.extend(bytes);
            replace(path, &kept)?;
            // Read as any other new file.
            *self = Self::default();
            return self.catch_up(path);
        }
        file.seek(SeekFrom::Start(begin))?;
        file.write_all(&bytes)?;
        file.set_len(begin + bytes.len() as u64)?;
        file.sync_data()?;
        self.inode = version(path).map_or(0, |version| version.0);
        self.bytes = begin + bytes.len() as u64;
        Ok(())
    }
}

fn hash(text: &str) -> Hash {
    let mut hash = [0; HASH_BYTES];
    hash.copy_from_slice(&digest(&SHA256, text.as_bytes()).as_ref()[..HASH_BYTES]);
    hash
}
