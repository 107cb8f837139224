//! Workers as processes: their group is ended as a whole, also by the next runner if this one was killed.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;
use tokio::time::timeout;

use super::journal::WorkerId;

/// Time to end after SIGTERM, before SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(5);

/// The process group of a worker. When it is dropped, what is left of the group is killed.
#[derive(Debug)]
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // It may have ended already.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Asks the group to end, and kills it if it does not.
    pub(super) async fn end(&self, child: &mut Child) {
        self.signal(Signal::TERM);
        if timeout(TERM_GRACE, child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            let _ = child.wait().await;
        }
        self.signal(Signal::KILL);
    }

    /// The worker, for the journal.
    pub(super) fn id(&self) -> Option<WorkerId> {
        let pid = self.0?.as_raw_nonzero().get();
        Some(WorkerId { pid, started: started(pid) })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Kills the group of a worker that a runner left behind, if it is still the same process.
pub(super) fn end_left_over(worker: WorkerId) {
    let is_same = worker.started.is_some() && started(worker.pid) == worker.started;
    if let Some(group) = Pid::from_raw(worker.pid).filter(|_| is_same) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills what was started by a runner of this id and is still there: workers that it had no time to write down, and
/// processes that left the group of their worker.
pub(super) fn end_strays(runner: &str) {
    let mark = format!("TANDEM_RUNNER={runner}");
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let is_ours = environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        if let Some(pid) = Pid::from_raw(pid).filter(|_| is_ours) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

/// When a process started, in clock ticks since the machine did: the 22nd field of its line in /proc.
fn started(pid: i32) -> Option<u64> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in brackets and can contain anything.
    line.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}
