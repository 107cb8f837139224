//! Answers kept for requests that may be sent twice.

use tandem_core::{AgentId, Timestamp};

use crate::{Error, Tx};

/// The answer a key stands for.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The hash of the request that was answered.
    pub request_hash: Vec<u8>,
    /// The HTTP status.
    pub status: i64,
    /// The body.
    pub body: String,
}

/// The answer kept under a key since `since`.
pub fn find(tx: &mut Tx<'_>, agent: &AgentId, key: &str, since: Timestamp) -> Result<Option<Kept>, Error> {
    let row = tx.optional(
        "select request_hash, status, body from idempotency
         where agent_id = ?1 and key = ?2 and created_at > ?3",
        &[agent.into(), key.into(), since.into()],
    )?;
    row.map(|mut row| Ok(Kept { request_hash: row.take()?, status: row.take()?, body: row.take()? }))
        .transpose()
}

/// Keeps an answer, in place of one that has run out.
pub fn keep(tx: &mut Tx<'_>, agent: &AgentId, key: &str, kept: &Kept, now: Timestamp) -> Result<(), Error> {
    tx.send(
        "insert into idempotency (agent_id, key, request_hash, status, body, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6)
         on conflict (agent_id, key) do update set request_hash = excluded.request_hash, status = excluded.status,
             body = excluded.body, created_at = excluded.created_at",
        &[
            agent.into(),
            key.into(),
            kept.request_hash.as_slice().into(),
            kept.status.into(),
            (&kept.body).into(),
            now.into(),
        ],
    )
}

/// Removes answers from before `until`, a bounded number at a time; tells how many.
pub fn sweep(tx: &mut Tx<'_>, until: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from idempotency where (agent_id, key) in
             (select agent_id, key from idempotency where created_at <= ?1 order by created_at limit ?2)",
        &[until.into(), limit.into()],
    )
}
