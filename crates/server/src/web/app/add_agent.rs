//! Adding an agent: choose the tool, run one command (or register here), and wait for the first sign of life.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;
use serde::Deserialize;
use std::sync::Arc;
use tandem_api::agents::RegisterAgent;
use tandem_app::Invalid;
use tandem_core::text::{AgentDescription, AgentName};
use tandem_hub::ops::agents;
use tandem_hub::ops::sign_ins::{self, SigningIn};
use tandem_hub::{Caller, Error, Hub};

use super::copy::{self, Copied};
use super::pair_link::with_cookie;
use super::profile::reach_of;
use super::reach::ReachMark;
use super::refused::{Refused, frame};
use super::{Browser, Form, Page, Section, Shell, Viewer, filters, html};
use crate::http::cookie;

/// Tools: the word for `tandem setup`, and the name that people know. The last one is a program of one's own.
const TOOLS: [(&str, &str); 9] = [
    ("claude", "Claude Code"),
    ("codex", "Codex CLI"),
    ("gemini", "Gemini CLI"),
    ("cursor", "Cursor"),
    ("vscode", "VS Code"),
    ("claude-desktop", "Claude Desktop"),
    ("kiro", "Kiro"),
    ("windsurf", "Windsurf"),
    ("own", "Own program"),
];

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}/agents/add", get(page).post(register))
}

#[derive(Debug)]
struct Tool {
    word: &'static str,
    name: &'static str,
    is_chosen: bool,
}

/// A new agent, with its key, which is shown once.
#[derive(Debug)]
struct Fresh {
    name: String,
    key: String,
}

#[derive(Template)]
#[template(path = "app/add-agent.html")]
struct AddAgentPage {
    shell: Shell,
    refused: Refused,
    tools: Vec<Tool>,
    tool: &'static str,
    tool_name: &'static str,
    /// Registers an agent whose keys never leave its machine.
    register: Copied,
    /// Connects the chosen tool.
    setup: Option<Copied>,
    /// Whether the hub wants a proof of work, which this page cannot do.
    needs_work: bool,
    fresh: Option<Fresh>,
    /// How the agent of this page is reached, while the page waits for it.
    reach: ReachMark,
    /// Whether the page waits for the agent that it belongs to.
    is_waiting: bool,
}

async fn show(hub: &Hub, viewer: &Viewer, refused: Refused, fresh: Option<Fresh>, typed: &str) -> Page {
    let mut shell = frame(hub, viewer, Section::Agents, &refused).await?;
    if fresh.is_some() {
        shell.live = None;
    }
    let asked = viewer.browser.query();
    let chosen = TOOLS.into_iter().find(|tool| tool.0 == asked.get("tool")).unwrap_or(TOOLS[0]);
    let profile = agents::profile(hub, &viewer.caller).await?;
    let address = copy::address(hub);
    let is_waiting = fresh.is_some() || asked.get("wait") == "1";
    let name = match (is_waiting, typed) {
        (true, _) => profile.name.as_str().to_owned(),
        (false, "") => "NAME".to_owned(),
        (false, typed) => typed.to_owned(),
    };
    let register =
        Copied::new("register", "register an agent").command(["register", &name, "--hub", &address]);
    let setup = (chosen.0 != "own").then(|| {
        let copied = Copied::new("setup", "connect the tool");
        copied.command(["setup", "--tool", chosen.0, "--name", &name, "--hub", &address])
    });
    let page = AddAgentPage {
        tools: TOOLS.map(|(word, name)| Tool { word, name, is_chosen: word == chosen.0 }).into(),
        tool: chosen.0,
        tool_name: chosen.1,
        register,
        setup,
        needs_work: hub.config.pow_difficulty > 0,
        reach: reach_of(&profile, &shell),
        fresh,
        is_waiting,
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

/// `GET /app/{agent}/agents/add`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    show(&hub, &viewer, Refused::default(), None, "").await
}

#[derive(Debug, Deserialize)]
struct NewAgent {
    name: Option<AgentName>,
    description: Option<AgentDescription>,
}

/// `POST /app/{agent}/agents/add`: registers an agent and signs it in in this browser. That changes the session's token, so
/// the same form cannot register a second one.
async fn register(State(hub): State<Hub>, headers: HeaderMap, form: Form<Viewer, NewAgent>) -> Page {
    let Form { by, fields, sent } = form;
    let address = &by.browser.address;
    let signing_in = SigningIn::new(cookie::token(&hub.config, &headers), false);
    let registering = async {
        let fields = fields?;
        let name = fields.name.ok_or_else(|| Invalid::field("name", "must not be empty"))?;
        agents::count_registration(&hub, address)?;
        let body = RegisterAgent { description: fields.description, ..RegisterAgent::new(name) };
        agents::register_in_browser(&hub, address.into(), &signing_in, body).await
    };
    let registered = match registering.await {
        Ok(registered) => registered,
        Err(error) => {
            let typed = sent.get("name").to_owned();
            return show(&hub, &by, Refused::new("register", error, sent)?, None, &typed).await;
        }
    };
    let key = registered.api_key.ok_or_else(Error::internal)?.as_str().to_owned();
    let fresh = Fresh { name: registered.profile.name.as_str().to_owned(), key };
    let session = sign_ins::session(&hub, address, &signing_in.token).await?.ok_or_else(Error::internal)?;
    let key_hash = session.key_of(&registered.profile.id).ok_or_else(Error::internal)?;
    let caller = Caller::new(registered.profile.id.clone(), key_hash, address.clone()).as_person();
    let browser = Browser { session: Arc::new(session), ..by.browser.clone() };
    let viewer = Viewer { browser, caller };
    let page = show(&hub, &viewer, Refused::default(), Some(fresh), "").await?;
    Ok(with_cookie(&hub, page, &signing_in.token))
}
