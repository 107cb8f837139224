//! Pairing by a short code that the owners pass on.

use tandem_core::pairing::{CODE_LIFETIME_SECONDS, PairingCode};
use tandem_core::{AgentId, Now, PairingId, Timestamp};
use tandem_store::{Tx, agents, pairing as rows};

use crate::accounts::{check_open, lock_both};
use crate::connections::{Connected, create_connection};
use crate::{Error, Invalid, keys};

/// Open codes per agent.
pub const OPEN_CODES_MAX: i64 = 100;

/// An offer to pair: whoever has the code can redeem it once.
#[derive(Debug, Clone)]
pub struct Offer {
    pub id: PairingId,
    pub code: PairingCode,
    pub expires_at: Timestamp,
}

/// Creates a code that another agent can redeem.
pub fn generate(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<Offer, Error> {
    check_open(tx, by)?;
    if rows::open_codes(tx, by, now.at)? >= OPEN_CODES_MAX {
        return Err(Error::TooManyCodes(OPEN_CODES_MAX));
    }
    let (id, expires_at) = (now.new_id(), now.at.plus_seconds(CODE_LIFETIME_SECONDS));
    // Draw again in the rare case that the code is in use.
    for _ in 0..16 {
        let mut bits = [0; 8];
        keys::fill_random(&mut bits);
        let code = PairingCode::from_random(u64::from_le_bytes(bits));
        if rows::insert(tx, &code, &id, by, expires_at)? {
            return Ok(Offer { id, code, expires_at });
        }
    }
    Err(Error::TooManyCodes(OPEN_CODES_MAX))
}

/// The caller's newest offer that can still be taken: its id, its code, and when it ends.
pub fn newest(
    tx: &mut Tx<'_>,
    by: &AgentId,
    now: &Now,
) -> Result<Option<(PairingId, String, Timestamp)>, Error> {
    Ok(rows::newest_code(tx, by, now.at)?)
}

/// Redeems a code and connects the two agents.
pub fn connect(tx: &mut Tx<'_>, by: &AgentId, code: &PairingCode, now: &Now) -> Result<Connected, Error> {
    let offer = rows::offer(tx, code, now.at)?;
    let (owner, pairing) = offer.ok_or(Error::UnknownCode("pairing code"))?;
    if owner == *by {
        return Err(Invalid::field("code", "is your own: give it to the other agent").into());
    }
    lock_both(tx, by, &owner)?;
    let peer = agents::find(tx, &owner)?.ok_or(Error::UnknownCode("pairing code"))?;
    let connected = create_connection(tx, by, peer, None, pairing.as_ref(), now)?;
    rows::remove(tx, code)?;
    Ok(connected)
}
