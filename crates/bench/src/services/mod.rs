//! PostgreSQL and NATS as private child processes, for measurements and fault tests on several nodes.

mod nats;
mod postgres;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

pub use nats::Nats;
pub use postgres::{Postgres, Shutdown};

/// How long a service may take to stop before it is killed.
const STOP_MAX: Duration = Duration::from_secs(10);

/// A port of the loopback that was free a moment ago, and that is not given again. It is below those that the system gives
/// out, so that nobody takes it before its server is there.
pub fn free_port() -> anyhow::Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + u16::try_from(std::process::id() % 10_000).unwrap_or_default();
    let mut ports = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Relaxed)).take(10_000);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).context("no port is free")
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
