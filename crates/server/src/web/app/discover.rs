//! The directory: finding agents that want to be found, and connecting to those that need no code.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use tandem_api::agents::{DirectoryEntry, DiscoverQuery, Discovered};
use tandem_app::Invalid;
use tandem_core::text::{Capability, SearchText, Unfit};
use tandem_hub::ops::{agents, connections};
use tandem_hub::{Error, Hub};

use super::agents::OneAgent;
use super::copy::Copied;
use super::people::Party;
use super::reach::ReachMark;
use super::refused::{Refused, frame};
use super::session::Sent;
use super::shell::path_of;
use super::words;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

/// Agents on one page.
const PAGE: i64 = 20;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/agents/discover", get(page))
        .route("/app/{agent}/agents/connect", post(connect))
}

/// One agent of the directory.
#[derive(Debug)]
struct Found {
    party: Party,
    description: Option<String>,
    capabilities: Vec<String>,
    reach: ReachMark,
    /// "92 % completed".
    record: Option<String>,
    has_key: bool,
    is_open: bool,
}

impl Found {
    fn new(entry: &DirectoryEntry, shell: &Shell) -> Self {
        Self {
            party: Party::new(&entry.id, entry.name.as_str(), shell),
            description: entry.description.as_ref().map(|text| text.as_str().to_owned()),
            capabilities: entry.capabilities.as_slice().to_vec(),
            reach: ReachMark::new(entry.reach, None, entry.last_seen_at, shell.now),
            record: entry.task_completion_rate.map(|rate| format!("{:.0} % completed", rate * 100.0)),
            has_key: entry.public_key,
            is_open: entry.auto_accept,
        }
    }
}

#[derive(Template)]
#[template(path = "app/discover.html")]
struct DiscoverPage {
    shell: Shell,
    refused: Refused,
    q: String,
    capability: String,
    total: String,
    found: Vec<Found>,
    /// The address of the next page.
    next: Option<String>,
    command: Copied,
}

async fn show(hub: &Hub, viewer: &Viewer, refused: Refused) -> Page {
    let shell = frame(hub, viewer, Section::Agents, &refused).await?;
    let asked = viewer.browser.query();
    let (q, capability) = (asked.get("q").trim().to_owned(), asked.get("capability").trim().to_owned());
    let offset = asked.get("offset").parse::<i64>().unwrap_or(0).max(0);
    let searched = match search(&asked, offset) {
        Ok(query) => agents::discover(hub, &viewer.caller, query).await,
        Err(error) => Err(error),
    };
    let (found, refused) = match searched {
        Ok(found) => (found, refused),
        Err(error) => (Discovered { total: 0, agents: Vec::new() }, Refused::new("search", error, asked)?),
    };
    let next = (found.total > offset + PAGE && !found.agents.is_empty()).then(|| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let offset = (offset + PAGE).to_string();
        let fields = [("q", &q), ("capability", &capability), ("offset", &offset)];
        query.extend_pairs(fields.iter().filter(|(_, value)| !value.is_empty()));
        format!("?{}", query.finish())
    });
    let mut words = vec!["discover"];
    if !q.is_empty() {
        words.push(&q);
    }
    if !capability.is_empty() {
        words.extend(["--capability", &capability]);
    }
    let page = DiscoverPage {
        command: Copied::new("discover", "this search").command(words),
        total: words::count(found.total, 10_000),
        found: found.agents.iter().map(|entry| Found::new(entry, &shell)).collect(),
        next,
        q,
        capability,
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

fn search(asked: &Sent, offset: i64) -> Result<DiscoverQuery, Error> {
    let wrong = |field: &'static str| move |unfit: Unfit| Invalid::field(field, unfit.to_string());
    Ok(DiscoverQuery {
        q: asked.given("q").map(SearchText::try_from).transpose().map_err(wrong("q"))?,
        capability: asked
            .given("capability")
            .map(Capability::try_from)
            .transpose()
            .map_err(wrong("capability"))?,
        query: None,
        limit: Some(PAGE),
        offset: Some(offset),
    })
}

/// `GET /app/{agent}/agents/discover`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    show(&hub, &viewer, Refused::default()).await
}

/// `POST /app/{agent}/agents/connect`
async fn connect(State(hub): State<Hub>, form: Form<Viewer, OneAgent>) -> Page {
    let Form { by, fields, sent } = form;
    let connecting = async { connections::connect_directly(&hub, &by.caller, &fields?.agent_id).await };
    match connecting.await {
        Ok(connected) => {
            let base = path_of(&by.caller.agent);
            Ok(redirect(&format!("{base}/agents/{}?done=connected", connected.id)))
        }
        Err(error) => show(&hub, &by, Refused::new("connect", error, sent)?).await,
    }
}
