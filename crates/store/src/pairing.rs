//! Pairing codes, and challenges that have been used.

use tandem_core::pairing::PairingCode;
use tandem_core::{AgentId, PairingId, Timestamp};

use crate::declare::{delete, insert, read};
use crate::{Error, Tx};

/// How many codes of an agent can still be redeemed.
pub fn open_codes(tx: &mut Tx<'_>, agent: &AgentId, now: Timestamp) -> Result<i64, Error> {
    let sql = "select count(*) from pairing_codes where agent_id = ?1 and expires_at > ?2";
    tx.get(sql, &[agent.into(), now.into()])
}

/// The code of an agent that ends last, while it can be redeemed, and its offer.
pub fn newest_code(
    tx: &mut Tx<'_>,
    agent: &AgentId,
    now: Timestamp,
) -> Result<Option<(PairingId, String, Timestamp)>, Error> {
    let sql = "select pairing_id, code, expires_at from pairing_codes
         where agent_id = ?1 and expires_at > ?2 and pairing_id is not null
         order by expires_at desc, code limit 1";
    tx.find(sql, &[agent.into(), now.into()])
}

/// Keeps a code; false when it is in use.
pub fn insert(
    tx: &mut Tx<'_>,
    code: &PairingCode,
    id: &PairingId,
    agent: &AgentId,
    expires_at: Timestamp,
) -> Result<bool, Error> {
    insert!(pairing_codes {
        code: code.as_str(),
        pairing_id: id,
        agent_id: agent,
        expires_at: expires_at,
    }, on conflict (code) ignore)
    .execute(tx)
}

/// Whose code this is and which offer, while it can be redeemed. Codes of an older version have no offer.
pub fn offer(
    tx: &mut Tx<'_>,
    code: &PairingCode,
    now: Timestamp,
) -> Result<Option<(AgentId, Option<PairingId>)>, Error> {
    let offer = read!([agent_id, pairing_id]: "pairing_codes where code = ?1 and expires_at > ?2",
        of pairing_codes { code: 1 }; lock pairing_codes);
    offer.find(tx, &[code.as_str().into(), now.into()])
}

/// Uses a code up.
pub fn remove(tx: &mut Tx<'_>, code: &PairingCode) -> Result<(), Error> {
    delete!(pairing_codes where { code: code.as_str() }).send(tx)
}

/// Marks a challenge as used; false when it was before.
pub fn use_challenge(tx: &mut Tx<'_>, challenge: &str, expires_at: Timestamp) -> Result<bool, Error> {
    insert!(used_challenges {
        challenge: challenge,
        expires_at: expires_at,
    }, on conflict (challenge) ignore)
    .execute(tx)
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

/// Stores a secret of the hub itself, in place of the one before.
pub fn set_hub_secret(tx: &mut Tx<'_>, name: &str, value: &[u8]) -> Result<(), Error> {
    insert!(hub_secrets { name: name, value: value }, on conflict (name) replace).send(tx)
}

/// A secret of the hub itself, if it is there.
pub fn find_hub_secret(tx: &mut Tx<'_>, name: &str) -> Result<Option<Vec<u8>>, Error> {
    tx.find("select value from hub_secrets where name = ?1", &[name.into()])
}

/// A secret of the hub itself, made by the first who asks.
pub fn hub_secret(tx: &mut Tx<'_>, name: &str, fresh: &[u8]) -> Result<Vec<u8>, Error> {
    insert!(hub_secrets { name: name, value: fresh }, on conflict (name) ignore).send(tx)?;
    tx.get("select value from hub_secrets where name = ?1", &[name.into()])
}
