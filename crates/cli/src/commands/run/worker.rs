//! Runs one worker: no shell, a group of its own, limits on time and output.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::Stop;
use super::journal::WorkerId;
use super::processes::Group;

/// Lines of standard error that are kept, and bytes of each.
const LINES_MAX: usize = 20;
const LINE_BYTES_MAX: u64 = 4_096;
/// Time for the rest of the output after the worker has ended.
const REST_MAX: Duration = Duration::from_secs(5);

/// A worker to start.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) command: Vec<OsString>,
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) folder: PathBuf,
    pub(super) input: Vec<u8>,
    pub(super) time_max: Duration,
    pub(super) output_max: usize,
}

/// How a worker ended.
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

/// A worker that has ended.
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

/// Runs a worker to its end. `started` gets its process before anything else happens.
pub(super) async fn run(
    job: Job,
    started: impl FnOnce(Option<WorkerId>),
    progress: watch::Sender<Progress>,
    mut stop: watch::Receiver<Stop>,
) -> std::io::Result<Ended> {
    let deadline = Instant::now() + job.time_max;
    let mut child = command(&job)?.spawn()?;
    let group = Group::of(&child);
    started(group.id());
    if let Some(mut stdin) = child.stdin.take() {
        // A worker that does not read its input has closed it.
        tokio::task::spawn_local(async move {
            let _ = stdin.write_all(&job.input).await;
        });
    }
    let mut output = tokio::task::spawn_local(read_output(child.stdout.take(), job.output_max));
    let mut errors = tokio::task::spawn_local(read_errors(child.stderr.take(), progress));
    let mut read = None;
    let end = loop {
        let end = tokio::select! {
            status = child.wait() => break exited(status?),
            done = &mut output, if read.is_none() => {
                let (bytes, is_too_much) = done.unwrap_or_default();
                read = Some(bytes);
                if !is_too_much {
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
    // What it left behind would keep the pipes open.
    drop(group);
    let (stdout, is_too_much) = match read {
        Some(bytes) => (bytes, false),
        None => timeout(REST_MAX, &mut output).await.ok().and_then(Result::ok).unwrap_or_default(),
    };
    let end = if is_too_much { End::TooMuchOutput } else { end };
    let errors = timeout(REST_MAX, &mut errors).await.ok().and_then(Result::ok).unwrap_or_default();
    Ok(Ended { end, stdout, errors })
}

/// The command in a group of its own, without anything of ours in its environment.
fn command(job: &Job) -> std::io::Result<Command> {
    let Some((program, arguments)) = job.command.split_first() else {
        return Err(std::io::Error::other("no command"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&job.folder).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Keys and addresses of ours are none of its business.
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"TANDEM_") {
            command.env_remove(name);
        }
    }
    command.envs(job.variables.iter().map(|(name, value)| (name, value)));
    Ok(command)
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

/// Reads the output. Also returns whether there is more than allowed.
async fn read_output(from: Option<impl AsyncRead + Unpin>, max: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let _ = from.take(max as u64 + 1).read_to_end(&mut bytes).await;
    }
    let is_too_much = bytes.len() > max;
    bytes.truncate(max);
    (bytes, is_too_much)
}

/// Reads standard error: progress, and the last lines of the rest.
async fn read_errors(from: Option<impl AsyncRead + Unpin>, progress: watch::Sender<Progress>) -> Vec<String> {
    let mut kept = VecDeque::new();
    let Some(from) = from else { return Vec::new() };
    let mut reader = BufReader::new(from);
    loop {
        let mut bytes = Vec::new();
        // A longer line is taken for several.
        let read = (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes).await;
        if !read.is_ok_and(|count| count > 0) {
            return kept.into();
        }
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if let Some(said) = line.strip_prefix("::progress") {
            progress.send_replace(parse_progress(said));
            continue;
        }
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
