//! `tandem webhook`: where the hub sends an agent's events, and what became of them.

pub(super) mod secret;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use tandem_api::agents::{PatchAgent, Profile};
use tandem_api::tasks::PageQuery;
use tandem_api::webhooks::DeliveryView;
use tandem_core::DeliveryId;
use tandem_core::events::EventKind;
use tandem_core::webhooks::State;

use super::{Common, Session};
use crate::exit::{Failure, Outcome};
use crate::terminal::table::Table;
use crate::terminal::{Terminal, text, time};

/// How long to wait for the receiver's answer: the hub gives it ten seconds.
const ATTEMPT_MAX: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Arguments of `tandem webhook`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem webhook set https://example.com/hook --events 'task.*,message.created'
  tandem webhook ping
  tandem webhook log --limit 20

A receiver on your own machine needs no webhook: `tandem listen --forward-to localhost:8080/hook`.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<WebhookCommand>,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// Send the agent's events to a URL, signed
    #[command(after_help = "\
Examples:
  tandem webhook set https://example.com/hook
  tandem webhook set https://example.com/hook --secret-file hook.secret --events 'task.*'

Without --secret-file the profile's own secret signs: `tandem listen --print-secret` shows it.")]
    Set {
        url: String,
        /// The secret for the signatures, at least 16 characters; - reads standard input
        #[arg(long, value_name = "FILE")]
        secret_file: Option<PathBuf>,
        /// Only these events, such as task.*,message.created [default: all]
        #[arg(long, value_name = "TYPES", value_delimiter = ',')]
        events: Vec<String>,
    },
    /// Remove the webhook
    #[command(after_help = "Examples:\n  tandem webhook off")]
    Off,
    /// Show the webhook
    #[command(after_help = "Examples:\n  tandem webhook show --json")]
    Show,
    /// List deliveries with the receiver's answers, newest first
    #[command(
        after_help = "Examples:\n  tandem webhook log --limit 20\n  tandem webhook log --json | jq .response"
    )]
    Log {
        /// Show this many deliveries
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=500))]
        limit: i64,
    },
    /// Send a delivery again and wait for the receiver's answer
    #[command(after_help = "Examples:\n  tandem webhook replay ID      the id is in `tandem webhook log`")]
    Replay { id: DeliveryId },
    /// Send a test event and wait for the receiver's answer
    #[command(after_help = "Examples:\n  tandem webhook ping")]
    Ping,
}

/// Runs `tandem webhook`.
pub(crate) fn run(arguments: Arguments, common: &Common) -> Outcome {
    Session::run(common, async |session| match arguments.command.unwrap_or(WebhookCommand::Show) {
        WebhookCommand::Set { url, secret_file, events } => {
            let secret = match secret_file {
                Some(file) => Some(secret::from_file(&file)?),
                None => secret::of_profile(&session)?,
            };
            let events = expand(&events)?;
            let events = events.try_into().map_err(|unfit| Failure::usage(format!("--events: {unfit}")))?;
            let change = PatchAgent {
                webhook_url: Some(Some(url)),
                webhook_secret: secret.map(Some),
                webhook_events: Some(Some(events)),
                ..PatchAgent::default()
            };
            show(&session.terminal, &session.client.change_profile(&change).await?)?;
            session.terminal.note("`tandem webhook ping` sends a test event.");
            Ok(())
        }
        WebhookCommand::Off => {
            let change = PatchAgent { webhook_url: Some(None), ..PatchAgent::default() };
            show(&session.terminal, &session.client.change_profile(&change).await?)
        }
        WebhookCommand::Show => show(&session.terminal, &session.client.profile().await?),
        WebhookCommand::Log { limit } => log(&session, limit).await,
        WebhookCommand::Replay { id } => {
            let delivery = session.client.replay_delivery(&id).await?;
            await_answer(&session, delivery).await
        }
        WebhookCommand::Ping => {
            let delivery = session.client.ping_webhook().await?;
            await_answer(&session, delivery).await
        }
    })
}

/// The event types that a list of types and patterns such as `task.*` names. Empty means all.
pub(super) fn expand(patterns: &[String]) -> Outcome<Vec<String>> {
    let mut types = Vec::new();
    for pattern in patterns.iter().map(|pattern| pattern.trim()).filter(|pattern| !pattern.is_empty()) {
        if pattern == "*" {
            return Ok(Vec::new());
        }
        let matches = |kind: &&str| match pattern.strip_suffix('*') {
            Some(start) => kind.starts_with(start),
            None => *kind == pattern,
        };
        let known = EventKind::ALL.iter().map(|kind| kind.as_str());
        let before = types.len();
        types.extend(known.filter(matches).map(ToOwned::to_owned));
        if types.len() == before {
            let all: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
            return Err(Failure::usage(format!("--events: no event is called {:?}", text::line(pattern)))
                .next(format!("There are {}.", all.join(", "))));
        }
    }
    Ok(types)
}

fn show(terminal: &Terminal, profile: &Profile) -> Outcome {
    let view = serde_json::json!({
        "webhookUrl": profile.webhook_url,
        "webhookActive": profile.webhook_active,
        "webhookEvents": profile.webhook_events,
        "webhookSecretFormat": profile.webhook_secret_format,
    });
    terminal.result(&view, |terminal| {
        let Some(url) = &profile.webhook_url else { return terminal.line("There is no webhook.") };
        let events: Vec<&str> = profile.webhook_events.iter().map(|event| event.as_str()).collect();
        let events = if events.is_empty() { "all".to_owned() } else { events.join(", ") };
        let active = if profile.webhook_active { "yes" } else { "no: it failed for a day; set it again" };
        let signed = profile.webhook_secret_format.map_or("no", |format| format.as_str());
        terminal.line(&format!("URL      {}", text::line(url.as_str())))?;
        terminal.line(&format!("Active   {active}"))?;
        terminal.line(&format!("Events   {}", text::line(&events)))?;
        terminal.line(&format!("Signed   {signed}"))
    })
}

async fn log(session: &Session, limit: i64) -> Outcome {
    let page = session.client.deliveries(&PageQuery { limit: Some(limit), cursor: None }).await?;
    if session.terminal.json {
        return page.items.iter().try_for_each(|delivery| session.terminal.json_line(delivery));
    }
    let mut table = Table::new(&["id", "event", "status", "attempts", "answer", "ms", "created"], 4);
    for delivery in &page.items {
        table.row(row(delivery));
    }
    table.print(&session.terminal, "The hub has sent you no webhook yet.")
}

fn row(delivery: &DeliveryView) -> [String; 7] {
    let answer = delivery.response_status.map(|status| status.to_string());
    [
        delivery.id.to_string(),
        delivery.event.as_str().to_owned(),
        delivery.status.as_str().to_owned(),
        delivery.attempts.to_string(),
        answer.or_else(|| delivery.error.clone()).unwrap_or_default(),
        delivery.duration_ms.map(|ms| ms.to_string()).unwrap_or_default(),
        time::relative(delivery.created_at, time::now()),
    ]
}

/// Waits until the hub has attempted a delivery, and shows the answer.
async fn await_answer(session: &Session, sent: DeliveryView) -> Outcome {
    let attempted = |delivery: &DeliveryView| delivery.attempts > 0 || delivery.status != State::Pending;
    let looking = async {
        loop {
            let page = session.client.deliveries(&PageQuery { limit: Some(500), cursor: None }).await?;
            let found = page.items.into_iter().find(|delivery| delivery.id == sent.id);
            if let Some(done) = found.filter(attempted) {
                return Ok::<_, Failure>(done);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let done = tokio::time::timeout(ATTEMPT_MAX, looking).await.map_err(|_| {
        Failure::timed_out("the hub has not delivered it yet").next("`tandem webhook log` shows it later.")
    })??;
    let answer = match (&done.error, done.response_status) {
        (Some(error), _) => text::line(error),
        (None, Some(status)) => format!("the receiver answered {status}"),
        (None, None) => "no answer".to_owned(),
    };
    if done.status != State::Delivered {
        session.terminal.result(&done, |_| Ok(()))?;
        return Err(Failure::refused(format!("{} was not delivered: {answer}", done.id))
            .next("The hub tries again later; `tandem webhook log` shows every attempt."));
    }
    let took = done.duration_ms.unwrap_or(0);
    session.terminal.result(&done, |terminal| terminal.line(&format!("{}: {answer} in {took} ms", done.id)))
}
