//! The app server of Codex, which runs the sessions of a user unless they were started with `--no-daemon`. It takes commands at a
//! Unix socket, as JSON-RPC messages of a WebSocket, and one of them starts a turn in a session that is open. It also reaches
//! a session in which nothing has been said yet, of which `codex queue` knows nothing.
//!
//! Which session has started this process, the server does not say before the first tool call. Until then it is one that works
//! in the same folder.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::geteuid;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::codex::is_codex;
use crate::tool_process::ToolProcess;

/// Time limit from the connection to the answer that the turn has started.
const START_MAX: Duration = Duration::from_secs(5);
/// Sessions that are looked at, the newest first.
const SESSIONS_MAX: usize = 20;
/// More than a message of the server has here; it tells every client what happens in its sessions.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The socket of a server whose address is not named, below the folder of Codex.
const SOCKET: &str = "app-server-control/app-server-control.sock";
const SCHEME: &str = "unix://";

/// The server that has started this process.
#[derive(Debug)]
pub(super) struct CodexServer {
    socket: PathBuf,
    /// Where this process works, and so its session.
    folder: PathBuf,
}

impl CodexServer {
    pub(super) fn of_session() -> Option<Self> {
        let tool = ToolProcess::find()?;
        tool.program().filter(|program| is_codex(program))?;
        let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
        let own = tool.variable("CODEX_HOME").and_then(absolute);
        let home = own.or_else(|| Some(std::env::home_dir()?.join(".codex")))?;
        Some(Self { socket: socket(&tool.arguments()?, &home)?, folder: std::env::current_dir().ok()? })
    }

    /// Starts a turn in a session that does nothing: the named one, else one of this folder. The text arrives as words of the
    /// user, so it must be a fixed one.
    pub(super) async fn start_turn(&self, session: Option<&str>, text: &str) -> io::Result<()> {
        tokio::time::timeout(START_MAX, self.ask(session, text)).await?
    }

    /// Whether a session of this folder is open and does nothing, so that a turn can be started there.
    pub(super) async fn has_idle_session(&self) -> bool {
        tokio::time::timeout(START_MAX, self.idle_session(None)).await.is_ok_and(|found| found.is_ok())
    }

    async fn idle_session(&self, named: Option<&str>) -> io::Result<(Calls, String)> {
        let mut calls = Calls::connect(&self.socket).await?;
        let client = json!({ "name": "tandem", "version": env!("CARGO_PKG_VERSION") });
        calls.call("initialize", json!({ "clientInfo": client })).await?;
        calls.send(json!({ "method": "initialized" })).await?;
        let session = match named {
            Some(named) => calls.idle(named, None).await?,
            None => calls.idle_in(&self.folder).await?,
        };
        Ok((calls, session.ok_or_else(|| io::Error::other("no session of this folder is idle"))?))
    }

    async fn ask(&self, named: Option<&str>, text: &str) -> io::Result<()> {
        let (mut calls, session) = self.idle_session(named).await?;
        let input = json!([{ "type": "text", "text": text }]);
        calls.call("turn/start", json!({ "threadId": session, "input": input })).await?;
        Ok(())
    }
}

/// The socket at which an app server with these arguments listens; none if it has no socket or is no app server.
fn socket(arguments: &[String], home: &Path) -> Option<PathBuf> {
    arguments.iter().position(|argument| argument == "app-server")?;
    let at = arguments.iter().position(|argument| argument == "--listen")?;
    match arguments.get(at + 1)?.strip_prefix(SCHEME)? {
        "" => Some(home.join(SOCKET)),
        path => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

/// Calls to the server, one after the other.
struct Calls {
    stream: WebSocketStream<UnixStream>,
    last_id: i64,
}

impl Calls {
    async fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket).await?;
        // The path may be that of another user by now, who must not see what is sent.
        if stream.peer_cred()?.uid() != geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the socket is another user's"));
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let connected = tokio_tungstenite::client_async_with_config("ws://localhost/", stream, Some(config));
        let (stream, _) = connected.await.map_err(io::Error::other)?;
        Ok(Self { stream, last_id: 0 })
    }

    async fn send(&mut self, message: Value) -> io::Result<()> {
        self.stream.send(Message::text(message.to_string())).await.map_err(io::Error::other)
    }

    /// The result of a call. What the server says besides is passed over.
    async fn call(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({ "id": id, "method": method, "params": params })).await?;
        loop {
            let message = self.stream.next().await.ok_or(io::ErrorKind::UnexpectedEof)?;
            let Message::Text(text) = message.map_err(io::Error::other)? else { continue };
            let mut answer: Value = serde_json::from_str(text.as_str())?;
            // A question of the server has an id of its own, and a method.
            if answer["id"] != id || answer.get("method").is_some() {
                continue;
            }
            return match answer.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(io::Error::other(format!("{method}: {}", answer["error"]["message"]))),
            };
        }
    }

    /// The newest session that is idle in a folder.
    async fn idle_in(&mut self, folder: &Path) -> io::Result<Option<String>> {
        let list = self.call("thread/loaded/list", json!({})).await?;
        let ids = list["data"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut ids: Vec<String> = ids.map(ToOwned::to_owned).collect();
        // They begin with the time at which they were made.
        ids.sort_unstable_by(|one, other| other.cmp(one));
        for id in ids.iter().take(SESSIONS_MAX) {
            if let Some(idle) = self.idle(id, Some(folder)).await? {
                return Ok(Some(idle));
            }
        }
        Ok(None)
    }

    /// The id if that is a session of a person, in a folder if one is named, and does nothing.
    async fn idle(&mut self, id: &str, folder: Option<&Path>) -> io::Result<Option<String>> {
        let answer = self.call("thread/read", json!({ "threadId": id })).await?;
        let session = &answer["thread"];
        let is_persons = session["ephemeral"] != true && session["parentThreadId"].is_null();
        let is_there = folder.is_none_or(|folder| session["cwd"].as_str().map(Path::new) == Some(folder));
        let is_idle = session["status"]["type"] == "idle";
        Ok((is_persons && is_there && is_idle).then(|| id.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::*;

    const FOLDER: &str = "/home/ada/here";

    fn session(id: &str, folder: &str, status: &str) -> Value {
        json!({ "id": id, "cwd": folder, "status": { "type": status }, "ephemeral": false, "parentThreadId": null })
    }

    /// A server with sessions. Returns the sessions in which a turn was started, and the last text.
    async fn started(name: &str, named: Option<&str>, sessions: Vec<Value>) -> (io::Result<()>, Vec<String>) {
        let folder = std::env::temp_dir().join(format!("tandem-codex-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let listener = UnixListener::bind(folder.join("a.sock")).unwrap();
        let serve = async {
            let mut turns = Vec::new();
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = tokio_tungstenite::accept_async(stream).await.unwrap();
            while let Some(Ok(Message::Text(text))) = stream.next().await {
                let call: Value = serde_json::from_str(&text).unwrap();
                let asked = &call["params"]["threadId"];
                let found = sessions.iter().find(|session| session["id"] == *asked);
                let result = match call["method"].as_str().unwrap() {
                    "initialized" => continue,
                    "initialize" => json!({}),
                    "thread/loaded/list" => {
                        let ids: Vec<&Value> = sessions.iter().map(|session| &session["id"]).collect();
                        json!({ "data": ids })
                    }
                    "thread/read" => json!({ "thread": found }),
                    "turn/start" => {
                        let text = call["params"]["input"][0]["text"].as_str().unwrap();
                        turns.push(format!("{}: {text}", asked.as_str().unwrap()));
                        json!({ "turn": {} })
                    }
                    other => panic!("{other}"),
                };
                // What happens elsewhere, and a question with the same id.
                for noise in
                    [json!({ "method": "thread/started" }), json!({ "id": call["id"], "method": "x" })]
                {
                    stream.send(Message::text(noise.to_string())).await.unwrap();
                }
                let answer = json!({ "id": call["id"], "result": result });
                stream.send(Message::text(answer.to_string())).await.unwrap();
            }
            turns
        };
        let server = CodexServer { socket: folder.join("a.sock"), folder: FOLDER.into() };
        let asked = async { server.start_turn(named, "Tandem: 1 new task.").await };
        let (asked, turns) = tokio::join!(asked, serve);
        std::fs::remove_dir_all(folder).unwrap();
        (asked, turns)
    }

    #[tokio::test]
    async fn a_turn_starts_in_the_newest_idle_session_of_the_folder() {
        let mut title = session("09", FOLDER, "idle");
        title["ephemeral"] = json!(true);
        let mut helper = session("08", FOLDER, "idle");
        helper["parentThreadId"] = json!("01");
        let sessions = vec![
            session("01", FOLDER, "idle"),
            session("05", FOLDER, "idle"),
            session("06", FOLDER, "active"),
            session("07", "/home/ada/elsewhere", "idle"),
            helper,
            title,
        ];
        let (asked, turns) = started("newest", None, sessions.clone()).await;
        asked.unwrap();
        assert_eq!(turns, ["05: Tandem: 1 new task."]);
        // Once its session is known, no other one is taken, and its folder does not matter.
        let (asked, turns) = started("named", Some("07"), sessions.clone()).await;
        asked.unwrap();
        assert_eq!(turns, ["07: Tandem: 1 new task."]);
        let (asked, turns) = started("active", Some("06"), sessions).await;
        assert!(asked.is_err() && turns.is_empty(), "a turn runs already");
        let (asked, turns) = started("none", None, vec![session("07", "/home/ada/elsewhere", "idle")]).await;
        assert!(asked.is_err() && turns.is_empty());
    }

    #[tokio::test]
    async fn a_server_that_is_gone_is_an_error() {
        let server = CodexServer { socket: "/nonexistent/a.sock".into(), folder: FOLDER.into() };
        assert!(server.start_turn(None, "text").await.is_err());
    }

    #[test]
    fn the_socket_is_where_the_arguments_say() {
        let socket = |line: &str| {
            let words: Vec<String> = line.split(' ').map(ToOwned::to_owned).collect();
            socket(&words, Path::new("/home/.codex"))
        };
        let usual = Some(PathBuf::from("/home/.codex/app-server-control/app-server-control.sock"));
        assert_eq!(socket("codex app-server --listen unix:// --analytics-default-enabled"), usual);
        assert_eq!(socket("codex app-server --listen unix:///run/a.sock"), Some("/run/a.sock".into()));
        for without in ["codex app-server", "codex app-server --listen ws://127.0.0.1:1", "codex --no-daemon"]
        {
            assert_eq!(socket(without), None, "{without}");
        }
    }
}
