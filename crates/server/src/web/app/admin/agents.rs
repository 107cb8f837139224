//! The operator's table of agents: credits and suspension.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use tandem_api::admin::{AdminAgent, PatchAgentTerms};
use tandem_api::tasks::PageQuery;
use tandem_app::Invalid;
use tandem_core::credits::Usd;
use tandem_hub::ops::{admin, parse_id};
use tandem_hub::{Error, Hub};

use super::super::people::Party;
use super::super::words::When;
use super::super::{Form, Operator, Page, Shell, filters, html, redirect};
use super::next_page;
use crate::http::Query;

struct AgentRow {
    party: Party,
    is_suspended: bool,
    is_online: bool,
    reach: &'static str,
    seen: Option<When>,
    registered: When,
    credits: String,
    costs_credits: bool,
}

#[derive(Template)]
#[template(path = "app/admin-agents.html")]
struct AgentsPage {
    shell: Shell,
    rows: Vec<AgentRow>,
    next: Option<String>,
    error: Option<String>,
}

pub(super) async fn list(
    State(hub): State<Hub>,
    operator: Operator,
    Query(query): Query<PageQuery>,
    uri: Uri,
) -> Page {
    agents_page(&hub, &operator, query, &uri, None).await
}

async fn agents_page(
    hub: &Hub,
    operator: &Operator,
    query: PageQuery,
    uri: &Uri,
    error: Option<Error>,
) -> Page {
    let shell = Shell::of_operator(hub, operator, "/agents").await?;
    let listed = admin::agents(hub, query).await?;
    let rows = listed.items.iter().map(|agent| agent_row(agent, &shell)).collect();
    let status = error.as_ref().map_or(200, |error| error.status);
    let page = AgentsPage {
        rows,
        next: next_page(uri, listed.next.as_deref()),
        error: error.map(|error| error.to_string()),
        shell,
    };
    html(StatusCode::from_u16(status).unwrap_or_default(), &page)
}

fn agent_row(agent: &AdminAgent, shell: &Shell) -> AgentRow {
    AgentRow {
        party: Party::new(&agent.id, agent.name.as_str(), shell),
        is_suspended: agent.suspended,
        is_online: agent.online,
        reach: agent.reach.as_str(),
        seen: agent.last_seen_at.map(|at| shell.when(&at)),
        registered: shell.when(&agent.created_at),
        credits: dollars(agent.credits),
        costs_credits: agent.costs_credits,
    }
}

fn dollars(amount: Usd) -> String {
    let micro = amount.micro();
    format!("{}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000)
}

/// The fields of the form. A checkbox that is not ticked is not sent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentForm {
    credits: Option<String>,
    costs_credits: Option<String>,
    suspended: Option<String>,
    /// What the form showed.
    shown_credits: Option<String>,
    shown_costs_credits: Option<String>,
    shown_suspended: Option<String>,
}

pub(super) async fn change(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    form: Form<Operator, AgentForm>,
) -> Page {
    let id = parse_id(&id, "agent")?;
    let changing = async {
        let fields = form.fields?;
        let credits = match &fields.credits {
            None => None,
            Some(text) => Some(amount(text)?),
        };
        // Only what was changed in the form is written: somebody else may have changed the rest meanwhile.
        let credits = credits.filter(|_| fields.credits != fields.shown_credits);
        let changed = |now: &Option<String>, shown: &Option<String>| {
            (now.is_some() != shown.is_some()).then(|| now.is_some())
        };
        let terms = PatchAgentTerms {
            credits,
            costs_credits: changed(&fields.costs_credits, &fields.shown_costs_credits),
            suspended: changed(&fields.suspended, &fields.shown_suspended),
        };
        match &terms {
            PatchAgentTerms { credits: None, costs_credits: None, suspended: None } => Ok(()),
            _ => admin::change_agent(&hub, &id, terms).await.map(|_| ()),
        }
    };
    match changing.await {
        Ok(()) => Ok(redirect("/app/admin/agents?done=saved")),
        Err(error) => {
            let uri = Uri::from_static("/app/admin/agents");
            agents_page(&hub, &form.by, PageQuery::default(), &uri, Some(error)).await
        }
    }
}

fn amount(text: &str) -> Result<Usd, Error> {
    let number: Option<f64> = text.trim().trim_start_matches('$').parse().ok();
    let amount = number.and_then(|number| Usd::try_from(number).ok());
    amount.ok_or_else(|| {
        Invalid::field("credits", "must be an amount in US dollars from 0 to 1,000,000, such as 2.50").into()
    })
}
