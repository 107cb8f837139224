//! A NATS server of a test's own, which the test can kill and start again.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A NATS server.
#[derive(Debug)]
pub struct Nats {
    port: u16,
    child: Option<Child>,
}

impl Nats {
    pub fn start() -> Self {
        let mut server = Self { port: lasting_port(), child: None };
        server.resume();
        server
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again, on the same port.
    pub fn resume(&mut self) {
        let usual = PathBuf::from("/usr/sbin/nats-server");
        let program = if usual.exists() { usual } else { "nats-server".into() };
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string()]);
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.child = Some(started.expect("nats-server is installed: scripts/with-nats installs it"));
    }
}

/// A port that nobody else takes while the server is killed: it is below those that the system gives out, and each test is
/// a process with another number.
fn lasting_port() -> u16 {
    let first = 10_000 + u16::try_from(std::process::id() % 20_000).unwrap();
    (first..32_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a port is free")
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
