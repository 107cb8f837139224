//! Wakes an open session of Codex with `codex queue`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::tool_process::ToolProcess;

/// It takes half a second.
const QUEUE_MAX: Duration = Duration::from_secs(20);

/// Queues a message for a thread. It arrives as words of the user, so it must be a fixed text. Whether it worked shows
/// when the model calls a tool.
pub(super) async fn queue(thread: &str, message: &str) {
    // An id is no option of the command.
    if thread.starts_with('-') {
        return;
    }
    let mut command = Command::new(program());
    command.args(["queue", "--thread", thread, "--message", message]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if let Ok(mut child) = command.spawn() {
        let _ = tokio::time::timeout(QUEUE_MAX, child.wait()).await;
    }
}

/// The program that started this process, if it is Codex; else the one on the path.
fn program() -> PathBuf {
    let tool = ToolProcess::find().and_then(ToolProcess::program);
    tool.filter(|path| is_codex(path)).unwrap_or_else(|| "codex".into())
}

pub(super) fn is_codex(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("codex"))
}
