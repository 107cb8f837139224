//! Profiles: the agents of this user, one file each, in the configuration folder.
//!
//! `agents/NAME.toml` contains the API key, so it has mode 0600 and is refused if others could read it. Next to it are
//! `NAME.pem`, the private key for encryption, `NAME.pins`, the public keys of other agents as first used, `NAME.seen.d`, the
//! record of encrypted messages and files that were read, `NAME.whsec`, the secret of its webhooks, and, while it is being
//! registered, `NAME.pending`, the key that the hub may know. `current` names the profile that commands use. What a profile
//! remembers between commands (the last task, cursors) is in the state folder; programs that run for the agent keep their
//! files in `NAME.d` there.

mod files;
mod pending;
mod state;
mod wake_limit;
mod wake_lock;

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tandem_client::HubUrl;
use tandem_core::AgentId;
use tandem_disk::{read_regular, remove_abandoned};
use tandem_seal::{Fingerprint, PrivateKey};

use crate::exit::{Failure, Outcome};
use crate::terminal::text;
pub(crate) use files::{create_private, read_secret, try_lock, write_secret};
pub(crate) use pending::Pending;
pub(crate) use state::State;
pub(crate) use wake_limit::WakeLimit;
pub(crate) use wake_lock::{TakenLock, WakeLock, Woken};

/// More than any profile has.
const PROFILE_BYTES: usize = 4_096;
/// Sessions whose bridges can be known at the same time.
const MARKS_MAX: u64 = 256;

/// An agent of this user.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// The name of the profile; commands select it with `--agent`.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) hub: String,
    pub(crate) agent_id: AgentId,
    /// The name that others see.
    pub(crate) agent_name: String,
    pub(crate) api_key: String,
    /// A key that a rotation has sent to the hub without hearing back: either of the two is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next_api_key: Option<String>,
}

impl Profile {
    pub(crate) fn hub_url(&self) -> Outcome<HubUrl> {
        self.hub.parse().map_err(|cause| Failure::refused(format!("profile {}: {cause}", self.name)))
    }

    /// The command that logs this profile in again. It names the hub, so that a key is not sent to another one.
    pub(crate) fn login_command(&self) -> String {
        format!("tandem login --hub {} --as {}", text::line(&self.hub), self.name)
    }

    /// The profile as JSON, with the hub that commands call. Without its API key.
    pub(crate) fn view(&self, hub: &str, fingerprint: Option<&Fingerprint>) -> serde_json::Value {
        serde_json::json!({
            "profile": self.name,
            "agentId": self.agent_id,
            "agentName": self.agent_name,
            "hub": hub,
            "fingerprint": fingerprint.map(|fingerprint| fingerprint.hex()),
        })
    }
}

/// The profiles in the configuration folder.
#[derive(Debug, Clone)]
pub(crate) struct Profiles {
    folder: PathBuf,
    state: PathBuf,
}

impl Profiles {
    /// The folders of this user: `$XDG_CONFIG_HOME/tandem` and `$XDG_STATE_HOME/tandem`.
    pub(crate) fn of_user() -> Outcome<Self> {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let place = |variable: &str, usual: &str| {
            let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            set.or_else(|| Some(home.as_ref()?.join(usual))).map(|path| path.join("tandem"))
        };
        match (place("XDG_CONFIG_HOME", ".config"), place("XDG_STATE_HOME", ".local/state")) {
            (Some(folder), Some(state)) => Ok(Self { folder, state }),
            _ => Err(Failure::refused(
                "neither HOME nor XDG_CONFIG_HOME is set, so there is no place for profiles",
            )),
        }
    }

    fn file(&self, name: &str, suffix: &str) -> PathBuf {
        self.folder.join("agents").join(format!("{name}.{suffix}"))
    }

    pub(crate) fn file_of(&self, name: &str) -> PathBuf {
        self.file(name, "toml")
    }

    /// The file of a profile's private key.
    pub(crate) fn key_file(&self, name: &str) -> PathBuf {
        self.file(name, "pem")
    }

    /// The file of the public keys that a profile has seen.
    pub(crate) fn pins_file(&self, name: &str) -> PathBuf {
        self.file(name, "pins")
    }

    /// The file of the secret that signs a profile's webhooks.
    pub(crate) fn webhook_secret_file(&self, name: &str) -> PathBuf {
        self.file(name, "whsec")
    }

    /// The configuration folder.
    pub(crate) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// What a profile remembers between commands.
    pub(crate) fn state(&self, name: &str) -> State {
        State::at(self.state.join(format!("{name}.json")))
    }

    /// The folder for files of programs that run for a profile. It may not exist yet.
    pub(crate) fn state_folder(&self, name: &str) -> PathBuf {
        self.state.join(format!("{name}.d"))
    }

    /// Takes the right to wake an agent's model.
    pub(crate) fn lock_wake(&self, name: &str) -> TakenLock {
        WakeLock::take(self.state_folder(name).join("wake.lock"))
    }

    /// What models of an agent were woken for, without taking the right to wake them.
    pub(crate) fn woken(&self, name: &str) -> Option<Woken> {
        Woken::read(&self.state_folder(name).join("wake.lock"))
    }

    /// Says to the hooks of a session that a bridge wakes the session by its inbox, until the file is closed. `None` if another
    /// bridge does so, or if there can be no such file.
    pub(crate) fn mark_inbox(&self, name: &str, socket: &Path) -> Option<File> {
        try_lock(&self.inbox_mark(name, socket)).ok().flatten()
    }

    /// Whether a bridge wakes a session by its inbox.
    pub(crate) fn is_inbox_marked(&self, name: &str, socket: &Path) -> bool {
        let file = self.inbox_mark(name, socket);
        file.exists() && try_lock(&file).is_ok_and(|lock| lock.is_none())
    }

    /// The number of such files is limited, so two sessions can share one; then the hook of one comes later than it could.
    fn inbox_mark(&self, name: &str, socket: &Path) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        socket.hash(&mut hasher);
        self.state_folder(name).join(format!("inbox/{}", hasher.finish() % MARKS_MAX))
    }

    /// How often other agents may wake an agent's model.
    pub(crate) fn wake_limit(&self, name: &str) -> WakeLimit {
        WakeLimit::at(self.state_folder(name).join("wakes.json"))
    }

    /// The names of all profiles, sorted.
    pub(crate) fn names(&self) -> Outcome<Vec<String>> {
        let entries = match std::fs::read_dir(self.folder.join("agents")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let name =
            |entry: std::fs::DirEntry| Some(entry.file_name().to_str()?.strip_suffix(".toml")?.to_owned());
        let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
        names.sort();
        Ok(names)
    }

    pub(crate) fn load(&self, name: &str) -> Outcome<Option<Profile>> {
        check_name(name)?;
        let path = self.file(name, "toml");
        let Some(text) = read_secret(&path, "run `tandem rotate`")? else { return Ok(None) };
        let profile: Profile = toml::from_str(&text)
            .map_err(|cause| Failure::refused(format!("{}: {}", path.display(), cause.message())))?;
        let profile = Profile { name: name.to_owned(), ..profile };
        if profile.hub.contains('@') {
            // Refused here, because many commands show the address and it may have a password.
            profile.hub_url()?;
        }
        Ok(Some(profile))
    }

    /// Writes a profile, replacing an older one. It is what a registration under this name has begun for.
    pub(crate) fn save(&self, profile: &Profile) -> Outcome {
        check_name(&profile.name)?;
        let text = toml::to_string(profile).map_err(|cause| Failure::refused(cause.to_string()))?;
        write_secret(&self.file(&profile.name, "toml"), &text)?;
        self.remove_pending(&profile.name)
    }

    /// Removes a profile from this machine, with its private key and pins.
    pub(crate) fn remove(&self, name: &str) -> Outcome {
        check_name(name)?;
        for suffix in ["toml", "pem", "pins", "pins.lock", "lock", "whsec", "pending"] {
            // A killed command may have left a draft, which has the secret too.
            remove_abandoned(&self.file(name, suffix));
            match std::fs::remove_file(self.file(name, suffix)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        match std::fs::remove_dir_all(self.file(name, "seen.d")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        self.state(name).remove();
        // Nothing in it is needed without the profile.
        let _ = std::fs::remove_dir_all(self.state_folder(name));
        if self.current()?.as_deref() == Some(name) {
            std::fs::remove_file(self.folder.join("current"))?;
        }
        Ok(())
    }

    /// Keeps other commands from making or changing this profile until the file is dropped.
    pub(crate) fn reserve(&self, name: &str) -> Outcome<File> {
        check_name(name)?;
        files::try_lock(&self.file(name, "lock"))?.ok_or_else(|| {
            Failure::refused(format!("another command is just making or changing the profile {name:?}"))
                .next("Try again when it has ended.")
        })
    }

    /// Keeps other commands from changing the files of AI tools until the file is dropped.
    pub(crate) fn reserve_setup(&self) -> Outcome<File> {
        files::try_lock(&self.folder.join("setup.lock"))?.ok_or_else(|| {
            Failure::refused("another `tandem setup` is running").next("Try again when it has ended.")
        })
    }

    /// Shows that a profile of this name can be written, before a hub is asked for something that must not get lost.
    pub(crate) fn check_writable(&self, name: &str) -> Outcome {
        let probe = self.file(name, "probe");
        write_secret(&probe, &"-".repeat(PROFILE_BYTES))?;
        Ok(std::fs::remove_file(probe)?)
    }

    /// Writes a profile's private key, replacing an older one.
    pub(crate) fn save_key(&self, name: &str, key: &PrivateKey) -> Outcome {
        let pem = key.to_pem().map_err(|cause| Failure::refused(cause.to_string()))?;
        write_secret(&self.key_file(name), &pem)
    }

    /// Refuses a private key without a profile: it may be the only copy, so it is not overwritten.
    pub(crate) fn refuse_stray_key(&self, name: &str) -> Outcome {
        let file = self.key_file(name);
        if !file.exists() {
            return Ok(());
        }
        let what = format!("there is a private key without a profile: {}", file.display());
        Err(Failure::refused(what).next("Move it away, or choose another profile name with --as PROFILE."))
    }

    /// The profile that commands use, if one was chosen.
    pub(crate) fn current(&self) -> Outcome<Option<String>> {
        match read_regular(&self.folder.join("current"), PROFILE_BYTES as u64) {
            Ok(name) => {
                let name = String::from_utf8_lossy(&name).trim().to_owned();
                Ok(Some(name).filter(|name| !name.is_empty()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Chooses the profile that commands use.
    pub(crate) fn set_current(&self, name: &str) -> Outcome {
        check_name(name)?;
        write_secret(&self.folder.join("current"), &format!("{name}\n"))
    }

    /// The profile that was named, or the current one, or the only one.
    pub(crate) fn select(&self, named: Option<&str>) -> Outcome<Profile> {
        let chosen = match named {
            Some(name) => Some(name.to_owned()),
            None => self.current()?,
        };
        let names = || self.names().map(|names| names.join(", "));
        if let Some(name) = chosen {
            let found = self.load(&name)?;
            if let (None, Some(begun)) = (&found, self.pending(&name)?) {
                let what = format!("the registration of {name} was not finished");
                return Err(Failure::refused(what).next(begun.next_step(&name)));
            }
            return found.ok_or_else(|| {
                Failure::not_found(format!("there is no profile {name:?} on this machine"))
                    .next("`tandem context list` shows the profiles; `tandem register NAME` makes one.")
            });
        }
        let mut all = self.names()?;
        match (all.pop(), all.is_empty()) {
            (Some(only), true) => self.select(Some(&only)),
            (Some(_), false) => Err(Failure::usage(format!("which agent? You have {}", names()?))
                .next("Choose one with `tandem context use NAME`, or give --agent NAME.")),
            (None, _) => Err(Failure::refused("there is no agent on this machine yet").next(
                "Register one: `tandem register NAME --hub URL`, or `tandem login` with an existing key.",
            )),
        }
    }
}

/// The profile name for an agent's name: what a file name cannot contain becomes `-`.
pub(crate) fn name_of(agent_name: &str) -> String {
    let fit = |c: char| if is_name_char(c) { c } else { '-' };
    let name: String = agent_name.trim().chars().map(fit).collect();
    name.trim_start_matches('.').to_owned()
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')
}

/// Profile names are file names: 1 to 64 characters, none of them special to a file system.
pub(crate) fn check_name(name: &str) -> Outcome {
    if name.is_empty()
        || name.chars().count() > 64
        || name.starts_with('.')
        || !name.chars().all(is_name_char)
    {
        return Err(Failure::usage(format!(
            "{name:?} cannot be the name of a profile: use 1 to 64 letters, digits, -, _, . and +"
        )));
    }
    Ok(())
}
