//! The agent that the operator means, and changes to it.

use tandem_api::admin::{AdminAgent, PatchAgentTerms};
use tandem_client::{Client, find_on_pages};
use tandem_core::AgentId;

use super::lists::{AGENT, agent_row};
use crate::exit::{Failure, Outcome};
use crate::terminal::table::Table;
use crate::terminal::{Terminal, text};

pub(super) async fn change(
    client: &Client,
    named: &str,
    terms: &PatchAgentTerms,
    terminal: &Terminal,
) -> Outcome {
    let changed = match named.parse::<AgentId>() {
        // A whole id needs no search.
        Ok(id) => match client.admin_change_agent(&id, terms).await {
            Err(error) if error.is_not_found() => None,
            answered => Some(answered?),
        },
        Err(_) => None,
    };
    let agent = match changed {
        Some(agent) => agent,
        None => {
            let found = find(client, named).await?;
            client.admin_change_agent(&found.id, terms).await?
        }
    };
    terminal.result(&agent, |terminal| {
        let mut table = Table::new(&AGENT, 1);
        table.row(agent_row(&agent));
        table.print(terminal, "")
    })
}

/// The agent with this id or name, or whose id begins so. Agents choose their names, so a name never wins over an id: if
/// both match, the operator has to say which.
pub(super) async fn find(client: &Client, named: &str) -> Outcome<AdminAgent> {
    let matches = |agent: &AdminAgent| {
        let id = agent.id.as_str();
        let begins =
            id.starts_with(named) || id.strip_prefix("agent_").is_some_and(|rest| rest.starts_with(named));
        !named.is_empty() && (begins || agent.name == *named)
    };
    let mut found = Vec::new();
    let read = async |query| client.admin_agents(&query).await;
    let exact = find_on_pages(500, read, |agent: AdminAgent| {
        if agent.id.as_str() == named {
            return Some(agent);
        }
        if matches(&agent) {
            found.push(agent);
        }
        None
    });
    if let Some(agent) = exact.await? {
        return Ok(agent);
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::not_found(format!("there is no agent {:?} on this hub", text::line(named)))
            .next("`tandem admin agents --all` shows all agents.")),
        several => {
            let name = |agent: &AdminAgent| format!("{} ({})", text::line(agent.name.as_str()), agent.id);
            let shown: Vec<String> = several.iter().take(5).map(name).collect();
            Err(Failure::usage(format!("{:?} can mean {}", text::line(named), shown.join(" or ")))
                .next("Give the whole id."))
        }
    }
}
