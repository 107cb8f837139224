//! Networks: the groups that the agent is in; making one and joining one.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use tandem_api::networks::{CreateNetwork, JoinNetwork, NetworkRole, NetworkView};
use tandem_api::text::Author;
use tandem_hub::ops::networks;
use tandem_hub::{Error, Hub};

use super::copy::Copied;
use super::people::Party;
use super::refused::{Refused, frame};
use super::session::Sent;
use super::shell::path_of;
use super::words::When;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/networks", get(page))
        .route("/app/{agent}/networks/create", post(create))
        .route("/app/{agent}/networks/join", post(join))
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) href: String,
    pub(super) name: String,
    pub(super) owner: Party,
    /// Whether the agent of the page owns it.
    pub(super) is_own: bool,
    pub(super) members: i64,
    pub(super) since: When,
}

impl Row {
    pub(super) fn new(network: &NetworkView, shell: &Shell) -> Self {
        Self {
            href: format!("{}/networks/{}", shell.base, network.id),
            name: network.name.as_str().to_owned(),
            owner: Party::new(&network.owner_agent_id, network.owner_agent_name.as_str(), shell),
            is_own: network.role == NetworkRole::Owner && network.owner_agent_name.author() == Author::Reader,
            members: network.member_count,
            since: shell.when(&network.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "app/networks.html")]
struct NetworksPage {
    shell: Shell,
    refused: Refused,
    rows: Vec<Row>,
    command: Copied,
}

/// An agent is in a hundred networks at most, so they are on one page.
async fn show(hub: &Hub, viewer: &Viewer, refused: Refused) -> Page {
    let shell = frame(hub, viewer, Section::Networks, &refused).await?;
    let found = networks::list(hub, &viewer.caller).await?;
    let page = NetworksPage {
        rows: found.iter().map(|network| Row::new(network, &shell)).collect(),
        command: Copied::new("networks", "this list").command(["network", "list"]).curl(
            hub,
            "GET",
            "/networks",
            None,
        ),
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

/// `GET /app/{agent}/networks`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    show(&hub, &viewer, Refused::default()).await
}

/// `POST /app/{agent}/networks/create`
async fn create(State(hub): State<Hub>, form: Form<Viewer, CreateNetwork>) -> Page {
    let Form { by, fields, sent } = form;
    let made = match fields {
        Ok(body) => networks::create(&hub, &by.caller, body).await,
        Err(error) => Err(error),
    };
    to_network(&hub, &by, made, "saved", ("create", sent)).await
}

/// `POST /app/{agent}/networks/join`
async fn join(State(hub): State<Hub>, form: Form<Viewer, JoinNetwork>) -> Page {
    let Form { by, fields, sent } = form;
    let joined = networks::join(&hub, &by.caller, fields).await;
    to_network(&hub, &by, joined, "joined", ("join", sent)).await
}

async fn to_network(
    hub: &Hub,
    viewer: &Viewer,
    outcome: Result<NetworkView, Error>,
    word: &str,
    (form, sent): (&'static str, Sent),
) -> Page {
    match outcome {
        Ok(network) => {
            let base = path_of(&viewer.caller.agent);
            Ok(redirect(&format!("{base}/networks/{}?done={word}", network.id)))
        }
        Err(error) => show(hub, viewer, Refused::new(form, error, sent)?).await,
    }
}
