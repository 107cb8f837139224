//! The inbox of a session of Claude Code: a Unix socket that the session gives to the programs that it starts, with a token.
//! A message there starts a turn, also in a session in which nobody types, and needs no option of the command line.
//!
//! The socket answers nothing. Whether a message has worked shows when the model calls a tool.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

use crate::tool_process::SESSION_INBOX;

const TOKEN: &str = "CLAUDE_CODE_MESSAGING_TOKEN";
/// Time limit of a message, from the connection to its last byte.
const SEND_MAX: Duration = Duration::from_secs(2);

/// An inbox. Its token is never printed.
pub(super) struct SessionInbox {
    socket: PathBuf,
    token: Option<String>,
}

impl fmt::Debug for SessionInbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionInbox").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl SessionInbox {
    /// The inbox of the session that has started this process, if it has one.
    pub(super) fn of_session() -> Option<Self> {
        Self::at(std::env::var_os(SESSION_INBOX)?.into(), std::env::var(TOKEN).ok())
    }

    fn at(socket: PathBuf, token: Option<String>) -> Option<Self> {
        socket.is_absolute().then_some(Self { socket, token })
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Sends a message. Claude Code shows it as that of another session, on which the model may act: so it must be a fixed
    /// text.
    pub(super) async fn send(&self, text: &str) -> io::Result<()> {
        tokio::time::timeout(SEND_MAX, self.write(text)).await?
    }

    async fn write(&self, text: &str) -> io::Result<()> {
        let mut stream = UnixStream::connect(&self.socket).await?;
        // The path may be that of another user by now, who must not get the token.
        if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the socket is another user's"));
        }
        stream.write_all(frames(self.token.as_deref(), text).as_bytes()).await?;
        stream.shutdown().await
    }
}

/// What is written to the socket: a line each.
fn frames(token: Option<&str>, text: &str) -> String {
    let auth = token.map(|token| format!("{}\n", json!({ "type": "auth", "token": token })));
    let message = json!({ "type": "user", "message": { "role": "user", "content": text } });
    format!("{}{message}\n", auth.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio::net::UnixListener;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tandem-inbox-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[tokio::test]
    async fn a_message_is_two_lines_and_the_end() {
        let folder = folder("lines");
        let listener = UnixListener::bind(folder.join("a.sock")).unwrap();
        let inbox = SessionInbox::at(folder.join("a.sock"), Some("secret-7".into())).unwrap();
        let read = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).await.unwrap();
            said
        };
        let (sent, said) = tokio::join!(inbox.send("Tandem: \"1\" new task\n."), read);
        sent.unwrap();
        let expected = "{\"type\":\"auth\",\"token\":\"secret-7\"}\n\
                        {\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Tandem: \\\"1\\\" new task\\n.\"}}\n";
        assert_eq!(said, expected);
        assert!(!format!("{inbox:?}").contains("secret"), "the token is not for logs");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_session_that_is_gone_or_does_not_read_is_an_error_in_time() {
        assert!(SessionInbox::at("relative.sock".into(), None).is_none());
        let folder = folder("gone");
        let gone = SessionInbox::at(folder.join("b.sock"), None).unwrap();
        assert!(gone.send("text").await.is_err());
        // More than the socket holds, so that it has to be read.
        let _listener = UnixListener::bind(folder.join("b.sock")).unwrap();
        let long = "x".repeat(8 * 1024 * 1024);
        assert_eq!(gone.send(&long).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
