//! Requests that may be sent twice and happen once.

use tandem_core::{AgentId, Now};
use tandem_store::Tx;
use tandem_store::idempotency::{self as rows, Kept};

use crate::Error;

/// How long an answer is kept.
pub const KEPT_SECONDS: i64 = 24 * 3_600;

/// The key a request came with, and what it asked.
#[derive(Debug, Clone)]
pub struct Key {
    /// The client's key.
    pub key: String,
    /// The hash of method, path and body.
    pub request_hash: [u8; 32],
}

/// An answer, and whether it is a repetition.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: String,
    /// Whether it was given before.
    pub replayed: bool,
}

/// The answer that was kept under a key; refused when the key stands for another request.
pub fn kept(tx: &mut Tx<'_>, by: &AgentId, key: &Key, now: &Now) -> Result<Option<Answer>, Error> {
    let Some(kept) = rows::find(tx, by, &key.key, now.at.plus_seconds(-KEPT_SECONDS))? else {
        return Ok(None);
    };
    if kept.request_hash != key.request_hash {
        return Err(Error::KeyReused);
    }
    let status = u16::try_from(kept.status).unwrap_or(200);
    Ok(Some(Answer { status, body: kept.body, replayed: true }))
}

/// Runs `run` once for each key and keeps its answer in the same transaction. Refusals are not kept:
/// they changed nothing, so asking again is harmless.
pub fn once(
    tx: &mut Tx<'_>,
    by: &AgentId,
    key: Option<&Key>,
    now: &Now,
    status: u16,
    run: impl FnOnce(&mut Tx<'_>) -> Result<String, Error>,
) -> Result<Answer, Error> {
    let Some(key) = key else {
        return Ok(Answer { status, body: run(tx)?, replayed: false });
    };
    if let Some(kept) = kept(tx, by, key, now)? {
        return Ok(kept);
    }
    let body = run(tx)?;
    let kept = Kept { request_hash: key.request_hash.to_vec(), status: status.into(), body };
    rows::keep(tx, by, &key.key, &kept, now.at)?;
    Ok(Answer { status, body: kept.body, replayed: false })
}
