//! Measured programs run as child processes, which end when the bench ends.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use hyper::Method;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::connection::Connection;
use super::workload::request;

/// How long a program may take until it listens. Long, because a database may have to be recovered.
const START_MAX: Duration = Duration::from_secs(60);

/// A temporary folder, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A new folder in `parent`, or in the system's folder for temporary files.
    pub(super) fn new(parent: Option<&Path>, name: &str) -> anyhow::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let unique = tandem_app::keys::random_hex::<4>();
        let path = parent.join(format!("tandem-bench-{name}-{}-{unique}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A process that is just ending may still create a file.
        let gone = (0..3).any(|_| std::fs::remove_dir_all(&self.0).is_ok());
        if !gone && self.0.exists() {
            eprintln!("tandem-bench: could not remove {}", self.0.display());
        }
    }
}

/// A running program that answers HTTP.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) address: SocketAddr,
    /// From the start of the process to its first answer.
    pub(super) first_answer: Duration,
}

impl Process {
    /// Starts a bare server, which is this program with other arguments.
    pub(super) async fn start_bare(arguments: &[String], folder: &Path) -> anyhow::Result<Self> {
        let binary = std::env::current_exe().context("cannot find this program")?;
        Self::start(&binary, arguments, folder).await
    }

    /// Starts a program in `folder`, and waits for its first answer.
    pub(super) async fn start(binary: &Path, arguments: &[String], folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(binary);
        // The user's settings must not change what is measured.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TANDEM_"))
        {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(folder).env("TANDEM_LOG", "error");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {}", binary.display()))?;
        let address = tokio::time::timeout(START_MAX, listening(&mut child))
            .await
            .with_context(|| format!("it did not listen within {} s", START_MAX.as_secs()))??;
        let (status, _) = Connection::open(address)
            .await?
            .ask(request(Method::GET, "/health", None, String::new()))
            .await?;
        if status != 200 {
            bail!("its first answer was {status}");
        }
        Ok(Self { child, address, first_answer: started.elapsed() })
    }

    /// Its memory in megabytes, if the system tells.
    pub(super) fn memory_mb(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
        Some(kib * 1_024.0 / 1_000_000.0)
    }

    /// The processor time it has used, if the system tells.
    pub(super) fn cpu_seconds(&self) -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()?)).ok()?;
        Some(ticks(&stat, 2)?.iter().sum())
    }

    /// Ends it at once, and waits until it is gone.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("cannot stop a process of the bench")
    }
}

/// Waits for the line with the address that a program listens on.
async fn listening(child: &mut Child) -> anyhow::Result<SocketAddr> {
    let output = child.stdout.take().context("its output was not caught")?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(url) = line.strip_prefix("Listening") {
            let address = url.trim().trim_start_matches("http://").parse()?;
            // Further output must not fill the pipe and block the program.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok(address);
        }
    }
    bail!("it ended before it listened: {}", child.wait().await?)
}

/// How much processor time other programs used meanwhile: it affects every figure, and nothing else shows it.
#[derive(Debug)]
pub(super) struct OtherPrograms {
    begun: Instant,
    busy: f64,
    own: f64,
}

impl OtherPrograms {
    /// Begins to watch, if the system tells.
    pub(super) fn watch() -> Option<Self> {
        let (busy, own) = cpu_seconds()?;
        Some(Self { begun: Instant::now(), busy, own })
    }

    /// How many cores they used since then. To be called when all processes of the bench have ended: only then is
    /// their share known.
    pub(super) fn cores(&self) -> Option<f64> {
        let (busy, own) = cpu_seconds()?;
        let foreign = (busy - self.busy) - (own - self.own);
        Some((foreign / self.begun.elapsed().as_secs_f64()).max(0.0))
    }
}

/// Processor time of all programs, and of this one with its ended children.
fn cpu_seconds() -> Option<(f64, f64)> {
    let all = std::fs::read_to_string("/proc/stat").ok()?;
    // user, nice, system, then idle and waiting, then interrupts of both kinds.
    let fields: Vec<f64> = all.lines().next()?.split_whitespace().skip(1).filter_map(seconds).collect();
    let busy = fields.get(..3)?.iter().chain(fields.get(5..7)?).sum();
    let own = std::fs::read_to_string("/proc/self/stat").ok()?;
    Some((busy, ticks(&own, 4)?.iter().sum()))
}

/// Seconds of user and system time of a process and, with four of them, of its ended children too. The name in
/// brackets may hold spaces; user time is the 12th field after it.
fn ticks(stat: &str, count: usize) -> Option<Vec<f64>> {
    let fields = stat.rsplit(')').next()?.split_whitespace().skip(11).take(count);
    fields.map(seconds).collect()
}

/// Linux counts in hundredths of a second.
fn seconds(ticks: &str) -> Option<f64> {
    ticks.parse::<f64>().ok().map(|ticks| ticks / 100.0)
}
