//! Who wants nothing to do with whom.

use tandem_core::{AgentId, Timestamp};

use crate::declare::{insert, read};
use crate::table::{columns, sql};
use crate::{Error, Tx};

/// Whether either of the two has blocked the other.
pub fn between(tx: &mut Tx<'_>, one: &AgentId, other: &AgentId) -> Result<bool, Error> {
    let either = read!(1: "blocks
         where (agent_id = ?1 and blocked_id = ?2) or (agent_id = ?2 and blocked_id = ?1) limit 1",
        of blocks);
    either.exists(tx, &[one.into(), other.into()])
}

/// Adds a block; nothing happens if it stands already.
pub fn insert(tx: &mut Tx<'_>, by: &AgentId, blocked: &AgentId, now: Timestamp) -> Result<(), Error> {
    insert!(blocks {
        agent_id: by,
        blocked_id: blocked,
        created_at: now,
    }, on conflict (agent_id, blocked_id) ignore)
    .send(tx)
}

/// Takes a block back; tells whether there was one.
pub fn remove(tx: &mut Tx<'_>, by: &AgentId, blocked: &AgentId) -> Result<bool, Error> {
    let removed = tx.execute(
        "delete from blocks where agent_id = ?1 and blocked_id = ?2",
        &[by.into(), blocked.into()],
    )?;
    Ok(removed > 0)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub agent: AgentId,
    pub name: String,
    pub created_at: Timestamp,
}

columns! {
    "b", block: Block {
        agent: blocked_id,
        name: "a.name",
        created_at,
    }
}

/// Whom an agent has blocked, in the order of their ids, from after `after`.
pub fn list(tx: &mut Tx<'_>, by: &AgentId, after: &str, limit: i64) -> Result<Vec<Block>, Error> {
    let sql = sql!(
        "select {} from blocks b join agents a on a.id = b.blocked_id
         where b.agent_id = ?1 and b.blocked_id > ?2 order by b.blocked_id limit ?3",
        Block
    );
    tx.list(sql, &[by.into(), after.into(), limit.into()])
}
