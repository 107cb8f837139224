//! PostgreSQL and NATS as private child processes, for measurements and fault tests on several nodes.

mod nats;
mod postgres;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpSocket;
use tokio::process::Child;

pub use nats::Nats;
pub use postgres::{Postgres, Shutdown};

/// How long a service may take to stop before it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);

/// A port of the loopback for a server that is another process, also while that does not run. The socket has the address and
/// never listens: the system gives the port to nobody who wants just any, and a server that names it may listen there.
#[derive(Debug)]
pub struct ReservedPort {
    _socket: TcpSocket,
    address: SocketAddr,
}

impl ReservedPort {
    pub fn new() -> anyhow::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        // What servers do too: without it on both sides there is one socket to an address.
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let address = socket.local_addr()?;
        Ok(Self { _socket: socket, address })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Sends a signal to a child process that has not been waited for.
pub fn signal(child: &Child, signal: Signal) -> anyhow::Result<()> {
    let id = child.id().context("the process has ended")?;
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("not a process id")?;
    kill_process(pid, signal).context("cannot signal a process")
}

/// Signals a child and waits for its end without a runtime: for `Drop`.
#[expect(clippy::disallowed_methods, reason = "nothing can be awaited while something is dropped")]
fn end_blocking(child: &mut Child, with: Signal) {
    if signal(child, with).is_err() {
        return;
    }
    let until = Instant::now() + STOP_MAX;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Finds a program in `PATH` or in one of the folders where Debian installs it.
fn find_program(name: &str, folders: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).chain(folders.iter().cloned());
    candidates
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
        .with_context(|| format!("{name} is not installed"))
}

/// Opens the log of a service for appending.
fn log_file(path: &Path) -> anyhow::Result<std::fs::File> {
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))
}
