//! Finds the tools of this user and their files.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::tools::{HookFile, Place, Tool};
use crate::exit::{Failure, Outcome};

/// For whom an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// Everything that you do
    User,
    /// The project in this folder
    Project,
}

/// The machine as the tools see it.
#[derive(Debug)]
pub(super) struct Machine {
    home: PathBuf,
    config: PathBuf,
    folder: PathBuf,
}

impl Machine {
    pub(super) fn of_user() -> Outcome<Self> {
        let home = variable("HOME").ok_or_else(|| Failure::refused("HOME is not set"))?;
        let config = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        Ok(Self { home, config, folder: std::env::current_dir()? })
    }

    /// The current folder, which is the project.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self, place: Place) -> PathBuf {
        match place {
            Place::Home(path) => self.home.join(path),
            Place::Config(path) => self.config.join(path),
            Place::Application(path) if cfg!(target_os = "macos") => {
                self.home.join("Library/Application Support").join(path)
            }
            Place::Application(path) => self.config.join(path),
            Place::Variable(name, path, otherwise) => match variable(name) {
                Some(folder) => folder.join(path),
                None => self.home.join(otherwise),
            },
        }
    }

    /// Whether a tool is installed: its command or its folder is there.
    pub(super) fn has(&self, tool: Tool) -> bool {
        let facts = tool.facts();
        facts.binaries.iter().any(|name| on_path(name).is_some())
            || facts.traces.iter().any(|place| self.path(*place).exists())
    }

    /// The tools to set up when nobody says which: all that are installed and not replaced by another one here.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let is_replaced = |tool: &Tool| tool.facts().successor.is_some_and(|successor| self.has(successor));
        Tool::ALL.into_iter().filter(|tool| self.has(*tool) && !is_replaced(tool)).collect()
    }

    /// The file with a tool's servers; none if it has no such file.
    pub(super) fn file(&self, tool: Tool, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::User => tool.facts().user.map(|place| self.path(place)),
            Scope::Project => tool.facts().project.map(|path| self.folder.join(path)),
        }
    }

    pub(super) fn hook_file(&self, hooks: HookFile) -> PathBuf {
        self.path(hooks.place)
    }
}

/// A variable with an absolute path.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The program of a name, as a shell would find it.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file));
    found.filter(|file| file.is_absolute())
}

pub(in crate::commands) fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The path of this program for other programs: the one on `PATH` if it leads here, because it survives an update.
pub(super) fn own_path() -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    if !is_program(&own) {
        return Err(Failure::refused(format!("this program was moved or replaced: {}", own.display()))
            .next("Run the new one."));
    }
    let same = |file: &PathBuf| match (file.canonicalize(), own.canonicalize()) {
        (Ok(file), Ok(own)) => file == own,
        _ => false,
    };
    Ok(on_path("tandem").filter(same).unwrap_or(own))
}

/// The file with the MCP servers that this user has in Codex.
pub(in crate::commands) fn codex_file() -> Option<PathBuf> {
    Machine::of_user().ok()?.file(Tool::Codex, Scope::User)
}
