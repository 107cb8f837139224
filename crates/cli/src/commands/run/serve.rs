//! The runner's loop: follows the events of the agent, finds tasks, and works on some of them at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tandem_api::agents::ReportReach;
use tandem_api::events::EventType;
use tandem_client::{Followed, Notice, StreamEvent};
use tandem_core::TaskId;
use tandem_core::events::EventKind;
use tandem_core::text::SessionKey;
use tandem_core::wake::{REPORT_EVERY, Rung};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, interval, sleep, sleep_until, timeout};

use super::super::Session;
use super::super::events::notice_line;
use super::journal::{Entry, Journal, Phase};
use super::listing::list;
use super::queue::Queue;
use super::sources::Sources;
use super::task::{Control, FAILED_PAUSE, Runner, new_key};
use super::{Arguments, CommandLine, Options, Stop, folder, lock, processes, worker_home};
use crate::exit::{Failure, Outcome};
use crate::profiles::{create_private, write_secret};
use crate::signals::Signals;
use crate::terminal::text;

/// How long a call is repeated before its task is looked at again.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause before the tasks are listed again after a failure, and before a hub is tried again at the start.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a key that the hub refuses is looked for in the profile: `tandem rotate` or `tandem login` writes it there.
const KEY_MAX: Duration = Duration::from_secs(60);
/// How many tasks are remembered that are to be looked at again after a pause.
const PAUSED_MAX: usize = 1_000;
/// Time for workers to end when the runner is stopped: that of SIGTERM and a little more.
const LAST_MAX: Duration = Duration::from_secs(8);
/// Time for the last words to the hub.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

/// Runs until it is stopped.
pub(super) async fn run(session: Session, arguments: &Arguments, command: CommandLine) -> Outcome {
    let Some(profile) = session.profile.clone() else {
        return Err(Failure::usage("a runner needs a profile, and TANDEM_KEY has none")
            .next("Log in with `tandem login`, then give --agent NAME."));
    };
    let state = session.profiles.state_folder(&profile.name).join("run");
    let Some(_lock) = lock::take(&state.join("lock")).await? else {
        return Err(Failure::refused(format!("another runner works for {} on this machine", profile.name)));
    };
    let mut stopping = Signals::new()?;
    let sources = tokio::select! {
        sources = sources(&session, arguments) => sources?,
        _ = stopping.next() => return Ok(()),
    };
    let base = match &arguments.folder {
        Some(folder) => std::path::absolute(folder)?,
        None => state.join("tasks"),
    };
    create_private(&base)?;
    folder::sweep(&base);
    let runner = Arc::new(Runner {
        client: session.client.clone().with_patience(PATIENCE),
        options: Options::new(arguments, command),
        me: profile.agent_id,
        id: runner_id(&state.join("id"))?,
        sources,
        journal: Journal::at(state.join("journal")),
        base,
        homes: state.join("home"),
        outputs: state.join("outputs"),
        session,
    });
    end_left_overs(&runner).await?;
    worker_home::remove_all(&runner.homes);
    let mut shift = Shift::new(runner);
    let outcome = shift.serve(&mut stopping).await;
    shift.stop(&mut stopping).await;
    outcome
}

/// Whose tasks are taken. A hub that cannot be reached yet is waited for: a service starts before the network is there.
async fn sources(session: &Session, arguments: &Arguments) -> Outcome<Sources> {
    loop {
        match Sources::resolve(session, &arguments.from, arguments.from_anyone_connected).await {
            Err(failure) if failure.is_passing() => {
                session.terminal.note(&text::line(failure.what()));
                sleep(PAUSE).await;
            }
            resolved => return resolved,
        }
    }
}

/// The id of this runner, made at its first start.
fn runner_id(file: &std::path::Path) -> Outcome<SessionKey> {
    let stored = std::fs::read_to_string(file).ok().filter(|id| id.starts_with("runner_"));
    let id = match stored {
        Some(id) => id,
        None => {
            let id = format!("runner_{}", new_key()?);
            write_secret(file, &id)?;
            id
        }
    };
    SessionKey::try_from(id).map_err(|why| Failure::refused(format!("the id of the runner {why}")))
}

/// Ends the workers of a runner that was killed, so that none works beside its successor.
async fn end_left_overs(runner: &Runner) -> Outcome {
    runner.journal.tidy();
    let all = runner.journal.all().into_iter();
    let started: Vec<Entry> = all.filter(|entry| matches!(entry.phase, Phase::Started { .. })).collect();
    for entry in &started {
        if let Phase::Started { worker: Some(worker) } = &entry.phase
            && !processes::end_left_over(worker).await
        {
            return Err(not_ending(&format!("process {}", worker.pid)));
        }
    }
    if processes::is_marked(&runner.id) {
        let what =
            "TANDEM_RUNNER is set here, so processes that earlier workers left behind are not looked for.";
        runner.session.terminal.warn(what);
    } else {
        let mark = processes::mark(&runner.id);
        if !processes::end_strays(std::slice::from_ref(&mark), processes::LEFT_OVERS_MAX).await {
            return Err(not_ending(&format!("with {mark} in its environment")));
        }
    }
    for entry in started {
        // One that cannot be written down costs a try.
        let _ = runner.journal.save(&entry.interrupted());
    }
    Ok(())
}

/// A worker of an earlier runner cannot be killed; a new one must not work beside it.
fn not_ending(which: &str) -> Failure {
    Failure::refused(format!("a worker of an earlier runner does not end: {which}"))
        .next("Start the runner again when it has ended.")
}

impl Options {
    fn new(arguments: &Arguments, command: CommandLine) -> Self {
        Self {
            command,
            concurrency: usize::from(arguments.concurrency),
            timeout: arguments.timeout,
            output_max: arguments.output_max,
            keep_folders: arguments.keep_folders,
            tries: arguments.tries,
            share_errors: arguments.share_errors,
            grace: arguments.grace,
        }
    }
}

/// A runner at work.
struct Shift {
    runner: Arc<Runner>,
    queue: Queue,
    /// Each returns after which pause its task is to be looked at again, if at all.
    jobs: JoinSet<Option<Duration>>,
    /// The tasks of the jobs.
    tasks: HashMap<tokio::task::Id, TaskId>,
    /// Tasks that are looked at again after a pause.
    paused: JoinSet<TaskId>,
    listing: Option<JoinHandle<Outcome<Vec<TaskId>>>>,
    reporting: Option<JoinHandle<()>>,
    /// Since when the hub refuses the key.
    refused_since: Option<Instant>,
    /// Whether the stream of events is open. Without it nothing arrives, so nothing is claimed to the hub.
    is_connected: bool,
    is_stopping: bool,
}

impl Shift {
    fn new(runner: Arc<Runner>) -> Self {
        Self {
            runner,
            queue: Queue::default(),
            jobs: JoinSet::new(),
            tasks: HashMap::new(),
            paused: JoinSet::new(),
            listing: None,
            reporting: None,
            refused_since: None,
            is_connected: false,
            is_stopping: false,
        }
    }

    /// Takes tasks until the first signal.
    async fn serve(&mut self, signals: &mut Signals) -> Outcome {
        let mut events = self.runner.session.client.follow(None);
        let mut report = interval(REPORT_EVERY);
        loop {
            self.start_jobs();
            tokio::select! {
                followed = events.next() => match followed {
                    Ok(Followed::Event(event)) => self.handle(&event),
                    Ok(Followed::Notice(notice)) => {
                        self.runner.session.terminal.note(&notice_line(&notice));
                        self.is_connected = !matches!(notice, Notice::Lost { .. });
                        if self.is_connected {
                            self.refused_since = None;
                            self.list(Duration::ZERO);
                            report.reset_immediately();
                        }
                    }
                    Err(error) => {
                        self.is_connected = false;
                        self.refused(error.into())?;
                    }
                },
                Some(Ok(task)) = self.paused.join_next() => self.queue.add(task),
                Some(ended) = self.jobs.join_next_with_id() => {
                    self.ended(ended);
                    if self.queue.wants_more() {
                        self.list(Duration::ZERO);
                    }
                }
                listed = finished(&mut self.listing) => {
                    self.listing = None;
                    match listed {
                        Ok(tasks) => tasks.into_iter().for_each(|task| self.queue.add(task)),
                        Err(failure) => {
                            self.runner.session.terminal.note(&text::line(failure.what()));
                            self.list(PAUSE);
                        }
                    }
                }
                _ = report.tick() => if self.is_connected { self.report() },
                _ = signals.next() => return Ok(()),
            }
        }
    }

    fn start_jobs(&mut self) {
        while !self.is_stopping && self.queue.active_count() < self.runner.options.concurrency {
            let control =
                Control { stop: Arc::new(watch::Sender::new(Stop::No)), check: Arc::new(Notify::new()) };
            let Some(task) = self.queue.start(&control) else { return };
            let runner = Arc::clone(&self.runner);
            let working = task.clone();
            let job = self
                .jobs
                .spawn_local(async move { Box::pin(runner.work(&working, &control)).await }.boxed_local());
            self.tasks.insert(job.id(), task);
        }
    }

    fn ended(&mut self, ended: Result<(tokio::task::Id, Option<Duration>), tokio::task::JoinError>) {
        // A job that panicked has failed.
        let (id, pause) = ended.unwrap_or_else(|panicked| (panicked.id(), Some(FAILED_PAUSE)));
        let Some(task) = self.tasks.remove(&id) else { return };
        self.queue.ended(&task);
        // More than that are found when the tasks are listed.
        if let Some(pause) = pause.filter(|_| self.paused.len() < PAUSED_MAX) {
            self.paused.spawn_local(
                async move {
                    sleep(pause).await;
                    task
                }
                .boxed_local(),
            );
        }
    }

    /// The hub ended the stream for good. If it refuses the key, a new one may be on its way to the profile: the stream
    /// looks for it.
    fn refused(&mut self, failure: Failure) -> Outcome {
        let since = *self.refused_since.get_or_insert_with(Instant::now);
        if !failure.is_about_api_key() || since.elapsed() > KEY_MAX {
            return Err(failure);
        }
        let what = text::line(failure.what());
        self.runner.session.terminal.note(&format!("{what}. Looking for a new key in the profile."));
        Ok(())
    }

    /// What an event means for the runner.
    fn handle(&mut self, event: &StreamEvent) {
        let Some(task) = event.task_id.clone() else { return };
        let EventType::Logged(kind) = event.kind else { return };
        let is_known = || {
            let fields = event.fields();
            let key = fields.target_session_key.as_ref().map(|key| key.as_str());
            key == Some(self.runner.id.as_str()) || self.runner.journal.find(&task).is_some()
        };
        let is_relevant = match kind {
            EventKind::TaskCreated => {
                event.from_agent_id.as_ref().is_none_or(|from| self.runner.sources.may_allow(from))
            }
            EventKind::TaskUpdated | EventKind::TaskReassigned => self.queue.is_active(&task) || is_known(),
            // While a worker runs, a message changes nothing; it is looked at afterwards.
            EventKind::MessageCreated => is_known(),
            _ => false,
        };
        if is_relevant {
            self.queue.add(task);
        }
    }

    /// Looks for tasks: those that were sent while nobody followed the events, and those that were left unfinished.
    fn list(&mut self, after: Duration) {
        let runner = Arc::clone(&self.runner);
        if let Some(older) = self.listing.replace(tokio::task::spawn_local(
            async move {
                sleep(after).await;
                list(&runner).await
            }
            .boxed_local(),
        )) {
            older.abort();
        }
    }

    fn report(&mut self) {
        // It is repeated soon, so that an old one must not come late.
        let client = self.runner.client.clone().with_patience(Duration::ZERO);
        let older = self.reporting.replace(tokio::task::spawn_local(
            async move {
                let _ = client.report_reach(&ReportReach::provided(Rung::Runner, true)).await;
            }
            .boxed_local(),
        ));
        if let Some(older) = older {
            older.abort();
        }
    }

    /// Lets workers finish for a while, then ends them. A second signal ends them at once.
    async fn stop(&mut self, signals: &mut Signals) {
        self.is_stopping = true;
        if let Some(listing) = self.listing.take() {
            listing.abort();
        }
        let client = self.runner.session.client.clone().with_patience(Duration::ZERO);
        let goodbye = ReportReach::provided(Rung::Runner, false);
        let reporting = self.reporting.take();
        let last_words = async {
            // A report that is on its way must not arrive after the last one.
            if let Some(reporting) = reporting {
                let _ = reporting.await;
            }
            client.report_reach(&goodbye).await
        };
        let _ = timeout(GOODBYE_MAX, last_words).await;
        let running = self.jobs.len();
        if running > 0 {
            let terminal = &self.runner.session.terminal;
            terminal
                .note(&format!("Stopping: {running} tasks are being finished. A second signal ends them."));
        }
        let deadline = Instant::now() + self.runner.options.grace;
        loop {
            tokio::select! {
                ended = self.jobs.join_next_with_id() => match ended {
                    Some(ended) => self.ended(ended),
                    None => return,
                },
                () = sleep_until(deadline) => break,
                _ = signals.next() => break,
            }
        }
        for control in self.queue.active() {
            control.stop.send_replace(Stop::Shutdown);
        }
        let _ = timeout(LAST_MAX, async { while self.jobs.join_next().await.is_some() {} }).await;
    }
}

/// The result of a listing that is under way; never without one.
async fn finished(listing: &mut Option<JoinHandle<Outcome<Vec<TaskId>>>>) -> Outcome<Vec<TaskId>> {
    match listing {
        Some(listing) => listing.await.unwrap_or_else(|_| Ok(Vec::new())),
        None => std::future::pending().await,
    }
}
