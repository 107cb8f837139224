//! Pins: the public keys of other agents as first seen. A hub that later presents another key for an agent is noticed.
//!
//! In a file, every change happens under a lock on a second file beside it: the change reads the file again, applies
//! itself, and replaces the file by a rename. So two processes never lose each other's pins, and a reader never sees
//! half a file. A file that cannot be read is an error: an empty set of pins would trust every key again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tandem_core::AgentId;
use tandem_seal::{Fingerprint, PublicKey};

use crate::Error;

/// A pin is about a kilobyte; a longer file is something else.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The public keys of other agents as first seen.
#[derive(Debug)]
pub struct Pins {
    /// None if they are kept in memory only.
    file: Option<PathBuf>,
    known: Mutex<Known>,
}

type Known = BTreeMap<AgentId, Pin>;

/// What the file contains.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    agents: Known,
}

/// One agent's key. The fingerprint is for people who look into the file; it must match the key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pin {
    name: String,
    fingerprint: String,
    public_key: String,
}

impl Pin {
    fn new(name: &str, key: &PublicKey) -> Self {
        Self { name: name.to_owned(), fingerprint: key.fingerprint().hex(), public_key: key.to_pem() }
    }

    fn key(&self) -> Option<PublicKey> {
        let key = PublicKey::from_pem(&self.public_key).ok()?;
        (key.fingerprint().hex() == self.fingerprint).then_some(key)
    }
}

impl Pins {
    /// Pins in a file with mode 0600. It is created with the first pin.
    pub fn at(path: PathBuf) -> Result<Self, Error> {
        let known = read(&path)?;
        Ok(Self { file: Some(path), known: Mutex::new(known) })
    }

    /// Pins that end with the process. The first key of each agent is trusted anew in every process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { file: None, known: Mutex::default() }
    }

    /// The pinned key of an agent.
    pub fn get(&self, agent: &AgentId) -> Result<Option<PublicKey>, Error> {
        match self.known().get(agent) {
            Some(pin) => pin.key().map(Some).ok_or_else(|| self.damaged(agent)),
            None => Ok(None),
        }
    }

    /// Compares a key with the pinned one. The first key of an agent is pinned.
    pub fn check(&self, agent: &AgentId, name: &str, found: &PublicKey) -> Result<(), Error> {
        if self.get(agent)?.is_some_and(|pinned| pinned == *found) {
            return Ok(());
        }
        // Another process may have pinned or accepted this key in the meantime, so the file is read again.
        self.change(|known| match known.get(agent) {
            None => {
                known.insert(agent.clone(), Pin::new(name, found));
                Ok(true)
            }
            Some(pin) => match pin.key() {
                None => Err(self.damaged(agent)),
                Some(pinned) if pinned == *found => Ok(false),
                Some(pinned) => Err(changed(agent, name, pinned.fingerprint(), found.fingerprint())),
            },
        })
    }

    /// Pins a key in place of any other. Only for a person who has compared the fingerprints.
    pub fn accept(&self, agent: &AgentId, name: &str, key: &PublicKey) -> Result<(), Error> {
        self.change(|known| {
            known.insert(agent.clone(), Pin::new(name, key));
            Ok(true)
        })
    }

    /// Removes the pin of an agent: its next key is trusted.
    pub fn forget(&self, agent: &AgentId) -> Result<(), Error> {
        self.change(|known| Ok(known.remove(agent).is_some()))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the pins, here and in the file. `change` returns whether there is something to write.
    fn change(&self, change: impl FnOnce(&mut Known) -> Result<bool, Error>) -> Result<(), Error> {
        let Some(path) = &self.file else {
            return change(&mut self.known()).map(|_| ());
        };
        let _locked = lock(path).map_err(failed("cannot lock", path))?;
        let mut known = read(path)?;
        let outcome = change(&mut known);
        if let Ok(true) = outcome {
            write(path, &known)?;
        }
        *self.known() = known;
        outcome.map(|_| ())
    }

    fn damaged(&self, agent: &AgentId) -> Error {
        let place = self.file.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string());
        Error::Pins { place, why: format!("the key of {agent} is damaged") }
    }
}

fn changed(agent: &AgentId, name: &str, pinned: Fingerprint, found: Fingerprint) -> Error {
    Error::KeyChanged { agent: agent.clone(), name: name.to_owned(), pinned, found }
}

fn failed(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Error {
    move |cause| Error::File { what: format!("{what} {}", path.display()), cause }
}

fn read(path: &Path) -> Result<Known, Error> {
    let cannot = failed("cannot read", path);
    let damaged = |why: String| Error::Pins { place: path.display().to_string(), why };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Known::new()),
        Err(error) => return Err(cannot(error)),
    };
    if let Some(mode) = loose_mode(&file).map_err(&cannot)? {
        return Err(damaged(format!("others may access it (mode {mode:o}); run `chmod 600` on it")));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(&cannot)?;
    let document: Document = serde_json::from_slice(&bytes).map_err(|cause| damaged(cause.to_string()))?;
    Ok(document.agents)
}

fn write(path: &Path, known: &Known) -> Result<(), Error> {
    let cannot = failed("cannot write", path);
    let document = Document { agents: known.clone() };
    let json = serde_json::to_vec_pretty(&document).map_err(|cause| cannot(cause.into()))?;
    let beside = beside(path, "new");
    let written = private(&beside, true)
        .and_then(|mut file| file.write_all(&json).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(cannot)
}

/// Holds the lock until the file is dropped. It is a file of its own, because a rename replaces the other one.
fn lock(path: &Path) -> io::Result<File> {
    let file = private(&beside(path, "lock"), false)?;
    file.lock()?;
    Ok(file)
}

/// `ada.pins.lock` beside `ada.pins`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn private(path: &Path, truncate: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(truncate);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The mode of a file that others may read or write.
#[cfg(unix)]
fn loose_mode(file: &File) -> io::Result<Option<u32>> {
    let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

/// Other systems have no permission bits to check.
#[cfg(not(unix))]
fn loose_mode(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
