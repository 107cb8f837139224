//! One task: decides by its status and the journal what is to be done next, until nothing is.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::{PatchTask, TaskView};
use tandem_client::Client;
use tandem_core::approval::Approval;
use tandem_core::messages::Kind;
use tandem_core::text::SessionKey;
use tandem_core::{AgentId, Status, TaskId};
use tokio::sync::{Notify, watch};

use super::super::Session;
use super::super::task_view::file_of;
use super::folder::{discard, keep};
use super::input::Thread;
use super::journal::{Entry, Journal, Phase, ResultKind, WorkResult, file_name};
use super::output::{OUTPUT_FILE, said};
use super::sources::Sources;
use super::{Options, Stop};
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::text;

/// Pauses after a failure double up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Failures in a row that are not the network's, after which other tasks come first.
const FAILURES_MAX: u32 = 5;
/// When such a task is tried again.
pub(super) const FAILED_PAUSE: Duration = Duration::from_secs(60);
/// The result of a task that was taken before its sender was taken off the owner's list. It could not be given back, so it
/// would otherwise stay at work for ever.
const NO_LONGER: &str = "The owner of this agent no longer lets it work on tasks of your agent.";

/// What all tasks of a runner share.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) session: Session,
    /// Repeats calls for a while.
    pub(super) client: Client,
    pub(super) options: Options,
    pub(super) me: AgentId,
    /// The session key of the tasks that this runner has taken. It stays the same after a restart.
    pub(super) id: SessionKey,
    pub(super) sources: Sources,
    pub(super) journal: Journal,
    /// Where the folders of tasks are.
    pub(super) base: PathBuf,
    /// Where the homes of recipes' workers are.
    pub(super) homes: PathBuf,
    /// Where output is kept that is too long for a message. No worker is told of it.
    pub(super) outputs: PathBuf,
}

/// A task that is being worked on.
#[derive(Debug, Clone)]
pub(super) struct Control {
    pub(super) stop: Arc<watch::Sender<Stop>>,
    /// The task may have changed.
    pub(super) check: Arc<Notify>,
}

/// What comes after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Look at the task again.
    Again,
    /// Nothing is to be done until something happens.
    Done,
    /// Look at the task again after this time, and at others meanwhile.
    Later(Duration),
}

impl Runner {
    /// Works on a task until nothing is to be done for now. Returns after which time it is to be looked at again, if nothing
    /// happens to it before.
    pub(super) async fn work(&self, task: &TaskId, control: &Control) -> Option<Duration> {
        let (mut pause, mut failures) = (FIRST_PAUSE, 0);
        while *control.stop.borrow() != Stop::Shutdown {
            let failure = match Box::pin(self.step(task, control)).await {
                Ok(Next::Again) => {
                    (pause, failures) = (FIRST_PAUSE, 0);
                    continue;
                }
                Ok(Next::Done) => return None,
                Ok(Next::Later(pause)) => return Some(pause),
                Err(failure) => failure,
            };
            // If no new key comes, the stream of events ends, and with it the runner.
            let is_temporary =
                matches!(failure.exit, Exit::Unreachable | Exit::TimedOut) || failure.is_about_api_key();
            if !is_temporary {
                failures += 1;
                self.session.terminal.warn(&format!("{task}: {}", text::line(failure.what())));
                if failures == FAILURES_MAX {
                    return Some(FAILED_PAUSE);
                }
            }
            let mut stop = control.stop.subscribe();
            let _ = tokio::time::timeout(pause, stop.wait_for(|stop| *stop == Stop::Shutdown)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        None
    }

    async fn step(&self, id: &TaskId, control: &Control) -> Outcome<Next> {
        // An older end of the other side's is part of the view that is read now.
        control.stop.send_if_modified(|stop| {
            let was_ended = *stop == Stop::Ended;
            if was_ended {
                *stop = Stop::No;
            }
            was_ended
        });
        let view = match self.client.task(id).await {
            Err(error) if error.is_not_found() => return Ok(self.finish(id)),
            view => view?,
        };
        if view.id != *id {
            return Err(Failure::refused("the hub answered with another task"));
        }
        if view.target_agent_id != self.me || view.status.is_terminal() {
            return Ok(self.finish(id));
        }
        let entry = self.journal.find(id);
        if let Some(older) = entry.as_ref().filter(|entry| entry.attempt != view.attempt) {
            self.finish_with(older);
        }
        let entry = entry.filter(|entry| entry.attempt == view.attempt);
        match view.status {
            Status::Submitted => Box::pin(self.take(&view, control)).await,
            _ if !self.is_ours(&view) => Ok(self.finish(id)),
            Status::Working => Box::pin(self.go_on(view, entry, control)).await,
            Status::InputRequired | Status::AuthRequired => self.wait(view, entry).await,
            _ => Ok(Next::Done),
        }
    }

    pub(super) fn is_ours(&self, view: &TaskView) -> bool {
        view.target_session_key.as_ref().is_some_and(|key| key.as_str() == self.id.as_str())
    }

    /// Takes a submitted task, if its sender is on the owner's list and nobody else takes it.
    async fn take(&self, view: &TaskView, control: &Control) -> Outcome<Next> {
        let is_held = view.approval_status == Some(Approval::Pending);
        if is_held || !self.sources.allow(&self.session, &view.initiator_agent_id).await? {
            return Ok(Next::Done);
        }
        // Others can have it if nothing can be started for it here.
        super::check_command(&self.options.command.current()?)?;
        let entry = Entry::new(view, Phase::Taken)?;
        self.journal.save(&entry)?;
        let change = PatchTask {
            status: Some(Status::Working),
            expected_status: Some(Status::Submitted),
            session_key: Some(Some(self.id.clone())),
            ..PatchTask::default()
        };
        match self.client.change_task(&view.id, &change).await {
            Ok(taken) => {
                let from = text::line(taken.initiator_agent_name.as_str());
                self.session.terminal.note(&format!("{}: taken from {from}.", taken.id));
                Box::pin(self.go_on(taken, Some(entry), control)).await
            }
            Err(error) if error.is_temporary() => Err(error.into()),
            // Somebody else was faster, or it is gone.
            Err(_) => {
                self.journal.forget(&view.id);
                Ok(Next::Done)
            }
        }
    }

    /// Goes on with a task that this runner has taken.
    async fn go_on(&self, view: TaskView, entry: Option<Entry>, control: &Control) -> Outcome<Next> {
        // Without an entry it was opened again, or the journal is lost.
        let entry = entry.map_or_else(|| Entry::new(&view, Phase::Taken), Ok)?;
        if let Phase::Ready { result } = &entry.phase {
            return self.answer_watched(&view, &entry, result, control).await;
        }
        if !self.sources.allow(&self.session, &view.initiator_agent_id).await? {
            return self.turn_away(&view, entry).await;
        }
        let entry = match entry.phase {
            // The initiator has set it working: there is something to do again.
            Phase::Waiting => entry.anew(),
            _ => entry,
        };
        if entry.tries >= self.options.tries {
            let result =
                WorkResult::failed(format!("The worker ended {} times without a result.", entry.tries));
            return self.ready(&view, entry, result).await;
        }
        self.run_worker(&view, entry, control).await
    }

    /// Ends a task of a sender that the owner has taken off the list.
    async fn turn_away(&self, view: &TaskView, entry: Entry) -> Outcome<Next> {
        self.fail_without_run(view, entry, NO_LONGER).await
    }

    /// Ends a task without another run.
    pub(super) async fn fail_without_run(
        &self,
        view: &TaskView,
        entry: Entry,
        why: impl Into<String>,
    ) -> Outcome<Next> {
        // Its key may be that of a question, and an earlier result may be in the thread.
        let seen = Thread::read(&self.client, view).await?.newest();
        let entry = Entry { key: new_key()?, seen, ..entry };
        self.ready(view, entry, WorkResult::failed(why)).await
    }

    /// Writes a result down and delivers it. One that cannot be written down is delivered all the same: without it the
    /// worker would run again.
    pub(super) async fn ready(&self, view: &TaskView, entry: Entry, result: WorkResult) -> Outcome<Next> {
        let keeps_folder = entry.keeps_folder || result.leaves_files;
        let entry = Entry { keeps_folder, phase: Phase::Ready { result: result.clone() }, ..entry };
        self.write_down(&entry);
        self.answer(view, &entry, &result, true).await
    }

    /// Writes an entry down, if that is possible.
    pub(super) fn write_down(&self, entry: &Entry) {
        if let Err(failure) = self.journal.save(entry) {
            self.session.terminal.warn(&format!("{}: {}", entry.task, text::line(failure.what())));
        }
    }

    /// A task that waits for its initiator: goes on if there is an answer.
    async fn wait(&self, view: TaskView, entry: Option<Entry>) -> Outcome<Next> {
        let Some(entry) = entry else { return Ok(Next::Done) };
        match &entry.phase {
            Phase::Ready { result } => return self.answer(&view, &entry, result, false).await,
            Phase::Waiting => {}
            // The initiator has paused it.
            Phase::Taken | Phase::Started { .. } => {
                self.journal.save(&Entry { phase: Phase::Waiting, ..entry })?;
                return Ok(Next::Done);
            }
        }
        let thread = Thread::read(&self.client, &view).await?;
        let is_answer = |sender: &Actor| *sender == Actor::Agent(view.initiator_agent_id.clone());
        if !thread.after(entry.seen.as_ref()).iter().any(|message| is_answer(&message.sender_agent_id)) {
            return Ok(Next::Done);
        }
        if !self.sources.allow(&self.session, &view.initiator_agent_id).await? {
            return self.turn_away(&view, entry).await;
        }
        // That it needs a worker anew is written down when the hub knows: until then there is an answer to act on.
        let change = PatchTask {
            status: Some(Status::Working),
            expected_status: Some(view.status),
            ..PatchTask::default()
        };
        self.client.change_task(&view.id, &change).await?;
        Ok(Next::Again)
    }

    /// Whether what is to be delivered is in the thread already: the answer to an earlier delivery was lost.
    pub(super) async fn is_said(&self, view: &TaskView, entry: &Entry, result: &WorkResult) -> Outcome<bool> {
        let wanted = match result.kind {
            ResultKind::Question => Kind::Message,
            ResultKind::Completed | ResultKind::Failed => Kind::Reply,
        };
        let thread = Thread::read(&self.client, view).await?;
        let is_candidate = |message: &&MessageView| {
            message.kind == wanted
                && message.sender_agent_id == Actor::Agent(self.me.clone())
                && file_of(message).is_none()
        };
        let mut later = thread.after(entry.seen.as_ref()).iter().filter(is_candidate);
        if result.kind != ResultKind::Question {
            // A task has one result at a time.
            return Ok(later.next().is_some());
        }
        // The agent may have said something else meanwhile, by another program.
        let messages = self.client.open_messages(view, later.cloned().collect()).await;
        let question = said(view, result);
        Ok(messages.iter().any(|one| one.view.content.as_str().trim() == question.trim()))
    }

    /// Forgets a task that has ended, or that is another agent's now. Only what the journal knows is forgotten: of a task
    /// that is forgotten already, the folder may have been left for the owner.
    fn finish(&self, task: &TaskId) -> Next {
        self.journal.find(task).map_or(Next::Done, |entry| self.finish_with(&entry))
    }

    /// Forgets a task by its entry.
    pub(super) fn finish_with(&self, entry: &Entry) -> Next {
        let task = &entry.task;
        if entry.keeps_folder {
            self.keep_folder(task);
        } else {
            if !self.options.keep_folders {
                let _ = discard(&self.folder_of(task));
            }
            let _ = std::fs::remove_file(self.output_file(task));
        }
        // At the end: what a killed runner has not removed is removed by the next one.
        self.journal.forget(task);
        Next::Done
    }

    /// Puts the folder of a task aside, because it has files that were not sent: they are nowhere else.
    pub(super) fn keep_folder(&self, task: &TaskId) {
        let folder = self.folder_of(task);
        let (place, why) = match keep(&folder) {
            Ok(Some(place)) => {
                // It may be what was not sent.
                let _ = std::fs::rename(self.output_file(task), place.join(OUTPUT_FILE));
                (place, String::new())
            }
            Ok(None) => return,
            Err(error) => (folder, format!(" It stays until the task runs again: {error}")),
        };
        self.session
            .terminal
            .warn(&format!("{task}: {} has files that were not sent.{why}", place.display()));
    }

    /// The folder of a task's worker.
    pub(super) fn folder_of(&self, task: &TaskId) -> PathBuf {
        self.base.join(file_name(task))
    }

    /// Where the output of a task is kept if it is too long for a message.
    pub(super) fn output_file(&self, task: &TaskId) -> PathBuf {
        self.outputs.join(format!("{}.txt", file_name(task)))
    }
}

impl Entry {
    pub(super) fn new(view: &TaskView, phase: Phase) -> Outcome<Self> {
        Ok(Self {
            task: view.id.clone(),
            attempt: view.attempt,
            tries: 0,
            interruptions: 0,
            runs: 0,
            failed_starts: 0,
            key: new_key()?,
            seen: None,
            keeps_folder: false,
            phase,
        })
    }
}

/// A key that no other run has.
pub(super) fn new_key() -> Outcome<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|cause| Failure::refused(cause.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
