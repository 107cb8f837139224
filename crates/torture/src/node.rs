//! A node as a child process: started, killed, frozen and woken.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::Signal;
use tandem_bench::services::{ReservedPort, signal};
use tokio::process::{Child, Command};

use crate::http;

/// How long a node may take until it is ready, the migration and the recovery of its database included.
const READY_MAX: Duration = Duration::from_secs(90);
/// The same on all nodes.
const ADMIN_TOKEN: &str = "torture-operator-token-0123456789";
/// Settings without which a node refuses this load or its webhooks.
const SETTINGS: [&str; 8] = [
    "rate_limit_max=0",
    "rate_limit_register_max=0",
    "max_messages_per_minute=0",
    "pair_attempts_max=0",
    "webhook_allow_http=1",
    "webhook_allow_private=1",
    "check_in_seconds=0",
    "max_connections_per_address=10000",
];

/// The program, the folders and the services of a node.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) tandem: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) database: String,
    /// None for a single node.
    pub(crate) bus: Option<String>,
    /// Shared by all nodes.
    pub(crate) files: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) number: usize,
    pub(crate) address: SocketAddr,
    /// Nobody else gets it while the node does not run.
    _port: ReservedPort,
    places: Places,
    child: Mutex<Option<Child>>,
    /// When the last fault that concerned this node ended; the start counts.
    settled_at: Mutex<Option<Instant>>,
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    /// A node that is not started yet, on a port that it keeps.
    pub(crate) fn new(number: usize, places: Places) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&places.folder)?;
        let port = ReservedPort::new()?;
        let address = port.address();
        let (child, settled_at) = Default::default();
        Ok(Self { number, address, _port: port, places, child, settled_at })
    }

    /// Starts the process with its clock off by so many milliseconds.
    pub(crate) fn start(&self, clock_offset_ms: i64) -> anyhow::Result<()> {
        let mut command = Command::new(&self.places.tandem);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TANDEM_"))
        {
            command.env_remove(name);
        }
        let address = self.address.to_string();
        command.args(["serve", "--listen", &address, "--admin-token", ADMIN_TOKEN]);
        command.arg("--data").arg(&self.places.folder).args(["--database", &self.places.database]);
        if let Some(bus) = &self.places.bus {
            command.args(["--bus", bus, "--advertise", &address]);
            command.arg("--shared-files").arg(&self.places.files);
        }
        for setting in SETTINGS {
            command.args(["--set", setting]);
        }
        let log = self.places.folder.join("node.log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&log)?;
        command.env("TANDEM_LOG", "warn").env("TANDEM_TEST_CLOCK_OFFSET_MS", clock_offset_ms.to_string());
        command.current_dir(&self.places.folder).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.kill_on_drop(true).spawn().context("cannot start a node")?;
        *lock(&self.child) = Some(child);
        Ok(())
    }

    /// Waits until the node says that it is ready.
    pub(crate) async fn ready(&self) -> anyhow::Result<()> {
        let until = Instant::now() + READY_MAX;
        while !http::is_ready(self.address).await {
            if let Some(child) = lock(&self.child).as_mut()
                && let Some(status) = child.try_wait()?
            {
                bail!("node {} ended by itself with {status}:\n{}", self.number, self.log_end());
            }
            if Instant::now() > until {
                let seconds = READY_MAX.as_secs();
                bail!("node {} was not ready within {seconds} s:\n{}", self.number, self.log_end());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Kills it with SIGKILL.
    pub(crate) async fn kill(&self) -> anyhow::Result<()> {
        let child = lock(&self.child).take();
        match child {
            Some(mut child) => child.kill().await.context("cannot kill a node"),
            None => Ok(()),
        }
    }

    /// Stops its process from running, without its knowledge.
    pub(crate) fn freeze(&self) -> anyhow::Result<()> {
        self.signal(Signal::STOP)
    }

    pub(crate) fn wake(&self) -> anyhow::Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, with: Signal) -> anyhow::Result<()> {
        match lock(&self.child).as_ref() {
            Some(child) => signal(child, with),
            None => Ok(()),
        }
    }

    /// Marks the beginning of a fault that concerns this node.
    pub(crate) fn begin_fault(&self) {
        *lock(&self.settled_at) = None;
    }

    pub(crate) fn end_fault(&self) {
        *lock(&self.settled_at) = Some(Instant::now());
    }

    /// Whether no fault has concerned this node for so long.
    pub(crate) fn is_settled_for(&self, time: Duration) -> bool {
        lock(&self.settled_at).is_some_and(|since| since.elapsed() >= time)
    }

    /// The last lines of its log.
    pub(crate) fn log_end(&self) -> String {
        let text = std::fs::read_to_string(self.places.folder.join("node.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}
