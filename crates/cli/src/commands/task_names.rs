//! Which task a word means: `@`, an id, or the beginning of one.
//!
//! Whoever sends a task may choose its id, so that it looks like the beginning of another or continues one. A beginning is
//! therefore completed only to ids that the hub has made, or that the caller's own agent has brought.

use std::sync::Arc;

use tandem_api::tasks::{PageQuery, TaskView, TasksQuery};
use tandem_client::each_page;
use tandem_core::ids::{IdSource, Now, has_made_shape};
use tandem_core::tasks::Task;
use tandem_core::{AgentId, TaskId};

use super::Session;
use crate::exit::{Failure, Outcome};
use crate::terminal::text;

/// Tasks in which the beginning of an id is looked for. With more, another one could begin so too.
const TASKS_MAX: usize = 5_000;
/// Before an id that is not to be completed. No id contains a colon.
const EXACTLY: &str = "id:";
/// A word of so many characters is a whole id, not a beginning that a person types.
const WHOLE_CHARS: usize = 24;
/// Characters of an id that only its time decides: `task_` and nine digits, which change every eight milliseconds.
const TIME_CHARS: usize = 14;

impl Session {
    /// The id of the task that a person means: `@` for the last one, an id, or the beginning of one if it is unique.
    /// The prefix `task_` may be left out.
    pub(crate) async fn task_id(&self, named: &str) -> Outcome<TaskId> {
        if named == "@" {
            return self.state().last_task().cloned().ok_or_else(|| {
                Failure::not_found("there is no last task yet").next("`tandem task list` shows your tasks.")
            });
        }
        let unknown = || {
            Failure::not_found(format!("there is no task {:?}", text::line(named)))
                .next("`tandem task list` shows your tasks; the beginning of an id is enough.")
        };
        let whole = named.strip_prefix(EXACTLY).unwrap_or(named);
        let id: TaskId = whole.parse().map_err(|_| unknown())?;
        let exact = match self.client.task(&id).await {
            Ok(task) => Some(task),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error.into()),
        };
        let me = self.profile.as_ref().map(|profile| &profile.agent_id);
        let is_whole = |task: &TaskView| {
            whole != named || named.len() >= WHOLE_CHARS || me == Some(&task.initiator_agent_id)
        };
        match exact {
            Some(task) if is_whole(&task) => return Ok(task.id),
            None if whole != named => return Err(unknown()),
            _ => {}
        }
        let read = async |PageQuery { limit, cursor }| {
            self.client.tasks(&TasksQuery { limit, cursor, ..TasksQuery::default() }).await
        };
        let mut found: Vec<TaskId> = exact.into_iter().map(|task| task.id).collect();
        let (mut looked_at, mut are_more) = (0, false);
        each_page(500, read, |page| {
            looked_at += page.items.len();
            are_more = page.next.is_some();
            let wanted = |task: &TaskView| begins(&task.id, named) && may_be_completed(task, me);
            found.extend(page.into_iter().filter(wanted).map(|task| task.id));
            looked_at < TASKS_MAX && found.len() < 2
        })
        .await?;
        if are_more && found.len() < 2 {
            let what = format!(
                "you have more than {TASKS_MAX} tasks, so {:?} could mean several",
                text::line(named)
            );
            return Err(Failure::usage(what).next("Give the whole id."));
        }
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(unknown()),
            [one, other, ..] => Err(Failure::usage(format!(
                "{:?} is the beginning of several ids, among them {one} and {other}",
                text::line(named)
            ))
            .next(format!("Give a whole id; `{EXACTLY}{one}` means just that one."))),
        }
    }
}

fn begins(id: &TaskId, named: &str) -> bool {
    let id = id.as_str();
    id.starts_with(named) || id.strip_prefix("task_").is_some_and(|rest| rest.starts_with(named))
}

/// Whether the beginning of a task's id may stand for it: the caller has sent the task, or the hub has made the id. Such an id
/// contains its time, so that nobody can choose how it begins.
fn may_be_completed(task: &TaskView, me: Option<&AgentId>) -> bool {
    if me == Some(&task.initiator_agent_id) {
        return true;
    }
    let made_then = Now::new(task.created_at, Arc::new(IdSource::new(|_| {}))).new_id::<Task>();
    has_made_shape(task.id.as_str()) && task.id.as_str()[..TIME_CHARS] == made_then.as_str()[..TIME_CHARS]
}
