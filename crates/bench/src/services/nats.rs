//! A private nats-server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::Signal;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::{ReservedPort, end_blocking, find_program, log_file};

/// How long it may take until it accepts connections.
const START_MAX: Duration = Duration::from_secs(20);

/// A running nats-server, which ends with its owner.
#[derive(Debug)]
pub struct Nats {
    program: PathBuf,
    log: PathBuf,
    port: ReservedPort,
    child: Option<Child>,
}

impl Nats {
    /// Starts one on a free port of the loopback. Its log is written to `folder`.
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        let program = find_program("nats-server", &["/usr/sbin".into(), "/usr/local/bin".into()])
            .context("apt-get install nats-server")?;
        let mut nats =
            Self { program, log: folder.join("nats.log"), port: ReservedPort::new()?, child: None };
        nats.start_again().await?;
        Ok(nats)
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.address().port()
    }

    /// The URL for nodes.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port())
    }

    /// Starts it on the same port after it was killed.
    pub async fn start_again(&mut self) -> anyhow::Result<()> {
        let log = log_file(&self.log)?;
        let mut command = Command::new(&self.program);
        command.args(["--addr", "127.0.0.1", "--port", &self.port().to_string()]);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start nats-server")?;
        let until = Instant::now() + START_MAX;
        while TcpStream::connect(self.port.address()).await.is_err() {
            if child.try_wait()?.is_some() || Instant::now() > until {
                bail!("nats-server did not start; see {}", self.log.display());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.child = Some(child);
        Ok(())
    }

    /// Kills it with SIGKILL.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        match self.child.take() {
            Some(mut child) => child.kill().await.context("cannot kill nats-server"),
            None => Ok(()),
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end_blocking(child, Signal::KILL);
        }
    }
}
