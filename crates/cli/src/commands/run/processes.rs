//! Workers as processes: their group is ended as a whole, also by the next runner if this one was killed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};
use serde::{Deserialize, Serialize};
use tandem_core::text::SessionKey;
use tokio::process::Child;
use tokio::time::{sleep, timeout};

/// The variable by which a worker is known as one of a runner.
pub(super) const RUNNER: &str = "TANDEM_RUNNER";
/// Time to end after SIGTERM, before SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(5);
/// How long strays of a worker that has ended are looked for, and the pause in between: one may start another while it is
/// killed.
pub(super) const STRAYS_MAX: Duration = Duration::from_secs(1);
const PASS_PAUSE: Duration = Duration::from_millis(20);
/// How long a runner waits for the end of what an earlier one left behind.
pub(super) const LEFT_OVERS_MAX: Duration = Duration::from_secs(10);
/// More parents than any process has.
const PARENTS_MAX: usize = 1_000;

/// A process, told from a later one with the same number by the time at which it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProcessId {
    pub(super) pid: i32,
    /// In clock ticks since the machine started; none where the system does not say.
    started: Option<u64>,
    /// Which start of the machine that was.
    #[serde(default)]
    boot: Option<String>,
}

impl ProcessId {
    pub(super) fn of(pid: i32) -> Self {
        Self { pid, started: started(pid), boot: boot() }
    }

    /// Whether the process can be told from a later one.
    fn is_known(&self) -> bool {
        self.started.is_some() && self.boot.is_some()
    }
}

/// Whether a process has not ended. One that is not known well counts as running if there is one with its number.
pub(super) fn is_running(process: &ProcessId) -> bool {
    if !process.is_known() {
        return Pid::from_raw(process.pid).is_some_and(|pid| test_kill_process(pid).is_ok());
    }
    // A zombie has ended, even if nobody asks how.
    let has_ended = field::<char>(process.pid, 0).is_none_or(|state| matches!(state, 'Z' | 'X'));
    !has_ended && ProcessId::of(process.pid) == *process
}

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
    pub(super) fn id(&self) -> Option<ProcessId> {
        Some(ProcessId::of(self.0?.as_raw_nonzero().get()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Kills the group of a worker that a runner left behind, if it is still the same process. Returns whether it has ended: a
/// process that waits for a disk can outlive its kill.
pub(super) async fn end_left_over(worker: &ProcessId) -> bool {
    if !worker.is_known() || !is_running(worker) {
        return true;
    }
    if let Some(group) = Pid::from_raw(worker.pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let ended = async {
        while is_running(worker) {
            sleep(PASS_PAUSE).await;
        }
    };
    timeout(LEFT_OVERS_MAX, ended).await.is_ok()
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
/// workers that a runner had no time to write down, and processes that left the group of their worker. Returns whether they
/// are gone.
///
/// This process and its parents are never killed: a worker may have started them.
pub(super) async fn end_strays(marks: &[String], max: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < max {
        let marks = marks.to_vec();
        let killed = tokio::task::spawn_blocking(move || kill_marked(&marks)).await;
        if killed.unwrap_or_default() == 0 {
            return true;
        }
        sleep(PASS_PAUSE).await;
    }
    false
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

#[cfg(test)]
mod tests {
    use super::*;

    /// It has no variable by which it could be found.
    #[tokio::test]
    async fn what_a_runner_left_behind_has_ended_before_the_next_one_goes_on() {
        let mut child = tokio::process::Command::new("sh")
            .args(["-c", "trap '' TERM; sleep 600"])
            .env_clear()
            .process_group(0)
            .spawn()
            .unwrap();
        let worker = Group::of(&child).id().unwrap();
        assert!(is_running(&worker));
        assert!(end_left_over(&worker).await);
        assert!(!is_running(&worker), "a zombie does not run");
        child.wait().await.unwrap();
        let other =
            ProcessId { started: Some(1), ..ProcessId::of(i32::try_from(std::process::id()).unwrap()) };
        assert!(
            !is_running(&other) && end_left_over(&other).await,
            "another process with its number is left alone"
        );
    }
}
