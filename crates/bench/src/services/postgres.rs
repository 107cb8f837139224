//! A private PostgreSQL whose commits are durable: `fsync` stays on.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::Signal;
use tokio::process::{Child, Command};
use tokio_postgres::NoTls;

use super::{ReservedPort, end_blocking, find_program, log_file, signal};

/// How long it may take until it answers, recovery included.
const START_MAX: Duration = Duration::from_secs(60);
/// How long it may take to stop.
const STOP_MAX: Duration = Duration::from_secs(60);
/// The user that Debian's package makes. PostgreSQL refuses to run as root.
const OWNER: &str = "postgres";
/// Checkpoints are kept out of short measurements: one that is caused by one server's rows would slow down the next.
const SETTINGS: [&str; 7] = [
    "listen_addresses=127.0.0.1",
    "max_connections=300",
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "max_wal_size=8GB",
    "checkpoint_timeout=30min",
];

/// How the server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Ends every connection and rolls back what is open.
    Fast,
    /// Ends at once, as in a crash; the next start recovers.
    Immediate,
}

/// A running PostgreSQL on a data folder of its own, which ends with its owner.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: ReservedPort,
    owner: Option<(u32, u32)>,
    child: Option<Child>,
}

impl Postgres {
    /// Creates a cluster in a new folder below `parent` and starts it on a free port of the loopback.
    pub async fn start(parent: &Path) -> anyhow::Result<Self> {
        let initdb = find_program("initdb", &installed()).context("apt-get install postgresql")?;
        let programs = initdb.parent().context("initdb has no folder")?.to_path_buf();
        let folder = parent.join("postgres");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let owner = if rustix::process::geteuid().is_root() { Some(owner()?) } else { None };
        if let Some((user, group)) = owner {
            std::os::unix::fs::chown(&folder, Some(user), Some(group))?;
        }
        let mut server = Self { programs, folder, port: ReservedPort::new()?, owner, child: None };
        server.create().await?;
        server.start_again().await?;
        Ok(server)
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.address().port()
    }

    /// The URL of its database at another port, such as that of a proxy.
    #[must_use]
    pub fn url_at(&self, port: u16) -> String {
        format!("postgres://tandem@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    /// The URL of its database.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_at(self.port())
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command.current_dir(&self.folder).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn create(&self) -> anyhow::Result<()> {
        let mut command = self.program("initdb");
        command.arg("-D").arg(self.folder.join("data"));
        command.args(["-U", "tandem", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]);
        let made = command.output().await.context("cannot run initdb")?;
        if !made.status.success() {
            bail!("initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        }
        Ok(())
    }

    /// Starts it on the same data and port after it was stopped, and waits until it answers.
    pub async fn start_again(&mut self) -> anyhow::Result<()> {
        let log = self.folder.join("server.log");
        let output = log_file(&log)?;
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        command.args(["-p", &self.port().to_string()]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.stdout(output.try_clone()?).stderr(output);
        let mut child = command.spawn().context("cannot start postgres")?;
        let until = Instant::now() + START_MAX;
        while self.ask("select 1").await.is_err() {
            if child.try_wait()?.is_some() || Instant::now() > until {
                let text = std::fs::read_to_string(&log).unwrap_or_default();
                bail!("PostgreSQL did not start:\n{text}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.child = Some(child);
        Ok(())
    }

    /// Stops it and waits until it is gone.
    pub async fn stop(&mut self, how: Shutdown) -> anyhow::Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let with = match how {
            Shutdown::Fast => Signal::INT,
            Shutdown::Immediate => Signal::QUIT,
        };
        signal(&child, with)?;
        tokio::time::timeout(STOP_MAX, child.wait()).await.context("PostgreSQL did not stop")??;
        Ok(())
    }

    /// Runs a statement on a connection of its own.
    pub async fn ask(&self, sql: &str) -> anyhow::Result<()> {
        let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await?;
        let driver = tokio::spawn(connection);
        client.batch_execute(sql).await?;
        drop(client);
        Ok(driver.await??)
    }

    /// The processor time of all its processes so far, if the system tells.
    #[must_use]
    pub fn cpu_seconds(&self) -> Option<f64> {
        let main = self.child.as_ref()?.id()?;
        let mut sum = 0.0;
        for entry in std::fs::read_dir("/proc").ok()?.flatten() {
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            let Some((id, rest)) = stat.split_once(' ') else { continue };
            let fields: Vec<&str> = rest.rsplit(')').next()?.split_whitespace().collect();
            let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
            let own = id.parse() == Ok(main);
            if own || fields.get(1).is_some_and(|parent| parent.parse() == Ok(main)) {
                // User and system time; of the main process also that of its ended children.
                let until = if own { 15 } else { 13 };
                sum += (11..until).filter_map(ticks).sum::<f64>();
            }
        }
        // Linux counts in hundredths of a second.
        Some(sum / 100.0)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end_blocking(child, Signal::QUIT);
        }
    }
}

/// Debian keeps the programs of each version in a folder of its own; the newest first.
fn installed() -> Vec<PathBuf> {
    let found = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = found
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort_by_key(|version| std::cmp::Reverse(version.0));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

/// The user and group that PostgreSQL runs as.
fn owner() -> anyhow::Result<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    users
        .lines()
        .find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            (*fields.first()? == OWNER).then_some(())?;
            Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
        })
        .with_context(|| format!("there is no user {OWNER}, and PostgreSQL refuses to run as root"))
}
