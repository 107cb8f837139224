//! Browser sessions of the dashboard, who is signed in within each, and the codes of the operator's one-time links.

use tandem_core::Timestamp;

use crate::declare::{delete, insert, read, update};
use crate::table::columns;
use crate::{Error, Tx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The hash of the cookie.
    pub hash: Vec<u8>,
    /// Its own id. It stays when the cookie changes.
    pub id: String,
    pub created_at: Timestamp,
    /// When it was last used, about.
    pub used_at: Timestamp,
    /// When it ends if it is not used.
    pub expires_at: Timestamp,
}

columns! {
    "s", session: Session {
        hash,
        id,
        created_at,
        used_at,
        expires_at,
    }
}

/// One sign-in within a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    /// The agent's id, or `admin`.
    pub subject: String,
    /// The hash of the key or token that was entered.
    pub key_hash: Vec<u8>,
    pub created_at: Timestamp,
}

columns! {
    "i", sign_in: SignIn {
        subject,
        key_hash,
        created_at,
    }
}

pub fn insert_session(tx: &mut Tx<'_>, session: &Session) -> Result<(), Error> {
    insert!(browser_sessions { ..session: Session }).send(tx)
}

/// A session that has not ended.
pub fn find_session(tx: &mut Tx<'_>, hash: &[u8], now: Timestamp) -> Result<Option<Session>, Error> {
    let session = read!(Session: "browser_sessions s where s.hash = ?1 and s.expires_at > ?2",
        of browser_sessions as s { hash: 1 }; lock s);
    session.find(tx, &[hash.into(), now.into()])
}

/// The same, by its id.
pub fn find_by_id(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<Option<Session>, Error> {
    let session = read!(Session: "browser_sessions s where s.id = ?1 and s.expires_at > ?2",
        of browser_sessions as s { id: 1 }; lock s);
    session.find(tx, &[id.into(), now.into()])
}

/// Who is signed in within a session, the first one first.
pub fn list(tx: &mut Tx<'_>, session: &str) -> Result<Vec<SignIn>, Error> {
    let all = read!(SignIn: "sign_ins i where i.session_id = ?1 order by i.created_at, i.subject",
        of sign_ins as i { session_id: 1 });
    all.list(tx, &[session.into()])
}

/// Stores a sign-in, in place of an earlier one of the same subject.
pub fn insert_sign_in(tx: &mut Tx<'_>, session: &str, sign_in: &SignIn) -> Result<(), Error> {
    insert!(sign_ins {
        ..sign_in: SignIn,
        session_id: session,
    }, on conflict (session_id, subject) replace)
    .send(tx)
}

/// Gives a session another token; the old one opens nothing any more.
pub fn set_hash(tx: &mut Tx<'_>, id: &str, hash: &[u8]) -> Result<(), Error> {
    update!(browser_sessions { hash: hash } where { id: id }).send(tx)
}

pub fn set_key(tx: &mut Tx<'_>, session: &str, subject: &str, key_hash: &[u8]) -> Result<(), Error> {
    update!(sign_ins { key_hash: key_hash } where { session_id: session, subject: subject }).send(tx)
}

/// Records that a session was used.
pub fn touch(tx: &mut Tx<'_>, id: &str, now: Timestamp, expires_at: Timestamp) -> Result<(), Error> {
    update!(browser_sessions { used_at: now, expires_at: expires_at } where { id: id }).send(tx)
}

pub fn remove_sign_in(tx: &mut Tx<'_>, session: &str, subject: &str) -> Result<(), Error> {
    delete!(sign_ins where { session_id: session, subject: subject }).send(tx)
}

pub fn remove_session(tx: &mut Tx<'_>, id: &str) -> Result<(), Error> {
    delete!(sign_ins where { session_id: id }).send(tx)?;
    delete!(browser_sessions where { id: id }).send(tx)
}

pub fn remove_subject(tx: &mut Tx<'_>, subject: &str) -> Result<(), Error> {
    delete!(sign_ins where { subject: subject }).send(tx)
}

/// Signs a subject out of all sessions but its newest ones.
pub fn keep_newest(tx: &mut Tx<'_>, subject: &str, count: i64) -> Result<(), Error> {
    tx.send(
        "delete from sign_ins where subject = ?1 and session_id in
             (select session_id from sign_ins where subject = ?1 order by created_at desc, session_id
              limit 1000 offset ?2)",
        &[subject.into(), count.into()],
    )
}

/// Stores the code of a one-time link, by its hash.
pub fn insert_setup_code(tx: &mut Tx<'_>, hash: &[u8], expires_at: Timestamp) -> Result<(), Error> {
    insert!(setup_codes { hash: hash, expires_at: expires_at }).send(tx)
}

/// Whether there is such a code that has not ended.
pub fn is_setup_code(tx: &mut Tx<'_>, hash: &[u8], now: Timestamp) -> Result<bool, Error> {
    let code = read!(1: "setup_codes where hash = ?1 and expires_at > ?2", of setup_codes { hash: 1 }; lock setup_codes);
    code.exists(tx, &[hash.into(), now.into()])
}

pub fn remove_setup_code(tx: &mut Tx<'_>, hash: &[u8]) -> Result<(), Error> {
    delete!(setup_codes where { hash: hash }).send(tx)
}

/// Removes what has run out, a bounded number of rows at a time; tells how many.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, Error> {
    let ended: Vec<String> = tx.list(
        "select id from browser_sessions where expires_at <= ?1 order by expires_at limit ?2",
        &[now.into(), limit.into()],
    )?;
    for id in &ended {
        remove_session(tx, id)?;
    }
    let codes = tx.execute(
        "delete from setup_codes where hash in
             (select hash from setup_codes where expires_at <= ?1 order by expires_at limit ?2)",
        &[now.into(), limit.into()],
    )?;
    Ok(ended.len() as u64 + codes)
}
