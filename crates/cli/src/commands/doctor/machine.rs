//! Checks of this machine: profiles, file modes, disk.

use std::path::Path;

use super::Report;
use crate::commands::{Common, Session};
use crate::profiles::Profiles;
use crate::terminal::{text, time};

/// Free space below which a hub soon cannot write.
const FREE_WARNING: u64 = 1_000_000_000;
const FREE_PROBLEM: u64 = 100_000_000;

/// Checks that nobody else can read the secrets in the configuration folder.
pub(super) fn check_profiles(report: &mut Report, profiles: &Profiles) {
    let exposed = exposed_files(&profiles.folder().join("agents"));
    match exposed.as_slice() {
        [] => report.ok("file modes", "nobody else can read your keys"),
        [first, ..] => report.problem(
            "file modes",
            format!("others can read {} of your secrets, such as {first}", exposed.len()),
            format!("`chmod 600 {first}`; if others may have read it, `tandem rotate`"),
        ),
    }
}

fn exposed_files(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_secret = |path: &Path| {
        path.extension().is_some_and(|suffix| ["toml", "pem", "whsec"].iter().any(|known| suffix == *known))
    };
    let is_exposed = |path: &Path| path.metadata().is_ok_and(|found| found.mode() & 0o077 != 0);
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| is_secret(path) && is_exposed(path)).map(|path| path.display().to_string()).collect()
}

/// Checks which agent commands act as.
pub(super) fn check_profile(report: &mut Report, profiles: &Profiles, common: &Common) -> Option<Session> {
    match Session::open(common) {
        Ok(session) => {
            match &session.profile {
                Some(profile) => {
                    let name = text::line(&profile.agent_name);
                    report.ok("profile", format!("{}: {name}, {}", profile.name, profile.agent_id));
                }
                None => report.ok("profile", "the agent of TANDEM_KEY"),
            }
            Some(session)
        }
        Err(_) if common.agent.is_none() && profiles.names().is_ok_and(|names| names.is_empty()) => {
            report.warning(
                "profile",
                "there is no agent on this machine yet",
                "`tandem register NAME`, or `tandem login` with an existing key",
            );
            None
        }
        Err(failure) => {
            report.failure("profile", &failure, "`tandem context list` shows the profiles");
            None
        }
    }
}

/// Checks the free space at a folder, or where it would be created.
pub(super) fn check_disk(report: &mut Report, folder: &Path, check: &'static str, what: &str) {
    let Some((place, free)) = folder.ancestors().find_map(|place| Some((place, free_bytes(place)?))) else {
        return;
    };
    let detail = format!("{} free for {what} ({})", time::bytes(free), place.display());
    match free {
        FREE_WARNING.. => report.ok(check, detail),
        FREE_PROBLEM.. => report.warning(check, detail, "delete files, or use a larger disk"),
        _ => report.problem(check, detail, "delete files, or use a larger disk; on a hub, `tandem gc`"),
    }
}

fn free_bytes(place: &Path) -> Option<u64> {
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    let found = rustix::fs::statvfs(place).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
