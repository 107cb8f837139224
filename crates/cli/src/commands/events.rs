//! `tandem events tail`: the agent's events, live.

use std::io::{BufWriter, Write as _};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tandem_client::{Followed, Notice, StreamEvent};
use tokio::time::timeout;

use super::complete::{connected_agents, tasks};
use super::{Common, Session};
use crate::exit::Outcome;
use crate::terminal::{text, written};

/// Arguments of `tandem events`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tandem events tail --type 'task.*'")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: EventsCommand,
}

#[derive(Debug, Subcommand)]
enum EventsCommand {
    /// Print events as they happen, until Ctrl-C
    Tail(Tail),
}

/// Arguments of `tandem events tail`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem events tail                                new events
  tandem events tail --after 0 --type 'task.*'      all of the log, then new ones
  tandem events tail --from bob --json | jq .")]
struct Tail {
    /// Start after this event number; 0 is the beginning of the log [default: only new events]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(0..))]
    after: Option<i64>,
    /// Only these types: task.created, or task.* for all of a kind; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only events that this agent caused
    #[arg(long, value_name = "AGENT", add = connected_agents())]
    from: Option<String>,
    /// Only events about this task
    #[arg(long, value_name = "TASK", add = tasks())]
    task: Option<String>,
    /// Stop after this many events
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let EventsCommand::Tail(arguments) = &arguments.command;
    Session::run(common, async |session| tail(&session, arguments).await)
}

/// An event as JSON: `id`, `type`, `taskId`, `fromAgentId` and all fields of the event as `data`.
pub(crate) fn event_json(event: &StreamEvent) -> Value {
    json!({
        "id": event.cursor,
        "type": event.kind.as_str(),
        "taskId": event.task_id,
        "fromAgentId": event.from_agent_id,
        "data": serde_json::from_str::<Value>(event.data.get()).unwrap_or_default(),
    })
}

/// An event in one line: number, type, task, who, and what it says.
pub(crate) fn event_line(event: &StreamEvent) -> String {
    let fields = event.fields();
    let mut line = format!("{:>6}  {:<22}", event.cursor, text::line(event.kind.as_str()));
    if let Some(task) = &event.task_id {
        line.push_str(&format!("  {task}"));
    }
    let who = fields.from_agent_name.as_ref().or(fields.with_agent_name.as_ref());
    if let Some(who) = who {
        line.push_str(&format!("  {}", text::line(who.as_str())));
    }
    if let Some(status) = fields.status {
        line.push_str(&format!("  {}", status.as_str()));
    }
    if let Some(reason) = &fields.reason {
        line.push_str(&format!("  {}", text::line(reason.as_str())));
    }
    line
}

struct Filter {
    types: Vec<String>,
    from: Option<tandem_core::AgentId>,
    task: Option<tandem_core::TaskId>,
}

impl Filter {
    fn takes(&self, event: &StreamEvent) -> bool {
        let of_type = |wanted: &String| match wanted.strip_suffix('*') {
            Some(beginning) => event.kind.as_str().starts_with(beginning),
            None => event.kind.as_str() == wanted,
        };
        (self.types.is_empty() || self.types.iter().any(of_type))
            && (self.from.is_none() || self.from == event.from_agent_id)
            && (self.task.is_none() || self.task == event.task_id)
    }
}

async fn tail(session: &Session, arguments: &Tail) -> Outcome {
    let from = match &arguments.from {
        Some(named) => Some(session.agent(named).await?.connected.agent_id),
        None => None,
    };
    let task = match &arguments.task {
        Some(named) => Some(session.task_id(named).await?),
        None => None,
    };
    let filter = Filter { types: arguments.types.clone(), from, task };
    let terminal = &session.terminal;
    let mut stream = session.client.follow(arguments.after);
    let mut out = BufWriter::new(std::io::stdout());
    let mut left = arguments.count.unwrap_or(u64::MAX);
    while left > 0 {
        // What is printed is flushed when nothing more is ready, so a burst costs few system calls.
        let followed = match timeout(Duration::ZERO, stream.next()).await {
            Ok(followed) => followed,
            Err(_) => {
                written(out.flush())?;
                stream.next().await
            }
        };
        match followed? {
            Followed::Event(event) if filter.takes(&event) => {
                let line = if terminal.json {
                    text::json(&event_json(&event).to_string())
                } else {
                    event_line(&event)
                };
                written(writeln!(out, "{line}"))?;
                left -= 1;
            }
            Followed::Event(_) => {}
            Followed::Notice(notice) => terminal.note(&notice_line(&notice)),
        }
    }
    written(out.flush())
}

/// What happened to the stream, in one line.
pub(crate) fn notice_line(notice: &Notice) -> String {
    match notice {
        Notice::Connected { transport, cursor, .. } => {
            format!("-- connected by {transport}, after event {cursor}")
        }
        Notice::Lost { cause, retry_in } => {
            format!("-- connection lost, next try in {:.1} s: {}", retry_in.as_secs_f32(), text::line(cause))
        }
        Notice::Rewound { from, to } => {
            format!("-- the hub was restored from a backup: it went back from event {from} to {to}")
        }
        _ => "-- the stream changed".to_owned(),
    }
}
