//! Finds tasks: those that were sent while nobody followed the events, and those that were left unfinished.

use std::collections::HashMap;

use tandem_api::tasks::{PageQuery, PartyRole, TaskView, TasksQuery};
use tandem_client::each_page;
use tandem_core::{Status, TaskId};

use super::task::Runner;
use crate::exit::Outcome;

/// The tasks to look at: unfinished ones first, then submitted ones by priority and age.
pub(super) async fn list(runner: &Runner) -> Outcome<Vec<TaskId>> {
    let mut tasks: Vec<TaskId> = runner.journal.all().into_iter().map(|entry| entry.task).collect();
    let own = |task: TaskView| runner.is_ours(&task).then_some(task.id);
    tasks.extend(pages(runner, Status::Working, own).await?);
    let about =
        |task: TaskView| Some((task.initiator_agent_id, (task.priority.rank(), task.created_at, task.id)));
    let (mut submitted, mut asked) = (Vec::new(), HashMap::new());
    for (from, task) in pages(runner, Status::Submitted, about).await? {
        // Each sender once, however many tasks there are.
        let is_allowed = match asked.get(&from) {
            Some(is_allowed) => *is_allowed,
            None => {
                let is_allowed = runner.sources.allow(&runner.session, &from).await?;
                asked.insert(from, is_allowed);
                is_allowed
            }
        };
        if is_allowed {
            submitted.push(task);
        }
    }
    submitted.sort();
    tasks.extend(submitted.into_iter().map(|(_, _, task)| task));
    Ok(tasks)
}

/// What is needed of all tasks with a status. Their texts are not kept: there can be many, and each can be long.
async fn pages<T>(
    runner: &Runner,
    status: Status,
    needed: impl Fn(TaskView) -> Option<T>,
) -> Outcome<Vec<T>> {
    let read = async |PageQuery { limit, cursor }| {
        let (status, role) = (Some(status), Some(PartyRole::Target));
        runner.client.tasks(&TasksQuery { status, role, limit, cursor, ..TasksQuery::default() }).await
    };
    let mut all = Vec::new();
    each_page(500, read, |page| {
        all.extend(page.into_iter().filter_map(&needed));
        true
    })
    .await?;
    Ok(all)
}
