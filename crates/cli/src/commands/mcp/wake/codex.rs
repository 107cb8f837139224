//! Wakes an open session of Codex with `codex queue`.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

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
    parent().filter(|path| is_codex(path)).unwrap_or_else(|| "codex".into())
}

fn is_codex(path: &std::path::Path) -> bool {
    path.file_stem().is_some_and(|name| name.to_string_lossy().starts_with("codex"))
}

#[cfg(target_os = "linux")]
fn parent() -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok()
}

/// Other systems do not say which program it is.
#[cfg(not(target_os = "linux"))]
fn parent() -> Option<PathBuf> {
    None
}
