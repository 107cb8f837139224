//! The operator's lists, page by page.

use clap::Args;
use serde::Serialize;
use tandem_api::admin::{AdminAgent, AdminEventsQuery};
use tandem_api::tasks::PageQuery;
use tandem_client::{Client, Error, Page};

use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::{Terminal, time};

/// The hub's largest page.
const PAGE_MAX: usize = 500;

/// How much of a list to show.
#[derive(Debug, Args)]
pub(super) struct ListOptions {
    /// Show this many entries
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with = "all")]
    limit: usize,
    /// Show all entries
    #[arg(long)]
    all: bool,
}

pub(super) async fn agents(client: &Client, list: &ListOptions, terminal: &Terminal) -> Outcome {
    let header = &["id", "name", "reach", "seen", "credits", "charged", "suspended"];
    let mut table = Table::new(header, 1);
    list.read(terminal, async |page| client.admin_agents(&page).await, |agent| table.row(agent_row(&agent)))
        .await?;
    list.print(&table, terminal, "There are no agents yet.")
}

/// An agent as a row.
pub(super) fn agent_row(agent: &AdminAgent) -> [String; 7] {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    [
        agent.id.to_string(),
        agent.name.as_str().to_owned(),
        agent.reach.as_str().to_owned(),
        agent.last_seen_at.map_or_else(|| "never".to_owned(), |at| time::relative(at, time::now())),
        agent.credits.number().to_string(),
        yes(agent.costs_credits),
        yes(agent.suspended),
    ]
}

pub(super) async fn tasks(client: &Client, list: &ListOptions, terminal: &Terminal) -> Outcome {
    let mut table = Table::new(&["id", "status", "from", "to", "attempt", "messages", "created"], 2);
    let row = |task: tandem_api::admin::AdminTask| {
        table.row([
            task.id.to_string(),
            task.status.as_str().to_owned(),
            task.initiator_agent_id.to_string(),
            task.target_agent_id.to_string(),
            task.attempt.to_string(),
            task.message_count.to_string(),
            task.created_at.to_string(),
        ]);
    };
    list.read(terminal, async |page| client.admin_tasks(&page).await, row).await?;
    list.print(&table, terminal, "There are no tasks yet.")
}

pub(super) async fn events(
    client: &Client,
    query: &AdminEventsQuery,
    list: &ListOptions,
    terminal: &Terminal,
) -> Outcome {
    let mut table = Table::new(&["agent", "number", "type", "task", "from", "written"], 0);
    let row = |event: tandem_api::admin::AdminEvent| {
        table.row([
            event.agent_id.to_string(),
            event.id.to_string(),
            event.kind.as_str().to_owned(),
            event.task_id.map(|id| id.to_string()).unwrap_or_default(),
            event.from_agent_id.map(|id| id.to_string()).unwrap_or_default(),
            event.created_at.to_string(),
        ]);
    };
    let fetch = async |page: PageQuery| {
        let query = AdminEventsQuery { limit: page.limit, cursor: page.cursor, ..query.clone() };
        client.admin_events(&query).await
    };
    list.read(terminal, fetch, row).await?;
    list.print(&table, terminal, "There are no events yet.")
}

pub(super) async fn deliveries(client: &Client, list: &ListOptions, terminal: &Terminal) -> Outcome {
    let mut table = Table::new(&["id", "agent", "event", "state", "attempts", "answer", "created"], 1);
    let row = |delivery: tandem_api::admin::AdminDelivery| {
        table.row([
            delivery.id.to_string(),
            delivery.agent_id.to_string(),
            delivery.event.as_str().to_owned(),
            delivery.state.as_str().to_owned(),
            delivery.attempts.to_string(),
            delivery.answer_status.map(|status| status.to_string()).unwrap_or_default(),
            delivery.created_at.to_string(),
        ]);
    };
    list.read(terminal, async |page| client.admin_deliveries(&page).await, row).await?;
    list.print(&table, terminal, "There are no deliveries yet.")
}

impl ListOptions {
    /// Reads pages until there are enough entries. With `--json` each is printed as it arrives, otherwise `row` takes it.
    async fn read<T: Serialize>(
        &self,
        terminal: &Terminal,
        mut fetch: impl AsyncFnMut(PageQuery) -> Result<Page<T>, Error>,
        mut row: impl FnMut(T),
    ) -> Outcome {
        let mut left = if self.all { usize::MAX } else { self.limit };
        let mut cursor = None;
        while left > 0 {
            let limit = i64::try_from(left.min(PAGE_MAX)).ok();
            let page = fetch(PageQuery { limit, cursor }).await?;
            for item in page.items.into_iter().take(left) {
                left -= 1;
                if terminal.json {
                    terminal.json_line(&item)?;
                } else {
                    row(item);
                }
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
        if cursor.is_some() {
            terminal.note("There are more: --limit N or --all shows them.");
        }
        Ok(())
    }

    fn print(&self, table: &Table, terminal: &Terminal, when_empty: &str) -> Outcome {
        if terminal.json { Ok(()) } else { table.print(terminal, when_empty) }
    }
}
