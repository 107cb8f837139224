//! `tandem inbox` and `tandem approvals`: what waits for the agent, or for its owner.

use clap::Args;
use tandem_api::inbox::{InboxItem, InboxKind};
use tandem_api::tasks::PageQuery;

use super::pages::Extent;
use super::task_view::{listed_title, task_table};
use super::{Common, Session};
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::time;

/// Arguments of `tandem inbox`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem inbox
  tandem inbox --json | jq -r 'select(.kind==\"task\").taskId'
  tandem wait                             block until something arrives")]
pub(crate) struct Arguments {
    /// Print at most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
}

/// Arguments of `tandem approvals`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem approvals
  tandem task show 01k2                   read it first
  tandem task approve 01k2
  tandem task reject 01k2 --reason \"not on Fridays\"")]
pub(crate) struct ApprovalsArguments {
    #[command(flatten)]
    extent: Extent,
}

/// Lists what waits for the agent.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let query = PageQuery { limit: Some(i64::from(arguments.limit)), cursor: None };
        let inbox = session.client.inbox(&query).await?;
        let only = only_task(&inbox.items);
        if let Some(task) = only.and_then(|item| item.task_id.as_ref()) {
            session.remember(task);
        }
        let terminal = &session.terminal;
        if terminal.json {
            return inbox.items.iter().try_for_each(|item| terminal.json_line(item));
        }
        let mut table = Table::new(&["what", "from", "title", "task", "since", "priority"], 2);
        let now = time::now();
        for item in &inbox.items {
            table.row([
                what(item).as_str(),
                item.from_agent_name.as_str(),
                item.task_id
                    .as_ref()
                    .map_or(item.title.as_str(), |task| listed_title(&session.client, task, &item.title)),
                item.task_id.as_ref().map_or("", |task| task.as_str()),
                &time::relative(item.created_at, now),
                item.priority.as_str(),
            ]);
        }
        table.print(terminal, "Nothing waits for you. `tandem wait` blocks until something arrives.")?;
        if inbox.has_more {
            terminal.note("There is more: --limit N.");
        }
        if let Some(item) = only.filter(|_| session.profile.is_some()) {
            terminal.note(match item.kind {
                InboxKind::Task => "Next: tandem task show @   or   tandem task accept @",
                InboxKind::Approval => "Next: tandem task show @   or   tandem task approve @",
                InboxKind::Messages | InboxKind::Broadcast => "Next: tandem task show @ --unread",
            });
        }
        Ok(())
    })
}

/// The first item, if all items are about one task: then `@` can only mean that one.
fn only_task(items: &[InboxItem]) -> Option<&InboxItem> {
    let first = items.first().filter(|first| first.task_id.is_some())?;
    items.iter().all(|item| item.task_id == first.task_id).then_some(first)
}

fn what(item: &InboxItem) -> String {
    match item.kind {
        InboxKind::Task => "new task".to_owned(),
        InboxKind::Approval => "needs approval".to_owned(),
        InboxKind::Messages if item.unread_count == 1 => "1 message".to_owned(),
        InboxKind::Messages => format!("{} messages", item.unread_count),
        InboxKind::Broadcast => "broadcast".to_owned(),
    }
}

/// Lists the tasks that wait for approval.
pub(crate) fn approvals(arguments: &ApprovalsArguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let client = &session.client;
        let listed = arguments.extent.read(|query| async move { client.approvals(&query).await }).await?;
        let (table, row) = task_table(&session);
        listed.print(&session.terminal, table, row, "No task waits for your approval.")
    })
}
