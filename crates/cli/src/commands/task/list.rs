//! Lists: tasks, subtasks, the log of a task.

use clap::Args;
use tandem_api::tasks::{PartyRole, TaskLogView, TasksQuery, TreeTask};
use tandem_core::Status;

use super::super::complete::{connected_agents, statuses, tasks};
use super::super::input::checked;
use super::super::pages::Extent;
use super::super::task_view::task_table;
use super::Session;
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::text;

/// Arguments of `tandem task list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task list
  tandem task list --status input-required --sent
  tandem task list --with bob --search report --all --json")]
pub(crate) struct Arguments {
    /// Only tasks in this status
    #[arg(long, value_name = "STATUS", add = statuses())]
    status: Option<Status>,
    /// Only tasks that you sent
    #[arg(long, conflicts_with = "received")]
    sent: bool,
    /// Only tasks that you got
    #[arg(long)]
    received: bool,
    /// Only tasks with this agent
    #[arg(long, value_name = "AGENT", add = connected_agents())]
    with: Option<String>,
    /// Only tasks with these words in their title
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    #[command(flatten)]
    extent: Extent,
}

/// Arguments of `tandem task tree`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task tree @")]
pub(crate) struct TreeArguments {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
}

/// Arguments of `tandem task log`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem task log @
  tandem task log 01k2 --json")]
pub(crate) struct LogArguments {
    /// The task: id, beginning of an id, or @
    #[arg(value_name = "TASK", add = tasks())]
    task: String,
    #[command(flatten)]
    extent: Extent,
}

pub(super) async fn list(session: &Session, arguments: &Arguments) -> Outcome {
    let role = match (arguments.sent, arguments.received) {
        (true, _) => Some(PartyRole::Initiator),
        (_, true) => Some(PartyRole::Target),
        _ => None,
    };
    let with = match &arguments.with {
        Some(named) => Some(session.agent(named).await?.connected.agent_id),
        None => None,
    };
    let filter = TasksQuery {
        status: arguments.status,
        role,
        with,
        q: arguments.search.as_ref().map(|words| checked("--search", words)).transpose()?,
        limit: None,
        cursor: None,
    };
    let (client, filter) = (&session.client, &filter);
    let page = |query: tandem_api::tasks::PageQuery| async move {
        client.tasks(&TasksQuery { limit: query.limit, cursor: query.cursor, ..filter.clone() }).await
    };
    let listed = arguments.extent.read(page).await?;
    let (table, row) = task_table(session);
    listed.print(&session.terminal, table, row, "No such task. `tandem send AGENT TITLE` makes one.")
}

pub(super) async fn tree(session: &Session, arguments: &TreeArguments) -> Outcome {
    let task = session.task_id(&arguments.task).await?;
    let tree = session.client.task_tree(&task).await?;
    session.terminal.result(&tree, |terminal| {
        for task in std::iter::once(&tree.root).chain(&tree.descendants) {
            terminal.line(&branch(task))?;
        }
        if tree.has_more {
            terminal.note("There are more subtasks than the hub shows.");
        }
        Ok(())
    })
}

fn branch(task: &TreeTask) -> String {
    let indent = "  ".repeat(usize::try_from(task.depth).unwrap_or(0));
    let (from, to) = (task.initiator_agent_name.as_str(), task.target_agent_name.as_str());
    format!("{indent}{}  {}  {} → {}", task.id, task.status.as_str(), text::line(from), text::line(to))
}

pub(super) async fn log(session: &Session, arguments: &LogArguments) -> Outcome {
    let task = &session.task_id(&arguments.task).await?;
    let client = &session.client;
    let listed = arguments.extent.read(|query| async move { client.task_log(task, &query).await }).await?;
    let row = |table: &mut Table, entry: &TaskLogView| {
        let change = match entry.from_status {
            Some(from) => format!("{} → {}", from.as_str(), entry.to_status.as_str()),
            None => entry.to_status.as_str().to_owned(),
        };
        let detail = entry.detail.as_ref().map_or("", |detail| detail.as_str());
        table.row([
            &entry.created_at.to_string(),
            &change,
            entry.actor.as_str(),
            &entry.attempt.to_string(),
            detail,
        ]);
    };
    let table = Table::new(&["time", "status", "by", "attempt", "detail"], 4);
    listed.print(&session.terminal, table, row, "The log of this task is empty.")
}
