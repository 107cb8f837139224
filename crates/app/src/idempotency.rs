//! Idempotency keys: a request that is sent twice with the same key takes effect once.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tandem_core::{AgentId, Now};
use tandem_store::Tx;
use tandem_store::idempotency::{self as rows, Kept};

use crate::Error;

/// How long an answer is stored.
pub const RETENTION_SECONDS: i64 = 24 * 3_600;

/// The idempotency key of a request, and a hash that identifies the request.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key sent by the client.
    pub key: String,
    /// The hash of method, path and body.
    pub request_hash: [u8; 32],
}

/// An answer, and whether it was replayed.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// Whether this is the stored answer of an earlier request.
    pub replayed: bool,
}

/// Finds the stored answer of a key. It is an error if the key was used for a different request.
pub fn find_answer<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    key: &Key,
    now: &Now,
) -> Result<Option<Answer<T>>, Error> {
    let Some(kept) = rows::find(tx, by, &key.key, now.at.plus_seconds(-RETENTION_SECONDS))? else {
        return Ok(None);
    };
    if kept.request_hash != key.request_hash {
        return Err(Error::KeyReused);
    }
    // An answer of an older version may be unreadable now; treat the key as used for another request.
    let value = serde_json::from_str(&kept.body).map_err(|_| Error::KeyReused)?;
    Ok(Some(Answer { value, replayed: true }))
}

/// Runs `run` once per key and stores its answer in the same transaction. Errors are not stored: they changed
/// nothing, so the request can be repeated.
pub fn once<T: Serialize + DeserializeOwned>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    key: &Key,
    now: &Now,
    run: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>,
) -> Result<Answer<T>, Error> {
    if let Some(answer) = find_answer(tx, by, key, now)? {
        return Ok(answer);
    }
    let value = run(tx)?;
    let body = serde_json::to_string(&value).unwrap_or_default();
    let kept = Kept { request_hash: key.request_hash.to_vec(), status: 200, body };
    rows::keep(tx, by, &key.key, &kept, now.at)?;
    Ok(Answer { value, replayed: false })
}
