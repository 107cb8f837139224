//! The agent's own settings: what others see, its key, its data, and where it is signed in.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::routing::{get, post};
use serde::Deserialize;
use tandem_api::agents::{PatchAgent, Profile};
use tandem_app::Invalid;
use tandem_core::Rule;
use tandem_core::text::{AgentDescription, AgentName, Capabilities, Capability, Unfit};
use tandem_hub::ops::sign_ins::{self, Subject};
use tandem_hub::ops::{agents, wake};
use tandem_hub::{Error, Hub};

use super::copy::{self, Copied};
use super::reach::{ReachMark, key_words};
use super::refused::{Refused, frame};
use super::session::Nothing;
use super::shell::path_of;
use super::words::When;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};
use crate::http::export;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/profile", get(page))
        .route("/app/{agent}/profile/change", post(change))
        .route("/app/{agent}/profile/rotate", post(rotate))
        .route("/app/{agent}/profile/delete", post(delete))
        .route("/app/{agent}/profile/export", get(download))
}

/// One rung of the wake ladder.
#[derive(Debug)]
struct Rung {
    word: &'static str,
    until: Option<When>,
    worked: Option<When>,
}

#[derive(Template)]
#[template(path = "app/profile.html")]
struct ProfilePage {
    shell: Shell,
    refused: Refused,
    id: String,
    name: String,
    description: String,
    capabilities: String,
    is_discoverable: bool,
    is_open: bool,
    /// `auto`, `require` or nothing.
    rule: &'static str,
    reach: ReachMark,
    rungs: Vec<Rung>,
    words: Option<Vec<String>>,
    credits: String,
    costs_credits: bool,
    since: When,
    command: Copied,
}

async fn show(hub: &Hub, viewer: &Viewer, refused: Refused) -> Page {
    let shell = frame(hub, viewer, Section::Profile, &refused).await?;
    let profile = agents::profile(hub, &viewer.caller).await?;
    let ladder = wake::reach(hub, &viewer.caller).await?;
    let rungs = ladder.rungs.iter().map(|rung| Rung {
        word: rung_word(rung.rung),
        until: rung.provided_until.map(|at| shell.when(&at)),
        worked: rung.last_worked_at.map(|at| shell.when(&at)),
    });
    let page = ProfilePage {
        id: profile.id.to_string(),
        name: profile.name.as_str().to_owned(),
        description: profile.description.as_ref().map_or_else(String::new, |text| text.as_str().to_owned()),
        capabilities: profile.capabilities.as_slice().join(", "),
        is_discoverable: profile.discoverable,
        is_open: profile.auto_accept,
        rule: profile.default_approval_rule.map_or("", Rule::as_str),
        reach: reach_of(&profile, &shell),
        rungs: rungs.filter(|rung| rung.until.is_some() || rung.worked.is_some()).collect(),
        words: profile.public_key.as_ref().and_then(|key| key_words(key.as_str())),
        credits: format!("{:.2}", profile.credits.number()),
        costs_credits: profile.costs_credits,
        since: shell.when(&profile.created_at),
        command: Copied::new("profile", "change the rule")
            .command(["profile", "set", "--approval", "require"])
            .curl(hub, "PATCH", "/agents/me", Some(&serde_json::json!({ "defaultApprovalRule": "require" }))),
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

pub(super) fn reach_of(profile: &Profile, shell: &Shell) -> ReachMark {
    ReachMark::new(profile.reach, profile.reach_confirmed_at, profile.last_seen_at, shell.now)
}

fn rung_word(rung: tandem_core::wake::Rung) -> &'static str {
    use tandem_core::wake::Rung as R;
    match rung {
        R::Channel => "Channel: wakes in about 1 s",
        R::Runner => "Runner: starts a worker",
        R::Hook => "Hook: at its next turn",
        R::LongPoll => "While the model waits",
        R::Pull => "When the model asks",
    }
}

/// `GET /app/{agent}/profile`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    show(&hub, &viewer, Refused::default()).await
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    name: Option<AgentName>,
    description: Option<AgentDescription>,
    /// Separated by commas.
    capabilities: Option<String>,
    discoverable: Option<bool>,
    auto_accept: Option<bool>,
    default_approval_rule: Option<Rule>,
}

impl Settings {
    fn patch(self) -> Result<PatchAgent, Error> {
        let wrong = |unfit: Unfit| Invalid::field("capabilities", unfit.to_string());
        let tags = self.capabilities.unwrap_or_default();
        let tags = tags
            .split([',', ' '])
            .filter(|tag| !tag.is_empty())
            .map(|tag| Capability::try_from(tag.to_owned()));
        let tags: Vec<Capability> = tags.collect::<Result<_, Unfit>>().map_err(wrong)?;
        Ok(PatchAgent {
            name: Some(self.name.ok_or_else(|| Invalid::field("name", "must not be empty"))?),
            description: Some(self.description),
            capabilities: Some(Capabilities::try_from(tags).map_err(wrong)?),
            discoverable: Some(self.discoverable.unwrap_or(false)),
            auto_accept: Some(self.auto_accept.unwrap_or(false)),
            default_approval_rule: Some(self.default_approval_rule),
            ..PatchAgent::default()
        })
    }
}

/// `POST /app/{agent}/profile/change`
async fn change(State(hub): State<Hub>, form: Form<Viewer, Settings>) -> Page {
    let Form { by, fields, sent } = form;
    let changing = async { agents::change(&hub, &by.caller, fields?.patch()?).await };
    match changing.await {
        Ok(_) => Ok(redirect(&format!("{}/profile?done=saved", path_of(&by.caller.agent)))),
        Err(error) => show(&hub, &by, Refused::new("settings", error, sent)?).await,
    }
}

#[derive(Template)]
#[template(path = "app/new-key.html")]
struct NewKeyPage {
    name: String,
    key: String,
    command: Copied,
    href: String,
}

/// `POST /app/{agent}/profile/rotate`. The new key is in the answer and nowhere else. This session goes on with it: whoever
/// misses the answer makes another key. All other sessions of the agent end with the old one.
async fn rotate(State(hub): State<Hub>, form: Form<Viewer, Nothing>) -> Page {
    let caller = &form.by.caller;
    let profile = agents::profile(&hub, caller).await?;
    let key = sign_ins::rotate_key(&hub, caller, &form.by.browser.session).await?;
    let page = NewKeyPage {
        name: profile.name.as_str().to_owned(),
        key,
        command: Copied::new("login", "use the new key").command(["login", "--hub", &copy::address(&hub)]),
        href: format!("{}/profile", path_of(&caller.agent)),
    };
    html(StatusCode::OK, &page)
}

#[derive(Debug, Deserialize)]
struct Confirmed {
    confirm: Option<String>,
}

/// `POST /app/{agent}/profile/delete`. The agent's name must be typed.
async fn delete(State(hub): State<Hub>, form: Form<Viewer, Confirmed>) -> Page {
    let Form { by, fields, sent } = form;
    let profile = agents::profile(&hub, &by.caller).await?;
    let typed = fields?.confirm.unwrap_or_default();
    if typed.trim() != profile.name.as_str().trim() {
        let error = Invalid::field("The name", "does not match. Nothing was deleted");
        return show(&hub, &by, Refused::new("delete", error.into(), sent)?).await;
    }
    agents::delete(&hub, &by.caller).await?;
    let subject = Subject::Agent(by.caller.agent.clone());
    sign_ins::sign_out(&hub, by.browser.session.id.clone(), subject).await?;
    Ok(redirect("/app"))
}

/// `GET /app/{agent}/profile/export`
async fn download(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let mut response = export::stream(&hub, &viewer.caller).await?;
    let name = HeaderValue::from_static("attachment; filename=\"tandem-export.json\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
