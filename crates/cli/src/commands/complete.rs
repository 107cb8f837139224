//! Shell completion of agents and tasks: asks the hub, and gives up quickly and silently if it cannot.

use std::future::Future;
use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use tandem_api::tasks::{PageQuery, TasksQuery};
use tandem_client::Client;
use tandem_core::Status;

use super::task_view::listed_title;
use super::{Common, Session};
use crate::profiles::Profiles;
use crate::terminal::text;

/// How long a shell waits for suggestions.
const PATIENCE: Duration = Duration::from_millis(800);

/// Suggests the agents that the caller is connected with.
pub(crate) fn connected_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        ask(async |client| {
            let page = client.connections(&PageQuery { limit: Some(200), cursor: None }).await.ok()?;
            let candidate = |connection: tandem_api::connections::ConnectionView| {
                let name = super::connections::display_name(&connection);
                // A name that a shell or a terminal could take for something else is suggested by its id.
                let plain = name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
                let id = connection.connected.agent_id.to_string();
                let value = if plain { name.clone() } else { id };
                CompletionCandidate::new(value).help(Some(text::line(&name).into()))
            };
            Some(page.into_iter().map(candidate).collect())
        })
    })
}

/// Suggests the newest tasks.
pub(crate) fn tasks() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        ask(async |client| {
            let query = TasksQuery { limit: Some(50), ..TasksQuery::default() };
            let page = client.tasks(&query).await.ok()?;
            let candidate = |task: tandem_api::tasks::TaskView| {
                let help = format!(
                    "{} {}",
                    task.status.as_str(),
                    text::cut(&text::line(listed_title(&client, &task.id, &task.title)), 60)
                );
                CompletionCandidate::new(task.id.as_str().to_owned()).help(Some(help.into()))
            };
            Some(page.into_iter().map(candidate).collect())
        })
    })
}

/// Suggests the profiles of this machine.
pub(crate) fn profiles() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = Profiles::of_user().and_then(|profiles| profiles.names()).unwrap_or_default();
        names.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// Suggests the words for a status.
pub(crate) fn statuses() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        Status::ALL.iter().map(|status| CompletionCandidate::new(status.as_str())).collect()
    })
}

fn ask<F>(question: impl FnOnce(Client) -> F) -> Vec<CompletionCandidate>
where
    F: Future<Output = Option<Vec<CompletionCandidate>>>,
{
    // The shell's half-written line is not parsed, but the variables count: a key goes to its hub only.
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let common = Common { agent: set("TANDEM_AGENT"), hub: set("TANDEM_HUB"), ..Common::default() };
    let Ok(session) = Session::open(&common) else { return Vec::new() };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let client = session.client.with_patience(Duration::ZERO);
    let asked = runtime.block_on(async { tokio::time::timeout(PATIENCE, question(client)).await });
    asked.ok().flatten().unwrap_or_default()
}
