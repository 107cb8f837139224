//! `tandem message`: a message on a task, or to an agent.

use clap::Args;
use tandem_api::connections::ConnectionView;
use tandem_api::messages::{MessageView, SendMessage};
use tandem_api::tasks::{TaskView, TasksQuery};
use tandem_client::folded_name;
use tandem_core::text::Body;
use tandem_core::{AgentId, TaskId};

use super::agent_names::described;
use super::complete::tasks;
use super::input::{checked, text_or_stdin};
use super::task_view::{WithTrust, own_trust};
use super::{Common, Session};
use crate::exit::{Exit, Failure, Outcome};
use crate::terminal::text;

/// Arguments of `tandem message`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem message @ \"The third quarter\"
  tandem message 01k2 \"See page 4\"
  tandem message bob \"Any news?\"          on the newest open task with bob
  echo \"long text\" | tandem message task_01k2abc -")]
pub(crate) struct Arguments {
    /// A task (id, beginning of an id, or @) or an agent
    #[arg(value_name = "TASK|AGENT", add = tasks())]
    to: String,
    /// The message; - reads it from standard input
    #[arg(value_name = "TEXT")]
    text: String,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let body: Body = checked("TEXT", text_or_stdin(&arguments.text)?)?;
        let (task, sent) = match receiver(&session, &arguments.to).await? {
            Receiver::Task(task) => {
                let task = session.client.task(&task).await?;
                let sent = session.client.say(&task, SendMessage::new(body)).await?;
                (task, sent)
            }
            Receiver::Agent(agent) => to_agent(&session, &agent, body).await?,
        };
        // Not what the answer says: a hub could make the next message go elsewhere.
        session.remember(&task.id);
        let trust = own_trust(&session.client, &task);
        session.terminal.result(&WithTrust::new(&sent, &trust), |terminal| {
            terminal.done(&format!("Sent on {}.", task.id))
        })
    })
}

/// Where a message goes.
enum Receiver {
    Task(TaskId),
    Agent(AgentId),
}

/// A task, or an agent. An id or alias of an agent is an agent. A word that is the name of one, which it has chosen itself,
/// and also means a task is not clear.
async fn receiver(session: &Session, named: &str) -> Outcome<Receiver> {
    if named == "@" || named.starts_with("task_") || named.contains(':') {
        return Ok(Receiver::Task(session.task_id(named).await?));
    }
    let agent = match session.agent(named).await {
        Ok(connection) => Ok(connection),
        Err(failure) if failure.exit == Exit::NotFound => Err(failure),
        Err(failure) => return Err(failure),
    };
    let is_owners_word = |one: &ConnectionView| {
        let alias = one.alias.as_ref().map(|alias| folded_name(alias.as_str()));
        one.connected.agent_id.as_str() == named || alias == Some(folded_name(named))
    };
    if let Ok(connection) = &agent
        && is_owners_word(connection)
    {
        return Ok(Receiver::Agent(connection.connected.agent_id.clone()));
    }
    match (agent, unchosen_task(session, named).await) {
        (Err(_), Ok(task)) => Ok(Receiver::Task(task)),
        (Ok(connection), Err(failure)) if failure.exit == Exit::NotFound => {
            Ok(Receiver::Agent(connection.connected.agent_id))
        }
        (Ok(connection), Ok(task)) => {
            let what = format!("{:?} can mean {} or {task}", text::line(named), described(&connection));
            Err(Failure::usage(what).next("Give the id of the agent or of the task."))
        }
        (Err(failure), Err(no_task)) if no_task.exit == Exit::NotFound => Err(failure),
        (_, Err(failure)) => Err(failure),
    }
}

/// The task that a word means, unless a peer has made just this word its id: such a task is named as `id:WORD`.
async fn unchosen_task(session: &Session, named: &str) -> Outcome<TaskId> {
    let task = session.task_id(named).await?;
    if task.as_str() == named {
        let me = session.profile.as_ref().map(|profile| &profile.agent_id);
        if me != Some(&session.client.task(&task).await?.initiator_agent_id) {
            return Err(Failure::not_found(format!("there is no task {:?} of yours", text::line(named)))
                .next("A task whose id another agent has chosen is named as id:ID."));
        }
    }
    Ok(task)
}

/// Sends to the newest open task with an agent. The task is looked up here, so that a text for an encrypted task never
/// reaches the hub in the clear.
async fn to_agent(session: &Session, agent: &AgentId, body: Body) -> Outcome<(TaskView, MessageView)> {
    let query = TasksQuery { with: Some(agent.clone()), limit: Some(500), ..TasksQuery::default() };
    let page = session.client.tasks(&query).await?;
    // The hub has chosen them; only one with this agent will do.
    let is_with = |task: &TaskView| [&task.initiator_agent_id, &task.target_agent_id].contains(&agent);
    let task = page.into_iter().find(|task| task.status.is_live() && is_with(task)).ok_or_else(|| {
        Failure::not_found("there is no open task with that agent")
            .next("Start one: `tandem send AGENT TITLE`.")
    })?;
    let sent = session.client.say(&task, SendMessage::new(body)).await?;
    Ok((task, sent))
}
