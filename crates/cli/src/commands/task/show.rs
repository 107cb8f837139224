//! `tandem task show` and `tandem task watch`.

use std::time::Duration;

use clap::Args;
use tandem_api::messages::MessageView;
use tandem_api::tasks::{PageQuery, TaskView};
use tandem_client::{Opened, Trust};

use super::super::complete::tasks;
use super::super::follow_task::{Until, follow_task};
use super::super::task_view::{
    WithTrust, file_infos, print_message, print_quoted, print_task, print_unopened, unopened,
};
use super::Session;
use crate::exit::Outcome;
use crate::terminal::{text, time};

/// Files whose names and sizes are asked for.
const FILE_INFOS_MAX: usize = 20;

/// Arguments of `tandem task show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task show @
  tandem task show 01k2 --unread          only what you have not read yet, and mark it as read
  tandem task show @ --json | jq .result")]
pub(crate) struct Arguments {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// Show only unread messages, and mark them as read
    #[arg(long)]
    unread: bool,
    /// Show at most this many messages, the newest
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=1000))]
    messages: u32,
}

/// Arguments of `tandem task watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 it is completed · 1 it failed, or was rejected or cancelled, or has expired · 5 neither within --timeout

Examples:
  tandem task watch @
  tandem task watch 01k2 --timeout 10m")]
pub(crate) struct WatchArguments {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    /// Stop after this time, with exit code 5
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    timeout: Option<Duration>,
}

pub(super) async fn show(session: &Session, arguments: &Arguments) -> Outcome {
    let id = session.task_id(&arguments.task).await?;
    let task = session.client.task(&id).await?;
    session.remember(&id);
    let messages = if arguments.unread {
        session.client.read_messages(&id).await?.messages
    } else if arguments.messages == 0 {
        Vec::new()
    } else {
        let newest = PageQuery { limit: Some(i64::from(arguments.messages)), cursor: None };
        session.client.messages(&id, &newest).await?.items
    };
    let opened = session.client.open_messages(&task, messages).await;
    let task = session.client.open_task(task).await;
    let terminal = &session.terminal;
    if terminal.json {
        let messages: Vec<_> = opened.iter().map(WithTrust::of).collect();
        let mut view = serde_json::to_value(WithTrust::of(&task)).map_err(anyhow::Error::from)?;
        view["messages"] = serde_json::to_value(messages).map_err(anyhow::Error::from)?;
        terminal.json_line(&view)?;
        return all_opened(&task, &opened);
    }
    print_task(session, &task.view)?;
    print_description(session, &task.view)?;
    if let Some(note) = &task.view.approval_note {
        terminal.line("")?;
        terminal.line(&format!("Note of the owner  {}", text::line(note.as_str())))?;
    }
    if let Some(why) = task.trust.why_unreadable() {
        terminal.line("")?;
        print_unopened(terminal, "a text of the task", why)?;
    }
    let views = opened.iter().map(|message| &message.view);
    let files = file_infos(&session.client, views, FILE_INFOS_MAX).await;
    for (message, file) in opened.iter().zip(&files) {
        terminal.line("")?;
        print_message(session, &task.view, message, file.as_ref())?;
    }
    advise(session, &task.view);
    all_opened(&task, &opened)
}

/// Whether everything that was to be shown could be opened.
fn all_opened(task: &Opened<TaskView>, messages: &[Opened<MessageView>]) -> Outcome {
    let is_unopened = |trust: &Trust| trust.why_unreadable().is_some();
    if is_unopened(&task.trust) || messages.iter().any(|message| is_unopened(&message.trust)) {
        return Err(unopened("a text of this encrypted task"));
    }
    Ok(())
}

fn print_description(session: &Session, task: &TaskView) -> Outcome {
    match &task.description {
        Some(description) if !description.as_str().is_empty() => {
            session.terminal.line("")?;
            print_quoted(&session.terminal, &text::lines(description.as_str()))
        }
        _ => Ok(()),
    }
}

/// The next command, for the party whose turn it is.
fn advise(session: &Session, task: &TaskView) {
    use tandem_core::{Approval, Status};
    let is_initiator =
        session.profile.as_ref().is_some_and(|profile| profile.agent_id == task.initiator_agent_id);
    let next = match (is_initiator, task.status) {
        (false, Status::Submitted) if task.approval_status == Some(Approval::Pending) => {
            "tandem task approve @   or   tandem task reject @ --reason \"…\""
        }
        (false, Status::Submitted) => "tandem task accept @",
        (false, Status::Working) => "tandem task reply @ \"…\"   or   tandem task ask @ \"…\"",
        (true, Status::InputRequired) => "tandem message @ \"…\"   or   tandem task accept @",
        (true, Status::Failed | Status::Expired | Status::Cancelled) => "tandem task retry @",
        _ => return,
    };
    session.terminal.note(&format!("Next: {next}"));
}

pub(super) async fn watch(session: &Session, arguments: &WatchArguments) -> Outcome {
    let id = session.task_id(&arguments.task).await?;
    session.remember(&id);
    let cursor = session.client.end_of_events().await?;
    let ending = follow_task(session, &id, cursor, Until::Ended, arguments.timeout).await?;
    let task = &ending.task;
    session.terminal.result(&WithTrust::of(task), |terminal| {
        print_task(session, &task.view)?;
        match task.trust.why_unreadable() {
            Some(why) => print_unopened(terminal, "a text of the task", why),
            None => Ok(()),
        }
    })?;
    ending.outcome(&session.client)
}
