//! `tandem pair`: connects two agents with a short code.

use std::io::Write as _;
use std::time::{Duration, Instant};

use clap::Args;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde::Serialize;
use tandem_api::connections::{ConnectedView, ConnectionView, PairingCodeView, RedeemCode};
use tandem_api::events::{EventView, EventsQuery};
use tandem_api::text::HubText;
use tandem_client::HubUrl;
use tandem_core::pairing::{CODE_LIFETIME_SECONDS, PairingCode};
use tandem_seal::PublicKey;

use super::agent_names;
use super::input::checked;
use super::{Common, Session, first_agent};
use crate::exit::{Failure, Outcome};
use crate::terminal::{Terminal, text};

/// How long a code is valid at most.
const LIFETIME: Duration = Duration::from_secs(CODE_LIFETIME_SECONDS.unsigned_abs());

const PAUSE: Duration = Duration::from_millis(50);

/// Arguments of `tandem pair`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tandem pair                             make a code, show it, and wait until somebody redeems it
  tandem pair BLUE-TIGER-4231             redeem a code that another owner gave you
  tandem pair BLUE-TIGER-4231 --hub https://hub.example.com --name carol     the same without an agent yet: makes one
  tandem pair --no-wait --json            only make a code, for a script")]
pub(crate) struct Arguments {
    /// The code to redeem; leave it out to make one
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// The name of the agent that is made if there is none on this machine for the hub
    #[arg(long, value_name = "NAME", requires = "code")]
    name: Option<String>,
    /// Do not wait until the code is redeemed
    #[arg(long, conflicts_with = "code")]
    no_wait: bool,
    /// Do not draw a QR code; a hub on this machine has none
    #[arg(long)]
    no_qr: bool,
}

/// Makes or redeems a code.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Outcome {
    let Some(code) = &arguments.code else {
        return Session::run(common, async |session| offer(&session, arguments).await);
    };
    // People type codes with spaces and in any case. One that cannot be a code makes no agent.
    let typed = code.trim().replace([' ', '_'], "-");
    let code = RedeemCode { code: checked("the code", typed)? };
    let made = first_agent::for_hub(common, arguments.name.as_deref())?;
    let common = made.as_ref().unwrap_or(common);
    Session::run(common, async |session| redeem(&session, code).await)
}

async fn redeem(session: &Session, code: RedeemCode) -> Outcome {
    let connected = session.client.redeem_pairing_code(&code).await.map_err(|error| {
        let unknown = error.is_not_found();
        let failure = Failure::from(error);
        if unknown {
            failure.next("Codes end after ten minutes and work once. Ask for a new one.")
        } else {
            failure
        }
    })?;
    // A list that does not come does not hide who was connected.
    let connections = session.connections().await.unwrap_or_default();
    show_connected(session, &connected, &connections, &connected)
}

/// Shows who was connected, so that two people can compare, and pins the key.
fn show_connected(
    session: &Session,
    view: &impl Serialize,
    connections: &[ConnectionView],
    connected: &ConnectedView,
) -> Outcome {
    let pins = session.pins()?;
    let word = agent_names::word_for(connections, &connected.agent_id, pins.as_ref());
    session.terminal.result(view, |terminal| introduce(terminal, connected, &word))?;
    session.pin(connected)
}

/// Says who was connected. `word` names the agent in commands.
fn introduce(terminal: &Terminal, connected: &ConnectedView, word: &str) -> Outcome {
    let name = text::line(connected.agent_name.as_str());
    terminal.line(&format!("Connected with {}", terminal.bold(&name)))?;
    terminal.line(&format!("  Id           {}", connected.agent_id))?;
    if let Some(description) = &connected.description {
        terminal.line(&format!("  Description  {}", text::line(description.as_str())))?;
    }
    let key = connected.public_key.as_ref().and_then(|key| PublicKey::from_pem(key.as_str()).ok());
    match key {
        Some(key) => terminal.line(&format!("  Fingerprint  {}", key.fingerprint().words()))?,
        None => terminal.line("  Fingerprint  none: this agent has no key for encryption")?,
    }
    terminal.note("Compare the fingerprint with the owner of the other agent.");
    terminal.note(&format!("If it differs: tandem connections remove {word}"));
    terminal.note(&format!("Next: tandem send {word} \"What to do\""));
    Ok(())
}

async fn offer(session: &Session, arguments: &Arguments) -> Outcome {
    let terminal = &session.terminal;
    // Where the log ends now: the connection will be an event behind it.
    let before = session.client.end_of_events().await?;
    let (offer, left) = session.client.create_pairing_code_with_lifetime().await?;
    // It is shown in a command for the shell of another person.
    let _: PairingCode = checked("the hub's code", offer.code.as_str())?;
    // By the hub's clock and from now on: the clock of this machine may be wrong.
    let ends_at = Instant::now() + left.map_or(LIFETIME, |left| left.min(LIFETIME));
    if arguments.no_wait {
        return terminal.result(&offer, |terminal| terminal.line(&text::line(offer.code.as_str())));
    }
    if terminal.json {
        terminal.json_line(&offer)?;
    } else {
        show_code(session, &offer, arguments.no_qr, &hub_for_others(session).await)?;
    }
    let (connection, all) = wait_for_connection(session, &offer, ends_at, before).await?;
    show_connected(session, &connection, &all, &connection.connected)
}

/// The address under which other machines reach the hub: the one that its operator has set, else the one in use here.
async fn hub_for_others(session: &Session) -> HubUrl {
    let public = session.client.health().await.ok().and_then(|health| health.public_url);
    // It becomes part of a command to copy, in which a shell must find nothing else.
    let is_plain =
        |url: &HubText| url.as_str().chars().all(|c| c.is_ascii_alphanumeric() || "-._~:/[]".contains(c));
    let public = public.filter(is_plain).and_then(|url| url.as_str().parse().ok());
    public.unwrap_or_else(|| session.client.hub().clone())
}

fn show_code(session: &Session, offer: &PairingCodeView, no_qr: bool, hub: &HubUrl) -> Outcome {
    let terminal = &session.terminal;
    let code = &text::line(offer.code.as_str());
    // What the other owner runs.
    let command = format!("tandem pair {code} --hub {hub}");
    // A phone cannot reach a hub that listens on this machine only.
    if terminal.interactive
        && !hub.is_local()
        && !no_qr
        && !terminal.quiet
        && let Ok(drawn) = QrCode::new(&command)
    {
        terminal.line(&drawn.render::<Dense1x2>().quiet_zone(true).build())?;
    }
    terminal.line(&format!("Pairing code  {}", terminal.bold(code)))?;
    if hub.is_local() {
        terminal.note(&format!(
            "Only this machine reaches {hub}.\nFor others, start the hub with --listen and --public-url."
        ));
    }
    terminal.note(&format!("Give it to the owner of the other agent, who runs:\n  {command}"));
    Ok(())
}

/// Waits until the code is redeemed. Shows the time that is left. Gives the connection, and all connections.
///
/// An agent can get connections in other ways meanwhile: it accepts them without a code, or another terminal has made a
/// code too. The event of the connection names the offer whose code was redeemed.
async fn wait_for_connection(
    session: &Session,
    offer: &PairingCodeView,
    ends_at: Instant,
    mut cursor: i64,
) -> Outcome<(ConnectionView, Vec<ConnectionView>)> {
    let progress = Countdown { shown: session.terminal.progress };
    loop {
        let left = ends_at.saturating_duration_since(Instant::now()).as_secs();
        if left == 0 {
            progress.clear();
            return Err(Failure::timed_out("nobody redeemed the code before it ended")
                .next("Make a new one with `tandem pair`."));
        }
        progress.show(left);
        let wait = i64::try_from(left.min(5)).ok();
        let query = EventsQuery { after: Some(cursor), wait, epoch: None };
        let page = session.client.events(&query).await?;
        // A hub that does not wait is not asked without a pause.
        tokio::time::sleep(PAUSE).await;
        cursor = page.cursor;
        let ours = |event: EventView| {
            let data = event.typed().data;
            data.connection_id.filter(|_| data.pairing_id.as_ref() == Some(&offer.pairing_id))
        };
        if let Some(connection) = page.events.into_iter().find_map(ours) {
            progress.clear();
            let all = session.connections().await?;
            let made = all.iter().find(|one| one.connected.connection_id == connection).cloned();
            return made
                .map(|made| (made, all))
                .ok_or_else(|| Failure::refused("the connection was ended again at once"));
        }
    }
}

/// The line with the time that is left.
struct Countdown {
    shown: bool,
}

impl Countdown {
    fn show(&self, seconds: u64) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\rWaiting … {}:{:02} left ", seconds / 60, seconds % 60);
        }
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}
