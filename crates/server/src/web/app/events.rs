//! Events: the agent's log, newest first, with new rows as they come. Looking at it marks nothing as read.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::{Map, Value};
use tandem_api::events::EventView;
use tandem_core::TaskId;
use tandem_core::events::{EventKind, Subject};
use tandem_hub::ops::events::{self, Newest, Titles};
use tandem_hub::{Hub, paging};

use super::copy::Copied;
use super::sentence::sentence;
use super::words::{self, When};
use super::{Page, Section, Shell, Viewer, filters, html};

/// Types that tell of trouble.
const TROUBLE: &str = "task.stalled,message.no_ack,task.approval_required";
/// Filters to choose: the pattern and its words.
const CHOICES: [(&str, &str); 5] = [
    ("", "All types"),
    ("task.*", "task.*"),
    ("message.*", "message.*"),
    ("agent.*", "agent.*"),
    (TROUBLE, "Trouble"),
];

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}/events", get(page))
}

/// One filter to choose.
#[derive(Debug)]
struct Choice {
    word: String,
    href: String,
    is_current: bool,
}

#[derive(Debug)]
struct Row {
    id: i64,
    kind: String,
    tone: Option<&'static str>,
    when: When,
    /// The time of day with milliseconds.
    clock: String,
    task: Option<TaskId>,
    /// The name of an agent; none for the hub.
    from: Option<String>,
    sentence: String,
    json: String,
}

#[derive(Template)]
#[template(path = "app/events.html")]
struct EventsPage {
    shell: Shell,
    rows: Vec<Row>,
    choices: Vec<Choice>,
    kinds: String,
    task: String,
    /// What is wrong with the filter.
    error: Option<String>,
    /// Whether this is the newest page, on which new rows appear.
    is_first: bool,
    /// The address of older events.
    older: Option<String>,
    /// Whether a search by type stopped before the beginning of the log.
    is_partial: bool,
    newest: String,
    oldest: String,
    command: Copied,
}

/// `GET /app/{agent}/events`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let shell = Shell::of(&hub, &viewer, Section::Events).await?;
    let asked = viewer.browser.query();
    let (kinds, task) = (asked.get("type").trim(), asked.get("task").trim());
    let before = paging::number(asked.given("cursor").as_deref())?;
    let filter = filter(kinds, task);
    // The stream starts at the cursor of the frame: rows after it would come twice.
    let end = shell.live.as_ref().map(|live| live.cursor + 1);
    let wanted = filter.as_ref().ok().map(|(kinds, task)| Newest {
        before: before.or(end),
        kinds: kinds.clone(),
        task: task.clone(),
    });
    let listed = match wanted {
        Some(wanted) => Some(events::newest(&hub, &viewer.caller, wanted).await?),
        None => None,
    };
    let (items, next) = listed.map_or_else(|| (Vec::new(), None), |listed| (listed.items, listed.next));
    let titles = events::titles_of(&hub, &viewer.caller, &items).await?;
    let rows: Vec<Row> = items.into_iter().map(|event| row(event, &titles, &shell)).collect();
    let number = |row: Option<&Row>| row.map_or_else(String::new, |row| words::thousands(row.id));
    let page = EventsPage {
        newest: number(rows.first()),
        oldest: number(rows.last()),
        is_partial: next.is_some() && rows.len() < 50,
        is_first: before.is_none(),
        older: next.map(|next| address(&[("type", kinds), ("task", task), ("cursor", &next)])),
        choices: choices(kinds, task),
        kinds: kinds.to_owned(),
        task: task.to_owned(),
        error: filter.err(),
        command: command(&hub, kinds, task),
        rows,
        shell,
    };
    html(StatusCode::OK, &page)
}

/// The filter of the address: types with `*` at their end, separated by commas, and a task.
fn filter(kinds: &str, task: &str) -> Result<(Vec<EventKind>, Option<TaskId>), String> {
    let mut found = Vec::new();
    for pattern in kinds.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()) {
        let fits = |kind: &&EventKind| match pattern.strip_suffix('*') {
            Some(start) => kind.as_str().starts_with(start),
            None => kind.as_str() == pattern,
        };
        if !EventKind::ALL.iter().any(|kind| fits(&kind)) {
            return Err(format!("There is no event type {pattern}. Try task.* or message.created."));
        }
        let is_new = |kind: &&EventKind| !found.contains(*kind);
        let more: Vec<EventKind> = EventKind::ALL.iter().filter(fits).filter(is_new).copied().collect();
        found.extend(more);
    }
    let task = match task {
        "" => None,
        id => Some(id.parse().map_err(|_| "That is not the id of a task.".to_owned())?),
    };
    Ok((found, task))
}

fn choices(kinds: &str, task: &str) -> Vec<Choice> {
    let choice = |(pattern, word): (&str, &str)| Choice {
        word: word.to_owned(),
        href: address(&[("type", pattern), ("task", task)]),
        is_current: pattern == kinds,
    };
    let mut choices: Vec<Choice> = CHOICES.into_iter().map(choice).collect();
    if !choices.iter().any(|choice| choice.is_current) {
        let href = address(&[("type", kinds), ("task", task)]);
        choices.push(Choice { word: kinds.to_owned(), href, is_current: true });
    }
    choices
}

/// The address of this page with other fields; empty ones are left out.
fn address(fields: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields.iter().filter(|(_, value)| !value.is_empty()));
    format!("?{}", query.finish())
}

fn command(hub: &Hub, kinds: &str, task: &str) -> Copied {
    let mut words = vec!["events", "tail"];
    for pattern in kinds.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()) {
        words.extend(["--type", pattern]);
    }
    if !task.is_empty() {
        words.extend(["--task", task]);
    }
    Copied::new("tail", "follow these events").command(words).curl(hub, "GET", "/events/stream", None)
}

fn row(event: EventView, titles: &Titles, shell: &Shell) -> Row {
    let data: Map<String, Value> = serde_json::from_str(event.data.get()).unwrap_or_default();
    let when = shell.when(&event.created_at);
    let from = match (&event.from_agent_id, data.get("fromAgentName").and_then(Value::as_str)) {
        (None, _) => None,
        (Some(_), Some(name)) => Some(name.to_owned()),
        (Some(id), None) => Some(id.to_string()),
    };
    let tone = match EventKind::named(event.kind.as_str()).map(EventKind::subject) {
        Some(Subject::Silence) => Some("bad"),
        Some(Subject::Approval) => Some("wait"),
        _ => None,
    };
    Row {
        id: event.id,
        kind: event.kind.as_str().to_owned(),
        tone,
        clock: when.iso.get(11..23).unwrap_or(&when.clock).to_owned(),
        when,
        task: event.task_id.clone(),
        from,
        sentence: sentence(&event, &data, titles),
        json: serde_json::to_string_pretty(&event).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_as_the_script_reads_them() {
        let kinds = |text: &str| filter(text, "").map(|found| found.0.len());
        assert_eq!(kinds(""), Ok(0));
        assert!(kinds("task.*").is_ok_and(|n| n > 3));
        assert_eq!(kinds(" task.created , message.created"), Ok(2));
        assert!(kinds("task.nothing").is_err_and(|why| why.contains("task.nothing")));
        assert!(filter("", "not an id!").is_err());
    }
}
