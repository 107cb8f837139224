//! Commands that change a task.

use std::path::PathBuf;

use clap::Args;
use tandem_api::messages::SendMessage;
use tandem_api::tasks::{
    ApproveTask, Heartbeat, PatchTask, ReassignTask, ReplyOutcome, ReplyTask, RetryTask, TaskView, WithReason,
};
use tandem_core::{Approval, Status};

use super::super::complete::{connected_agents, statuses, tasks};
use super::super::file::{sent_line, upload_all};
use super::super::input::{checked, confirm, text_or_stdin};
use super::super::task_view::{WithTrust, in_the_clear, is_sealed, own_trust, status_line};
use super::Session;
use crate::exit::{Failure, Outcome};
use crate::terminal::text;

/// A task and nothing else.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
}

/// A task to let in.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task approve @
  tandem task approve 01k2 --note \"only the public API, not the tests\"")]
pub(crate) struct Approve {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// Your words for your own agent, which reads them with the task; the sender does not see them
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// A task and a reason.
#[derive(Debug, Args)]
pub(crate) struct WithReasonArguments {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// Why; the other party reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Arguments of `tandem task accept`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task accept @                    as the receiver: start to work
  tandem task accept @                    as the sender of delivered work: complete the task")]
pub(crate) struct Accept {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
}

/// Arguments of `tandem task reply`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task reply @ \"Two breaking changes, see the file\" --file review.md
  cat result.txt | tandem task reply 01k2 -
  tandem task reply @ --failed \"The repository is private\"")]
pub(crate) struct Reply {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// The result; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,
    /// The work failed; TEXT says why
    #[arg(long)]
    failed: bool,
    /// Files to send with it; may be repeated
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Arguments of `tandem task ask`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task ask @ \"Which quarter?\"")]
pub(crate) struct Ask {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// The question; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,
}

/// Arguments of `tandem task progress`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task progress @ 40 \"tests run\"")]
pub(crate) struct ProgressReport {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// Percent done
    #[arg(value_name = "PERCENT", value_parser = clap::value_parser!(i64).range(0..=100))]
    percent: Option<i64>,
    /// What is being done
    #[arg(value_name = "NOTE")]
    note: Option<String>,
}

/// Arguments of `tandem task reassign`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task reassign @ carol")]
pub(crate) struct Reassign {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// The new receiver: alias, name or id
    #[arg(value_name = "AGENT", add = connected_agents())]
    to: String,
}

/// Arguments of `tandem task status`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task status @ working
  tandem task status 01k2 failed --reason \"no access\"")]
pub(crate) struct SetStatus {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// The new status; `tandem task show` lists those that you may set
    #[arg(value_name = "STATUS", add = statuses())]
    status: Status,
    /// Why; the other party reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Arguments of `tandem task delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task delete 01k2 --yes")]
pub(crate) struct Delete {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// The task that an argument names, as it is now.
async fn find(session: &Session, named: &str) -> Outcome<TaskView> {
    let id = session.task_id(named).await?;
    let task = session.client.task(&id).await?;
    session.remember(&id);
    Ok(task)
}

/// Prints a changed task: its new status.
async fn changed(session: &Session, task: TaskView) -> Outcome {
    let opened = session.client.open_task(task).await;
    let task = &opened.view;
    session.terminal.result(&WithTrust::of(&opened), |terminal| {
        let reason = task.status_reason.as_ref();
        let reason = reason
            .map(|reason| format!("{}{}", text::line(reason.as_str()), in_the_clear(&session.client, task)));
        terminal.done(&format!("{}  {}", task.id, status_line(terminal, task.status, reason.as_deref())))
    })
}

async fn patch(
    session: &Session,
    task: &TaskView,
    status: Status,
    reason: Option<&str>,
) -> Outcome<TaskView> {
    let reason = reason.map(|reason| checked("--reason", reason)).transpose()?;
    let change = PatchTask { status: Some(status), reason, ..PatchTask::default() };
    Ok(session.client.change_task(&task.id, &change).await?)
}

fn with_reason(reason: Option<&String>) -> Outcome<WithReason> {
    let reason = reason.map(|reason| checked("--reason", reason)).transpose()?;
    Ok(WithReason { reason, expected_status: None })
}

pub(super) async fn accept(session: &Session, arguments: &Accept) -> Outcome {
    let task = find(session, &arguments.task).await?;
    if task.approval_status == Some(Approval::Pending) {
        return Err(Failure::refused("the task waits for approval")
            .next(format!("Let it in with `tandem task approve {}`.", task.id)));
    }
    let may = |status| task.next_statuses.contains(&status);
    let delivered = matches!(task.status, Status::InputRequired | Status::AuthRequired);
    let to = if delivered && may(Status::Completed) { Status::Completed } else { Status::Working };
    changed(session, patch(session, &task, to, None).await?).await
}

pub(super) async fn reply(session: &Session, arguments: &Reply) -> Outcome {
    let body = checked("TEXT", text_or_stdin(&arguments.text)?)?;
    let task = find(session, &arguments.task).await?;
    let files = upload_all(session, &task, &arguments.files).await?;
    files.iter().try_for_each(|file| session.terminal.done(&sent_line(file)))?;
    let outcome = arguments.failed.then_some(ReplyOutcome::Failed);
    let replied = session.client.deliver(&task, ReplyTask { outcome, ..ReplyTask::new(body) }).await?;
    // A reply seals or sends what the caller wrote; what it replies to may still be unreadable.
    let (trust, own) =
        (session.client.open_description(task.clone()).await.trust, own_trust(&session.client, &task));
    let mut view = serde_json::to_value(WithTrust::new(&replied, &trust)).map_err(anyhow::Error::from)?;
    view["message"]["trust"] = own.as_str().into();
    session.terminal.result(&view, |terminal| {
        terminal.done(&format!("{}  {}", task.id, status_line(terminal, replied.task.status, None)))?;
        if let Some(note) = &replied.note {
            terminal.note(&text::line(note.as_str()));
        }
        Ok(())
    })
}

pub(super) async fn ask(session: &Session, arguments: &Ask) -> Outcome {
    let body = checked("TEXT", text_or_stdin(&arguments.text)?)?;
    let task = find(session, &arguments.task).await?;
    session.client.say(&task, SendMessage::new(body)).await?;
    let asks = task.next_statuses.contains(&Status::InputRequired);
    let task = if asks { patch(session, &task, Status::InputRequired, None).await? } else { task };
    changed(session, task).await
}

pub(super) async fn progress(session: &Session, arguments: &ProgressReport) -> Outcome {
    let id = session.task_id(&arguments.task).await?;
    let progress = match arguments.percent {
        Some(percent) => Some(percent.try_into().map_err(|_| Failure::usage("PERCENT must be 0 to 100"))?),
        None => None,
    };
    let note = arguments.note.as_ref().map(|note| checked("NOTE", note)).transpose()?;
    let task = session.client.heartbeat(&id, &Heartbeat { progress, note }).await?;
    changed(session, task).await
}

pub(super) async fn approve(session: &Session, arguments: &Approve) -> Outcome {
    let task = find(session, &arguments.task).await?;
    let note = arguments.note.as_ref().map(|note| checked("NOTE", note)).transpose()?;
    if note.is_some() && is_sealed(&session.client, &task) {
        let what = "the task is encrypted, and the hub could read the note, or put another in its place";
        return Err(Failure::refused(what).next("Approve it without a note, and tell your agent yourself."));
    }
    let with = ApproveTask { note, expected_status: None };
    changed(session, session.client.approve(&task.id, &with).await?).await
}

/// At the gate this refuses the task; later it declines it.
pub(super) async fn reject(session: &Session, arguments: &WithReasonArguments) -> Outcome {
    let task = find(session, &arguments.task).await?;
    let task = if task.approval_status == Some(Approval::Pending) {
        session.client.reject(&task.id, &with_reason(arguments.reason.as_ref())?).await?
    } else {
        patch(session, &task, Status::Rejected, arguments.reason.as_deref()).await?
    };
    changed(session, task).await
}

pub(super) async fn cancel(session: &Session, arguments: &WithReasonArguments) -> Outcome {
    let task = find(session, &arguments.task).await?;
    let with = with_reason(arguments.reason.as_ref())?;
    changed(session, session.client.cancel_task(&task.id, &with).await?).await
}

pub(super) async fn retry(session: &Session, arguments: &Named) -> Outcome {
    let task = find(session, &arguments.task).await?;
    changed(session, session.client.retry_task(&task.id, &RetryTask::default()).await?).await
}

pub(super) async fn reassign(session: &Session, arguments: &Reassign) -> Outcome {
    let to = session.agent(&arguments.to).await?;
    let task = find(session, &arguments.task).await?;
    let to = checked("AGENT", to.connected.agent_id.to_string())?;
    let to = ReassignTask { target_agent_id: to, expected_status: None };
    changed(session, session.client.reassign_task(&task.id, &to).await?).await
}

pub(super) async fn set_status(session: &Session, arguments: &SetStatus) -> Outcome {
    let task = find(session, &arguments.task).await?;
    changed(session, patch(session, &task, arguments.status, arguments.reason.as_deref()).await?).await
}

pub(super) async fn publish(session: &Session, arguments: &Named) -> Outcome {
    let task = find(session, &arguments.task).await?;
    changed(session, patch(session, &task, Status::Submitted, None).await?).await
}

pub(super) async fn delete(session: &Session, arguments: &Delete) -> Outcome {
    let id = session.task_id(&arguments.task).await?;
    confirm(&format!("Delete {id} with its messages and files, for both parties?"), arguments.yes)?;
    let deleted = session.client.delete_task(&id).await?;
    session.terminal.result(&deleted, |terminal| {
        let (messages, files) = (deleted.deleted_messages, deleted.deleted_files);
        terminal.done(&format!("Deleted {id}: {messages} messages, {files} files."))
    })
}
