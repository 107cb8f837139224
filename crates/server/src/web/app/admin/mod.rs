//! The operator's pages: the hub as a whole, its agents and its limits. They show no content of tasks, as the routes below
//! `/admin` show none.

mod agents;
mod overview;

use std::collections::HashMap;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::{get, post};
use serde_json::Value;
use tandem_api::admin::AdminEventsQuery;
use tandem_api::tasks::PageQuery;
use tandem_core::webhooks::State as Delivered;
use tandem_core::{AgentId, Approval, Status};
use tandem_hub::Hub;
use tandem_hub::ops::admin;

use super::people::Party;
use super::words::{self, StatusMark, When, thousands};
use super::{Operator, Page, Shell, filters, html};
use crate::http::Query;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/admin", get(overview::page))
        .route("/app/admin/agents", get(agents::list))
        .route("/app/admin/agents/{id}", post(agents::change))
        .route("/app/admin/tasks", get(tasks))
        .route("/app/admin/events", get(events))
        .route("/app/admin/deliveries", get(deliveries))
        .route("/app/admin/settings", get(settings))
        .route("/app/admin/storage", get(storage))
}

/// A name and a value of a list of facts.
pub(crate) struct Fact {
    name: String,
    value: String,
}

impl Fact {
    fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// A cell of a table.
enum Cell {
    Text(String),
    Code(String),
    Time(When),
    Agent(Box<Party>),
    Mark(StatusMark),
    Empty,
}

impl Cell {
    fn text(text: impl ToString) -> Self {
        Self::Text(text.to_string())
    }
    fn code(text: impl ToString) -> Self {
        Self::Code(text.to_string())
    }
}

/// The names of agents, for tables that have their ids.
struct Names<'a> {
    found: HashMap<AgentId, String>,
    shell: &'a Shell,
}

impl<'a> Names<'a> {
    async fn of(hub: &Hub, shell: &'a Shell, ids: Vec<AgentId>) -> Result<Self, tandem_hub::Error> {
        Ok(Self { found: admin::names(hub, ids).await?, shell })
    }

    fn cell(&self, agent: &AgentId) -> Cell {
        let name = self.found.get(agent).map_or("deleted agent", String::as_str);
        Cell::Agent(Box::new(Party::new(agent, name, self.shell)))
    }
}

/// The mark of a task, as far as an operator may know what it waits for.
fn task_mark(status: Status, approval: Option<Approval>, is_silent: bool) -> StatusMark {
    if is_silent && status == Status::Working {
        return StatusMark { word: "Stalled", icon: "warn", tone: "wait" };
    }
    words::status(status, approval)
}

#[derive(Template)]
#[template(path = "app/admin-list.html")]
struct ListPage {
    heading: &'static str,
    sub: &'static str,
    empty: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
    next: Option<String>,
    /// Whether the table changes while it is looked at.
    is_live: bool,
    shell: Shell,
}

async fn tasks(State(hub): State<Hub>, operator: Operator, Query(query): Query<PageQuery>, uri: Uri) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "/tasks").await?;
    let listed = admin::tasks(&hub, query).await?;
    let parties =
        |task: &tandem_api::admin::AdminTask| [task.initiator_agent_id.clone(), task.target_agent_id.clone()];
    let names = Names::of(&hub, &shell, listed.items.iter().flat_map(parties).collect()).await?;
    let rows = listed.items.iter().map(|task| {
        vec![
            Cell::code(&task.id),
            Cell::Mark(words::status(task.status, None)),
            names.cell(&task.initiator_agent_id),
            names.cell(&task.target_agent_id),
            Cell::text(thousands(task.message_count)),
            Cell::text(task.attempt),
            Cell::text(if task.encrypted { "yes" } else { "no" }),
            Cell::Time(shell.when(&task.created_at)),
        ]
    });
    let page = ListPage {
        heading: "Tasks",
        sub: "Newest first, without their content",
        empty: "No task has been sent yet.",
        columns: &["Task", "Status", "From", "To", "Messages", "Attempt", "Encrypted", "Created"],
        rows: rows.collect(),
        next: next_page(&uri, listed.next.as_deref()),
        is_live: true,
        shell: shell.clone(),
    };
    html(StatusCode::OK, &page)
}

async fn events(
    State(hub): State<Hub>,
    operator: Operator,
    Query(query): Query<AdminEventsQuery>,
    uri: Uri,
) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "/events").await?;
    let listed = admin::events(&hub, query).await?;
    let agents =
        listed.items.iter().flat_map(|event| [Some(event.agent_id.clone()), event.from_agent_id.clone()]);
    let names = Names::of(&hub, &shell, agents.flatten().collect()).await?;
    let rows = listed.items.iter().map(|event| {
        vec![
            names.cell(&event.agent_id),
            Cell::text(event.id),
            Cell::text(event.kind.as_str()),
            event.task_id.as_ref().map_or(Cell::Empty, Cell::code),
            event.from_agent_id.as_ref().map_or_else(|| Cell::text("the hub"), |from| names.cell(from)),
            Cell::Time(shell.when(&event.created_at)),
        ]
    });
    let page = ListPage {
        heading: "Events",
        sub: "The logs of all agents, one after the other, without data",
        empty: "No event has been written yet.",
        columns: &["Log of", "Number", "Type", "Task", "Caused by", "Written"],
        rows: rows.collect(),
        next: next_page(&uri, listed.next.as_deref()),
        is_live: true,
        shell: shell.clone(),
    };
    html(StatusCode::OK, &page)
}

async fn deliveries(
    State(hub): State<Hub>,
    operator: Operator,
    Query(query): Query<PageQuery>,
    uri: Uri,
) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "/deliveries").await?;
    let listed = admin::deliveries(&hub, query).await?;
    let agents = listed.items.iter().map(|delivery| delivery.agent_id.clone());
    let names = Names::of(&hub, &shell, agents.collect()).await?;
    let rows = listed.items.iter().map(|delivery| {
        vec![
            names.cell(&delivery.agent_id),
            Cell::text(delivery.event.as_str()),
            Cell::Mark(delivery_mark(delivery.state, delivery.attempts)),
            Cell::text(delivery.attempts),
            delivery.answer_status.map_or(Cell::Empty, Cell::text),
            delivery.next_attempt_at.map_or(Cell::Empty, |at| Cell::Time(shell.when(&at))),
            Cell::Time(shell.when(&delivery.created_at)),
        ]
    });
    let page = ListPage {
        heading: "Deliveries",
        sub: "Webhook deliveries of all agents, without address and content",
        empty: "No webhook delivery yet.",
        columns: &["Agent", "Event", "State", "Attempts", "Answer", "Next try", "Created"],
        rows: rows.collect(),
        next: next_page(&uri, listed.next.as_deref()),
        is_live: true,
        shell: shell.clone(),
    };
    html(StatusCode::OK, &page)
}

fn delivery_mark(state: Delivered, attempts: i64) -> StatusMark {
    match state {
        Delivered::Delivered => StatusMark { word: "Delivered", icon: "status-completed", tone: "good" },
        Delivered::Pending if attempts == 0 => StatusMark { word: "Waits", icon: "clock", tone: "plain" },
        Delivered::Pending => StatusMark { word: "Tried again", icon: "redo", tone: "wait" },
        Delivered::Failed => StatusMark { word: "Failed", icon: "status-failed", tone: "bad" },
    }
}

async fn settings(State(hub): State<Hub>, operator: Operator) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "/settings").await?;
    let shown = |value: Value| match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    let settings = match hub.config.redacted() {
        Value::Object(settings) => settings,
        _ => serde_json::Map::new(),
    };
    let page = ListPage {
        heading: "Settings",
        sub: "In force now, without secrets",
        empty: "",
        columns: &["Setting", "Value"],
        rows: settings
            .into_iter()
            .map(|(name, value)| vec![Cell::Code(name), Cell::Text(shown(value))])
            .collect(),
        next: None,
        is_live: false,
        shell,
    };
    html(StatusCode::OK, &page)
}

#[derive(Template)]
#[template(path = "app/admin-storage.html")]
struct StoragePage {
    shell: Shell,
    facts: Vec<Fact>,
    trouble: Option<String>,
}

async fn storage(State(hub): State<Hub>, operator: Operator) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "/storage").await?;
    let found = admin::overview(&hub).await?;
    let config = &hub.config;
    let retention = |days: u32| if days == 0 { "for ever".to_owned() } else { format!("{days} days") };
    let place = match hub.config.redacted().get("database").and_then(Value::as_str) {
        Some(place) => place.to_owned(),
        None => "in the data folder".to_owned(),
    };
    let facts = vec![
        Fact::new("Data folder", config.data.display().to_string()),
        Fact::new("Database", format!("{}, {place}", found.database.as_str())),
        Fact::new("Tasks", thousands(found.tasks.values().sum())),
        Fact::new("Messages", thousands(found.messages)),
        Fact::new("Events in all logs", thousands(found.events)),
        Fact::new("Acknowledged events are kept", retention(config.event_retention_days)),
        Fact::new("Finished deliveries are kept", retention(config.delivery_retention_days)),
        Fact::new("Decisions are kept", retention(config.decision_retention_days)),
    ];
    let trouble = admin::check_ready(&hub).await.err().map(|error| error.to_string());
    html(StatusCode::OK, &StoragePage { shell, facts, trouble })
}

/// The address of the next page: the same one with another cursor.
fn next_page(uri: &Uri, cursor: Option<&str>) -> Option<String> {
    let kept = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .filter(|(name, _)| name != "cursor" && name != "done");
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(kept)
        .append_pair("cursor", cursor?)
        .finish();
    Some(format!("{}?{query}", uri.path()))
}
