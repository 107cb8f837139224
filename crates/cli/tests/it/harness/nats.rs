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
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { port, child: None };
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

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
