//! Finds tasks: those that were sent while nobody followed the events, and those that were left unfinished.

use std::collections::HashMap;

use tandem_api::tasks::{PartyRole, TaskView, TasksQuery};
use tandem_client::Pages;
use tandem_core::{Status, TaskId};

use super::task::Runner;
use crate::exit::Outcome;

/// The tasks to look at: unfinished ones first, then submitted ones by priority and age.
pub(super) async fn list(runner: &Runner) -> Outcome<Vec<TaskId>> {
    let mut tasks: Vec<TaskId> = runner.journal.all().into_iter().map(|entry| entry.task).collect();
    let working = pages(runner, Status::Working).await?;
    tasks.extend(working.into_iter().filter(|task| runner.is_ours(task)).map(|task| task.id));
    let (mut submitted, mut asked) = (Vec::new(), HashMap::new());
    for task in pages(runner, Status::Submitted).await? {
        let from = &task.initiator_agent_id;
        // Each sender once, however many tasks there are.
        let is_allowed = match asked.get(from) {
            Some(is_allowed) => *is_allowed,
            None => {
                let is_allowed = runner.sources.allow(&runner.session, from).await?;
                asked.insert(from.clone(), is_allowed);
                is_allowed
            }
        };
        if is_allowed {
            submitted.push((task.priority.rank(), task.created_at, task.id));
        }
    }
    submitted.sort();
    tasks.extend(submitted.into_iter().map(|(_, _, task)| task));
    Ok(tasks)
}

async fn pages(runner: &Runner, status: Status) -> Outcome<Vec<TaskView>> {
    let mut query = TasksQuery {
        status: Some(status),
        role: Some(PartyRole::Target),
        limit: Some(500),
        ..TasksQuery::default()
    };
    let (mut all, mut pages) = (Vec::new(), Pages::default());
    loop {
        let page = runner.client.tasks(&query).await?;
        let next = pages.after(&page)?;
        all.extend(page.items);
        match next {
            Some(next) => query.cursor = Some(next),
            None => return Ok(all),
        }
    }
}
