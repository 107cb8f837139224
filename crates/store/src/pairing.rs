//! Pairing codes, and challenges that have been used.

use tandem_core::pairing::PairingCode;
use tandem_core::{AgentId, Timestamp};

use crate::{Error, Tx};

/// How many codes of an agent can still be redeemed.
pub fn open_codes(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<i64, Error> {
    tx.one(
        "select count(*) from pairing_codes where agent_id = ?1 and expires_at > ?2",
        &[agent.into(), now.into()],
    )?
    .take()
}

/// Keeps a code; false when it is in use.
pub fn insert(
    tx: &mut Tx<'_>,
    code: &PairingCode,
    agent: &AgentId,
    expires_at: Timestamp,
) -> Result<bool, Error> {
    let kept = tx.execute(
        "insert into pairing_codes (code, agent_id, expires_at) values (?1, ?2, ?3) on conflict (code) do nothing",
        &[code.as_str().into(), agent.into(), expires_at.into()],
    )?;
    Ok(kept > 0)
}

/// Whose code this is, while it can be redeemed.
pub fn owner(tx: &mut Tx<'_>, code: &PairingCode, now: Timestamp) -> Result<Option<AgentId>, Error> {
    let row = tx.optional(
        "select agent_id from pairing_codes where code = ?1 and expires_at > ?2",
        &[code.as_str().into(), now.into()],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// Uses a code up.
pub fn remove(tx: &mut Tx<'_>, code: &PairingCode) -> Result<(), Error> {
    tx.send("delete from pairing_codes where code = ?1", &[code.as_str().into()])
}

/// Marks a challenge as used; false when it was before.
pub fn use_challenge(tx: &mut Tx<'_>, challenge: &str, expires_at: Timestamp) -> Result<bool, Error> {
    let kept = tx.execute(
        "insert into used_challenges (challenge, expires_at) values (?1, ?2) on conflict (challenge) do nothing",
        &[challenge.into(), expires_at.into()],
    )?;
    Ok(kept > 0)
}

/// Removes what has run out, a bounded number of rows at a time; tells how many.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, Error> {
    let codes = tx.execute(
        "delete from pairing_codes where code in
             (select code from pairing_codes where expires_at <= ?1 order by expires_at limit ?2)",
        &[now.into(), limit.into()],
    )?;
    let challenges = tx.execute(
        "delete from used_challenges where challenge in
             (select challenge from used_challenges where expires_at <= ?1 order by expires_at limit ?2)",
        &[now.into(), limit.into()],
    )?;
    Ok(codes + challenges)
}

/// A secret of the hub itself, made by the first who asks.
pub fn hub_secret(tx: &mut Tx<'_>, name: &str, fresh: &[u8]) -> Result<Vec<u8>, Error> {
    tx.send(
        "insert into hub_secrets (name, value) values (?1, ?2) on conflict (name) do nothing",
        &[name.into(), fresh.into()],
    )?;
    tx.one("select value from hub_secrets where name = ?1", &[name.into()])?.take()
}
