//! Workers as processes: their group is ended as a whole, also by the next runner if this one was killed.

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tandem_core::text::SessionKey;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

use super::journal::WorkerId;

/// The variable by which a worker is known as one of a runner.
pub(super) const RUNNER: &str = "TANDEM_RUNNER";
/// Time to end after SIGTERM, before SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(5);
/// How often strays are looked for, and the pause in between: one may start another while it is killed.
const PASSES_MAX: usize = 50;
const PASS_PAUSE: Duration = Duration::from_millis(20);
/// More parents than any process has.
const PARENTS_MAX: usize = 1_000;

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
        Some(WorkerId { pid, started: started(pid), boot: boot() })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Kills the group of a worker that a runner left behind, if it is still the same process.
pub(super) fn end_left_over(worker: &WorkerId) {
    let is_known = worker.started.is_some() && worker.boot.is_some();
    let is_same = is_known && started(worker.pid) == worker.started && boot() == worker.boot;
    if let Some(group) = Pid::from_raw(worker.pid).filter(|_| is_same) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Whether this process has inherited the variable of the runner's workers: a worker started it, or it comes from a shell
/// in which somebody tries a worker out. What else was started there has the variable too and is nobody's stray.
pub(super) fn is_marked(runner: &SessionKey) -> bool {
    std::env::var_os(RUNNER).is_some_and(|inherited| inherited == runner.as_str())
}

/// The variable of all workers of a runner, as [`end_strays`] takes it.
pub(super) fn mark(runner: &SessionKey) -> String {
    format!("{RUNNER}={runner}")
}

/// Kills the processes that have all these variables (`NAME=value`) in the environment with which they were started:
/// workers that a runner had no time to write down, and processes that left the group of their worker. Returns when they
/// are gone.
///
/// This process and its parents are never killed: a worker may have started them.
pub(super) async fn end_strays(marks: &[String]) {
    for _ in 0..PASSES_MAX {
        let marks = marks.to_vec();
        let killed = tokio::task::spawn_blocking(move || kill_marked(&marks)).await;
        if killed.unwrap_or_default() == 0 {
            return;
        }
        sleep(PASS_PAUSE).await;
    }
}

/// Kills what is marked, and says how many processes that were.
fn kill_marked(marks: &[String]) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let spared = own_line();
    let mut killed = 0;
    for process in processes.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(pid) = pid.filter(|pid| !spared.contains(pid)) else { continue };
        // That of a process which has ended is empty.
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let has = |mark: &String| environment.split(|byte| *byte == 0).any(|found| found == mark.as_bytes());
        if let Some(pid) = Pid::from_raw(pid).filter(|_| marks.iter().all(has)) {
            killed += usize::from(rustix::process::kill_process(pid, Signal::KILL).is_ok());
        }
    }
    killed
}

/// This process and its parents.
fn own_line() -> HashSet<i32> {
    let mut line = HashSet::new();
    let mut next = i32::try_from(std::process::id()).ok();
    while let Some(pid) = next.filter(|pid| *pid > 0 && line.len() < PARENTS_MAX) {
        if !line.insert(pid) {
            break;
        }
        next = field(pid, 1);
    }
    line
}

/// When a process started, in clock ticks since the machine did.
fn started(pid: i32) -> Option<u64> {
    field(pid, 19)
}

/// A field of a process's line in /proc, counted from its state.
fn field<T: std::str::FromStr>(pid: i32, number: usize) -> Option<T> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in brackets and can contain anything.
    line.rsplit_once(')')?.1.split_whitespace().nth(number)?.parse().ok()
}

/// Which start of the machine this is: after the next one, the same numbers are other processes.
fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}
