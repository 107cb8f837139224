//! One connection: who it is, by which key, how it is reached; the reader's name and rule for it, and its end.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use serde::Deserialize;
use tandem_api::agents::BlockAgent;
use tandem_api::connections::PatchConnection;
use tandem_core::text::Alias;
use tandem_core::{ConnectionId, Rule};
use tandem_hub::ops::{agents, blocks, connections, parse_id};
use tandem_hub::{Error, Hub};

use super::agents::Row;
use super::copy::Copied;
use super::reach::key_words;
use super::refused::{Refused, frame};
use super::session::Nothing;
use super::shell::path_of;
use super::words::When;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/agents/{connection}", get(page))
        .route("/app/{agent}/agents/{connection}/change", post(change))
        .route("/app/{agent}/agents/{connection}/disconnect", post(disconnect))
        .route("/app/{agent}/agents/{connection}/block", post(block))
}

#[derive(Template)]
#[template(path = "app/connection.html")]
struct ConnectionPage {
    shell: Shell,
    refused: Refused,
    row: Row,
    id: String,
    agent_id: String,
    since: When,
    description: Option<String>,
    capabilities: Vec<String>,
    alias: String,
    /// `auto`, `require` or nothing.
    rule: &'static str,
    default_word: String,
    own_words: Option<Vec<String>>,
    live_tasks: i64,
    command: Copied,
}

async fn show(hub: &Hub, viewer: &Viewer, id: &ConnectionId, refused: Refused) -> Page {
    let shell = frame(hub, viewer, Section::Agents, &refused).await?;
    let found = connections::find(hub, &viewer.caller, id).await?;
    let profile = agents::profile(hub, &viewer.caller).await?;
    let live_tasks = connections::live_with(hub, &viewer.caller, &found.connected.agent_id).await?;
    let peer = &found.connected;
    let path = format!("/connections/{id}");
    let rule = found.approval.map_or("require", Rule::as_str);
    let page = ConnectionPage {
        row: Row::new(&found, &shell.base, profile.default_approval_rule, &shell),
        id: id.to_string(),
        agent_id: peer.agent_id.to_string(),
        since: shell.when(&found.created_at),
        description: peer.description.as_ref().map(|text| text.as_str().to_owned()),
        capabilities: peer.capabilities.as_slice().to_vec(),
        alias: found.alias.as_ref().map_or_else(String::new, |alias| alias.as_str().to_owned()),
        rule: found.approval.map_or("", Rule::as_str),
        default_word: super::agents::rule_word(None, profile.default_approval_rule),
        own_words: profile.public_key.as_ref().and_then(|key| key_words(key.as_str())),
        live_tasks,
        command: Copied::new("rule", "change the rule")
            .command(["connections", "rule", peer.agent_id.as_str(), rule])
            .curl(hub, "PATCH", &path, Some(&serde_json::json!({ "approval": rule }))),
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

/// `GET /app/{agent}/agents/{connection}`
async fn page(State(hub): State<Hub>, viewer: Viewer, Path((_, id)): Path<(String, String)>) -> Page {
    show(&hub, &viewer, &parse_id(&id, "connection")?, Refused::default()).await
}

#[derive(Debug, Deserialize)]
struct Settings {
    alias: Option<Alias>,
    approval: Option<Rule>,
}

/// `POST /app/{agent}/agents/{connection}/change`. An empty field clears the setting.
async fn change(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, Settings>,
) -> Page {
    let id: ConnectionId = parse_id(&id, "connection")?;
    let Form { by: viewer, fields, sent } = form;
    let changing = async {
        let Settings { alias, approval } = fields?;
        let body = PatchConnection { alias: Some(alias), approval: Some(approval) };
        connections::change(&hub, &viewer.caller, &id, body).await
    };
    match changing.await {
        Ok(_) => Ok(redirect(&format!("{}/agents/{id}?done=saved", path_of(&viewer.caller.agent)))),
        Err(error) => show(&hub, &viewer, &id, Refused::new("settings", error, sent)?).await,
    }
}

/// `POST /app/{agent}/agents/{connection}/disconnect`
async fn disconnect(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, Nothing>,
) -> Page {
    let caller = &form.by.caller;
    connections::disconnect(&hub, caller, &parse_id(&id, "connection")?).await?;
    Ok(redirect(&format!("{}/agents?done=disconnected", path_of(&caller.agent))))
}

/// `POST /app/{agent}/agents/{connection}/block`
async fn block(
    State(hub): State<Hub>,
    Path((_, id)): Path<(String, String)>,
    form: Form<Viewer, Nothing>,
) -> Page {
    let caller = &form.by.caller;
    let found = connections::find(&hub, caller, &parse_id(&id, "connection")?).await;
    let agent_id =
        found.map_err(|error| if error.status == 404 { gone() } else { error })?.connected.agent_id;
    blocks::block(&hub, caller, BlockAgent { agent_id }).await?;
    Ok(redirect(&format!("{}/agents?done=blocked", path_of(&caller.agent))))
}

/// The other side may have ended the connection in the meantime.
fn gone() -> Error {
    Error::not_found("connection")
}
