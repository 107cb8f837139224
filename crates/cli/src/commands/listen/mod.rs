//! `tandem listen`: forwards an agent's events to a program on this machine, as the hub's webhooks would. It needs no
//! public address.

mod target;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use tandem_client::{Followed, Notice, StreamEvent};
use tandem_core::AgentId;
use tandem_core::events::EventText;
use tandem_core::webhooks::wants;
use tandem_seal::webhooks::{body, data};

use super::events::notice_line;
use super::webhook::{expand, secret};
use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::{text, time};
use target::{Answer, Delivery, Target};

/// Pauses before an event is sent again. Together they are time enough to start the program.
const PAUSES_SECONDS: [u64; 5] = [1, 2, 4, 8, 15];
/// How often an event is sent to a program that answers, but not with success.
const ANSWERED_TRIES: usize = 3;

/// Arguments of `tandem listen`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem listen --forward-to localhost:8080/hook
  tandem listen --forward-to localhost:8080/hook --events 'task.*,message.created'
  SECRET=$(tandem listen --print-secret)        to verify the signatures

Each event arrives as a POST that is built and signed like a webhook of the hub. After a restart it continues with the
first event that was not forwarded to this address. Several may run at the same time, with other events or addresses.")]
pub(crate) struct Arguments {
    /// The address of your program
    #[arg(long, value_name = "URL", required_unless_present = "print_secret")]
    forward_to: Option<Target>,
    /// Only these events, such as task.*,message.created [default: all]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    events: Vec<String>,
    /// Sign with the secret in this file [default: one of the profile's own, which stays the same]
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Print the secret of the signatures and end
    #[arg(long, conflicts_with = "forward_to")]
    print_secret: bool,
    /// Start after this event number [default: after the last forwarded one]
    #[arg(long, value_name = "NUMBER")]
    after: Option<i64>,
}

/// One line per event: what became of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Forwarded<'a> {
    event: &'a str,
    cursor: i64,
    task_id: Option<String>,
    status: Option<u16>,
    error: Option<String>,
    attempts: usize,
    duration_ms: u128,
}

/// Runs `tandem listen`.
pub(crate) fn run(arguments: Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| {
        let secret = match &arguments.secret_file {
            Some(file) => Some(secret::from_file(file)?),
            None => secret::of_profile(&session)?,
        };
        let secret = secret.ok_or_else(|| {
            Failure::usage("TANDEM_KEY has no profile that could keep a secret")
                .next("Give --secret-file FILE.")
        })?;
        let Some(target) = &arguments.forward_to else { return session.terminal.line(secret.as_str()) };
        forward(&session, &arguments, target, secret.as_str()).await
    })
}

async fn forward(session: &Session, arguments: &Arguments, target: &Target, secret: &str) -> Outcome {
    let filter = expand(&arguments.events)?;
    let (to, mut events) = (target.to_string(), arguments.events.clone());
    events.sort();
    events.dedup();
    let agent = session.client.profile().await?.id;
    let mut state = session.state();
    let asked = arguments.after.map(|cursor| (cursor, None));
    let (start, epoch) = match asked.or(state.forwarded(&to, &events)) {
        Some(place) => place,
        None => session.client.end_of_log().await?,
    };
    state.set_forwarded(&to, &events, (start, epoch.clone()));
    let mut stream = session.client.follow(Some(start)).in_epoch(epoch);
    session.terminal.note(&format!("Forwarding events of {agent} to {target}. Ctrl-C ends it."));
    loop {
        // The next event is taken when this one is done with. Until then the stream stops reading, and the hub keeps
        // the rest.
        match stream.next().await? {
            Followed::Event(event) => {
                if wants(&filter, event.kind.as_str()) {
                    let delivery = delivery(&agent, &event);
                    send(session, target, secret, &event, &delivery).await?;
                }
                state.set_forwarded(&to, &events, (event.cursor, stream.epoch().map(Into::into)));
            }
            Followed::Notice(notice) => {
                if let Notice::Connected { cursor, epoch, .. } = &notice {
                    // After a restore the hub gives out its numbers again, also while this command does not run.
                    state.set_forwarded(&to, &events, (*cursor, epoch.clone()));
                }
                session.terminal.note(&notice_line(&notice));
            }
        }
    }
}

fn delivery(agent: &AgentId, event: &StreamEvent) -> Delivery {
    let written = event.created_at.unwrap_or_else(time::now);
    let kind = event.kind.as_str();
    // The same at every attempt, also after a restart: the program can drop repetitions. With the time, because a restored
    // hub gives out the same numbers again.
    let id = format!("listen_{agent}_{}_{}", event.cursor, written.0);
    let text = EventText {
        cursor: event.cursor,
        kind,
        task: event.task_id.as_ref(),
        from: event.caused_by.as_ref(),
        data: event.data.get(),
        created_at: written,
    };
    let data = data(kind, text.data, &text.whole());
    Delivery { id, body: body(agent.as_str(), kind, written, data) }
}

/// Sends one event until the program takes it. A program that is not there ends the command, so that no event is lost; one
/// that refuses an event does not block those after it.
async fn send(
    session: &Session,
    target: &Target,
    secret: &str,
    event: &StreamEvent,
    delivery: &Delivery,
) -> Outcome {
    let mut pauses = PAUSES_SECONDS.into_iter();
    for attempts in 1.. {
        let started = Instant::now();
        let answer = target.send(secret, delivery).await;
        let (status, error) = match &answer {
            Answer::Status(status) => (Some(*status), None),
            Answer::Failed(cause) => (None, Some(cause.clone())),
        };
        let forwarded = Forwarded {
            event: event.kind.as_str(),
            cursor: event.cursor,
            task_id: event.task_id.as_ref().map(ToString::to_string),
            status,
            error,
            attempts,
            duration_ms: started.elapsed().as_millis(),
        };
        print(session, &forwarded)?;
        match answer {
            Answer::Status(200..=299) => return Ok(()),
            Answer::Status(_) if attempts >= ANSWERED_TRIES => {
                session.terminal.note(&format!("Gave up event {} after {attempts} attempts.", event.cursor));
                return Ok(());
            }
            _ => {}
        }
        let Some(pause) = pauses.next() else {
            return Err(Failure::timed_out(format!("{target} did not answer {attempts} times"))
                .next("Start your program, then run the command again: it continues with this event."));
        };
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
    Ok(())
}

fn print(session: &Session, forwarded: &Forwarded<'_>) -> Outcome {
    session.terminal.result(forwarded, |terminal| {
        let answer = match (forwarded.status, &forwarded.error) {
            (Some(status), _) => status.to_string(),
            (None, Some(error)) => text::line(error),
            (None, None) => String::new(),
        };
        let about = forwarded.task_id.as_deref().map(text::line).unwrap_or_default();
        let (event, cursor, ms) = (text::line(forwarded.event), forwarded.cursor, forwarded.duration_ms);
        if terminal.interactive {
            terminal.line(format!("{cursor:>6}  {event:<24} {answer:<5} {ms:>5} ms  {about}").trim_end())
        } else {
            terminal.line(&format!("{cursor}\t{event}\t{answer}\t{ms}\t{about}"))
        }
    })
}
