//! The command line as a person uses it: the built binary, in a home of its own, against a hub of the test.

mod accounts;
mod exits;
mod file_names;
mod files;
mod help;
mod hostile;
pub mod lost;
mod naming;
mod ops;
mod output;
mod pairing;
pub mod pty;
mod readme;
mod remembering;
mod sealed;
mod secrets;
mod trust;
mod written;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::harness::{Harness, PATIENCE};

/// A public key that belongs to nobody.
const TEST_KEY_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/keys/rsa2048.pub.pem");

/// A private key that no agent of a test has, as PEM.
fn foreign_key() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../seal/tests/vectors/keys.json");
    let keys: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    keys["keys"]["cyd"]["private"].as_str().unwrap().to_owned()
}

/// A user: a home folder with profiles, and the hub that commands call.
#[derive(Debug)]
pub struct Cli {
    pub home: PathBuf,
    hub: String,
    /// More variables for every command.
    pub variables: Vec<(String, String)>,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Cli {
    /// A user who has never run a command. `TANDEM_HUB` is the hub of the test.
    pub fn new(harness: &Harness) -> Self {
        Self::at(&format!("http://{}", harness.client.address))
    }

    pub fn at(hub: &str) -> Self {
        let home = std::env::temp_dir().join(format!("tandem_home_{}", tandem_app::keys::random_hex::<8>()));
        std::fs::create_dir_all(&home).unwrap();
        Self { home, hub: hub.to_owned(), variables: Vec::new() }
    }

    /// The folder of the profiles.
    pub fn config(&self) -> PathBuf {
        self.home.join("config/tandem")
    }

    /// A command with the environment of this user, and nothing of the outside but what a process needs.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TANDEM_") {
                command.env_remove(name);
            }
        }
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("TANDEM_HUB", &self.hub)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command to its end.
    pub async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, b"").await
    }

    /// Runs a command with something on its standard input.
    pub async fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that does not read its input has closed it.
        let _ = stdin.write_all(input).await;
        drop(stdin);
        let ended = tokio::time::timeout(PATIENCE * 3, child.wait_with_output());
        Ran::new(ended.await.unwrap_or_else(|_| panic!("{arguments:?} does not end")).unwrap())
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> impl Future<Output = Ran> {
        let caller = std::panic::Location::caller();
        async move {
            let ran = self.run(arguments).await;
            assert_eq!(ran.code, 0, "{arguments:?} at {caller}: {ran:?}");
            ran
        }
    }

    /// Runs a command with `--json` that must succeed, and parses its one line.
    pub async fn json(&self, arguments: &[&str]) -> Value {
        self.ok(&[arguments, &["--json"]].concat()).await.json()
    }

    /// Two connected agents of this user, `ada` and `bob`; commands act as ada.
    pub async fn pair(harness: &Harness) -> Self {
        let cli = Self::new(harness);
        cli.register("bob").await;
        cli.register("ada").await;
        let code = cli.json(&["pair", "--no-wait"]).await;
        cli.ok(&["pair", code["code"].as_str().unwrap(), "--agent", "bob"]).await;
        cli
    }

    /// Sends a task from ada to bob and gives its id.
    pub async fn task(&self, more: &[&str]) -> String {
        let sent = self.json(&[&["send", "bob", "Review the API"], more].concat()).await;
        sent["id"].as_str().unwrap().to_owned()
    }

    /// Makes the profile and agent of a name, without the seconds that a key takes.
    pub async fn register(&self, name: &str) -> Value {
        self.json(&["register", name, "--no-encryption"]).await
    }
}

impl Drop for Cli {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

impl Ran {
    fn new(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The one line of JSON that was printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The lines of JSON that were printed.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {self:?}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Asserts a failure: its exit code, and a text in its message.
    #[track_caller]
    pub fn failed(&self, code: i32, with: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.stderr.contains(with), "no {with:?} in {self:?}");
    }
}

/// The permission bits of a file or folder.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap_or_else(|why| panic!("{}: {why}", path.display())).permissions().mode()
        & 0o777
}
