//! `/app/{agent}/new-task`: the form for a new task.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use serde_json::json;
use tandem_api::error::Code;
use tandem_api::tasks::{CreateTask, PageQuery};
use tandem_hub::ops::{networks, tasks};
use tandem_hub::{Error, Hub};

use super::{Choice, newest_connections};
use crate::http::explain;
use crate::http::unknown::UnknownNames;
use crate::web::app::copy::Copied;
use crate::web::app::refused::Refused;
use crate::web::app::session::Sent;
use crate::web::app::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

/// Members of networks to choose from.
const PEERS_MAX: i64 = 100;
/// Networks whose members are offered.
const NETWORKS_SHOWN: usize = 5;
/// Fields that are passed on as they are.
const PLAIN: [&str; 8] =
    ["title", "description", "priority", "requiresReview", "onStall", "maxAttempts", "maxMessages", "draft"];
/// Fields for a time, which people write with a unit.
const TIMES: [&str; 3] = ["ttlSeconds", "leaseSeconds", "checkInSeconds"];

/// The field of the receiver, as operations name it.
const TARGET: &str = "targetAgentId";

#[derive(Template)]
#[template(path = "app/task-new.html")]
struct NewPage {
    peers: Vec<Choice>,
    /// Members of networks, by the name of the network.
    members: Vec<(String, Vec<Choice>)>,
    has_more_peers: bool,
    refused: Refused,
    copied: Copied,
    shell: Shell,
}

impl NewPage {
    /// What was typed.
    fn value(&self, field: &str) -> &str {
        self.refused.value(field)
    }

    fn error(&self, field: &str) -> Option<&str> {
        self.refused.field(field)
    }

    /// The fold with the limits opens by itself when something in it is wrong.
    fn has_error_in_limits(&self) -> bool {
        ["leaseSeconds", "checkInSeconds", "maxMessages", "onStall", "maxAttempts"]
            .iter()
            .any(|field| self.refused.field(field).is_some())
    }

    fn is_chosen(&self, field: &str, value: &str) -> bool {
        self.refused.value(field) == value
    }

    fn has_receivers(&self) -> bool {
        !self.peers.is_empty() || !self.members.is_empty()
    }
}

/// `GET /app/{agent}/new-task?to=…`
pub(super) async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let query = viewer.browser.target.split_once('?').map_or("", |(_, query)| query);
    let sent = Sent::parse(query.as_bytes());
    show(&hub, &viewer, Refused::filled(sent)).await
}

/// `POST /app/{agent}/new-task`
pub(super) async fn submit(State(hub): State<Hub>, form: Form<Viewer, BTreeMap<String, String>>) -> Page {
    let (viewer, sent) = (form.by, form.sent);
    let task = match read(&sent) {
        Ok(task) => task,
        Err(errors) => return show(&hub, &viewer, Refused::fields(errors, None, 400, sent)).await,
    };
    let done = if task.draft == Some(true) { "draft" } else { "created" };
    match tasks::create(&hub, &viewer.caller, task).await {
        Ok(created) => {
            let agent = &viewer.caller.agent;
            Ok(redirect(&format!("/app/{agent}/tasks/{}?done={done}", created.id)))
        }
        Err(error) if error.is_internal() => Err(error.into()),
        Err(error) => {
            let status = error.status;
            let (errors, failure) = explained(&sent, error);
            show(&hub, &viewer, Refused::fields(errors, failure, status, sent)).await
        }
    }
}

/// The task of a form, or what is wrong by field.
fn read(sent: &Sent) -> Result<CreateTask, BTreeMap<String, String>> {
    let mut errors = BTreeMap::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.trim().is_empty() {
            pairs.push((name.to_owned(), value.to_owned()));
        }
    };
    // An id or alias that was typed counts before the choice.
    match (sent.get("other").trim(), sent.get("to").split_once(':')) {
        ("", Some((network, agent))) => {
            add("networkId", network);
            add(TARGET, agent);
        }
        ("", None) => add(TARGET, sent.get("to")),
        (other, _) => add(TARGET, other),
    }
    for name in PLAIN {
        add(name, sent.get(name));
    }
    for name in TIMES {
        match seconds(sent.get(name)) {
            Some(seconds) => add(name, &seconds),
            None => {
                errors.insert(name.to_owned(), "Write a time such as 90s, 10m, 1h or 1d.".to_owned());
            }
        }
    }
    match explain::from_pairs::<CreateTask>(pairs, &mut UnknownNames::default()) {
        Ok(task) if errors.is_empty() => Ok(task),
        Ok(_) => Err(errors),
        Err(invalid) => {
            for (field, why) in invalid.0 {
                let why = sentence(sent, &field, &why.join("; "));
                errors.entry(field).or_insert(why);
            }
            Err(errors)
        }
    }
}

/// A time in seconds, from a number with or without a unit. An empty text stays empty.
fn seconds(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match text[digits.len()..].trim() {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    if text.is_empty() {
        return Some(text);
    }
    let number: u32 = digits.parse().ok()?;
    Some((u64::from(number) * factor).to_string())
}

/// Operations say what is wrong as the end of a sentence that begins with the field.
fn sentence(sent: &Sent, field: &str, why: &str) -> String {
    match field {
        TARGET if sent.given("to").or_else(|| sent.given("other")).is_none() => {
            "Choose who gets the task.".to_owned()
        }
        "title" if sent.given("title").is_none() => "Say what is to be done, in one line.".to_owned(),
        _ => format!("This {why}."),
    }
}

/// What an operation refused, by field, or as one sentence.
fn explained(sent: &Sent, error: Error) -> (BTreeMap<String, String>, Option<String>) {
    match (error.code(), &error.body.details) {
        (_, Some(details)) => {
            let errors =
                details.iter().map(|(field, why)| (field.clone(), sentence(sent, field, &why.join("; "))));
            (errors.collect(), None)
        }
        (Code::NotConnected | Code::NotFound, None) => {
            (BTreeMap::from([(TARGET.to_owned(), format!("{error}."))]), None)
        }
        _ => (BTreeMap::new(), Some(error.to_string())),
    }
}

async fn show(hub: &Hub, viewer: &Viewer, refused: Refused) -> Page {
    let shell = Shell::of(hub, viewer, Section::Tasks).await?;
    let connections = newest_connections(hub, viewer).await?;
    let chosen = refused.value("to").to_owned();
    let chosen = chosen.as_str();
    let peers = connections.items.iter().map(|one| Choice::of(one, chosen)).collect();
    let members = members(hub, viewer, chosen).await?;
    let copied = example(hub);
    let has_more_peers = connections.next.is_some();
    let page = NewPage { peers, members, has_more_peers, refused, copied, shell };
    html(page.refused.status(), &page)
}

/// The members of the agent's first networks.
async fn members(hub: &Hub, viewer: &Viewer, chosen: &str) -> Result<Vec<(String, Vec<Choice>)>, Error> {
    let me = &viewer.caller.agent;
    let mut found = Vec::new();
    for network in networks::list(hub, &viewer.caller).await?.into_iter().take(NETWORKS_SHOWN) {
        let query = PageQuery { limit: Some(PEERS_MAX), cursor: None };
        let members = networks::members(hub, &viewer.caller, &network.id, query).await?.items;
        let others = members.into_iter().filter(|member| member.agent_id != *me);
        let choices: Vec<Choice> = others
            .map(|member| {
                let value = format!("{}:{}", network.id, member.agent_id);
                Choice { is_chosen: value == chosen, value, label: member.agent_name.as_str().to_owned() }
            })
            .collect();
        if !choices.is_empty() {
            found.push((network.name.as_str().to_owned(), choices));
        }
    }
    Ok(found)
}

/// The same action elsewhere. What is typed into the form is not known here, so this is an example.
fn example(hub: &Hub) -> Copied {
    let body =
        json!({ "targetAgentId": "bob", "title": "What to do", "requiresReview": true, "ttlSeconds": 3_600 });
    Copied::new("send", "send a task")
        .command([
            "send",
            "bob",
            "What to do",
            "--text",
            "All that is needed for it",
            "--review",
            "--ttl",
            "1h",
        ])
        .curl(hub, "POST", "/tasks", Some(&body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        let read =
            ["", " ", "90", "90s", "10m", "10 min", "1H", "1d"].map(|text| seconds(text).unwrap_or_default());
        assert_eq!(read, ["", "", "90", "90", "600", "600", "3600", "86400"]);
        for wrong in ["soon", "1w", "m", "-5m", "1.5h", "99999999999"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_form_becomes_a_task_or_names_its_fields() {
        let sent = |text: &str| Sent::parse(text.as_bytes());
        let task =
            read(&sent("to=net_1%3Aagent_2&title=Do+it&ttlSeconds=1h&requiresReview=true&maxMessages=5"));
        let task = task.unwrap();
        assert_eq!(task.target_agent_id.as_str(), "agent_2");
        assert_eq!(task.network_id.unwrap().as_str(), "net_1");
        assert_eq!(task.ttl_seconds.unwrap().get(), 3_600);
        assert_eq!((task.requires_review, task.draft), (Some(true), None));
        let typed = read(&sent("to=agent_1&other=bob&title=x")).unwrap();
        assert_eq!(typed.target_agent_id.as_str(), "bob");
        let errors = read(&sent("to=agent_1&leaseSeconds=soon")).unwrap_err();
        assert_eq!(errors.keys().collect::<Vec<_>>(), ["leaseSeconds", "title"]);
        let errors = read(&sent("to=agent_1&title=x&ttlSeconds=2d")).unwrap_err();
        assert_eq!(errors["ttlSeconds"], "This must be from 1 to 86400.");
    }
}
