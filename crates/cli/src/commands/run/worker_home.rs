//! The home of a worker of a recipe: a folder with links to what the tool needs of the owner's home. So `$HOME` leads a worker
//! neither to the profiles with the API keys of agents nor to anything else of the owner. Each run has a home of its own, which
//! is removed afterwards: what a worker leaves there is not for the worker of another task, which may be another owner's.
//!
//! This hides, it does not protect: a program of the same user can read every file by its absolute path.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::folder;
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

/// Files that tools write themselves, in a home. If a tool replaces one as a whole, it is kept beside the homes for the next
/// worker: the owner's may no longer be valid.
const LOGINS: [&str; 2] = [".codex/auth.json", ".claude.json"];

/// A home with the variables that lead to it.
#[derive(Debug, Clone)]
pub(super) struct WorkerHome {
    pub(super) folder: PathBuf,
    pub(super) variables: Vec<(&'static str, PathBuf)>,
}

impl WorkerHome {
    /// Removes the home, when its worker has ended.
    pub(super) fn remove(&self) -> Outcome {
        remove(&self.folder)
    }
}

/// Removes the homes that a runner that was killed has left. Their workers have ended.
pub(super) fn remove_all(homes: &Path) {
    for tool in folders_in(homes) {
        // One that cannot be removed is in nobody's way: the next run of its task tries it again.
        folders_in(&tool).iter().for_each(|home| drop(remove(home)));
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}

/// Removes a home, and keeps the logins that the tool has replaced in it.
fn remove(home: &Path) -> Outcome {
    for login in LOGINS.map(Path::new) {
        let (own, Some(kept)) = (home.join(login), kept(home, login)) else { continue };
        let modified =
            |file: &Path| file.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?.modified().ok();
        if let Some(at) = modified(&own)
            && modified(&kept).is_none_or(|before| before < at)
        {
            std::fs::rename(own, kept)?;
        }
    }
    folder::discard(home)
}

/// Where a login is kept beside the homes. No id of a task contains a dot.
fn kept(home: &Path, login: &Path) -> Option<PathBuf> {
    Some(home.parent()?.join(login.file_name()?))
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

    /// Makes the home of a tool's worker in this folder, which must not exist.
    pub(super) fn prepare(&self, recipe: Recipe, folder: PathBuf) -> io::Result<WorkerHome> {
        create_private(&folder)?;
        let mut variables = vec![("HOME", folder.clone())];
        match recipe {
            // With a folder of its own, it needs nothing of the home.
            Recipe::Claude if self.claude.is_some() => {}
            Recipe::Claude => {
                link(&self.home.join(".claude"), &folder.join(".claude"))?;
                link(&login(&folder, LOGINS[1], self.home.join(".claude.json"))?, &folder.join(LOGINS[1]))?;
            }
            Recipe::Codex => {
                let (owners, own) =
                    (self.codex.clone().unwrap_or_else(|| self.home.join(".codex")), folder.join(".codex"));
                create_private(&own)?;
                for name in CODEX_FILES {
                    let place = own.join(name);
                    let owners = match folder.join(LOGINS[0]) == place {
                        true => login(&folder, LOGINS[0], owners.join(name))?,
                        false => owners.join(name),
                    };
                    link(&owners, &place)?;
                }
                variables.push(("CODEX_HOME", own));
            }
            Recipe::Gemini => {
                link(&self.gemini.as_ref().unwrap_or(&self.home).join(".gemini"), &folder.join(".gemini"))?;
                variables.push(("GEMINI_CLI_HOME", folder.clone()));
            }
        }
        if cfg!(target_os = "macos") {
            // The tools keep their logins in the keychain.
            create_private(&folder.join("Library"))?;
            link(&self.home.join("Library/Keychains"), &folder.join("Library/Keychains"))?;
        }
        Ok(WorkerHome { folder, variables })
    }
}

/// Lets a place lead to a file or folder of the owner, if there is one.
fn link(owners: &Path, place: &Path) -> io::Result<()> {
    if owners.exists() { symlink(owners, place) } else { Ok(()) }
}

/// The login that a worker uses: the kept one, until the owner's is newer.
fn login(home: &Path, login: &str, owners: PathBuf) -> io::Result<PathBuf> {
    let Some(kept) = kept(home, Path::new(login)) else { return Ok(owners) };
    let Ok(kept_at) = kept.metadata().and_then(|found| found.modified()) else { return Ok(owners) };
    match owners.metadata().and_then(|found| found.modified()) {
        Ok(owners_at) if owners_at >= kept_at => {
            // A worker that still uses it has the file open, or opens the owner's next.
            let _ = std::fs::remove_file(kept);
            Ok(owners)
        }
        _ => Ok(kept),
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
        let variables = owner.prepare(Recipe::Codex, own.clone()).unwrap().variables;
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
        // The folder is elsewhere now.
        write(base.join("elsewhere/auth.json"), "other");
        let owner = OwnerHome { codex: Some(base.join("elsewhere")), ..owner };
        let own = base.join("next");
        owner.prepare(Recipe::Codex, own.clone()).unwrap();
        assert_eq!(std::fs::read_to_string(own.join(".codex/auth.json")).unwrap(), "other");
        std::fs::remove_dir_all(base).unwrap();
    }

    /// Nothing but a login that the tool has replaced outlives a home.
    #[tokio::test]
    async fn a_worker_leaves_nothing_to_the_next_one() {
        let base = place("replaced");
        let (home, homes) = (base.join("owner"), base.join("homes"));
        let owners = home.join(".claude.json");
        write(owners.clone(), "one");
        write(home.join(".claude/settings.json"), "{}");
        let owner = OwnerHome { home, codex: None, claude: None, gemini: None };
        let next = |task: &str| owner.prepare(Recipe::Claude, homes.join("claude").join(task)).unwrap();
        let read = |home: &WorkerHome| std::fs::read_to_string(home.folder.join(".claude.json")).unwrap();
        let at = |file: &Path, seconds| {
            let at = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(file).unwrap().set_modified(at).unwrap();
        };
        at(&owners, 1_000);
        let first = next("task_1");
        assert_eq!((read(&first).as_str(), &first.variables), ("one", &vec![("HOME", first.folder.clone())]));
        assert!(first.folder.join(".claude/settings.json").exists());
        // It leaves a note for the next one, and replaces its login.
        write(first.folder.join(".bashrc"), "evil");
        let own = first.folder.join(".claude.json");
        std::fs::remove_file(&own).unwrap();
        std::fs::write(&own, "of the tool").unwrap();
        at(&own, 2_000);
        first.remove().unwrap();
        assert!(!first.folder.exists());
        let second = next("task_2");
        assert_eq!(read(&second), "of the tool");
        let names = std::fs::read_dir(&second.folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert_eq!(
            names.iter().filter(|name| *name != "Library").collect::<Vec<_>>(),
            [".claude", ".claude.json"]
        );
        // The runner is killed now; the next one finds no home.
        write(second.folder.join("left"), "evil");
        remove_all(&homes);
        assert!(!second.folder.exists());
        at(&owners, 3_000);
        assert_eq!(read(&next("task_2")), "one", "the owner's is newer");
        std::fs::remove_dir_all(base).unwrap();
    }
}
