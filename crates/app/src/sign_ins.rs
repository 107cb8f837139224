//! Signing in to the dashboard. A browser holds a random token in a cookie; within that session a person signs in agents,
//! each with its API key, or the operator. A sign-in stores the hash of the key it was made with and is worth nothing once
//! that key has ended, so rotating a key signs everybody out.

use tandem_core::{AgentId, Timestamp};
use tandem_store::sign_ins as rows;
use tandem_store::{Tx, agents};

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

/// Who signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The owner of an agent.
    Agent(AgentId),
    /// The operator of the hub.
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

/// One sign-in of a session.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Who.
    pub subject: Subject,
    /// The hash of the key that was entered.
    pub key_hash: KeyHash,
}

/// A browser session.
#[derive(Debug, Clone)]
pub struct Session {
    /// The hash of the cookie's token.
    pub hash: KeyHash,
    /// Who is signed in, the first one first.
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

    /// The agents that are signed in.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.sign_ins.iter().filter_map(|sign_in| match &sign_in.subject {
            Subject::Agent(agent) => Some(agent),
            Subject::Operator => None,
        })
    }
}

/// The session of a cookie, if it has not ended.
pub fn find(tx: &mut Tx<'_>, hash: &KeyHash, now: Timestamp) -> Result<Option<Session>, Error> {
    let Some(found) = rows::find_session(tx, hash, now)? else { return Ok(None) };
    let sign_ins = rows::list(tx, hash)?.into_iter().filter_map(|row| {
        let subject = match row.subject.as_str() {
            OPERATOR => Subject::Operator,
            agent => Subject::Agent(agent.parse().ok()?),
        };
        Some(SignIn { subject, key_hash: row.key_hash.try_into().ok()? })
    });
    let is_stale = now.ms_since(found.used_at) >= TOUCH_SECONDS * 1_000;
    Ok(Some(Session { hash: *hash, sign_ins: sign_ins.collect(), is_stale }))
}

/// The token that a browser sent, if any, and the one that it gets. Whoever signs in gets a new token: somebody else may
/// have put the old one into the browser, to get into the session that begins now.
#[derive(Debug, Clone, Copy)]
pub struct Tokens {
    /// The hash of the token that was sent.
    pub sent: Option<KeyHash>,
    /// The hash of the new token.
    pub new: KeyHash,
}

/// Signs somebody in, in a new session or in the one that the browser has. The caller has checked the operator's token; the
/// agent's key is checked here, in the transaction.
pub fn sign_in(
    tx: &mut Tx<'_>,
    tokens: &Tokens,
    subject: &Subject,
    key_hash: &KeyHash,
    now: Timestamp,
) -> Result<(), Error> {
    if let Subject::Agent(agent) = subject {
        crate::agents::check_key(tx, agent, key_hash)?;
    }
    let hash = &tokens.new;
    let found = match &tokens.sent {
        Some(sent) => rows::find_session(tx, sent, now)?,
        None => None,
    };
    if let Some(found) = found {
        rows::rename(tx, &found.hash, hash)?;
    } else {
        let expires_at = now.plus_seconds(IDLE_SECONDS);
        let new = rows::Session { hash: hash.to_vec(), created_at: now, used_at: now, expires_at };
        rows::insert_session(tx, &new)?;
    }
    let there = rows::list(tx, hash)?;
    if there.len() >= SIGN_INS_MAX && !there.iter().any(|one| one.subject == subject.as_str()) {
        let why = format!("cannot be added: {SIGN_INS_MAX} agents are signed in here; sign one out first");
        return Err(Invalid::field("key", why).into());
    }
    let row =
        rows::SignIn { subject: subject.as_str().to_owned(), key_hash: key_hash.to_vec(), created_at: now };
    rows::insert_sign_in(tx, hash, &row)?;
    Ok(rows::keep_newest(tx, subject.as_str(), SESSIONS_MAX)?)
}

/// Records that a session is in use, which prolongs it.
pub fn touch(tx: &mut Tx<'_>, hash: &KeyHash, now: Timestamp) -> Result<(), Error> {
    let Some(found) = rows::find_session(tx, hash, now)? else { return Ok(()) };
    let expires_at = now.plus_seconds(IDLE_SECONDS).min(found.created_at.plus_seconds(LIFETIME_SECONDS));
    Ok(rows::touch(tx, hash, now, expires_at)?)
}

/// Signs one out of a session. The session ends with the last of them.
pub fn sign_out(tx: &mut Tx<'_>, hash: &KeyHash, subject: &Subject) -> Result<(), Error> {
    rows::remove_sign_in(tx, hash, subject.as_str())?;
    if rows::list(tx, hash)?.is_empty() {
        rows::remove_session(tx, hash)?;
    }
    Ok(())
}

/// Ends a session.
pub fn end(tx: &mut Tx<'_>, hash: &KeyHash) -> Result<(), Error> {
    Ok(rows::remove_session(tx, hash)?)
}

/// Signs one out of every session, in every browser.
pub fn sign_out_everywhere(tx: &mut Tx<'_>, subject: &Subject) -> Result<(), Error> {
    Ok(rows::remove_subject(tx, subject.as_str())?)
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

/// The hash of a code as somebody typed it: case, spaces and hyphens do not matter.
fn setup_hash(code: &str) -> KeyHash {
    let letters: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    keys::sha256(letters.to_ascii_uppercase().as_bytes())
}

/// Stores a code for a one-time link and tells when it ends.
pub fn store_setup_code(tx: &mut Tx<'_>, code: &str, now: Timestamp) -> Result<Timestamp, Error> {
    let expires_at = now.plus_seconds(SETUP_SECONDS);
    rows::insert_setup_code(tx, &setup_hash(code), expires_at)?;
    Ok(expires_at)
}

/// Uses a one-time link: the operator is signed in with the token that is in force.
pub fn use_setup_code(
    tx: &mut Tx<'_>,
    code: &str,
    tokens: &Tokens,
    token: &KeyHash,
    now: Timestamp,
) -> Result<(), Error> {
    if !rows::use_setup_code(tx, &setup_hash(code), now)? {
        return Err(Error::NotFound("setup code"));
    }
    sign_in(tx, tokens, &Subject::Operator, token, now)
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
        assert_eq!(setup_hash(&typed), setup_hash(&code));
    }
}
