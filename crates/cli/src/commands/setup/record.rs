//! What setup has added where, in `setup.json` beside the profiles, so that it can take back exactly that. It has no secret.

use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tandem_disk::{read_regular, remove_abandoned};

use super::detect::Scope;
use super::edit_json::Made;
use super::entry::Identity;
use super::tools::Tool;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profiles, write_secret};

/// More than any record has.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What tells a text from another one, and says nothing else of it.
pub(super) fn hash_of(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What was added to one file for one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) tool: Tool,
    pub(super) scope: Scope,
    pub(super) agent: String,
    /// None if the tool's own command has written its file.
    pub(super) file: Option<PathBuf>,
    #[serde(default)]
    pub(super) entry: bool,
    #[serde(default)]
    pub(super) hooks: bool,
    /// Whether the entry calls the hub directly and so has a key.
    #[serde(default)]
    pub(super) direct: bool,
    #[serde(default)]
    pub(super) made: Made,
    /// The text that was appended to a TOML file.
    #[serde(default)]
    pub(super) block: Option<String>,
    #[serde(default)]
    pub(super) created_file: bool,
    #[serde(default)]
    pub(super) created_folders: Vec<PathBuf>,
    /// Whether setup made the backup.
    #[serde(default)]
    pub(super) backup: bool,
    /// What the entry does. An entry that does something else is not the one that setup wrote. While the file is
    /// written, it can be the one from before or the new one.
    #[serde(default)]
    pub(super) written: Vec<Identity>,
    /// The commands of the hooks, each with its event.
    #[serde(default)]
    pub(super) hook_commands: Vec<(String, String)>,
    /// Rules that let the model use tools of Tandem, without those that the user had.
    #[serde(default)]
    pub(super) allowed: Vec<String>,
    /// Whether the file has a rule of its own that does so.
    #[serde(default)]
    pub(super) policy: bool,
    /// The mode of the file before setup closed it to others, because it wrote a key into it.
    #[serde(default)]
    pub(super) mode: Option<u32>,
    /// The hash of the first version, if there was one.
    #[serde(default)]
    pub(super) first: Option<String>,
    /// The hash of the file as setup has left it; none if somebody else has written to it since its first version.
    #[serde(default)]
    pub(super) last: Option<String>,
    /// Whether the first write has not ended, or was interrupted.
    #[serde(default)]
    pub(super) pending: bool,
}

impl Item {
    pub(super) fn new(tool: Tool, scope: Scope, agent: &str, file: Option<PathBuf>) -> Self {
        Self {
            tool,
            scope,
            agent: agent.to_owned(),
            file,
            entry: false,
            hooks: false,
            direct: false,
            made: Made::default(),
            block: None,
            created_file: false,
            created_folders: Vec::new(),
            backup: false,
            written: Vec::new(),
            hook_commands: Vec::new(),
            allowed: Vec::new(),
            policy: false,
            mode: None,
            first: None,
            last: None,
            pending: false,
        }
    }

    /// The same item while its file is written: what was there before may still be there afterwards.
    pub(super) fn with_former(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        for one in &before.written {
            if !self.written.contains(one) {
                self.written.push(one.clone());
            }
        }
        for one in &before.hook_commands {
            if !self.hook_commands.contains(one) {
                self.hook_commands.push(one.clone());
            }
        }
        self
    }
}

/// Everything that was added.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    pub(super) items: Vec<Item>,
    #[serde(skip)]
    path: PathBuf,
}

impl Record {
    pub(super) fn load(profiles: &Profiles) -> Outcome<Self> {
        let path = profiles.folder().join("setup.json");
        let text = match read_regular(&path, BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path, ..Self::default() });
            }
            Err(error) => return Err(Failure::refused(format!("cannot read {}: {error}", path.display()))),
        };
        let record: Self = serde_json::from_slice(&text).map_err(|cause| {
            Failure::refused(format!("{}: {cause}", path.display()))
                .next("Move it away and run `tandem setup` again, which takes over its entries.")
        })?;
        Ok(Self { path, ..record })
    }

    /// Removes what a killed run has left beside the record.
    pub(super) fn clean_up(&self) {
        remove_abandoned(&self.path);
    }

    pub(super) fn find(&self, tool: Tool, file: Option<&Path>) -> Option<&Item> {
        self.items.iter().find(|item| item.tool == tool && item.file.as_deref() == file)
    }

    /// Notes what a file has now, before or after it is written.
    pub(super) fn put(&mut self, item: Item) -> Outcome {
        self.forget(&item);
        self.items.push(item);
        self.save()
    }

    /// Forgets a file.
    pub(super) fn drop(&mut self, item: &Item) -> Outcome {
        self.forget(item);
        self.save()
    }

    fn forget(&mut self, item: &Item) {
        self.items.retain(|other| other.tool != item.tool || other.file != item.file);
    }

    fn save(&self) -> Outcome {
        if self.items.is_empty() {
            return match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
                _ => Ok(()),
            };
        }
        let text = serde_json::to_string_pretty(self).map_err(|cause| Failure::refused(cause.to_string()))?;
        write_secret(&self.path, &format!("{text}\n"))
    }
}
