//! A NATS server of a test's own, which the test can kill and start again.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tokio::net::TcpSocket;

/// A NATS server.
#[derive(Debug)]
pub struct Nats {
    port: TcpSocket,
    child: Option<Child>,
}

impl Nats {
    pub fn start() -> Self {
        let mut server = Self { port: reserved(), child: None };
        server.resume();
        server
    }

    pub fn url(&self) -> String {
        format!("nats://{}", self.port.local_addr().unwrap())
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
        command.args(["-a", "127.0.0.1", "-p", &self.port.local_addr().unwrap().port().to_string()]);
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.child = Some(started.expect("nats-server is installed: scripts/with-nats installs it"));
    }
}

/// A port that nobody else gets, also while the server is killed: the socket has the address and never listens, and a server
/// that names the port may do so.
fn reserved() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
