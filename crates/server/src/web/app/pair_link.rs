//! `GET /pair`: the link of a pairing code. The code is in the fragment, which browsers do not send; without JavaScript it is
//! typed in. A person chooses which agent uses the code: a link alone connects nobody.

use askama::Template;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;
use tandem_api::connections::RedeemCode;
use tandem_app::{Invalid, keys};
use tandem_core::AgentId;
use tandem_core::pairing::PairingCode;
use tandem_hub::ops::sign_ins::{self, SignedIn, SigningIn};
use tandem_hub::ops::{connections, parse_id};
use tandem_hub::{Address, Error, Hub};

use super::pair::{corrected, explained};
use super::refused::Refused;
use super::session::Sent;
use super::shell::path_of;
use super::sign_in::{SubmitQuery, read_form};
use super::{Browser, Page, PageError, filters, html, redirect};
use crate::http::Query;
use crate::http::cookie;
use crate::http::error::foreign_form;
use crate::http::visitor::{FromAddress, Identity};

const PATH: &str = "/pair";

pub(crate) fn routes() -> Router<Hub> {
    Router::new().route(PATH, get(page).post(submit))
}

#[derive(Template)]
#[template(path = "app/pair-link.html")]
struct PairLinkPage {
    refused: Refused,
    code: String,
    agents: Vec<SignedIn>,
    /// The agent that is chosen already.
    chosen: Option<AgentId>,
    csrf: String,
    correction: Option<String>,
}

async fn show(hub: &Hub, browser: Option<&Browser>, asked: Asked) -> Page {
    let agents = match browser {
        Some(browser) => sign_ins::signed_in(hub, &browser.session).await?,
        None => Vec::new(),
    };
    let chosen = asked.chosen.or_else(|| agents.first().map(|one| one.agent.clone()));
    let page = PairLinkPage {
        csrf: browser.map_or_else(String::new, Browser::csrf),
        refused: asked.refused,
        code: asked.code,
        correction: asked.correction,
        agents,
        chosen,
    };
    html(page.refused.status(), &page)
}

#[derive(Debug, Default)]
struct Asked {
    code: String,
    chosen: Option<AgentId>,
    refused: Refused,
    correction: Option<String>,
}

fn browser_of(identity: Identity, address: &Address) -> Option<Browser> {
    match identity {
        Identity::Browser(session) => Some(Browser {
            session,
            address: address.clone(),
            target: PATH.to_owned(),
            form_page: None,
            known: String::new(),
            memory: None,
        }),
        _ => None,
    }
}

/// `GET /pair`
async fn page(State(hub): State<Hub>, FromAddress(address): FromAddress, identity: Identity) -> Page {
    show(&hub, browser_of(identity, &address).as_ref(), Asked::default()).await
}

/// `POST /pair`. With an agent it uses the code. Without one it leads to the choice of an agent, signing one in if a key is
/// given: a browser that follows a link from elsewhere does not send its cookie, and this form makes it do so.
async fn submit(
    State(hub): State<Hub>,
    FromAddress(address): FromAddress,
    identity: Identity,
    headers: HeaderMap,
    Query(query): Query<SubmitQuery>,
    request: Request,
) -> Page {
    let sent = read_form(&hub, &address, request).await?;
    let browser = browser_of(identity, &address);
    let code = sent.get("code").chars().take(200).collect();
    match (&browser, sent.get("agent"), sent.get("key")) {
        (Some(browser), agent, _) if !agent.is_empty() => redeem(&hub, browser, agent.to_owned(), sent).await,
        (_, _, key) if !key.is_empty() => {
            let key = key.to_owned();
            let signing_in = SigningIn::new(cookie::token(&hub.config, &headers), query.begins_anew());
            let asked = Asked { code, ..Asked::default() };
            let page = sign_in_first(&hub, &address, &signing_in, &key, asked).await?;
            Ok(page.unwrap_or_else(|| query.send_again(PATH)))
        }
        (None, ..) => {
            let why = Invalid::field("key", "is needed: nobody is signed in in this browser");
            let refused = Refused::new("key", why.into(), sent)?;
            show(&hub, None, Asked { code, refused, ..Asked::default() }).await
        }
        _ => show(&hub, browser.as_ref(), Asked { code, ..Asked::default() }).await,
    }
}

/// The page after a sign-in; none if the form has to be sent again.
async fn sign_in_first(
    hub: &Hub,
    address: &Address,
    signing_in: &SigningIn,
    key: &str,
    asked: Asked,
) -> Result<Option<Response>, PageError> {
    match sign_ins::sign_in(hub, address, signing_in, key).await {
        Ok(None) => Ok(None),
        Ok(Some(_)) => {
            let session =
                sign_ins::session(hub, address, &signing_in.token).await?.ok_or_else(Error::internal)?;
            let browser = Browser {
                session: Arc::new(session),
                address: address.clone(),
                target: PATH.to_owned(),
                form_page: None,
                known: String::new(),
                memory: None,
            };
            let page = show(hub, Some(&browser), asked).await?;
            Ok(Some(with_cookie(hub, page, &signing_in.token)))
        }
        Err(error) if error.is_internal() => Err(error.into()),
        Err(error) => {
            // What was typed as a key is not repeated on the page.
            let refused = Refused::about("key", &error, Sent::default());
            show(hub, None, Asked { refused, ..asked }).await.map(Some)
        }
    }
}

/// Gives the browser its new session.
pub(super) fn with_cookie(hub: &Hub, mut response: Response, token: &str) -> Response {
    if let Some(cookie) = cookie::set(&hub.config, token) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

async fn redeem(hub: &Hub, browser: &Browser, agent: String, sent: Sent) -> Page {
    if !keys::same_text(sent.get("csrf"), &browser.csrf()) {
        return Err(foreign_form().into());
    }
    let agent: AgentId = parse_id(&agent, "agent")?;
    let callers = browser.callers(hub).await?;
    let caller =
        callers.iter().find(|caller| caller.agent == agent).ok_or_else(|| Error::not_found("agent"))?;
    let typed = sent.get("code").to_owned();
    let code = PairingCode::try_from(typed.clone());
    let correction = code.as_ref().ok().and_then(PairingCode::correction);
    let body = code.map(|code| RedeemCode { code });
    let body = body.map_err(|unfit| Error::from(Invalid::field("code", unfit.to_string())));
    match connections::redeem_code(hub, caller, body).await {
        Ok(_) => Ok(redirect(&format!("{}/agents/pair?done=connected", path_of(&agent)))),
        Err(error) => {
            let correction = corrected(&error, correction);
            let refused = Refused::new("redeem", explained(error), sent)?;
            show(hub, Some(browser), Asked { code: typed, chosen: Some(agent), refused, correction }).await
        }
    }
}
