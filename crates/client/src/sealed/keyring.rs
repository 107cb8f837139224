//! The keys of one agent: its private key and the pinned keys of others.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tandem_core::AgentId;
use tandem_seal::{PrivateKey, PublicKey};

use super::Pins;
use super::seen_folder::Seen;
use crate::Error;

/// What an agent needs to seal and open: its id, its private key, and the keys of others.
#[derive(Debug)]
pub struct Keyring {
    agent: AgentId,
    /// The agent's own name.
    name: String,
    key: OnceLock<Arc<PrivateKey>>,
    pins: OnceLock<Pins>,
    /// The files of key and pins, if they are read at the first use.
    files: Option<(PathBuf, PathBuf)>,
    /// Keys that the hub presented to this process and that match their pins.
    checked: Mutex<HashMap<AgentId, PublicKey>>,
    /// Messages that were opened.
    pub(super) seen: Arc<Seen>,
}

impl Keyring {
    /// A keyring with this key and these pins.
    #[must_use]
    pub fn new(agent: AgentId, key: PrivateKey, pins: Pins) -> Self {
        Self {
            name: "you".to_owned(),
            agent,
            key: OnceLock::from(Arc::new(key)),
            pins: OnceLock::from(pins),
            files: None,
            checked: Mutex::default(),
            seen: Arc::default(),
        }
    }

    /// A keyring that reads its files when something is first sealed or opened: reading an RSA-4096
    /// key takes one to two milliseconds, and most commands do not need it. What was opened is recorded in a folder beside
    /// the pins, with the ending `seen.d`.
    #[must_use]
    pub fn in_files(agent: AgentId, key: PathBuf, pins: PathBuf) -> Self {
        let seen = Arc::new(Seen::at(pins.with_extension("seen.d")));
        Self::sharing(agent, key, pins, seen)
    }

    /// The same keyring as if its files had not been read yet. Both know what the other has opened.
    #[must_use]
    pub fn renewed(&self) -> Option<Self> {
        let (key, pins) = self.files.clone()?;
        Some(Self::sharing(self.agent.clone(), key, pins, Arc::clone(&self.seen)).named(&self.name))
    }

    fn sharing(agent: AgentId, key: PathBuf, pins: PathBuf, seen: Arc<Seen>) -> Self {
        Self {
            name: "you".to_owned(),
            agent,
            key: OnceLock::new(),
            pins: OnceLock::new(),
            files: Some((key, pins)),
            checked: Mutex::default(),
            seen,
        }
    }

    /// The same keyring of an agent with this name, which is shown next to its own texts in place of "you".
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The agent's own name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The agent that it belongs to.
    #[must_use]
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// The private key.
    pub fn key(&self) -> Result<&Arc<PrivateKey>, Error> {
        match (self.key.get(), &self.files) {
            (Some(key), _) => Ok(key),
            (None, Some((file, _))) => {
                let key = PrivateKey::load(file)?;
                Ok(self.key.get_or_init(|| Arc::new(key)))
            }
            (None, None) => Err(Error::NoKey),
        }
    }

    /// The pinned keys of others.
    pub fn pins(&self) -> Result<&Pins, Error> {
        match (self.pins.get(), &self.files) {
            (Some(pins), _) => Ok(pins),
            (None, Some((_, file))) => {
                let pins = Pins::at(file.clone())?;
                Ok(self.pins.get_or_init(|| pins))
            }
            (None, None) => Err(Error::NoKey),
        }
    }

    pub(super) fn checked(&self, agent: &AgentId) -> Option<PublicKey> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).get(agent).cloned()
    }

    pub(super) fn set_checked(&self, agent: &AgentId, key: &PublicKey) {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(agent.clone(), key.clone());
    }
}
