//! The operator's lists, page by page.

use tandem_api::admin::{AdminAgent, AdminDelivery, AdminEvent, AdminEventsQuery, AdminTask};
use tandem_client::Client;

use crate::commands::pages::Extent;
use crate::exit::Outcome;
use crate::terminal::table::Table;
use crate::terminal::{Terminal, time};

/// The columns of agents.
pub(super) const AGENT: [&str; 7] = ["id", "name", "reach", "seen", "credits", "charged", "suspended"];

pub(super) async fn agents(client: &Client, extent: Extent, terminal: &Terminal) -> Outcome {
    let listed = extent.read(async |page| client.admin_agents(&page).await).await?;
    let row = |table: &mut Table, agent: &AdminAgent| table.row(agent_row(agent));
    listed.print(terminal, Table::new(&AGENT, 1), row, "There are no agents yet.")
}

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

pub(super) async fn tasks(client: &Client, extent: Extent, terminal: &Terminal) -> Outcome {
    let table = Table::new(&["id", "status", "from", "to", "attempt", "messages", "created"], 2);
    let row = |table: &mut Table, task: &AdminTask| {
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
    let listed = extent.read(async |page| client.admin_tasks(&page).await).await?;
    listed.print(terminal, table, row, "There are no tasks yet.")
}

pub(super) async fn events(
    client: &Client,
    query: &AdminEventsQuery,
    extent: Extent,
    terminal: &Terminal,
) -> Outcome {
    let table = Table::new(&["agent", "number", "type", "task", "from", "written"], 0);
    let row = |table: &mut Table, event: &AdminEvent| {
        table.row([
            event.agent_id.to_string(),
            event.id.to_string(),
            event.kind.as_str().to_owned(),
            event.task_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            event.from_agent_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            event.created_at.to_string(),
        ]);
    };
    let fetch = async |page: tandem_api::tasks::PageQuery| {
        let query = AdminEventsQuery { limit: page.limit, cursor: page.cursor, ..query.clone() };
        client.admin_events(&query).await
    };
    extent.read(fetch).await?.print(terminal, table, row, "There are no events yet.")
}

pub(super) async fn deliveries(client: &Client, extent: Extent, terminal: &Terminal) -> Outcome {
    let table = Table::new(&["id", "agent", "event", "state", "attempts", "answer", "created"], 1);
    let row = |table: &mut Table, delivery: &AdminDelivery| {
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
    let listed = extent.read(async |page| client.admin_deliveries(&page).await).await?;
    listed.print(terminal, table, row, "There are no deliveries yet.")
}
