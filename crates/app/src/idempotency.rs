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
    pub key: String,
    /// The hash of method, path and body.
    pub request_hash: [u8; 32],
}

/// Finds what is stored of the answer of a key. It is an error if the key was used for a different request.
pub fn find<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    key: &Key,
    now: &Now,
) -> Result<Option<T>, Error> {
    let Some(kept) = rows::find(tx, by, &key.key, now.at.plus_seconds(-RETENTION_SECONDS))? else {
        return Ok(None);
    };
    if kept.request_hash != key.request_hash {
        return Err(Error::KeyReused);
    }
    // An answer of an older version may be unreadable now; treat the key as used for another request.
    serde_json::from_str(&kept.body).map(Some).map_err(|_| Error::KeyReused)
}

/// Stores what is needed to give the answer of a key again. Only for requests that succeeded: an error changed nothing,
/// so the request can be repeated.
pub fn keep<T: Serialize>(
    tx: &mut Tx<'_>,
    by: &AgentId,
    key: &Key,
    answer: &T,
    now: &Now,
) -> Result<(), Error> {
    let body = serde_json::to_string(answer).unwrap_or_default();
    let kept = Kept { request_hash: key.request_hash.to_vec(), status: 200, body };
    Ok(rows::keep(tx, by, &key.key, &kept, now.at.plus_seconds(-RETENTION_SECONDS), now.at)?)
}
