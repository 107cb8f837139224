//! Webhooks: is it failing, since when, what did they answer; settings, a test, and sending again.

use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use serde::Deserialize;
use tandem_api::agents::PatchAgent;
use tandem_api::tasks::PageQuery;
use tandem_api::webhooks::DeliveryView;
use tandem_app::Invalid;
use tandem_core::events::EventKind;
use tandem_core::text::{WebhookEvents, WebhookSecret};
use tandem_core::webhooks::{GIVE_UP_AFTER_SECONDS, RETRY_AFTER_SECONDS, State as Delivered};
use tandem_hub::ops::figures::{self, Figure};
use tandem_hub::ops::webhooks::WAITING_MAX;
use tandem_hub::ops::{agents, parse_id, webhooks};
use tandem_hub::{Error, Hub};

use super::copy::Copied;
use super::drawing::Bars;
use super::refused::{Refused, frame};
use super::session::{Nothing, Sent};
use super::shell::path_of;
use super::words::{self, StatusMark, When};
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

/// Deliveries on one page: those that are sent again at once are all seen.
const PAGE: i64 = tandem_app::webhooks::REPLAYED_MAX;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/webhooks", get(page))
        .route("/app/{agent}/webhooks/change", post(change))
        .route("/app/{agent}/webhooks/remove", post(remove))
        .route("/app/{agent}/webhooks/ping", post(ping))
        .route("/app/{agent}/webhooks/replay-failed", post(replay_failed))
        .route("/app/{agent}/webhooks/{delivery}/replay", post(replay))
}

#[derive(Debug)]
struct Receiver {
    url: String,
    mark: StatusMark,
    failing_since: Option<When>,
    /// When the hub gives up.
    ends: Option<When>,
    waiting: Option<String>,
    next: Option<When>,
    is_active: bool,
    is_signed: bool,
}

/// A delivery of the list.
#[derive(Debug)]
struct Row {
    delivery: DeliveryView,
    mark: StatusMark,
    answer: String,
    /// Where it is opened or closed.
    href: String,
    is_open: bool,
}

impl Row {
    fn tries(&self) -> String {
        format!("{} of {}", self.delivery.attempts, RETRY_AFTER_SECONDS.len() + 1)
    }

    fn number(&self) -> Option<String> {
        self.delivery.event_id.map(words::thousands)
    }

    fn took(&self) -> Option<String> {
        self.delivery.duration_ms.map(words::short_span)
    }
}

/// One event type of the filter.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "app/webhooks.html")]
struct WebhooksPage {
    shell: Shell,
    refused: Refused,
    receiver: Option<Receiver>,
    kinds: Vec<Kind>,
    rows: Vec<Row>,
    hook: Bars,
    /// How many of the newest deliveries have failed for good.
    failed: usize,
    next: Option<String>,
    is_first: bool,
    listen: Copied,
    command: Copied,
}

async fn show(hub: &Hub, viewer: &Viewer, refused: Refused, chosen: Option<Vec<String>>) -> Page {
    let shell = frame(hub, viewer, Section::Webhooks, &refused).await?;
    let asked = viewer.browser.query();
    let profile = agents::profile(hub, &viewer.caller).await?;
    let health = webhooks::health(hub, &viewer.caller).await?;
    let cursor = asked.given("cursor");
    let query = PageQuery { limit: Some(PAGE), cursor: cursor.clone() };
    let listed = webhooks::list(hub, &viewer.caller, query).await?;
    let receiver = profile.webhook_url.as_ref().map(|url| {
        let ends = health.failing_since.map(|at| at.plus_seconds(GIVE_UP_AFTER_SECONDS));
        Receiver {
            url: url.as_str().to_owned(),
            mark: mark(profile.webhook_active, health.failing_since.is_some()),
            failing_since: health.failing_since.map(|at| shell.when(&at)),
            ends: ends.map(|at| shell.when(&at)),
            waiting: (health.waiting > 0).then(|| words::count(health.waiting, WAITING_MAX)),
            next: health.next_at.map(|at| shell.when(&at)),
            is_active: profile.webhook_active,
            is_signed: profile.webhook_secret_format.is_some(),
        }
    });
    let chosen = chosen
        .unwrap_or_else(|| profile.webhook_events.iter().map(|kind| kind.as_str().to_owned()).collect());
    let kind = |kind: &EventKind| Kind {
        name: kind.as_str(),
        is_chosen: chosen.iter().any(|chosen| chosen == kind.as_str()),
    };
    let wanted = [Figure::Delivered, Figure::Undelivered];
    let [delivered, undelivered] = figures::of_agent(hub, &viewer.caller, wanted).await?;
    let page = WebhooksPage {
        hook: Bars::of(&delivered, &undelivered, shell.now),
        kinds: EventKind::ALL.iter().map(kind).collect(),
        failed: match cursor {
            None => listed.items.iter().filter(|one| one.status == Delivered::Failed).count(),
            Some(_) => 0,
        },
        rows: listed.items.into_iter().map(|one| row(one, &asked)).collect(),
        next: listed.next,
        is_first: cursor.is_none(),
        receiver,
        listen: Copied::new("listen", "try a webhook on your machine").command([
            "listen",
            "--forward-to",
            "localhost:8080/hook",
        ]),
        command: Copied::new("deliveries", "this list").command(["webhook", "log"]).curl(
            hub,
            "GET",
            "/webhooks/deliveries",
            None,
        ),
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

fn mark(is_active: bool, is_failing: bool) -> StatusMark {
    match (is_active, is_failing) {
        (false, _) => StatusMark { word: "Switched off", icon: "warn", tone: "bad" },
        (true, true) => StatusMark { word: "Failing", icon: "warn", tone: "bad" },
        (true, false) => StatusMark { word: "Active", icon: "status-completed", tone: "good" },
    }
}

fn row(delivery: DeliveryView, asked: &Sent) -> Row {
    let id = delivery.id.to_string();
    let is_open = asked.get("open") == id;
    let (icon, tone) = match delivery.status {
        Delivered::Delivered => ("status-completed", "good"),
        Delivered::Pending if delivery.attempts == 0 => ("clock", "plain"),
        Delivered::Pending | Delivered::Failed => ("status-failed", "bad"),
    };
    let answer = match (delivery.response_status, &delivery.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.clone(),
        (None, None) => "not sent yet".to_owned(),
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    if let Some(cursor) = asked.given("cursor") {
        query.append_pair("cursor", &cursor);
    }
    if !is_open {
        query.append_pair("open", &id);
    }
    Row {
        href: format!("?{}#d-{id}", query.finish()),
        mark: StatusMark { word: "", icon, tone },
        answer,
        is_open,
        delivery,
    }
}

/// `GET /app/{agent}/webhooks`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    show(&hub, &viewer, Refused::default(), None).await
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    webhook_url: Option<String>,
    webhook_secret: Option<WebhookSecret>,
    /// Whether deliveries are no longer signed.
    unsigned: Option<bool>,
}

/// `POST /app/{agent}/webhooks/change`. An empty secret stays as it is.
async fn change(State(hub): State<Hub>, form: Form<Viewer, Settings>) -> Page {
    let Form { by: viewer, fields, sent } = form;
    let chosen = sent.all("event");
    let changing = async {
        let settings = fields?;
        let url = settings.webhook_url.ok_or_else(|| Invalid::field("webhookUrl", "is required"))?;
        let wrong = |unfit: tandem_core::text::Unfit| Invalid::field("webhookEvents", unfit.to_string());
        let body = PatchAgent {
            webhook_url: Some(Some(url)),
            webhook_secret: match settings.unsigned {
                Some(true) => Some(None),
                _ => settings.webhook_secret.map(Some),
            },
            webhook_events: Some(Some(WebhookEvents::try_from(chosen.clone()).map_err(wrong)?)),
            ..PatchAgent::default()
        };
        agents::change(&hub, &viewer.caller, body).await
    };
    match changing.await {
        Ok(_) => Ok(saved(&viewer, "saved")),
        Err(error) => show(&hub, &viewer, Refused::new("settings", error, sent)?, Some(chosen)).await,
    }
}

/// `POST /app/{agent}/webhooks/remove`
async fn remove(State(hub): State<Hub>, form: Form<Viewer, Nothing>) -> Page {
    let body = PatchAgent { webhook_url: Some(None), ..PatchAgent::default() };
    agents::change(&hub, &form.by.caller, body).await?;
    Ok(saved(&form.by, "deleted"))
}

/// `POST /app/{agent}/webhooks/ping`
async fn ping(State(hub): State<Hub>, form: Form<Viewer, Nothing>) -> Page {
    done(&hub, &form.by, webhooks::ping(&hub, &form.by.caller).await, "pinged", form.sent).await
}

/// `POST /app/{agent}/webhooks/{delivery}/replay`
async fn replay(
    State(hub): State<Hub>,
    Path((_, delivery)): Path<(String, String)>,
    form: Form<Viewer, Nothing>,
) -> Page {
    let again = webhooks::replay(&hub, &form.by.caller, &parse_id(&delivery, "delivery")?).await;
    done(&hub, &form.by, again, "replayed", form.sent).await
}

/// `POST /app/{agent}/webhooks/replay-failed`
async fn replay_failed(State(hub): State<Hub>, form: Form<Viewer, Nothing>) -> Page {
    match webhooks::replay_failed(&hub, &form.by.caller).await {
        Ok(_) => Ok(saved(&form.by, "replayed-all")),
        Err(error) => show(&hub, &form.by, Refused::new("send", error, form.sent)?, None).await,
    }
}

async fn done(
    hub: &Hub,
    viewer: &Viewer,
    outcome: Result<DeliveryView, Error>,
    word: &str,
    sent: Sent,
) -> Page {
    match outcome {
        Ok(_) => Ok(saved(viewer, word)),
        Err(error) => show(hub, viewer, Refused::new("send", error, sent)?, None).await,
    }
}

fn saved(viewer: &Viewer, word: &str) -> axum::response::Response {
    redirect(&format!("{}/webhooks?done={word}", path_of(&viewer.caller.agent)))
}
