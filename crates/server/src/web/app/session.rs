//! Who looks at a page: the session of the browser, the agent whose page it is, and the proof that a form is ours.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Method, Uri, header};
use futures_util::FutureExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tandem_app::idempotency::Key;
use tandem_app::keys;
use tandem_core::{AgentId, Way};
use tandem_hub::ops::decisions::Origin;
use tandem_hub::ops::sign_ins::{self, Session};
use tandem_hub::{Address, Caller, Error, Holder, Hub, RequestMemory};

use super::error::PageError;
use super::regions::KNOWN_BYTES_MAX;
use super::resume::Unsent;
use crate::http::unknown::UnknownNames;
use crate::http::visitor::{Identity, Visitor};
use crate::http::{error, explain, input};

/// Characters of a session's id in the log of decisions.
const SESSION_SHOWN: usize = 8;

/// Header of a request by which a script refreshes a page.
pub(crate) const LIVE_HEADER: &str = "x-live";

/// A browser in which somebody is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    pub(crate) session: Arc<Session>,
    pub(crate) address: Address,
    /// The path and query that were asked for.
    pub(crate) target: String,
    /// The page that the form was on, if this is a form and the browser says so.
    pub(crate) form_page: Option<String>,
    /// The versions of the regions that the browser shows, if its script asks for what has changed.
    pub(crate) known: String,
    /// The memory of what the request reads.
    pub(crate) memory: Option<RequestMemory>,
}

impl Browser {
    /// The value that every form carries. Only our own pages can know it. It changes with the token, so a sign-in ends the
    /// value that somebody knows who has put the earlier token into the browser.
    pub(crate) fn csrf(&self) -> String {
        keys::hex(&keys::sha256(&[b"form".as_slice(), &self.session.hash].concat())[..16])
    }

    /// Whether the operator is signed in, with the token that is in force.
    pub(crate) fn is_operator(&self, hub: &Hub) -> bool {
        self.session.operator_key().is_some_and(|key| hub.access.is_admin(&key))
    }

    /// The query of the page, as it was sent.
    pub(crate) fn query(&self) -> Sent {
        Sent::parse(self.target.split_once('?').map_or("", |target| target.1).as_bytes())
    }

    /// The agents that are signed in, as callers of operations. Those whose key has ended are left out.
    pub(crate) async fn callers(&self, hub: &Hub) -> Result<Vec<Caller>, Error> {
        let mut callers = Vec::new();
        for agent in self.session.agents() {
            let Some(key_hash) = self.session.key_of(agent) else { continue };
            let caller = Caller::new(agent.clone(), key_hash, self.address.clone())
                .as_person()
                .with_memory(self.memory.as_ref());
            match hub.access.check(&caller).await {
                Err(error) if error.is_internal() => return Err(error),
                Err(_) => {}
                Ok(()) => callers.push(caller),
            }
        }
        Ok(callers)
    }

    fn from_parts(parts: &Parts) -> Result<Self, PageError> {
        let Visitor { identity, address, memory, .. } = Visitor::of(parts)?;
        let target = parts.uri.path_and_query().map_or_else(String::new, |target| target.as_str().to_owned());
        match identity {
            Identity::Browser(session) => Ok(Self {
                session: Arc::clone(session),
                address: address.clone(),
                target,
                known: known_regions(parts),
                form_page: if parts.method == Method::POST { page_of_form(parts) } else { None },
                memory: memory.clone(),
            }),
            _ => Err(sign_in(parts)),
        }
    }
}

fn known_regions(parts: &Parts) -> String {
    let known = parts.headers.get(LIVE_HEADER).and_then(|known| known.to_str().ok());
    known.filter(|known| known.len() <= KNOWN_BYTES_MAX).unwrap_or_default().to_owned()
}

/// A page is asked for again after the sign-in. A form is not sent again, and a script does not follow redirects.
fn sign_in(parts: &Parts) -> PageError {
    let is_page = parts.method == Method::GET && !parts.headers.contains_key(LIVE_HEADER);
    let target = parts.uri.path_and_query().map(|target| target.as_str().to_owned());
    let next = if is_page { target } else { page_of_form(parts) };
    PageError::SignIn { next, redirects: is_page, form: None }
}

/// The page that a form was on, if the browser says so.
fn page_of_form(parts: &Parts) -> Option<String> {
    let referrer: Uri = parts.headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    let page = referrer.path_and_query()?.as_str();
    page.starts_with("/app/").then(|| page.to_owned())
}

/// The same refusal with the form, so that it can be sent after the sign-in.
async fn keeping(refusal: PageError, parts: &Parts, body: Body, hub: &Hub) -> PageError {
    let PageError::SignIn { next, redirects: false, .. } = refusal else { return refusal };
    let read = async {
        let Visitor { address, .. } = Visitor::of(parts).ok()?;
        let read = input::read_bytes(hub, Holder::from(address), &parts.headers, body).await.ok()?;
        Unsent::of(parts.uri.path(), &Sent::parse(&read.1))
    };
    PageError::SignIn { next, redirects: false, form: read.await }
}

impl FromRequestParts<Hub> for Browser {
    type Rejection = PageError;
    async fn from_request_parts(parts: &mut Parts, _: &Hub) -> Result<Self, PageError> {
        Self::from_parts(parts)
    }
}

/// A person who looks at the pages of one agent, `/app/{agent}/…`.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    pub(crate) browser: Browser,
    /// The agent, as a caller of operations.
    pub(crate) caller: Caller,
}

impl FromRequestParts<Hub> for Viewer {
    type Rejection = PageError;
    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, PageError> {
        let browser = Browser::from_parts(parts)?;
        let agent: Option<AgentId> = parts.uri.path().split('/').nth(2).and_then(|id| id.parse().ok());
        let signed_in = agent.and_then(|agent| Some((browser.session.key_of(&agent)?, agent)));
        let Some((key_hash, agent)) = signed_in else { return Err(sign_in(parts)) };
        let origin = origin(parts, &browser.session);
        let caller = Caller::new(agent, key_hash, browser.address.clone())
            .as_person()
            .with_origin(origin)
            .with_memory(browser.memory.as_ref());
        // A key that was rotated or suspended ends the sign-in with it.
        match hub.access.check(&caller).await {
            Err(error) if error.is_internal() => Err(error.into()),
            Err(_) => Err(sign_in(parts)),
            Ok(()) => Ok(Self { browser, caller }),
        }
    }
}

/// From where a person decides. The browser is told in words of ours, and of the session's id only as much as tells
/// sessions apart.
fn origin(parts: &Parts, session: &Session) -> Origin {
    let agent = parts.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let session = session.id.get(..SESSION_SHOWN).unwrap_or(&session.id).to_owned();
    Origin { device: agent.map(device), session: Some(session), ..Origin::of(Way::Page) }
}

/// A browser as people know it: "Firefox, Android".
fn device(agent: &str) -> String {
    let of = |known: &[(&str, &'static str)], unknown| {
        known.iter().find(|(mark, _)| agent.contains(mark)).map_or(unknown, |(_, word)| *word)
    };
    // Each names those before it, too.
    let browsers = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("Chrome/", "Chromium"),
        ("CriOS/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    format!("{}, {}", of(&browsers, "a browser"), of(&systems, "unknown system"))
}

/// The operator, who looks at `/app/admin/…`.
#[derive(Debug, Clone)]
pub(crate) struct Operator(pub(crate) Browser);

impl FromRequestParts<Hub> for Operator {
    type Rejection = PageError;
    async fn from_request_parts(parts: &mut Parts, hub: &Hub) -> Result<Self, PageError> {
        let browser = Browser::from_parts(parts)?;
        if browser.is_operator(hub) { Ok(Self(browser)) } else { Err(sign_in(parts)) }
    }
}

/// A form without fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Nothing {}

/// A form of a page: who sent it, and its fields. `V` is [`Viewer`], [`Operator`] or [`Browser`].
#[derive(Debug)]
pub(crate) struct Form<V, T> {
    pub(crate) by: V,
    /// The fields, or why they are not valid: the page is shown again with what was typed.
    pub(crate) fields: Result<T, Error>,
    /// The fields as they were sent.
    pub(crate) sent: Sent,
}

/// The fields of a form as they were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent(Vec<(String, String)>);

impl Sent {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// What was typed into a field.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|pair| pair.0 == name).map_or("", |pair| &pair.1)
    }

    /// What was chosen in fields of the same name.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|pair| pair.0 == name).map(|pair| pair.1.clone()).collect()
    }

    /// The fields that are filled in, without those that every form has.
    fn filled(&self) -> Vec<(String, String)> {
        let is_filled =
            |(name, value): &&(String, String)| !value.trim().is_empty() && name != "csrf" && name != "once";
        self.0.iter().filter(is_filled).cloned().collect()
    }

    /// All fields, in their order.
    pub(crate) fn fields(&self) -> &[(String, String)] {
        &self.0
    }

    /// A field that is not empty.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        Some(self.get(name).trim()).filter(|value| !value.is_empty()).map(str::to_owned)
    }
}

/// Whoever may send a form.
pub(crate) trait Sender: FromRequestParts<Hub, Rejection = PageError> + Send {
    fn browser(&self) -> &Browser;
    /// Notes the idempotency key of a form that must not take effect twice.
    fn once(self, key: Key) -> Self;
}

impl Sender for Viewer {
    fn browser(&self) -> &Browser {
        &self.browser
    }
    fn once(self, key: Key) -> Self {
        Self { caller: self.caller.with_idempotency_key(Some(key)), ..self }
    }
}

impl Sender for Operator {
    fn browser(&self) -> &Browser {
        &self.0
    }
    fn once(self, _: Key) -> Self {
        self
    }
}

impl Sender for Browser {
    fn browser(&self) -> &Browser {
        self
    }
    fn once(self, _: Key) -> Self {
        self
    }
}

impl<V: Sender, T: DeserializeOwned> FromRequest<Hub> for Form<V, T> {
    type Rejection = PageError;

    async fn from_request(request: Request, hub: &Hub) -> Result<Self, PageError> {
        let (by, sent) = receive(request, hub).boxed().await?;
        let fields = explain::from_pairs(sent.filled(), &mut UnknownNames::default()).map_err(Error::from);
        Ok(Self { by, fields, sent })
    }
}

/// Who sent a form, and its fields.
async fn receive<V: Sender>(request: Request, hub: &Hub) -> Result<(V, Sent), PageError> {
    let (mut parts, body) = request.into_parts();
    let by = match V::from_request_parts(&mut parts, hub).await {
        Ok(by) => by,
        Err(refusal) => return Err(keeping(refusal, &parts, body, hub).await),
    };
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_form = content_type.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if !is_form {
        return Err(error::not_a_page_form().into());
    }
    let holder = Holder::from(&by.browser().address);
    let (_, bytes, _held) = input::read_bytes(hub, holder, &parts.headers, body).await?;
    let sent = Sent::parse(&bytes);
    let is_ours = keys::same_text(sent.get("csrf"), &by.browser().csrf());
    if !is_ours {
        return Err(error::foreign_form().into());
    }
    // The body may have taken its time: somebody may have signed out meanwhile.
    let session = sign_ins::current(hub, &by.browser().session).await?;
    let identity = session.map_or(Identity::Nobody, |now| Identity::Browser(Arc::new(now)));
    let visitor = Visitor { identity, ..Visitor::of(&parts)?.clone() };
    parts.extensions.insert(visitor);
    let by = V::from_request_parts(&mut parts, hub).await?;
    let by = match input::page_key(sent.get("once"), &[parts.uri.path().as_bytes(), &bytes].concat()) {
        Some(key) => by.once(key),
        None => by,
    };
    Ok((by, sent))
}

#[cfg(test)]
mod tests {
    use super::device;

    #[test]
    fn a_browser_is_told_in_our_words() {
        let phone = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0";
        assert_eq!(device(phone), "Firefox, Android");
        let desk = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        assert_eq!(device(desk), "Chromium, Linux");
        assert_eq!(device(&format!("{desk} Edg/156")), "Edge, Linux");
        assert_eq!(device("<script>alert(1)</script>"), "a browser, unknown system");
    }
}
