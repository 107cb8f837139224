//! Signing in to the dashboard.

use tandem_api::admin::SetupLink;
use tandem_api::error::Code;
use tandem_api::text::HubText;
use tandem_app::keys;
use tandem_app::limits::{Kind, Limit};
pub use tandem_app::sign_ins::{Session, SignIn, Subject};
use tandem_app::sign_ins::{SignedIn as Outcome, Tokens};
use tandem_app::{events, guests, sign_ins, tasks};
use tandem_core::{AgentId, Role, Status};
use tandem_store::Owner;
pub use tandem_store::tasks::Count;

use super::count_failures;
use crate::{Address, Caller, Error, HubParts};

/// Where those who are signed in go.
const PAGES: &str = "/app";
/// Failed sign-ins per minute and address.
const FAILURES_MAX: u32 = 20;

/// A browser that signs in: the token that it sent, if any, and the one that it gets.
#[derive(Debug)]
pub struct SigningIn {
    pub(super) hashes: Tokens,
    pub token: String,
}

impl SigningIn {
    /// `begins_anew` says that a new session begins even if the token that was sent is unknown.
    #[must_use]
    pub fn new(sent: Option<&str>, begins_anew: bool) -> Self {
        let token = keys::random_hex::<32>();
        let sent = sent.map(|sent| keys::sha256(sent.as_bytes()));
        let mut id = [0; 16];
        keys::fill_random(&mut id);
        let new = keys::sha256(token.as_bytes());
        Self { hashes: Tokens { sent, new, id, begins_anew }, token }
    }
}

/// The session of a browser's token, with those whose keys are still valid. A session that is in use is prolonged.
pub async fn session(hub: &HubParts, by: &Address, token: &str) -> Result<Option<Session>, Error> {
    let (hash, operator) = (keys::sha256(token.as_bytes()), hub.access.operator_key());
    let found = hub.read_for(by.into(), move |tx, now| sign_ins::find(tx, &hash, &operator, now.at)).await?;
    if let Some(session) = found.as_ref().filter(|session| session.is_stale) {
        let id = session.id.clone();
        hub.db.write(move |tx, now| sign_ins::touch(tx, &id, now.at)).await?;
    }
    Ok(found)
}

/// The same for an address that has used up its requests: see [`crate::callers::keys::Access::look_up_in_turn`].
pub async fn session_in_turn(hub: &HubParts, by: &Address, token: &str) -> Result<Option<Session>, Error> {
    let _turn = hub.access.turn().await;
    session(hub, by, token).await
}

/// People at the dashboard take turns with their agents.
fn owner_of(session: &Session) -> Owner {
    session.agents().next().map_or(Owner::Hub, Owner::agent)
}

/// The same session as it is now. None if it has ended.
pub async fn current(hub: &HubParts, session: &Session) -> Result<Option<Session>, Error> {
    let (id, operator) = (session.id.clone(), hub.access.operator_key());
    hub.read_for(owner_of(session), move |tx, now| sign_ins::find_by_id(tx, &id, &operator, now.at)).await
}

/// Replaces the key of an agent for a person who is signed in. The session goes on with the new key.
pub async fn rotate_key(hub: &HubParts, caller: &Caller, session: &Session) -> Result<String, Error> {
    let api_key = keys::new_api_key();
    let (by, old, new) = (caller.agent.clone(), caller.key_hash, keys::sha256(api_key.as_bytes()));
    let id = session.id.clone();
    hub.write(caller, move |tx, now| sign_ins::rotate_key(tx, &id, &by, &old, &new, now)).await?;
    Ok(api_key)
}

/// Signs in with an agent's API key or the operator's token. Tells who it was; none if the browser's token is unknown and
/// nothing was changed.
pub async fn sign_in(
    hub: &HubParts,
    address: &Address,
    browser: &SigningIn,
    key: &str,
) -> Result<Option<Subject>, Error> {
    let key_hash = keys::sha256(key.trim().as_bytes());
    let signing_in = async {
        let subject = if hub.access.is_admin(&key_hash) {
            Subject::Operator
        } else {
            let found = match hub.access.known(&key_hash) {
                Some(holder) => Some(holder),
                None => hub.access.look_up(key_hash, address.into()).await?,
            };
            let holder = found.ok_or_else(wrong_key)?;
            guests::check(&holder, PAGES)?;
            Subject::Agent(holder.agent)
        };
        let (tokens, by) = (browser.hashes, subject.clone());
        let outcome = hub.db.write(move |tx, now| sign_ins::sign_in(tx, &tokens, &by, &key_hash, now.at));
        Ok((outcome.await? == Outcome::Yes).then_some(subject))
    };
    count_failure(hub, address, signing_in).await
}

/// Signs the operator in with the code of a one-time link. False if the browser's token is unknown and nothing was changed.
pub async fn use_setup_code(
    hub: &HubParts,
    address: &Address,
    browser: &SigningIn,
    code: &str,
) -> Result<bool, Error> {
    let (tokens, code, operator) = (browser.hashes, code.to_owned(), hub.access.operator_key());
    let using = async {
        let outcome =
            hub.db.write(move |tx, now| sign_ins::use_setup_code(tx, &code, &tokens, &operator, now.at));
        Ok(outcome.await? == Outcome::Yes)
    };
    count_failure(hub, address, using).await.map_err(|error| match error.code() {
        Code::NotFound => Error::new(
            Code::Unauthorized,
            "this link was used or is older than 30 minutes; `tandem setup-link` prints a new one",
        ),
        _ => error,
    })
}

/// Runs an attempt to sign in, limited by the number of those that fail.
async fn count_failure<T>(
    hub: &HubParts,
    address: &Address,
    trying: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let limit = Limit { kind: Kind::SignIns, who: address.key.to_string(), max: FAILURES_MAX, seconds: 60 };
    let is_failure = |error: &Error| matches!(error.code(), Code::NotFound | Code::Unauthorized);
    count_failures(hub, vec![limit], trying, is_failure).await
}

fn wrong_key() -> Error {
    Error::new(Code::Unauthorized, "this is neither the key of an agent nor the token of the operator")
}

/// A one-time link for the operator, valid for half an hour.
pub async fn new_setup_link(hub: &HubParts) -> Result<SetupLink, Error> {
    let code = sign_ins::new_setup_code();
    let stored = code.clone();
    let token = hub.access.operator_key();
    let storing = hub.db.write(move |tx, now| sign_ins::store_setup_code(tx, &stored, &token, now.at));
    let expires_at = storing.await?;
    let path = HubText::new(format!("/setup#{code}"));
    Ok(SetupLink { code: HubText::new(code), path, expires_at })
}

pub async fn sign_out(hub: &HubParts, session: String, subject: Subject) -> Result<(), Error> {
    Ok(hub.db.write(move |tx, _| sign_ins::sign_out(tx, &session, &subject)).await?)
}

pub async fn end(hub: &HubParts, session: String) -> Result<(), Error> {
    Ok(hub.db.write(move |tx, _| sign_ins::end(tx, &session)).await?)
}

pub async fn sign_out_everywhere(hub: &HubParts, subject: Subject) -> Result<(), Error> {
    Ok(hub.db.write(move |tx, _| sign_ins::sign_out_everywhere(tx, &subject)).await?)
}

/// The agents that are signed in, with what they have to do, for the frame of a page.
pub async fn signed_in(hub: &HubParts, session: &Session) -> Result<Vec<SignedIn>, Error> {
    let agents: Vec<AgentId> = session.agents().cloned().collect();
    let found = hub.read_for(owner_of(session), move |tx, now| {
        let since = now.at.plus_seconds(-ENDED_SECONDS);
        let mut found = Vec::new();
        for (agent, name) in sign_ins::names(tx, &agents)? {
            let counts = tasks::counts(tx, &agent, since)?;
            let cursor = events::start_cursor(tx, &agent, events::Start::End)?;
            found.push(SignedIn { agent, name, counts, cursor });
        }
        Ok(found)
    });
    found.await
}

/// Ended tasks are counted if they were created in the last day.
pub const ENDED_SECONDS: i64 = 86_400;

/// An agent that is signed in within a session.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub agent: AgentId,
    pub name: String,
    /// Its tasks by role and status.
    pub counts: Vec<Count>,
    /// The end of its event log.
    pub cursor: i64,
}

impl SignedIn {
    /// The number of tasks in a status and role, up to [`tasks::COUNTED_MAX`].
    #[must_use]
    pub fn count(&self, role: Role, status: Status, is_held: bool) -> i64 {
        let is_it = |count: &&Count| (count.role, count.status, count.is_held) == (role, status, is_held);
        self.counts.iter().find(is_it).map_or(0, |count| count.count)
    }

    /// Tasks that wait for the owner's approval.
    #[must_use]
    pub fn held(&self) -> i64 {
        self.count(Role::Target, Status::Submitted, true)
    }

    /// Tasks that wait for a decision of the owner: at the gate, or for an answer, an authorisation or a review.
    #[must_use]
    pub fn waiting(&self) -> i64 {
        let answers = [Status::InputRequired, Status::AuthRequired];
        self.held() + answers.into_iter().map(|s| self.count(Role::Initiator, s, false)).sum::<i64>()
    }

    /// Live tasks in both roles.
    #[must_use]
    pub fn live(&self) -> i64 {
        self.counts.iter().filter(|count| count.status.is_live()).map(|count| count.count).sum()
    }
}
