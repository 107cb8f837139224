//! `tandem send`: gives another agent a task.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tandem_api::tasks::{CreateTask, PatchTask, TaskView};
use tandem_client::Trust;
use tandem_core::Status;
use tandem_core::tasks::Priority;
use tandem_core::text::Within;

use super::complete::connected_agents;
use super::file::{check_files, check_types, sent_line, upload_all};
use super::follow_task::{Until, follow_task};
use super::input::{checked, text_or_stdin};
use super::task_view::{WithTrust, own_trust, print_quoted, print_unopened, status_line};
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::{text, time};

/// Arguments of `tandem send`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes with --wait: 0 it is completed, or needs you · 1 it failed, or was rejected or cancelled, or has expired
                        5 neither within --timeout

Examples:
  tandem send bob \"Summarise the sales report\" --file sales.csv --wait
  tandem send bob \"Review the API\" --text \"Only breaking changes\" --review --ttl 1h
  git diff | tandem send bob \"Review this diff\" --text - --encrypt")]
pub(crate) struct Arguments {
    /// The receiver: alias, whole name or id of a connected agent
    #[arg(value_name = "AGENT", add = connected_agents())]
    agent: String,
    /// What to do, in one line
    #[arg(value_name = "TITLE")]
    title: String,
    /// The whole description; - reads it from standard input
    #[arg(long, short, value_name = "TEXT")]
    text: Option<String>,
    /// A file to send with it; may be repeated
    #[arg(long = "file", short, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Encrypt end to end: the hub cannot read title, texts and files
    #[arg(long, short)]
    encrypt: bool,
    /// You accept the result yourself before the task is completed
    #[arg(long)]
    review: bool,
    /// Let it expire if nobody takes it within this time: 90s, 10m, 1h
    #[arg(long, value_name = "TIME", value_parser = time::seconds)]
    ttl: Option<i64>,
    /// Ask for a sign of life in this interval while it is worked on
    #[arg(long, value_name = "TIME", value_parser = time::seconds)]
    lease: Option<i64>,
    /// high, normal or low
    #[arg(long, value_name = "PRIORITY", value_parser = priority)]
    priority: Option<Priority>,
    /// Make a draft, which only you see until `tandem task publish`
    #[arg(long, conflicts_with_all = ["wait", "files"])]
    draft: bool,
    /// Wait until it ends or needs you, and print what happens
    #[arg(long, short)]
    wait: bool,
    /// Stop waiting after this time, with exit code 5
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = time::duration)]
    timeout: Option<Duration>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        check_files(&arguments.files)?;
        check_types(&arguments.files, arguments.encrypt)?;
        let mut task = CreateTask::new(
            checked("AGENT", arguments.agent.clone())?,
            checked("TITLE", arguments.title.clone())?,
        );
        if let Some(text) = &arguments.text {
            task.description = Some(checked("--text", text_or_stdin(text)?)?);
        }
        task.requires_review = arguments.review.then_some(true);
        // With files it begins as a draft, so that the receiver never sees it without them.
        task.draft = (arguments.draft || !arguments.files.is_empty()).then_some(true);
        task.priority = arguments.priority;
        task.ttl_seconds = within("--ttl", arguments.ttl)?;
        task.lease_seconds = within("--lease", arguments.lease)?;
        let receiver = session.agent(&arguments.agent).await?.connected.agent_id;
        // Where the log ends now: everything about the task comes after it.
        let before = if arguments.wait { Some(session.client.end_of_events().await?) } else { None };
        let sent = if arguments.encrypt {
            session.client.create_encrypted_task(task, &receiver).await?
        } else {
            task.target_agent_id = checked("AGENT", receiver.to_string())?;
            session.client.create_task(&task).await?
        };
        session.remember(&sent.id);
        let files = upload_all(&session, &sent, &arguments.files).await.map_err(|failure| {
            let id = &sent.id;
            failure.next(format!(
                "Nothing was sent. The draft {id} has the files so far: `tandem file up {id} FILE` adds one, \
                 `tandem task publish {id}` sends it, `tandem task delete {id}` removes it."
            ))
        })?;
        let sent = match arguments.draft || files.is_empty() {
            true => sent,
            false => publish(&session, sent).await?,
        };
        let trust = own_trust(&session.client, &sent);
        session.terminal.result(&WithTrust::new(&sent, &trust), |terminal| {
            let to = text::line(sent.target_agent_name.as_str());
            let lock = if arguments.encrypt { ", encrypted" } else { "" };
            terminal.line(&format!(
                "{}  to {to}{lock}  {}",
                sent.id,
                status_line(terminal, sent.status, None)
            ))
        })?;
        files.iter().try_for_each(|file| session.terminal.done(&sent_line(file)))?;
        match before {
            Some(cursor) => finish(&session, &sent, cursor, arguments.timeout).await,
            None => Ok(()),
        }
    })
}

/// Publishes a draft. The hub's answer has the text of an encrypted task sealed; it is known here.
async fn publish(session: &Session, draft: TaskView) -> Outcome<TaskView> {
    let change = PatchTask { status: Some(Status::Submitted), ..PatchTask::default() };
    let published = session.client.change_task(&draft.id, &change).await?;
    Ok(TaskView {
        title: draft.title,
        description: draft.description,
        description_keys: draft.description_keys,
        sender_signature: draft.sender_signature,
        initiator_agent_name: draft.initiator_agent_name,
        target_agent_name: draft.target_agent_name,
        ..published
    })
}

fn priority(word: &str) -> Result<Priority, String> {
    Priority::try_from(word.to_owned()).map_err(|unfit| unfit.0)
}

fn within<const MIN: i64, const MAX: i64>(
    name: &str,
    seconds: Option<i64>,
) -> Outcome<Option<Within<MIN, MAX>>> {
    let Some(seconds) = seconds else { return Ok(None) };
    let wrong = |_| Failure::usage(format!("{name} must be {MIN} to {MAX} seconds"));
    Ok(Some(Within::try_from(seconds).map_err(wrong)?))
}

/// Waits for the end and prints the result. The exit code says whether the task was completed.
async fn finish(session: &Session, sent: &TaskView, cursor: i64, limit: Option<Duration>) -> Outcome {
    let ending = follow_task(session, &sent.id, cursor, Until::EndedOrNeedsMe, limit).await?;
    let (terminal, task) = (&session.terminal, &ending.task.view);
    terminal.result(&WithTrust::of(&ending.task), |terminal| match (&task.result, &ending.task.trust) {
        (_, Trust::Unreadable(why)) => print_unopened(terminal, "the result or the task", why),
        // Usually the result has just been printed as the last message.
        (Some(result), _) if ending.last_text.as_deref() != Some(result.as_str()) => {
            terminal.line(&terminal.bold("Result"))?;
            print_quoted(terminal, &text::lines(result.as_str()))
        }
        _ => Ok(()),
    })?;
    if matches!(task.status, Status::InputRequired | Status::AuthRequired) {
        terminal
            .note("It waits for you: `tandem message @ \"…\"` answers, `tandem task accept @` completes it.");
    }
    ending.outcome(&session.client)
}
