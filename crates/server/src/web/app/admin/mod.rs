//! The operator's pages: the hub as a whole, its agents and its limits. They show no content of tasks, as the routes below
//! `/admin` show none.

mod agents;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::routing::{get, post};
use serde_json::Value;
use tandem_api::admin::{AdminEventsQuery, Overview};
use tandem_api::tasks::PageQuery;
use tandem_hub::Hub;
use tandem_hub::ops::admin;

use super::words::{self, When, thousands};
use super::{Operator, Page, Shell, html};
use crate::http::Query;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/admin", get(overview))
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

/// One status with its number and the share of the largest.
struct Bar {
    mark: words::StatusMark,
    number: String,
    percent: i64,
}

#[derive(Template)]
#[template(path = "app/admin.html")]
struct OverviewPage {
    shell: Shell,
    agents: String,
    online: String,
    open_tasks: String,
    messages: String,
    events: String,
    bars: Vec<Bar>,
    /// Why the hub is not ready, if it is not.
    trouble: Option<String>,
    health: Vec<Fact>,
    limits: Vec<Fact>,
    counted: When,
}

async fn overview(State(hub): State<Hub>, operator: Operator) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "").await?;
    let found = admin::overview(&hub).await?;
    let trouble = admin::check_ready(&hub).await.err().map(|error| error.to_string());
    let number = |status: tandem_core::Status| found.tasks.get(status.as_str()).copied().unwrap_or(0);
    let live = tandem_core::Status::ALL.into_iter().filter(|status| status.is_live());
    let largest = tandem_core::Status::ALL.into_iter().map(number).max().unwrap_or(0).max(1);
    let bar = |status: tandem_core::Status| Bar {
        mark: words::status(status, None),
        number: thousands(number(status)),
        percent: number(status) * 100 / largest,
    };
    let page = OverviewPage {
        agents: thousands(found.agents),
        online: thousands(i64::try_from(found.agents_online).unwrap_or(i64::MAX)),
        open_tasks: thousands(live.map(number).sum()),
        messages: thousands(found.messages),
        events: thousands(found.events),
        bars: tandem_core::Status::ALL.into_iter().map(bar).collect(),
        health: health(&found, &shell),
        limits: limits(&hub),
        counted: shell.when(&found.counted_at),
        trouble,
        shell,
    };
    html(StatusCode::OK, &page)
}

fn health(found: &Overview, shell: &Shell) -> Vec<Fact> {
    let figure = |name: &str| {
        thousands(i64::try_from(found.store.get(name).copied().unwrap_or(0)).unwrap_or(i64::MAX))
    };
    vec![
        Fact::new("Version", found.version.as_str()),
        Fact::new("Database", found.database.as_str()),
        Fact::new("Started", shell.when(&found.started_at).relative),
        Fact::new("Open sockets", found.open_sockets.to_string()),
        Fact::new("Open event streams", found.open_streams.to_string()),
        Fact::new("Connections of agents", thousands(found.connections)),
        Fact::new("Writes", figure("writes")),
        Fact::new("Reads", figure("reads")),
    ]
}

fn limits(hub: &Hub) -> Vec<Fact> {
    let config = &hub.config;
    let per_minute = |limit: u32| if limit == 0 { "off".to_owned() } else { format!("{limit} per minute") };
    vec![
        Fact::new("Requests of an agent", per_minute(config.rate_limit_max)),
        Fact::new("Registrations of an address", per_minute(config.rate_limit_register_max)),
        Fact::new("Directory searches", per_minute(config.rate_limit_discover_max)),
        Fact::new("Messages on a task", per_minute(config.max_messages_per_minute)),
        Fact::new("Memory for clients", format!("{} MB", config.memory_budget_mb)),
    ]
}

struct Cell {
    text: String,
    when: Option<When>,
    is_code: bool,
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), when: None, is_code: false }
    }
    fn code(text: impl ToString) -> Self {
        Self { text: text.to_string(), when: None, is_code: true }
    }
    fn when(when: When) -> Self {
        Self { text: String::new(), when: Some(when), is_code: false }
    }
}

#[derive(Template)]
#[template(path = "app/admin-list.html")]
struct ListPage {
    shell: Shell,
    heading: &'static str,
    sub: &'static str,
    empty: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
    next: Option<String>,
}

async fn tasks(State(hub): State<Hub>, operator: Operator, Query(query): Query<PageQuery>, uri: Uri) -> Page {
    let shell = Shell::of_operator(&hub, &operator, "/tasks").await?;
    let listed = admin::tasks(&hub, query).await?;
    let rows = listed.items.into_iter().map(|task| {
        vec![
            Cell::code(&task.id),
            Cell::text(words::status(task.status, None).word),
            Cell::code(&task.initiator_agent_id),
            Cell::code(&task.target_agent_id),
            Cell::text(thousands(task.message_count)),
            Cell::text(task.attempt.to_string()),
            Cell::text(if task.encrypted { "yes" } else { "no" }),
            Cell::when(shell.when(&task.created_at)),
        ]
    });
    let page = ListPage {
        heading: "Tasks",
        sub: "Newest first, without their content",
        empty: "No task has been sent yet.",
        columns: &["Task", "Status", "From", "To", "Messages", "Attempt", "Encrypted", "Created"],
        rows: rows.collect(),
        next: next_page(&uri, listed.next.as_deref()),
        shell,
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
    let or_none = |id: Option<String>| Cell::code(id.unwrap_or_default());
    let rows = listed.items.into_iter().map(|event| {
        vec![
            Cell::code(&event.agent_id),
            Cell::text(event.id.to_string()),
            Cell::text(event.kind.as_str()),
            or_none(event.task_id.map(|id| id.to_string())),
            or_none(event.from_agent_id.map(|id| id.to_string())),
            Cell::when(shell.when(&event.created_at)),
        ]
    });
    let page = ListPage {
        heading: "Events",
        sub: "The logs of all agents, one after the other, without data",
        empty: "No event has been written yet.",
        columns: &["Log of", "Number", "Type", "Task", "Caused by", "Written"],
        rows: rows.collect(),
        next: next_page(&uri, listed.next.as_deref()),
        shell,
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
    let rows = listed.items.into_iter().map(|delivery| {
        vec![
            Cell::code(&delivery.agent_id),
            Cell::text(delivery.event.as_str()),
            Cell::text(delivery.state.as_str()),
            Cell::text(delivery.attempts.to_string()),
            Cell::text(delivery.answer_status.map_or_else(String::new, |status| status.to_string())),
            delivery.next_attempt_at.map_or_else(|| Cell::text(""), |at| Cell::when(shell.when(&at))),
            Cell::when(shell.when(&delivery.created_at)),
        ]
    });
    let page = ListPage {
        heading: "Deliveries",
        sub: "Webhook deliveries of all agents, without address and content",
        empty: "No webhook delivery yet.",
        columns: &["Agent", "Event", "State", "Attempts", "Answer", "Next try", "Created"],
        rows: rows.collect(),
        next: next_page(&uri, listed.next.as_deref()),
        shell,
    };
    html(StatusCode::OK, &page)
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
            .map(|(name, value)| vec![Cell::code(name), Cell::text(shown(value))])
            .collect(),
        next: None,
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
