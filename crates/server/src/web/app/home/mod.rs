//! Home: does anything need me, and until when? Is the hub well?

mod needs;
mod plots;
mod summary;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tandem_api::tasks::PartyRole;
use tandem_core::Status;
use tandem_core::agents::Reach;
use tandem_hub::ops::needs::{Selection, WebhookState};
use tandem_hub::ops::{agents, needs as owner_needs};
use tandem_hub::{Error, Hub, Listed};

use self::needs::NeedRow;
use self::plots::{PeriodLink, PlotCard};
use self::summary::{Health, Reaches, Statuses};
use super::tasks::newest_connections;
use super::tasks::row::{Group, TaskRow};
use super::{Page, Section, Shell, Viewer, copy, html};

/// Rows of "Waits for others", and tasks among which they are.
const OTHERS_MAX: usize = 5;
const OTHERS_LOOKED_AT: i64 = 20;
/// Rows of "Needs you".
const NEEDS_MAX: usize = 20;

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}", get(page))
}

#[derive(Template)]
#[template(path = "app/home.html")]
struct HomePage {
    needs: Vec<NeedRow>,
    has_more_needs: bool,
    periods: Vec<PeriodLink>,
    plots: [PlotCard; 2],
    statuses: Statuses,
    reaches: Reaches,
    health: Health,
    /// The newest tasks of this agent that wait for somebody else.
    others: Vec<TaskRow>,
    /// The first steps, while there is nothing to see.
    guide: Option<Guide>,
    shell: Shell,
}

impl HomePage {
    /// What the reader has to know first.
    fn summary(&self) -> String {
        match self.needs.len() {
            0 if self.guide.is_some() => "Three steps, about two minutes.".to_owned(),
            0 => "Nothing needs you.".to_owned(),
            1 => "One thing needs you.".to_owned(),
            many if self.has_more_needs => format!("More than {many} things need you."),
            many => format!("{many} things need you."),
        }
    }

    fn needs_count(&self) -> String {
        format!("{}{}", self.needs.len(), if self.has_more_needs { "+" } else { "" })
    }
}

/// The steps to a first task.
struct Guide {
    address: String,
    /// Whether the agent has ever made a request.
    is_seen: bool,
}

/// `GET /app/{agent}`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    let shell = Shell::of(&hub, &viewer, Section::Home).await?;
    let period = plots::period(&viewer.browser.target);
    let found = owner_needs::list(&hub, &viewer.caller, NEEDS_MAX).await?;
    let webhook = owner_needs::webhook(&hub, &viewer.caller).await?;
    let connections = newest_connections(&hub, &viewer).await?;
    let profile = agents::profile(&hub, &viewer.caller).await?;
    let mut needs: Vec<NeedRow> = needs::webhook(&webhook, &shell).into_iter().collect();
    let room = NEEDS_MAX - needs.len();
    let has_more_needs = found.has_more || found.items.len() > room;
    needs.extend(found.items.into_iter().take(room).map(|need| NeedRow::of_task(&need, &shell)));
    let statuses = Statuses::new(&shell);
    let guide = (connections.items.is_empty() && statuses.is_empty())
        .then(|| Guide { address: copy::address(&hub), is_seen: profile.reach != Reach::Never });
    let agent = &viewer.caller.agent;
    html(
        StatusCode::OK,
        &HomePage {
            needs,
            has_more_needs,
            periods: plots::links(&shell.base, period),
            plots: [
                plots::events(&hub.history.events(agent, period, shell.now)),
                plots::pushes(hub.history.pushes(period, shell.now)),
            ],
            statuses,
            reaches: reaches(profile.reach, &connections),
            health: health(&hub, &webhook).await,
            others: others(&hub, &viewer, &shell).await?,
            guide,
            shell,
        },
    )
}

/// Of the newest tasks that were sent and wait, those that wait for somebody else.
async fn others(hub: &Hub, viewer: &Viewer, shell: &Shell) -> Result<Vec<TaskRow>, Error> {
    let statuses = vec![Status::Submitted, Status::InputRequired, Status::AuthRequired];
    let selection = Selection { statuses, role: Some(PartyRole::Initiator), ..Selection::default() };
    let found = owner_needs::tasks(hub, &viewer.caller, selection, OTHERS_LOOKED_AT).await?.items;
    let rows = found.iter().map(|task| TaskRow::new(task, shell));
    Ok(rows.filter(|row| row.group == Group::Others).take(OTHERS_MAX).collect())
}

fn reaches(own: Reach, connections: &Listed<tandem_api::connections::ConnectionView>) -> Reaches {
    Reaches::new(own, connections.items.iter().map(|one| one.reach), connections.next.is_some())
}

async fn health(hub: &Hub, webhook: &WebhookState) -> Health {
    let is_ready = tandem_hub::ops::admin::check_ready(hub).await.is_ok();
    Health::new(hub, is_ready, webhook)
}
