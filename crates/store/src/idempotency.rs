//! Answers kept for requests that may be sent twice.

use tandem_core::{AgentId, Timestamp};

use crate::declare::{delete, insert, read};
use crate::table::columns;
use crate::{Error, Tx};

/// The answer a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub request_hash: Vec<u8>,
    pub status: i64,
    pub body: String,
}

columns! {
    "k", kept: Kept {
        request_hash,
        status,
        body,
    }
}

/// The answer kept under a key since `since`.
pub fn find(tx: &mut Tx<'_>, agent: &AgentId, key: &str, since: Timestamp) -> Result<Option<Kept>, Error> {
    let kept = read!(Kept: "idempotency k where k.agent_id = ?1 and k.key = ?2 and k.created_at > ?3",
        of idempotency as k { agent_id: 1, key: 2 });
    // What is not read yet will be when the job runs again.
    Ok(kept.peek(tx, &[agent.into(), key.into(), since.into()])?.flatten())
}

/// Keeps an answer, in place of one from `since` or before. The key must not have a newer one: of two requests at once,
/// the unique key refuses the second, which then runs again and finds the answer of the first.
pub fn keep(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    key: &str,
    kept: &Kept,
    since: Timestamp,
    now: Timestamp,
) -> Result<(), Error> {
    delete!(idempotency where { agent_id: agent, key: key } and "created_at <= ?3" with since).send(tx)?;
    insert!(idempotency {
        ..kept: Kept,
        agent_id: agent,
        key: key,
        created_at: now,
    })
    .send(tx)
}

/// Removes answers from before `until`, a bounded number at a time; tells how many.
pub fn sweep(tx: &mut Tx<'_>, until: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from idempotency where (agent_id, key) in
             (select agent_id, key from idempotency where created_at <= ?1 order by created_at limit ?2)",
        &[until.into(), limit.into()],
    )
}
