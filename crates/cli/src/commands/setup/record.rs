//! What setup has added where, in `setup.json` beside the profiles, so that it can take back exactly that. It has no secret.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::detect::Scope;
use super::edit_json::Made;
use super::tools::Tool;
use crate::exit::{Failure, Outcome};
use crate::profiles::{Profiles, write_secret};

/// What was added to one file for one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) tool: Tool,
    pub(super) scope: Scope,
    pub(super) agent: String,
    /// None if the tool's own command has written its file.
    pub(super) file: Option<PathBuf>,
    /// Whether it has the server's entry.
    #[serde(default)]
    pub(super) entry: bool,
    /// Whether it has hooks.
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
        }
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
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { path, ..Self::default() });
            }
            Err(error) => return Err(Failure::refused(format!("cannot read {}: {error}", path.display()))),
        };
        let record: Self = serde_json::from_str(&text).map_err(|cause| {
            Failure::refused(format!("{}: {cause}", path.display()))
                .next("Move it away; setup then recognises its entries by what they run.")
        })?;
        Ok(Self { path, ..record })
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
