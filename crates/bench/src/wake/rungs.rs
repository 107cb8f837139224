//! The programs that wake an agent.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixListener;
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::{SURFACED_MAX, Scene};

/// The variable with which Claude Code names the inbox of a session.
const SESSION_INBOX: &str = "CLAUDE_CODE_MESSAGING_SOCKET";

/// A rung that pushes, or a way of one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rung {
    Runner,
    Hook,
    Channel,
    SessionInbox,
}

impl Rung {
    pub(super) const ALL: [Self; 4] = [Self::Runner, Self::Hook, Self::Channel, Self::SessionInbox];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Runner => "runner",
            Self::Hook => "hook",
            Self::Channel => "channel",
            Self::SessionInbox => "inbox",
        }
    }

    /// The times in milliseconds.
    pub(super) async fn measure(self, scene: &Scene<'_>, tasks: usize) -> anyhow::Result<Vec<f64>> {
        let mut times = Vec::with_capacity(tasks);
        scene.is_alone().await?;
        match self {
            Self::Runner => {
                let from = ["run", "--agent", "target", "--from-anyone-connected", "--", "true"];
                let mut runner = scene.command(&from).spawn()?;
                scene.is_connected().await?;
                for _ in 0..tasks {
                    let task = scene.task().await?;
                    times.push(scene.surfaced(&task, self.name()).await?);
                }
                runner.kill().await?;
            }
            Self::Hook => {
                for number in 0..tasks {
                    times.push(hook(scene, number).await?);
                }
            }
            Self::Channel | Self::SessionInbox => {
                let inbox = matches!(self, Self::SessionInbox).then(|| scene.home().join("s.sock"));
                let mut bridge = Bridge::start(scene, inbox.as_deref()).await?;
                scene.is_connected().await?;
                for number in 0..tasks {
                    times.push(bridge.notified(scene, number).await?);
                }
                bridge.child.kill().await?;
            }
        }
        Ok(times)
    }
}

/// Waits for a message about a task in the inbox of the session.
async fn message(inbox: &UnixListener, task: &str) -> anyhow::Result<()> {
    let read = async {
        loop {
            let (mut stream, _) = inbox.accept().await?;
            let mut said = String::new();
            stream.read_to_string(&mut said).await?;
            if said.contains(task) {
                return anyhow::Ok(());
            }
        }
    };
    tokio::time::timeout(SURFACED_MAX, read).await.context("no message came in time")?
}

/// Starts a waiting hook as Claude Code does, and wakes it.
async fn hook(scene: &Scene<'_>, number: usize) -> anyhow::Result<f64> {
    let mut hook = scene.command(&["hook", "--agent", "target", "--tool", "claude", "--wait"]);
    hook.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut hook = hook.spawn()?;
    let event = json!({ "session_id": format!("bench-{number}"), "hook_event_name": "Stop" });
    let mut input = hook.stdin.take().context("its input was not caught")?;
    input.write_all(event.to_string().as_bytes()).await?;
    drop(input);
    scene.is_connected().await?;
    let task = scene.task().await?;
    let took = scene.surfaced(&task, Rung::Hook.name()).await?;
    match hook.wait().await?.code() {
        Some(2) => {}
        code => bail!("the hook ended with {code:?}"),
    }
    scene.cancel(&task).await?;
    scene.is_alone().await?;
    Ok(took)
}

/// The bridge, with a client that says it is Claude Code. Its session has an inbox or takes channels.
struct Bridge {
    inbox: Option<UnixListener>,
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Bridge {
    async fn start(scene: &Scene<'_>, socket: Option<&Path>) -> anyhow::Result<Self> {
        let mut command = scene.command(&["mcp", "--agent", "target"]);
        command.env_remove(SESSION_INBOX).envs(socket.map(|socket| (SESSION_INBOX, socket)));
        let inbox = socket.map(UnixListener::bind).transpose()?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let input = child.stdin.take().context("its input was not caught")?;
        let output = child.stdout.take().context("its output was not caught")?;
        let mut bridge = Self { inbox, child, input, output: BufReader::new(output).lines() };
        let client = json!({ "name": "claude-code", "version": "2.1.327" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        bridge.send(json!({ "id": 0, "method": "initialize", "params": hello })).await?;
        bridge.next(|message| message["id"] == 0).await?;
        bridge.send(json!({ "method": "notifications/initialized" })).await?;
        Ok(bridge)
    }

    async fn send(&mut self, mut message: Value) -> anyhow::Result<()> {
        message["jsonrpc"] = "2.0".into();
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }

    async fn next(&mut self, wanted: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let read = async {
            while let Some(line) = self.output.next_line().await? {
                let message: Value = serde_json::from_str(&line)?;
                if wanted(&message) {
                    return Ok(message);
                }
            }
            bail!("the bridge has ended")
        };
        tokio::time::timeout(SURFACED_MAX, read).await.context("the bridge did not answer in time")?
    }

    /// From the answer to the sender until the notification. The model then reads the task, which confirms it.
    async fn notified(&mut self, scene: &Scene<'_>, number: usize) -> anyhow::Result<f64> {
        let task = scene.task().await?;
        let answered = Instant::now();
        match &self.inbox {
            Some(inbox) => message(inbox, &task).await?,
            None => {
                let is_note = |message: &Value| message["method"] == "notifications/claude/channel";
                self.next(|message| is_note(message) && message.to_string().contains(&task)).await?;
            }
        }
        let took = answered.elapsed().as_secs_f64() * 1_000.0;
        let call = json!({ "name": "get_task", "arguments": { "taskId": task } });
        self.send(json!({ "id": number + 1, "method": "tools/call", "params": call })).await?;
        self.next(|message| message["id"] == number + 1).await?;
        scene.surfaced(&task, Rung::Channel.name()).await?;
        scene.cancel(&task).await?;
        Ok(took)
    }
}
