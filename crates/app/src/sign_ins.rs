//! Signing in to the dashboard. A browser holds a random token in a cookie; within that session a person signs in agents,
//! each with its API key, or the operator. A sign-in stores the hash of the key it was made with and is worth nothing once
//! that key has ended, so rotating a key signs everybody out.

use tandem_core::agents::Agent;
use tandem_core::{AgentId, Now, Timestamp};
use tandem_store::sign_ins as rows;
use tandem_store::{Effect, Tx, agents};

use crate::agents::NewAgent;
use crate::keys::{self, KeyHash};
use crate::{Error, Invalid};

/// A session ends this long after its last use.
const IDLE_SECONDS: i64 = 12 * 3_600;
/// A session ends this long after it began, however much it is used.
const LIFETIME_SECONDS: i64 = 7 * 86_400;
/// A use is recorded at most this often, so that pages seldom write.
const TOUCH_SECONDS: i64 = 600;
/// Agents in one session.
const SIGN_INS_MAX: usize = 16;
/// Sessions in which one agent, or the operator, is signed in. An older one makes room for a new one.
const SESSIONS_MAX: i64 = 64;
/// How long a one-time link is valid.
const SETUP_SECONDS: i64 = 30 * 60;
/// How the operator is written among subjects. No agent has such an id: theirs begin with `agent_`.
const OPERATOR: &str = "admin";
/// Letters of a one-time code: none that look alike.
const CODE_LETTERS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The owner of an agent.
    Agent(AgentId),
    Operator,
}

impl Subject {
    fn as_str(&self) -> &str {
        match self {
            Self::Agent(agent) => agent.as_str(),
            Self::Operator => OPERATOR,
        }
    }
}

#[derive(Debug, Clone)]
pub struct SignIn {
    pub subject: Subject,
    /// The hash of the key that was entered.
    pub key_hash: KeyHash,
}

#[derive(Debug, Clone)]
pub struct Session {
    /// Its id, which stays when the token changes.
    pub id: String,
    /// The hash of its present token.
    pub hash: Vec<u8>,
    /// Who is signed in with a key that is still valid, the first one first.
    pub sign_ins: Vec<SignIn>,
    /// Whether its last use is long enough ago to be recorded again.
    pub is_stale: bool,
}

impl Session {
    /// The hash of the key with which an agent was signed in.
    #[must_use]
    pub fn key_of(&self, agent: &AgentId) -> Option<KeyHash> {
        let is_it = |sign_in: &&SignIn| matches!(&sign_in.subject, Subject::Agent(of) if of == agent);
        self.sign_ins.iter().find(is_it).map(|sign_in| sign_in.key_hash)
    }

    /// The hash of the token with which the operator was signed in.
    #[must_use]
    pub fn operator_key(&self) -> Option<KeyHash> {
        self.sign_ins.iter().find(|sign_in| sign_in.subject == Subject::Operator).map(|found| found.key_hash)
    }

    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.sign_ins.iter().filter_map(|sign_in| match &sign_in.subject {
            Subject::Agent(agent) => Some(agent),
            Subject::Operator => None,
        })
    }
}

/// The session of a cookie, if it has not ended. `operator` is the hash of the operator's token.
pub fn find(
    tx: &mut Tx<'_>,
    hash: &KeyHash,
    operator: &KeyHash,
    now: Timestamp,
) -> Result<Option<Session>, Error> {
    match rows::find_session(tx, hash, now)? {
        Some(found) => with_sign_ins(tx, found, operator, now).map(Some),
        None => Ok(None),
    }
}

/// The same, by its id.
pub fn find_by_id(
    tx: &mut Tx<'_>,
    id: &str,
    operator: &KeyHash,
    now: Timestamp,
) -> Result<Option<Session>, Error> {
    match rows::find_by_id(tx, id, now)? {
        Some(found) => with_sign_ins(tx, found, operator, now).map(Some),
        None => Ok(None),
    }
}

/// A sign-in whose key has ended is worth nothing: it shows nothing and does nothing, not even a sign-out.
fn with_sign_ins(
    tx: &mut Tx<'_>,
    found: rows::Session,
    operator: &KeyHash,
    now: Timestamp,
) -> Result<Session, Error> {
    let mut sign_ins = Vec::new();
    for row in rows::list(tx, &found.id)? {
        let Ok(key_hash) = KeyHash::try_from(row.key_hash) else { continue };
        let subject = match row.subject.as_str() {
            OPERATOR if keys::same_hash(&key_hash, operator) => Subject::Operator,
            OPERATOR => continue,
            id => match id.parse::<AgentId>() {
                Ok(agent) => match crate::agents::check_key(tx, &agent, &key_hash) {
                    Ok(()) => Subject::Agent(agent),
                    Err(Error::KeyEnded | Error::Suspended) => continue,
                    Err(error) => return Err(error),
                },
                Err(_) => continue,
            },
        };
        sign_ins.push(SignIn { subject, key_hash });
    }
    let is_stale = now.ms_since(found.used_at) >= TOUCH_SECONDS * 1_000;
    Ok(Session { id: found.id, hash: found.hash, sign_ins, is_stale })
}

/// The token that a browser sent, if any, and the one that it gets. Whoever signs in gets a new token: somebody else may
/// have put the old one into the browser, to get into the session that begins now.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    /// The hash of the token that was sent.
    pub sent: Option<KeyHash>,
    /// The hash of the new token.
    pub new: KeyHash,
    pub id: [u8; 16],
    /// Whether a new session begins although the token that was sent is unknown.
    pub begins_anew: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedIn {
    Yes,
    /// Nothing was changed: the token that was sent is unknown. A sign-in in another window of this browser may just have
    /// replaced it. The old token must not lead to the new one, or it would be of use to whoever else knows it.
    UnknownToken,
}

/// Signs somebody in, in a new session or in the one that the browser has. The caller has checked the operator's token; the
/// agent's key is checked here, in the transaction.
pub fn sign_in(
    tx: &mut Tx<'_>,
    tokens: &Tokens,
    subject: &Subject,
    key_hash: &KeyHash,
    now: Timestamp,
) -> Result<SignedIn, Error> {
    if let Subject::Agent(agent) = subject {
        crate::agents::check_key(tx, agent, key_hash)?;
    }
    let found = match &tokens.sent {
        Some(sent) => rows::find_session(tx, sent, now)?,
        None => None,
    };
    if found.is_none() && tokens.sent.is_some() && !tokens.begins_anew {
        return Ok(SignedIn::UnknownToken);
    }
    // Those whose key has ended do not count: they make room.
    let ended = match &found {
        Some(found) => check_room(tx, &found.id, subject)?,
        None => Vec::new(),
    };
    let id = match found {
        Some(found) => {
            rows::set_hash(tx, &found.id, &tokens.new)?;
            found.id
        }
        None => {
            let id = keys::hex(&tokens.id);
            let expires_at = now.plus_seconds(IDLE_SECONDS);
            let hash = tokens.new.to_vec();
            let new = rows::Session { hash, id: id.clone(), created_at: now, used_at: now, expires_at };
            rows::insert_session(tx, &new)?;
            id
        }
    };
    for subject in ended {
        rows::remove_sign_in(tx, &id, &subject)?;
    }
    let row =
        rows::SignIn { subject: subject.as_str().to_owned(), key_hash: key_hash.to_vec(), created_at: now };
    rows::insert_sign_in(tx, &id, &row)?;
    rows::keep_newest(tx, subject.as_str(), SESSIONS_MAX)?;
    Ok(SignedIn::Yes)
}

/// Registers an agent for a person, within the browser's session, and signs it in there. The session gets a new token, so a
/// form that is sent twice, even at the same moment, registers one agent.
pub fn register(tx: &mut Tx<'_>, tokens: &Tokens, new: &NewAgent, now: &Now) -> Result<Agent, Error> {
    let found = match &tokens.sent {
        Some(sent) => rows::find_session(tx, sent, now.at)?,
        None => None,
    };
    let Some(found) = found else {
        let why =
            "was registered by this form already: it is signed in here, and its settings give it a new key";
        return Err(Invalid::field("name", why).into());
    };
    // The agent has no id yet; none has this one.
    check_room(tx, &found.id, &Subject::Agent(now.new_id()))?;
    let agent = crate::agents::register(tx, new, now)?;
    sign_in(tx, tokens, &Subject::Agent(agent.id.clone()), &new.key_hash, now.at)?;
    Ok(agent)
}

/// Refuses one agent too many. Returns those of a full session whose key has ended.
fn check_room(tx: &mut Tx<'_>, id: &str, subject: &Subject) -> Result<Vec<String>, Error> {
    let there = rows::list(tx, id)?;
    if there.len() < SIGN_INS_MAX || there.iter().any(|one| one.subject == subject.as_str()) {
        return Ok(Vec::new());
    }
    let mut ended = Vec::new();
    for one in there {
        let hash = KeyHash::try_from(one.key_hash.clone()).unwrap_or_default();
        let is_valid = match one.subject.parse::<AgentId>() {
            Ok(agent) if one.subject != OPERATOR => crate::agents::check_key(tx, &agent, &hash).is_ok(),
            _ => true,
        };
        if !is_valid {
            ended.push(one.subject);
        }
    }
    if !ended.is_empty() {
        return Ok(ended);
    }
    let why = format!("cannot be added: {SIGN_INS_MAX} agents are signed in here; sign one out first");
    Err(Invalid::field("key", why).into())
}

/// Replaces the key of an agent, for a person who is signed in with the old one. That session goes on with the new key, so
/// that somebody who lost the answer can make another one; all other sessions of the agent end.
pub fn rotate_key(
    tx: &mut Tx<'_>,
    session: &str,
    by: &AgentId,
    old: &KeyHash,
    new: &KeyHash,
    now: &Now,
) -> Result<(), Error> {
    crate::agents::rotate_key(tx, by, old, new, now)?;
    Ok(rows::set_key(tx, session, by.as_str(), new)?)
}

/// Records that a session is in use, which prolongs it.
pub fn touch(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<(), Error> {
    let Some(found) = rows::find_by_id(tx, id, now)? else { return Ok(()) };
    let expires_at = now.plus_seconds(IDLE_SECONDS).min(found.created_at.plus_seconds(LIFETIME_SECONDS));
    Ok(rows::touch(tx, id, now, expires_at)?)
}

/// Signs one out of a session. The session ends with the last of them.
pub fn sign_out(tx: &mut Tx<'_>, id: &str, subject: &Subject) -> Result<(), Error> {
    rows::remove_sign_in(tx, id, subject.as_str())?;
    if rows::list(tx, id)?.is_empty() {
        rows::remove_session(tx, id)?;
    }
    end_pages(tx, subject);
    Ok(())
}

/// Signs everybody out of a session.
pub fn end(tx: &mut Tx<'_>, id: &str) -> Result<(), Error> {
    for sign_in in rows::list(tx, id)? {
        if let Ok(agent) = sign_in.subject.parse() {
            end_pages(tx, &Subject::Agent(agent));
        }
    }
    Ok(rows::remove_session(tx, id)?)
}

/// Signs one out of every session, in every browser.
pub fn sign_out_everywhere(tx: &mut Tx<'_>, subject: &Subject) -> Result<(), Error> {
    end_pages(tx, subject);
    Ok(rows::remove_subject(tx, subject.as_str())?)
}

/// Has the open pages of an agent look whether they are still signed in. Those of the operator have no stream.
fn end_pages(tx: &mut Tx<'_>, subject: &Subject) {
    if let Subject::Agent(agent) = subject {
        tx.after_commit(Effect::SignedOut(agent.clone()));
    }
}

/// The names of agents that are signed in, for the switcher. One that is gone is left out.
pub fn names(tx: &mut Tx<'_>, of: &[AgentId]) -> Result<Vec<(AgentId, String)>, Error> {
    let mut names = Vec::new();
    for id in of {
        if let Some(agent) = agents::find(tx, id)? {
            names.push((agent.id, agent.name));
        }
    }
    Ok(names)
}

/// A new code for a one-time link: 60 random bits in three groups of four letters.
#[must_use]
pub fn new_setup_code() -> String {
    let mut random = [0; 12];
    keys::fill_random(&mut random);
    let letter = |byte: &u8| char::from(CODE_LETTERS[usize::from(byte % 32)]);
    let letters: Vec<char> = random.iter().map(letter).collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join("-")
}

/// The hash of a code as somebody typed it: case, spaces and hyphens do not matter. The operator's token is part of it, so
/// that a link is worth nothing once another token is in force.
fn setup_hash(code: &str, token: &KeyHash) -> KeyHash {
    let letters: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    keys::sha256(&[letters.to_ascii_uppercase().as_bytes(), token].concat())
}

/// Stores a code for a one-time link and tells when it ends. `token` is the hash of the operator's token.
pub fn store_setup_code(
    tx: &mut Tx<'_>,
    code: &str,
    token: &KeyHash,
    now: Timestamp,
) -> Result<Timestamp, Error> {
    let expires_at = now.plus_seconds(SETUP_SECONDS);
    rows::insert_setup_code(tx, &setup_hash(code, token), expires_at)?;
    Ok(expires_at)
}

/// Uses a one-time link: the operator is signed in with the token that is in force.
pub fn use_setup_code(
    tx: &mut Tx<'_>,
    code: &str,
    tokens: &Tokens,
    token: &KeyHash,
    now: Timestamp,
) -> Result<SignedIn, Error> {
    let hash = setup_hash(code, token);
    if !rows::is_setup_code(tx, &hash, now)? {
        return Err(Error::NotFound("setup code"));
    }
    let outcome = sign_in(tx, tokens, &Subject::Operator, token, now)?;
    if outcome == SignedIn::Yes {
        rows::remove_setup_code(tx, &hash)?;
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_three_groups_and_are_read_as_typed() {
        let code = new_setup_code();
        assert_eq!(code.len(), 14);
        assert_ne!(code, new_setup_code());
        let typed = format!(" {} ", code.to_ascii_lowercase().replace('-', " "));
        let token = [1; 32];
        assert_eq!(setup_hash(&typed, &token), setup_hash(&code, &token));
        assert_ne!(setup_hash(&code, &[2; 32]), setup_hash(&code, &token));
    }
}
