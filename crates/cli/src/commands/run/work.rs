//! One run of a worker for a task: its folder and input, heartbeats while it runs, and what its end means.

use std::ffi::OsString;
use std::time::Duration;

use futures_util::FutureExt as _;
use rustix::io::Errno;
use tandem_api::agents::ReportReach;
use tandem_api::tasks::{Heartbeat, TaskView};
use tandem_client::Trust;
use tandem_core::text::Reason;
use tandem_core::wake::Rung;
use tandem_core::{Status, TaskId};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::folder::{Folder, discard};
use super::input::{self, Thread};
use super::journal::{Entry, Phase, ResultKind, WorkResult, file_name};
use super::recipe;
use super::task::{Control, FAILED_PAUSE, Next, Runner, new_key};
use super::worker::{self, End, Ended, Job, Progress};
use super::worker_home::{OwnerHome, WorkerHome};
use super::{Stop, processes};
use crate::exit::Outcome;
use crate::terminal::{text, time};

/// Exit code of a worker that asks a question.
const QUESTION: i32 = 10;
/// Time between heartbeats of a task without a lease.
const HEARTBEAT_EVERY: Duration = Duration::from_secs(30);
const HEARTBEAT_MIN: Duration = Duration::from_millis(300);
/// Failed starts in a row after which a task fails, if nothing but the owner can change that: after two minutes.
const STARTS_MAX: u32 = 8;
/// The pause after the first of them. It doubles.
const START_PAUSE: Duration = Duration::from_secs(1);
/// Pause before a report of progress, so that many lines become one report.
const PROGRESS_PAUSE: Duration = Duration::from_millis(500);

impl Runner {
    /// Runs a worker for a task and delivers what it says.
    pub(super) async fn run_worker(&self, view: &TaskView, entry: Entry, control: &Control) -> Outcome<Next> {
        let (progress, said) = watch::channel(Progress::default());
        tokio::select! {
            next = self.run_once(view, entry, control, progress) => next,
            never = self.watch(view, control, said) => match never {},
        }
    }

    /// Delivers what an earlier run said.
    pub(super) async fn answer_watched(
        &self,
        view: &TaskView,
        entry: &Entry,
        result: &WorkResult,
        control: &Control,
    ) -> Outcome<Next> {
        let (_, said) = watch::channel(Progress::default());
        tokio::select! {
            next = self.answer(view, entry, result, false) => next,
            never = self.watch(view, control, said) => match never {},
        }
    }

    async fn run_once(
        &self,
        view: &TaskView,
        entry: Entry,
        control: &Control,
        progress: watch::Sender<Progress>,
    ) -> Outcome<Next> {
        let command = match self.options.command.current() {
            Ok(command) => command,
            Err(failure) => return self.not_started(view, entry, StartError::lasting(failure.what())).await,
        };
        if entry.keeps_folder {
            self.keep_folder(&view.id);
        }
        let folder = Folder::prepare(self.folder_of(&view.id))?;
        let thread = Thread::read(&self.client, view).await?;
        let before = Entry { keeps_folder: false, ..entry };
        let mut entry = before.clone().starting(new_key()?, thread.newest());
        let task = self.client.open_task(view.clone()).await;
        if let Trust::Unreadable(why) = &task.trust {
            let why = format!("The task cannot be opened: {}", text::line(why));
            return self.ready(view, entry, WorkResult::failed(why)).await;
        }
        let files = folder.fetch(&self.client, &self.me, view, &thread.messages).await?;
        let messages = self.client.open_messages(view, thread.messages).await;
        let json = input::json(&task, &messages, files, entry.runs).map_err(std::io::Error::from)?;
        self.journal.save(&entry)?;
        let home = match self.home(&view.id) {
            Ok(home) => home,
            Err(failure) => return self.not_started(view, before, StartError::lasting(failure.what())).await,
        };
        let job = self.job(&task.view, (command, home.clone()), entry.runs, &folder, json);
        let started = |worker| {
            entry.failed_starts = 0;
            entry.phase = Phase::Started { worker };
            // Without it the worker is found by its variables.
            let _ = self.journal.save(&entry);
            self.surfaced(view.id.clone());
        };
        let ran = worker::run(job, started, progress, control.stop.subscribe()).await;
        // If it cannot be removed now, the next run of the task or the next runner does so.
        let _ = home.map(|home| home.remove());
        match ran {
            Ok(ended) => self.ended(view, entry, &folder, ended, control).await,
            Err(cause) => self.not_started(view, before, StartError::from(&cause)).await,
        }
    }

    /// A worker could not be started. That is not the task's fault, so it is tried again, and other tasks come first; but
    /// not for ever, if nothing changes unless the owner changes it.
    async fn not_started(&self, view: &TaskView, entry: Entry, error: StartError) -> Outcome<Next> {
        let entry = entry.not_started();
        let what = format!("the worker cannot be started: {}", text::line(&error.why));
        self.session.terminal.warn(&format!("{}: {what}", view.id));
        if error.is_lasting && entry.failed_starts >= STARTS_MAX {
            let shared = if self.options.share_errors { format!("\n\n{}", error.why) } else { String::new() };
            let why = format!("The worker could not be started.{shared}");
            return self.fail_without_run(view, entry, why).await;
        }
        let pause = start_pause(entry.failed_starts);
        self.journal.save(&entry)?;
        Ok(Next::Later(pause))
    }

    /// A new home for one run of a recipe.
    fn home(&self, task: &TaskId) -> Outcome<Option<WorkerHome>> {
        let Some(recipe) = self.options.command.recipe else { return Ok(None) };
        let folder = self.homes.join(recipe.name()).join(file_name(task));
        discard(&folder)?;
        Ok(Some(OwnerHome::of_user()?.prepare(recipe, folder)?))
    }

    /// What is started for a task. The view is the opened one: the name of the sender of an encrypted task is the pinned one.
    fn job(
        &self,
        view: &TaskView,
        (command, home): (Vec<OsString>, Option<WorkerHome>),
        run: u32,
        folder: &Folder,
        json: Vec<u8>,
    ) -> Job {
        Job {
            command,
            home,
            variables: vec![
                (processes::RUNNER, self.id.to_string()),
                ("TANDEM_TASK_ID", view.id.to_string()),
                ("TANDEM_TASK_TITLE", view.title.as_str().to_owned()),
                ("TANDEM_FROM_AGENT_ID", view.initiator_agent_id.to_string()),
                ("TANDEM_FROM_AGENT_NAME", view.initiator_agent_name.as_str().to_owned()),
                ("TANDEM_ATTEMPT", view.attempt.to_string()),
                ("TANDEM_RUN", run.to_string()),
                ("TANDEM_FOLDER", folder.0.display().to_string()),
            ],
            marks: vec![processes::mark(&self.id), format!("TANDEM_TASK_ID={}", view.id)],
            folder: folder.0.clone(),
            input: if self.options.command.recipe.is_some() {
                recipe::prompt(&json, view.approval_note.as_ref().map(|note| note.as_str()))
            } else {
                json
            },
            time_max: self.options.timeout,
            output_max: self.options.output_max,
        }
    }

    /// Tells the hub that a worker has the task.
    fn surfaced(&self, task: TaskId) {
        let client = self.client.clone();
        tokio::task::spawn_local(
            async move {
                // Nothing depends on it.
                let _ = client.report_reach(&ReportReach::surfaced(Rung::Runner, vec![task])).await;
            }
            .boxed_local(),
        );
    }

    /// While a worker runs, and while its files are on their way: heartbeats, progress, and whether the task is still this
    /// runner's.
    async fn watch(
        &self,
        view: &TaskView,
        control: &Control,
        mut said: watch::Receiver<Progress>,
    ) -> std::convert::Infallible {
        let lease = view.lease_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let every = lease.map_or(HEARTBEAT_EVERY, |seconds| Duration::from_secs(seconds) / 3);
        // A hub that names no time at all must not be asked all the time.
        let mut beat = interval(every.max(HEARTBEAT_MIN));
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let client = self.client.clone().with_patience(Duration::ZERO);
        let is_plain = matches!(self.client.is_encrypted(view), Ok(false));
        loop {
            tokio::select! {
                _ = beat.tick() => {}
                Ok(()) = said.changed() => sleep(PROGRESS_PAUSE).await,
                () = control.check.notified() => {
                    if !self.is_still_wanted(view).await {
                        control.stop.send_if_modified(end);
                    }
                    continue;
                }
            }
            let progress = said.borrow_and_update().clone();
            let heartbeat = Heartbeat {
                progress: progress.percent.and_then(|percent| percent.try_into().ok()),
                // The hub stores it readable.
                note: progress.note.filter(|_| is_plain).and_then(|note| Reason::try_from(note).ok()),
            };
            let is_refused = match client.heartbeat(&view.id, &heartbeat).await {
                Ok(_) => false,
                Err(error) => !error.is_temporary(),
            };
            if is_refused && !self.is_still_wanted(view).await {
                control.stop.send_if_modified(end);
            }
        }
    }

    /// Whether the task is still the one that the worker was started for. If the hub cannot be asked, it is.
    async fn is_still_wanted(&self, view: &TaskView) -> bool {
        match self.client.task(&view.id).await {
            Ok(now) => now.status == Status::Working && now.attempt == view.attempt && self.is_ours(&now),
            Err(error) => !error.is_not_found(),
        }
    }

    /// What the end of a worker means for its task.
    async fn ended(
        &self,
        view: &TaskView,
        entry: Entry,
        folder: &Folder,
        ended: Ended,
        control: &Control,
    ) -> Outcome<Next> {
        for line in ended.errors.iter().filter(|_| ended.end != End::Exited(0)) {
            self.session.terminal.note(&format!("{}: {}", view.id, text::line(line)));
        }
        let limit = time::short(i64::try_from(self.options.timeout.as_secs()).unwrap_or(i64::MAX));
        let result = match ended.end {
            End::Exited(0) => self.result(view, &folder.0, ResultKind::Completed, &ended.stdout),
            End::Exited(QUESTION) => self.result(view, &folder.0, ResultKind::Question, &ended.stdout),
            End::Exited(code) => {
                WorkResult::failed(self.why(&format!("The worker ended with exit code {code}."), &ended))
            }
            End::TimedOut => {
                WorkResult::failed(self.why(&format!("The worker took longer than {limit}."), &ended))
            }
            End::TooMuchOutput => {
                let max = time::bytes(self.options.output_max as u64);
                WorkResult::failed(self.why(&format!("The worker printed more than {max}."), &ended))
            }
            End::Killed(signal) => {
                self.session
                    .terminal
                    .note(&format!("{}: the worker was killed by signal {signal}.", view.id));
                return Ok(Next::Again);
            }
            End::Stopped if *control.stop.borrow() == Stop::Shutdown => {
                // Not the worker's fault: the next runner starts it again.
                let tries = entry.tries.saturating_sub(1);
                self.journal.save(&Entry { tries, phase: Phase::Taken, ..entry })?;
                return Ok(Next::Done);
            }
            End::Stopped => {
                self.session
                    .terminal
                    .note(&format!("{}: no longer wanted, so its worker was ended.", view.id));
                return Ok(Next::Again);
            }
        };
        self.ready(view, entry, result).await
    }

    /// Why it failed. What the worker wrote about it goes to the other side only if the owner wants that.
    fn why(&self, what: &str, ended: &Ended) -> String {
        if !self.options.share_errors || ended.errors.is_empty() {
            return what.to_owned();
        }
        format!("{what}\n\n{}", ended.errors.join("\n").replace('\0', "\u{fffd}"))
    }
}

/// Why a worker could not be started.
struct StartError {
    why: String,
    /// Whether it stays so until the owner changes something: the program is missing, or its environment is too large.
    is_lasting: bool,
}

impl StartError {
    fn lasting(why: &str) -> Self {
        Self { why: why.to_owned(), is_lasting: true }
    }
}

impl From<&std::io::Error> for StartError {
    fn from(cause: &std::io::Error) -> Self {
        // Too many processes or open files, too little memory, or a program that is being written.
        let is_temporary = matches!(
            Errno::from_io_error(cause),
            Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::TXTBSY | Errno::INTR)
        );
        Self { why: cause.to_string(), is_lasting: !is_temporary }
    }
}

/// The pause after so many failed starts in a row.
fn start_pause(failed_starts: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failed_starts.saturating_sub(1));
    START_PAUSE.saturating_mul(factor).min(FAILED_PAUSE)
}

/// Ends a worker, unless the runner is ending anyway.
fn end(stop: &mut Stop) -> bool {
    let is_running = *stop == Stop::No;
    if is_running {
        *stop = Stop::Ended;
    }
    is_running
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_cannot_succeed_is_not_repeated_for_ever() {
        let of = |errno: Errno| StartError::from(&std::io::Error::from(errno)).is_lasting;
        assert!(of(Errno::TOOBIG) && of(Errno::NOENT) && of(Errno::ACCESS) && of(Errno::NOEXEC));
        assert!(!of(Errno::AGAIN) && !of(Errno::TXTBSY) && !of(Errno::MFILE));
        let whole: Duration = (1..STARTS_MAX).map(start_pause).sum();
        assert_eq!(whole, Duration::from_secs(1 + 2 + 4 + 8 + 16 + 32 + 60));
        assert_eq!(start_pause(u32::MAX), FAILED_PAUSE);
    }
}
