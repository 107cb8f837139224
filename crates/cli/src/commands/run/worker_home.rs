//! The home of the workers of a recipe: a folder of the profile with links to what the tool needs of the owner's home. So
//! `$HOME` leads a worker neither to the profiles with the API keys of agents nor to anything else of the owner.
//!
//! This hides, it does not protect: a program of the same user can read every file by its absolute path.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::recipe::Recipe;
use crate::exit::{Failure, Outcome};
use crate::profiles::create_private;

/// Variables that lead to folders of the owner. Without them, programs use places below the home.
pub(super) const REMOVED: [&str; 4] =
    ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"];

/// Where the sandbox of Codex lets the model read everything, only the files of its login and of its owner's rules are linked,
/// not the folder with all conversations.
const CODEX_FILES: [&str; 7] =
    ["auth.json", "auth.lock", "config.toml", "hooks.json", "AGENTS.md", "rules", ".env"];

/// Files that tools write themselves.
const LOGINS: [&str; 2] = ["auth.json", ".claude.json"];

/// A home with the variables that lead to it.
#[derive(Debug)]
pub(super) struct WorkerHome {
    pub(super) variables: Vec<(&'static str, PathBuf)>,
}

/// The places of the owner that the tools use.
#[derive(Debug)]
pub(super) struct OwnerHome {
    pub(super) home: PathBuf,
    /// `CODEX_HOME`.
    pub(super) codex: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub(super) claude: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`.
    pub(super) gemini: Option<PathBuf>,
}

impl OwnerHome {
    pub(super) fn of_user() -> Outcome<Self> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = variable("HOME").ok_or_else(|| Failure::refused("HOME is not set"))?;
        let [codex, claude, gemini] = ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"].map(variable);
        Ok(Self { home, codex, claude, gemini })
    }

    /// Makes the home of a tool's workers in this folder, or brings it up to date.
    pub(super) fn prepare(&self, recipe: Recipe, folder: &Path) -> io::Result<WorkerHome> {
        create_private(folder)?;
        let mut variables = vec![("HOME", folder.to_owned())];
        match recipe {
            // With a folder of its own, it needs nothing of the home.
            Recipe::Claude if self.claude.is_some() => {}
            Recipe::Claude => {
                link(&self.home.join(".claude"), &folder.join(".claude"))?;
                link(&self.home.join(".claude.json"), &folder.join(".claude.json"))?;
            }
            Recipe::Codex => {
                let (owners, own) =
                    (self.codex.clone().unwrap_or_else(|| self.home.join(".codex")), folder.join(".codex"));
                create_private(&own)?;
                for name in CODEX_FILES {
                    link(&owners.join(name), &own.join(name))?;
                }
                variables.push(("CODEX_HOME", own));
            }
            Recipe::Gemini => {
                link(&self.gemini.as_ref().unwrap_or(&self.home).join(".gemini"), &folder.join(".gemini"))?;
                variables.push(("GEMINI_CLI_HOME", folder.to_owned()));
            }
        }
        if cfg!(target_os = "macos") {
            // The tools keep their logins in the keychain.
            create_private(&folder.join("Library"))?;
            link(&self.home.join("Library/Keychains"), &folder.join("Library/Keychains"))?;
        }
        Ok(WorkerHome { variables })
    }
}

/// Lets a place lead to a file or folder of the owner, if there is one. Settings that are the owner's come from the owner
/// only, so a file that a worker has left in their place is removed.
fn link(owners: &Path, place: &Path) -> io::Result<()> {
    if std::fs::read_link(place).is_ok_and(|to| to == owners) {
        return Ok(());
    }
    let owners_at = owners.metadata().and_then(|found| found.modified()).ok();
    if let Ok(found) = place.symlink_metadata() {
        // A tool may replace a login that it has renewed as a whole. That stays until the owner's is newer.
        let is_login = LOGINS.iter().any(|name| place.ends_with(name));
        if is_login
            && found.is_file()
            && owners_at.is_none_or(|at| found.modified().is_ok_and(|own| own > at))
        {
            return Ok(());
        }
        match found.is_dir() {
            // Another worker may be using it.
            true if owners_at.is_none() => return Ok(()),
            true => std::fs::remove_dir_all(place)?,
            false => std::fs::remove_file(place)?,
        }
    }
    if owners_at.is_none() {
        return Ok(());
    }
    match symlink(owners, place) {
        // Another worker was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("tandem-worker-home-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        place
    }

    fn write(file: PathBuf, text: &str) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn codex_finds_its_login_and_nothing_else() {
        let base = place("codex");
        let (home, own) = (base.join("owner"), base.join("worker"));
        write(home.join(".config/tandem/agents/ada.toml"), "api_key");
        write(home.join(".codex/auth.json"), "login");
        write(home.join(".codex/sessions/one.jsonl"), "talk");
        let owner = OwnerHome { home: home.clone(), codex: None, claude: None, gemini: None };
        let variables = owner.prepare(Recipe::Codex, &own).unwrap().variables;
        assert_eq!(variables, [("HOME", own.clone()), ("CODEX_HOME", own.join(".codex"))]);
        let names = |folder: &Path| {
            let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            names.map(|name| name.into_string().unwrap()).collect::<Vec<_>>()
        };
        if cfg!(not(target_os = "macos")) {
            assert_eq!(names(&own), [".codex"]);
        }
        assert_eq!(names(&own.join(".codex")), ["auth.json"]);
        // What the tool writes into it is the owner's.
        std::fs::write(own.join(".codex/auth.json"), "renewed").unwrap();
        assert_eq!(std::fs::read_to_string(home.join(".codex/auth.json")).unwrap(), "renewed");
        // What a worker puts in the place of a setting has no effect on the next one.
        std::fs::write(own.join(".codex/config.toml"), "[mcp_servers.x]").unwrap();
        owner.prepare(Recipe::Codex, &own).unwrap();
        assert_eq!(names(&own.join(".codex")), ["auth.json"]);
        // The folder is elsewhere now.
        write(base.join("elsewhere/auth.json"), "other");
        let owner = OwnerHome { codex: Some(base.join("elsewhere")), ..owner };
        owner.prepare(Recipe::Codex, &own).unwrap();
        assert_eq!(std::fs::read_to_string(own.join(".codex/auth.json")).unwrap(), "other");
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_file_that_the_tool_has_replaced_stays_until_the_owners_is_newer() {
        let base = place("replaced");
        let (home, own) = (base.join("owner"), base.join("worker"));
        let (owners, place) = (home.join(".claude.json"), own.join(".claude.json"));
        write(owners.clone(), "one");
        write(home.join(".claude/settings.json"), "{}");
        let owner = OwnerHome { home, codex: None, claude: None, gemini: None };
        let read = || {
            assert_eq!(owner.prepare(Recipe::Claude, &own).unwrap().variables, [("HOME", own.clone())]);
            std::fs::read_to_string(&place).unwrap()
        };
        assert_eq!(read(), "one");
        assert!(own.join(".claude/settings.json").exists());
        std::fs::remove_file(&place).unwrap();
        std::fs::write(&place, "of the tool").unwrap();
        let at = |file: &Path, seconds| {
            let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(file).unwrap().set_modified(at).unwrap();
        };
        at(&owners, 1_000);
        at(&place, 2_000);
        assert_eq!(read(), "of the tool");
        at(&owners, 3_000);
        assert_eq!(read(), "one");
        std::fs::remove_dir_all(base).unwrap();
    }
}
