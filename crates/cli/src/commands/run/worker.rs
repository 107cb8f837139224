//! Runs one worker: no shell, a group of its own, limits on time and output.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::Stop;
use super::processes::{Group, ProcessId, STRAYS_MAX, end_strays};
use super::worker_home::{REMOVED, WorkerHome};

/// Lines of standard error that are kept, and bytes of each.
const LINES_MAX: usize = 20;
const LINE_BYTES_MAX: u64 = 4_096;
/// Bytes of a variable. No plain title and no name of an agent is longer.
const VARIABLE_BYTES_MAX: usize = 4_096;
/// Bytes of output that are read at once.
const PIECE_BYTES: usize = 16 * 1024;
/// Time for the rest of the output after the worker has ended. All that it wrote is in the pipes by then; more time
/// passes only if a process that was not found holds them open.
const REST_MAX: Duration = Duration::from_secs(5);

/// A worker to start.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) command: Vec<OsString>,
    pub(super) variables: Vec<(&'static str, String)>,
    /// The home of the worker, if it has one of its own.
    pub(super) home: Option<WorkerHome>,
    /// Variables by which the processes of this run are recognised, as `NAME=value`.
    pub(super) marks: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) input: Vec<u8>,
    pub(super) time_max: Duration,
    pub(super) output_max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Exited(i32),
    /// Killed by a signal that was not the runner's.
    Killed(i32),
    TimedOut,
    TooMuchOutput,
    /// Ended because nobody wants its result any more, or the runner stops.
    Stopped,
}

#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    /// The last lines of standard error.
    pub(super) errors: Vec<String>,
}

/// What a worker says about its progress.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) percent: Option<i64>,
    pub(super) note: Option<String>,
}

/// A task that reads or writes a pipe of a worker. It ends when this is dropped: a process that nobody found can hold a pipe
/// open for ever.
struct PipeTask(JoinHandle<()>);

impl PipeTask {
    fn start(work: impl Future<Output = ()> + 'static) -> Self {
        Self(tokio::task::spawn_local(work.boxed_local()))
    }
}

impl Drop for PipeTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs a worker to its end. `started` gets its process before anything else happens.
pub(super) async fn run(
    job: Job,
    started: impl FnOnce(Option<ProcessId>),
    progress: watch::Sender<Progress>,
    mut stop: watch::Receiver<Stop>,
) -> std::io::Result<Ended> {
    let deadline = Instant::now() + job.time_max;
    let mut child = command(&job)?.spawn()?;
    let group = Group::of(&child);
    started(group.id());
    let Job { input, marks, output_max, .. } = job;
    let stdin = child.stdin.take();
    let _input = PipeTask::start(async move {
        if let Some(mut stdin) = stdin {
            // A worker that does not read its input has closed it.
            let _ = stdin.write_all(&input).await;
        }
    });
    // What was read is there even if the reading does not end.
    let (stdout, lines) = (Rc::<RefCell<Vec<u8>>>::default(), Rc::<RefCell<VecDeque<String>>>::default());
    let mut output = PipeTask::start(read_output(child.stdout.take(), output_max, Rc::clone(&stdout)));
    let mut errors = PipeTask::start(read_errors(child.stderr.take(), progress, Rc::clone(&lines)));
    let mut is_read = false;
    let end = loop {
        let end = tokio::select! {
            status = child.wait() => break exited(status?),
            _ = &mut output.0, if !is_read => {
                is_read = true;
                if stdout.borrow().len() <= output_max {
                    continue;
                }
                End::TooMuchOutput
            }
            () = sleep_until(deadline) => End::TimedOut,
            () = stopped(&mut stop) => End::Stopped,
        };
        group.end(&mut child).await;
        break end;
    };
    // What it left behind would keep the pipes open, and work beside the next run.
    drop(group);
    end_strays(&marks, STRAYS_MAX).await;
    let rest = async {
        if !is_read {
            let _ = (&mut output.0).await;
        }
        let _ = (&mut errors.0).await;
    };
    let _ = timeout(REST_MAX, rest).await;
    drop((output, errors));
    let (mut stdout, errors) = (stdout.take(), lines.take().into());
    let is_too_much = stdout.len() > output_max;
    stdout.truncate(output_max);
    // The limit counts for one that has ended by itself too.
    let end = if is_too_much && matches!(end, End::Exited(_)) { End::TooMuchOutput } else { end };
    Ok(Ended { end, stdout, errors })
}

/// The command in a group of its own. Of the `TANDEM_*` variables it gets those of the job only: others can be keys and
/// tokens of its owner. All other variables stay, because a tool finds its own keys there.
fn command(job: &Job) -> std::io::Result<Command> {
    let Some((program, arguments)) = job.command.split_first() else {
        return Err(std::io::Error::other("no command"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&job.folder).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().to_ascii_uppercase().starts_with(b"TANDEM_") {
            command.env_remove(name);
        }
    }
    command.envs(job.variables.iter().map(|(name, value)| (name, variable(value))));
    if let Some(home) = &job.home {
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs(home.variables.iter().map(|(name, value)| (name, value)));
    }
    Ok(command)
}

/// What a variable can hold. It cannot contain NUL, and the system starts no program with a longer one than 128 KiB; an
/// encrypted title can be longer. The whole is on standard input.
fn variable(value: &str) -> String {
    value[..value.floor_char_boundary(VARIABLE_BYTES_MAX)].replace('\0', "\u{fffd}")
}

fn exited(status: std::process::ExitStatus) -> End {
    match status.code() {
        Some(code) => End::Exited(code),
        None => End::Killed(status.signal().unwrap_or_default()),
    }
}

/// Returns when the worker is to be ended.
async fn stopped(stop: &mut watch::Receiver<Stop>) {
    // The sender lives as long as the runner.
    if stop.wait_for(|stop| *stop != Stop::No).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Reads the output, up to one piece more than allowed.
async fn read_output(from: Option<impl AsyncRead + Unpin>, max: usize, into: Rc<RefCell<Vec<u8>>>) {
    let Some(mut from) = from else { return };
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        let mut bytes = into.borrow_mut();
        bytes.extend_from_slice(&piece[..count]);
        if bytes.len() > max {
            return;
        }
    }
}

/// Reads standard error: progress, and the last lines of the rest.
async fn read_errors(
    from: Option<impl AsyncRead + Unpin>,
    progress: watch::Sender<Progress>,
    into: Rc<RefCell<VecDeque<String>>>,
) {
    let Some(from) = from else { return };
    let mut reader = BufReader::new(from);
    loop {
        let mut bytes = Vec::new();
        // A longer line is taken for several.
        let read = (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes).await;
        if !read.is_ok_and(|count| count > 0) {
            return;
        }
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if let Some(said) = line.strip_prefix("::progress") {
            progress.send_replace(parse_progress(said));
            continue;
        }
        let mut kept = into.borrow_mut();
        kept.push_back(line);
        if kept.len() > LINES_MAX {
            kept.pop_front();
        }
    }
}

/// ` 40 half of it` is 40 percent with a note; a note alone is fine too.
fn parse_progress(said: &str) -> Progress {
    let said = said.trim();
    let (first, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    let percent =
        first.trim_end_matches('%').parse::<i64>().ok().filter(|percent| (0..=100).contains(percent));
    let note = if percent.is_some() { rest } else { said }.trim();
    let note: String = note.chars().filter(|c| !c.is_control()).take(200).collect();
    Progress { percent, note: (!note.is_empty()).then_some(note) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(command: &[&str], title: String) -> Job {
        Job {
            command: command.iter().map(OsString::from).collect(),
            variables: vec![("TANDEM_TASK_TITLE", title)],
            home: None,
            marks: vec!["TANDEM_RUNNER=of-this-test-alone".into()],
            folder: std::env::temp_dir(),
            input: Vec::new(),
            time_max: Duration::from_secs(20),
            output_max: 100_000,
        }
    }

    async fn run_job(job: Job) -> std::io::Result<Ended> {
        let (_stop, stopping) = watch::channel(Stop::No);
        let local = tokio::task::LocalSet::new();
        let progress = watch::Sender::new(Progress::default());
        local.run_until(Box::pin(run(job, |_| {}, progress, stopping))).await
    }

    #[tokio::test]
    async fn a_title_that_no_variable_can_hold_is_cut() {
        let print = ["sh", "-c", "printf %s \"$TANDEM_TASK_TITLE\""];
        let ended = run_job(job(&print, "ü".repeat(140_000))).await.unwrap();
        assert_eq!(
            (ended.end, String::from_utf8(ended.stdout).unwrap()),
            (End::Exited(0), "ü".repeat(2_048))
        );
        let ended = run_job(job(&print, format!("a\0b{}", "x".repeat(4_000)))).await.unwrap();
        assert_eq!(String::from_utf8(ended.stdout).unwrap(), format!("a\u{fffd}b{}", "x".repeat(4_000)));
    }
}
