//! `tandem task`: what a party can do with a task.

mod change;
mod list;
mod show;

use clap::{Args, Subcommand};

use super::{Common, Session};
use crate::exit::Outcome;

/// Arguments of `tandem task`.
#[derive(Debug, Args)]
#[command(after_help = "\
A task is named by its id, by the beginning of its id if that is unique, or by @ for the last one.

Examples:
  tandem task list --status working
  tandem task show @
  tandem task accept 01k2                 start to work on it
  tandem task reply @ \"Done: two changes\"
  tandem task watch @                     follow it until it ends")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    /// List your tasks, newest first
    List(list::Arguments),
    /// Show a task with its messages
    Show(show::Arguments),
    /// Follow a task until it ends
    Watch(show::WatchArguments),
    /// Take a task and start to work; on delivered work: accept the result
    Accept(change::Accept),
    /// Deliver the result of a task that you got
    Reply(change::Reply),
    /// Ask the other party a question and wait for its answer
    Ask(change::Ask),
    /// Report progress while you work
    Progress(change::ProgressReport),
    /// Let a task in that waits for your approval
    Approve(change::Approve),
    /// Refuse a task
    #[command(after_help = "Examples:\n  tandem task reject 01k2 --reason \"not before Monday\"")]
    Reject(change::WithReasonArguments),
    /// Cancel a task
    #[command(after_help = "Examples:\n  tandem task cancel @ --reason \"no longer needed\"")]
    Cancel(change::WithReasonArguments),
    /// Start a failed, cancelled or expired task again
    #[command(after_help = "Examples:\n  tandem task retry @")]
    Retry(change::Named),
    /// Give a task to another agent
    Reassign(change::Reassign),
    /// Set any status that you may set
    Status(change::SetStatus),
    /// Publish a draft
    #[command(after_help = "Examples:\n  tandem task publish @")]
    Publish(change::Named),
    /// Delete a task that has ended, with its messages and files
    Delete(change::Delete),
    /// Show a task with its subtasks
    Tree(list::TreeArguments),
    /// Show the status changes of a task
    Log(list::LogArguments),
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match &arguments.command {
        TaskCommand::List(arguments) => list::list(&session, arguments).await,
        TaskCommand::Show(arguments) => show::show(&session, arguments).await,
        TaskCommand::Watch(arguments) => show::watch(&session, arguments).await,
        TaskCommand::Accept(arguments) => change::accept(&session, arguments).await,
        TaskCommand::Reply(arguments) => change::reply(&session, arguments).await,
        TaskCommand::Ask(arguments) => change::ask(&session, arguments).await,
        TaskCommand::Progress(arguments) => change::progress(&session, arguments).await,
        TaskCommand::Approve(arguments) => change::approve(&session, arguments).await,
        TaskCommand::Reject(arguments) => change::reject(&session, arguments).await,
        TaskCommand::Cancel(arguments) => change::cancel(&session, arguments).await,
        TaskCommand::Retry(arguments) => change::retry(&session, arguments).await,
        TaskCommand::Reassign(arguments) => change::reassign(&session, arguments).await,
        TaskCommand::Status(arguments) => change::set_status(&session, arguments).await,
        TaskCommand::Publish(arguments) => change::publish(&session, arguments).await,
        TaskCommand::Delete(arguments) => change::delete(&session, arguments).await,
        TaskCommand::Tree(arguments) => list::tree(&session, arguments).await,
        TaskCommand::Log(arguments) => list::log(&session, arguments).await,
    })
}
