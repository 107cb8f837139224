//! Pairing: a code to give to another owner, with a countdown, a link and a QR code; and a code that was given to the reader.
//! Both sides then see both keys as words, so that two people can compare them.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use qrcode::{Color, EcLevel, QrCode};
use tandem_api::connections::{ConnectionView, PairingCodeView, RedeemCode};
use tandem_api::error::Code;
use tandem_api::tasks::PageQuery;
use tandem_core::pairing::{CODE_LIFETIME_SECONDS, PairingCode};
use tandem_hub::ops::{agents, connections};
use tandem_hub::{Error, Hub, paging};

use super::agents::Row;
use super::copy::{self, Copied};
use super::reach::key_words;
use super::refused::{Refused, frame};
use super::session::Nothing;
use super::shell::path_of;
use super::words::When;
use super::{Form, Page, Section, Shell, Viewer, filters, html, redirect};

/// A new connection is shown here for this long.
const SHOWN_MS: i64 = 15 * 60_000;
/// New connections that are shown at most.
const SHOWN_MAX: i64 = 3;

pub(crate) fn routes() -> Router<Hub> {
    Router::new()
        .route("/app/{agent}/agents/pair", get(page).post(generate))
        .route("/app/{agent}/agents/pair/redeem", post(redeem))
}

/// A code that waits for the other side.
#[derive(Debug)]
struct Offer {
    code: String,
    ends: When,
    /// "9:41".
    left: String,
    /// Of the code's lifetime, in percent.
    percent: i64,
    link: String,
    sentence: String,
    command: Copied,
    qr: Qr,
    /// Whether the link leads to the machine that opens it, because nobody has set the hub's address.
    is_local: bool,
}

/// A QR code as the path of a drawing.
#[derive(Debug, Default)]
struct Qr {
    size: usize,
    path: String,
}

impl Qr {
    /// None if the text is too long for a QR code.
    fn new(text: &str) -> Option<Self> {
        let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let (size, colours) = (code.width(), code.to_colors());
        let mut path = String::new();
        for (y, row) in colours.chunks(size).enumerate() {
            let mut x = 0;
            while x < size {
                let run = row[x..].iter().take_while(|colour| **colour == Color::Dark).count();
                if run > 0 {
                    path.push_str(&format!("M{x} {y}h{run}v1h-{run}z"));
                }
                x += run.max(1);
            }
        }
        Some(Self { size, path })
    }
}

/// An agent that has just been connected.
#[derive(Debug)]
struct Met {
    row: Row,
    id: String,
    when: When,
}

#[derive(Template)]
#[template(path = "app/pair.html")]
struct PairPage {
    shell: Shell,
    refused: Refused,
    offer: Option<Offer>,
    met: Vec<Met>,
    own_words: Option<Vec<String>>,
    /// What was probably meant by a code that does not exist.
    correction: Option<String>,
}

async fn show(hub: &Hub, viewer: &Viewer, refused: Refused, correction: Option<String>) -> Page {
    let shell = frame(hub, viewer, Section::Agents, &refused).await?;
    let profile = agents::profile(hub, &viewer.caller).await?;
    let offer = connections::newest_code(hub, &viewer.caller).await?;
    let asked = PageQuery { limit: Some(SHOWN_MAX), cursor: None };
    let mut recent = connections::list(hub, &viewer.caller, asked, paging::LIST).await?.items;
    recent.retain(|one| shell.now.ms_since(one.created_at) < SHOWN_MS);
    let met = |one: ConnectionView| Met {
        row: Row::new(&one, &shell.base, profile.default_approval_rule, &shell),
        id: one.connected.id.to_string(),
        when: shell.when(&one.created_at),
    };
    let page = PairPage {
        met: recent.into_iter().map(met).collect(),
        offer: offer.map(|offer| self::offer(hub, &shell, &offer)),
        own_words: profile.public_key.as_ref().and_then(|key| key_words(key.as_str())),
        correction,
        shell,
        refused,
    };
    html(page.refused.status(), &page)
}

fn offer(hub: &Hub, shell: &Shell, view: &PairingCodeView) -> Offer {
    let code = view.code.as_str();
    let address = copy::address(hub);
    let link = format!("{address}/pair#{code}");
    let left = view.expires_at.ms_since(shell.now).clamp(0, CODE_LIFETIME_SECONDS * 1_000) / 1_000;
    Offer {
        ends: shell.when(&view.expires_at),
        left: format!("{}:{:02}", left / 60, left % 60),
        percent: left * 100 / CODE_LIFETIME_SECONDS,
        sentence: format!("Pair with {code} at {address}"),
        command: Copied::new("redeem", "connect with this code").command(["pair", code, "--hub", &address]),
        qr: Qr::new(&link).unwrap_or_default(),
        is_local: hub.config.public_address().is_none(),
        code: code.to_owned(),
        link,
    }
}

/// `GET /app/{agent}/agents/pair`
async fn page(State(hub): State<Hub>, viewer: Viewer) -> Page {
    show(&hub, &viewer, Refused::default(), None).await
}

/// `POST /app/{agent}/agents/pair`: makes a code.
async fn generate(State(hub): State<Hub>, form: Form<Viewer, Nothing>) -> Page {
    let viewer = form.by;
    match connections::generate_code(&hub, &viewer.caller).await {
        Ok(_) => Ok(redirect(&format!("{}/agents/pair", path_of(&viewer.caller.agent)))),
        Err(error) => show(&hub, &viewer, Refused::new("generate", error, form.sent)?, None).await,
    }
}

/// `POST /app/{agent}/agents/pair/redeem`
async fn redeem(State(hub): State<Hub>, form: Form<Viewer, RedeemCode>) -> Page {
    let Form { by: viewer, fields, sent } = form;
    let correction = fields.as_ref().ok().and_then(|body| body.code.correction());
    match connections::redeem_code(&hub, &viewer.caller, fields).await {
        Ok(_) => Ok(redirect(&format!("{}/agents/pair?done=connected", path_of(&viewer.caller.agent)))),
        Err(error) => {
            let correction = corrected(&error, correction);
            show(&hub, &viewer, Refused::new("redeem", explained(error), sent)?, correction).await
        }
    }
}

/// A correction helps only where the code does not exist.
pub(super) fn corrected(error: &Error, correction: Option<PairingCode>) -> Option<String> {
    correction.filter(|_| error.code() == Code::NotFound).map(|code| code.to_string())
}

/// An error of pairing with what to do next.
pub(super) fn explained(mut error: Error) -> Error {
    error.body.hint = match error.code() {
        Code::NotFound => Some("Codes end after ten minutes and work once. Ask for a new one."),
        Code::Blocked => Some("One of you has blocked the other."),
        Code::AlreadyConnected => Some("You find the agent in your list."),
        _ => error.body.hint,
    };
    error
}
