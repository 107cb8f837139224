//! Home: does anything need me, and until when? Are my agents reached?

mod needs;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tandem_api::tasks::PartyRole;
use tandem_core::Status;
use tandem_core::agents::Reach;
use tandem_hub::ops::figures::{self, Figure, Series};
use tandem_hub::ops::needs::Selection;
use tandem_hub::ops::{admin, agents, needs as owner_needs};
use tandem_hub::{Error, Hub};

use self::needs::NeedRow;
use super::drawing::Bars;
use super::people::Party;
use super::profile::reach_of;
use super::reach::ReachMark;
use super::shell::path_of;
use super::tasks::newest_connections;
use super::tasks::row::{Group, TaskRow};
use super::{Page, Section, Shell, Viewer, copy, filters, html};

/// Rows of "Waits for others", and tasks among which they are.
const OTHERS_MAX: usize = 5;
const OTHERS_LOOKED_AT: i64 = 20;
/// Rows of "Needs you".
const NEEDS_MAX: usize = 20;
/// Own agents that are shown.
const OWN_MAX: usize = 8;

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route("/app/{agent}", get(page))
}

#[derive(Template)]
#[template(path = "app/home.html")]
struct HomePage {
    needs: Vec<NeedRow>,
    has_more_needs: bool,
    yours: Vec<Own>,
    /// The newest tasks of this agent that wait for somebody else.
    others: Vec<TaskRow>,
    events: Bars,
    /// Why the hub is not ready, if it is not.
    trouble: Option<String>,
    /// The first steps, while there is nothing to see.
    guide: Option<Guide>,
    shell: Shell,
}

impl HomePage {
    /// What the reader has to know first.
    fn summary(&self) -> String {
        let lost = self.yours.iter().filter(|own| own.reach.is_lost).count();
        let lost = match lost {
            0 => String::new(),
            1 => " One agent is not reached.".to_owned(),
            many => format!(" {many} agents are not reached."),
        };
        match self.needs.len() {
            0 if self.guide.is_some() => "Three steps, about two minutes.".to_owned(),
            0 => format!("Nothing needs you.{lost}"),
            1 => format!("One thing needs you.{lost}"),
            many if self.has_more_needs => format!("More than {many} things need you.{lost}"),
            many => format!("{many} things need you.{lost}"),
        }
    }

    fn needs_count(&self) -> String {
        format!("{}{}", self.needs.len(), if self.has_more_needs { "+" } else { "" })
    }
}

/// An agent that is signed in in this browser.
struct Own {
    party: Party,
    href: String,
    reach: ReachMark,
    open: i64,
    waiting: i64,
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
    let found = owner_needs::list(&hub, &viewer.caller, NEEDS_MAX).await?;
    let webhook = owner_needs::webhook(&hub, &viewer.caller).await?;
    let mut needs: Vec<NeedRow> = needs::webhook(&webhook, &shell).into_iter().collect();
    let room = NEEDS_MAX - needs.len();
    let has_more_needs = found.has_more || found.items.len() > room;
    needs.extend(found.items.into_iter().take(room).map(|need| NeedRow::of_task(need, &shell)));
    let [events] = figures::of_agent(&hub, &viewer.caller, [Figure::Events]).await?;
    let template = HomePage {
        needs,
        has_more_needs,
        yours: yours(&hub, &viewer, &shell).await?,
        others: others(&hub, &viewer, &shell).await?,
        events: Bars::of(&events, &Series::default(), shell.now),
        trouble: admin::check_ready(&hub).await.err().map(|error| error.to_string()),
        guide: guide(&hub, &viewer, &shell).await?,
        shell,
    };
    html(StatusCode::OK, &template)
}

async fn guide(hub: &Hub, viewer: &Viewer, shell: &Shell) -> Result<Option<Guide>, Error> {
    let has_tasks = shell.me.as_ref().is_some_and(|me| me.counts.iter().any(|count| count.count > 0));
    if has_tasks || !newest_connections(hub, viewer).await?.items.is_empty() {
        return Ok(None);
    }
    let is_seen = agents::profile(hub, &viewer.caller).await?.reach != Reach::Never;
    Ok(Some(Guide { address: copy::address(hub), is_seen }))
}

/// The agents of this browser, and how they are reached.
async fn yours(hub: &Hub, viewer: &Viewer, shell: &Shell) -> Result<Vec<Own>, Error> {
    let mut yours = Vec::new();
    for caller in viewer.browser.callers(hub).await?.iter().take(OWN_MAX) {
        let profile = agents::profile(hub, caller).await?;
        let counted = shell.signed_in.iter().find(|one| one.agent == caller.agent);
        let key = profile.public_key.as_ref().map(|key| key.as_str());
        yours.push(Own {
            party: Party::new(&profile.id, profile.name.as_str(), shell).with_key(key),
            href: path_of(&caller.agent),
            reach: reach_of(&profile, shell),
            open: counted.map_or(0, |one| one.live()),
            waiting: counted.map_or(0, |one| one.waiting()),
        });
    }
    Ok(yours)
}

/// Of the newest tasks that were sent and wait, those that wait for somebody else.
async fn others(hub: &Hub, viewer: &Viewer, shell: &Shell) -> Result<Vec<TaskRow>, Error> {
    let statuses = vec![Status::Submitted, Status::InputRequired, Status::AuthRequired];
    let selection = Selection { statuses, role: Some(PartyRole::Initiator), ..Selection::default() };
    let found = owner_needs::tasks(hub, &viewer.caller, selection, OTHERS_LOOKED_AT).await?.items;
    let rows = found.into_iter().map(|task| TaskRow::new(task, shell));
    Ok(rows.filter(|row| row.group() == Group::Others).take(OTHERS_MAX).collect())
}
