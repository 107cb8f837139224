//! `tandem wait`: blocks until something arrives for the agent.

use std::time::Duration;

use clap::Args;
use tandem_api::events::EventType;
use tandem_client::{Followed, Notice, StreamEvent};
use tandem_core::events::EventKind;
use tokio::time::{Instant, timeout_at};

use super::events::{event_json, event_line, notice_line};
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::profiles::State;
use crate::terminal::time;

/// Arguments of `tandem wait`.
#[derive(Debug, Args)]
#[command(after_help = "\
It continues after the event that the last `tandem wait` of this profile printed, so nothing is missed in between. The
first one begins with new events. Receipts (message.read, message.acknowledged) do not end it. An event that could not
be printed comes again.

Exit codes: 0 a new task · 10 a message · 11 a task that needs approval · 12 a task that changed
            13 a broadcast · 14 anything else · 5 nothing within --timeout

Examples:
  tandem wait
  tandem wait --timeout 10m || echo \"exit code $?\"
  while tandem wait; do tandem inbox; done")]
pub(crate) struct Arguments {
    /// Stop after this time, with exit code 5
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    timeout: Option<Duration>,
    /// Only wait for these event types, such as task.created; may be repeated
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
}

/// As good as for ever.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Waits, prints the event, and ends the process with the exit code of its kind.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let mut state = session.state();
        let (event, epoch) = next_event(&session, arguments, &mut state).await?;
        if session.terminal.json {
            session.terminal.json_line(&event_json(&event))?;
        } else {
            session.terminal.line(event_line(&event).trim_start())?;
        }
        // Only now: a command that is killed before it has printed shows the event again.
        state.set_seen((event.cursor, epoch));
        if let Some(task) = &event.task_id {
            state.set_last_task(task);
        }
        // The only command whose success has several exit codes.
        std::process::exit(exit_code(&event.kind))
    })
}

/// The first event after the last one that was shown.
async fn next_event(
    session: &Session,
    arguments: &Arguments,
    state: &mut State,
) -> Outcome<(StreamEvent, Option<String>)> {
    let deadline = Instant::now() + arguments.timeout.unwrap_or(FOR_EVER);
    let (after, epoch) = match state.seen() {
        Some(place) => place,
        None => {
            let end = session.client.end_of_log().await?;
            // If this one ends without an event, the next one continues from here.
            state.set_seen(end.clone());
            end
        }
    };
    let mut stream = session.client.follow(Some(after)).in_epoch(epoch);
    loop {
        let followed = timeout_at(deadline, stream.next()).await.map_err(|_| {
            Failure::timed_out("nothing arrived in time").next("`tandem inbox` shows what is already there.")
        })??;
        match followed {
            Followed::Event(event) if ends(arguments, &event.kind) => {
                return Ok((event, stream.epoch().map(Into::into)));
            }
            Followed::Event(_) => {}
            Followed::Notice(notice) => {
                // After a restore the old cursor means nothing.
                if let Notice::Connected { cursor, epoch, .. } = &notice {
                    state.set_seen((*cursor, epoch.clone()));
                }
                session.terminal.note(&notice_line(&notice));
            }
        }
    }
}

fn ends(arguments: &Arguments, kind: &EventType) -> bool {
    if !arguments.types.is_empty() {
        return arguments.types.iter().any(|wanted| wanted == kind.as_str());
    }
    !matches!(kind, EventType::Logged(kind) if !kind.subject().ends_a_wait())
}

fn exit_code(kind: &EventType) -> i32 {
    match kind {
        EventType::Logged(EventKind::TaskCreated) => 0,
        EventType::Logged(EventKind::MessageCreated) => 10,
        EventType::Logged(EventKind::TaskApprovalRequired) => 11,
        EventType::Logged(EventKind::TaskUpdated) => 12,
        EventType::Logged(EventKind::BroadcastCreated) => 13,
        _ => 14,
    }
}
