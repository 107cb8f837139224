//! `tandem run --install`: a service of the user that runs the same command line, by systemd or launchd.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum as _;

use super::super::{Common, Session};
use super::{Arguments, CONCURRENCY, GRACE, OUTPUT_MAX, TIMEOUT, TRIES, size};
use crate::exit::{Failure, Outcome};
use crate::terminal::time;

/// A service file.
struct Unit {
    path: PathBuf,
    text: String,
    enable: String,
    disable: String,
    /// What else has to be known.
    hint: Option<&'static str>,
}

/// Variables that say where profiles are. A service does not get those of a shell.
const PLACES: [&str; 2] = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// The variables of the service: where programs are, and where profiles are if that is not the usual place.
fn variables() -> Vec<(&'static str, String)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let set = |name: &'static str| {
        let value = std::env::var(name).ok().filter(|value| Path::new(value).is_absolute())?;
        Some((name, value))
    };
    std::iter::once(("PATH", path)).chain(PLACES.into_iter().filter_map(set)).collect()
}

/// Writes the service, or only prints it.
pub(super) fn run(common: &Common, arguments: &Arguments) -> Outcome {
    let (session, name) = profile(common)?;
    let command = command_line(&name, common, arguments)?;
    check(&command, &std::env::current_dir()?)?;
    let unit = unit(&name, &command, arguments.grace)?;
    session.terminal.line(unit.text.trim_end())?;
    if arguments.print {
        return Ok(());
    }
    if let Some(folder) = unit.path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    tandem_disk::replace(&unit.path, unit.text.as_bytes())?;
    session.terminal.note(&format!("\nWrote {}.\nEnable it: {}", unit.path.display(), unit.enable));
    if let Some(hint) = unit.hint {
        session.terminal.note(hint);
    }
    Ok(())
}

/// Removes the service.
pub(super) fn remove(common: &Common) -> Outcome {
    let (session, name) = profile(common)?;
    let unit = unit(&name, &[], Duration::ZERO)?;
    match std::fs::remove_file(&unit.path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::not_found(format!("there is no service {}", unit.path.display())))
        }
        Err(error) => Err(error.into()),
        Ok(()) => {
            session.terminal.note(&format!("Removed {}.\nIf it runs: {}", unit.path.display(), unit.disable));
            Ok(())
        }
    }
}

fn profile(common: &Common) -> Outcome<(Session, String)> {
    let session = Session::open(common)?;
    let name = session.profile.as_ref().map(|profile| profile.name.clone());
    let name = name.ok_or_else(|| Failure::usage("a service needs a profile, and TANDEM_KEY has none"))?;
    Ok((session, name))
}

/// The command line of the service: this one, with the agent and without what is about the service.
fn command_line(profile: &str, common: &Common, arguments: &Arguments) -> Outcome<Vec<String>> {
    let mut words = vec![std::env::current_exe()?.display().to_string(), "run".to_owned()];
    let mut option = |name: &str, value: Option<&str>| match value {
        // Such a value would be taken for an option of its own.
        Some(value) if value.starts_with('-') => words.push(format!("{name}={value}")),
        value => words.extend([Some(name), value].into_iter().flatten().map(str::to_owned)),
    };
    option("--agent", Some(profile));
    let mut is_wanted = |name: &str, is_set: bool| {
        if is_set {
            option(name, None);
        }
    };
    is_wanted("--json", common.json);
    is_wanted("--quiet", common.quiet);
    is_wanted("--from-anyone-connected", arguments.from_anyone_connected);
    is_wanted("--keep-folders", arguments.keep_folders);
    is_wanted("--share-errors", arguments.share_errors);
    arguments.from.iter().for_each(|from| option("--from", Some(from)));
    if arguments.concurrency != CONCURRENCY {
        option("--concurrency", Some(&arguments.concurrency.to_string()));
    }
    for (name, time, default) in
        [("--timeout", arguments.timeout, TIMEOUT), ("--grace", arguments.grace, GRACE)]
    {
        if time::duration(default) != Ok(time) {
            option(name, Some(&format!("{}s", time.as_secs())));
        }
    }
    if size(OUTPUT_MAX) != Ok(arguments.output_max) {
        option("--output-max", Some(&arguments.output_max.to_string()));
    }
    if arguments.tries != TRIES {
        option("--tries", Some(&arguments.tries.to_string()));
    }
    if let Some(folder) = &arguments.folder {
        option("--folder", Some(utf8(folder.as_os_str())?));
    }
    if let Some(recipe) = arguments.recipe.and_then(|recipe| recipe.to_possible_value()) {
        option("--recipe", Some(recipe.get_name()));
    }
    if !arguments.command.is_empty() {
        words.push("--".to_owned());
    }
    for word in &arguments.command {
        words.push(utf8(word)?.to_owned());
    }
    Ok(words)
}

fn utf8(word: &OsStr) -> Outcome<&str> {
    word.to_str().ok_or_else(|| Failure::usage(format!("{} is not valid UTF-8", word.display())))
}

/// Refuses what a service file cannot say. Line ends and tabs can be said in words of the command, which are quoted.
fn check(command: &[String], folder: &Path) -> Outcome {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let refused = |what: &str| Err(Failure::usage(format!("{what} has a control character")));
    if command.iter().any(|word| word.contains(is_odd)) {
        return refused("a word of the command");
    }
    if utf8(folder.as_os_str())?.contains(char::is_control) {
        return refused("the name of the current folder");
    }
    match variables().iter().find(|(_, value)| value.contains(char::is_control)) {
        Some((name, _)) => refused(name),
        None => Ok(()),
    }
}

fn home() -> Outcome<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    home.ok_or_else(|| Failure::refused("HOME is not set, so there is no place for a service"))
}

#[cfg(target_os = "macos")]
fn unit(profile: &str, command: &[String], grace: Duration) -> Outcome<Unit> {
    let label = format!("dev.tandem.run.{profile}");
    let path = home()?.join("Library/LaunchAgents").join(format!("{label}.plist"));
    let shown = path.display().to_string();
    Ok(Unit {
        text: launchd(&label, command, &std::env::current_dir()?, stop_seconds(grace)),
        enable: format!("launchctl load -w {}", quoted(&shown)),
        disable: format!("launchctl remove {}", quoted(&label)),
        hint: None,
        path,
    })
}

#[cfg(not(target_os = "macos"))]
fn unit(profile: &str, command: &[String], grace: Duration) -> Outcome<Unit> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.map_or_else(|| home().map(|home| home.join(".config")), Ok)?;
    let name = format!("tandem-run-{profile}.service");
    Ok(Unit {
        path: config.join("systemd/user").join(&name),
        text: systemd(profile, command, &std::env::current_dir()?, stop_seconds(grace)),
        enable: format!("systemctl --user daemon-reload && systemctl --user enable --now {}", quoted(&name)),
        disable: format!("systemctl --user disable --now {}", quoted(&name)),
        hint: Some(
            "It runs while you are logged in. To let it run from the start of the machine: loginctl enable-linger",
        ),
    })
}

/// How long the system waits for the end of the runner before it kills it: longer than the runner needs.
fn stop_seconds(grace: Duration) -> u64 {
    grace.as_secs().saturating_add(30)
}

/// A user unit of systemd.
#[cfg_attr(target_os = "macos", expect(dead_code, reason = "macOS has launchd"))]
fn systemd(profile: &str, command: &[String], folder: &Path, stop_seconds: u64) -> String {
    let words: Vec<String> = command.iter().map(|word| in_unit(word, true)).collect();
    let variables = variables().into_iter();
    let variables: String = variables
        .map(|(name, value)| format!("Environment={}\n", in_unit(&format!("{name}={value}"), false)))
        .collect();
    format!(
        "[Unit]\nDescription=Tandem runner of {}\nAfter=network-online.target\n\n[Service]\nExecStart={}\n\
         WorkingDirectory={}\n{variables}Restart=always\nRestartSec=5\nKillMode=mixed\nTimeoutStopSec={stop_seconds}\n\n\
         [Install]\nWantedBy=default.target\n",
        profile.replace('%', "%%"),
        words.join(" "),
        in_path(folder),
    )
}

/// A folder in a unit, which is not quoted: systemd would take off a space at the end, and go on in the next line after a
/// backslash.
fn in_path(folder: &Path) -> String {
    let folder = folder.display().to_string().replace('%', "%%");
    if folder.ends_with(|c: char| c == '\\' || c.is_whitespace()) { folder + "/" } else { folder }
}

/// A word in a unit: quoted, with what systemd would replace doubled.
fn in_unit(word: &str, is_command: bool) -> String {
    let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    let word = word.replace('\n', "\\n").replace('\t', "\\t");
    let word = if is_command { word.replace('$', "$$") } else { word };
    format!("\"{word}\"")
}

/// A launch agent of macOS.
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "only macOS has launchd"))]
fn launchd(label: &str, command: &[String], folder: &Path, stop_seconds: u64) -> String {
    let xml = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let words: String = command.iter().map(|word| format!("    <string>{}</string>\n", xml(word))).collect();
    let variables = variables().into_iter();
    let variables: String = variables
        .map(|(name, value)| format!("    <key>{name}</key>\n    <string>{}</string>\n", xml(&value)))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n  \
         <key>Label</key>\n  <string>{}</string>\n  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
         <key>WorkingDirectory</key>\n  <string>{}</string>\n  <key>EnvironmentVariables</key>\n  <dict>\n\
         {variables}  </dict>\n  <key>KeepAlive</key>\n  <true/>\n  \
         <key>RunAtLoad</key>\n  <true/>\n  <key>ExitTimeOut</key>\n  <integer>{stop_seconds}</integer>\n</dict>\n</plist>\n",
        xml(label),
        xml(&folder.display().to_string()),
    )
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
