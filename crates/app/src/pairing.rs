//! Pairing by a short code.

use tandem_core::pairing::{CODE_LIFETIME_SECONDS, PairingCode};
use tandem_core::{AgentId, Now, Timestamp};
use tandem_store::{Tx, agents, pairing as rows};

use crate::connections::{Connected, join};
use crate::{Error, Invalid, keys};

/// How many codes an agent may have open.
pub const OPEN_CODES_MAX: i64 = 100;

/// Makes a code that another agent can redeem.
pub fn generate(tx: &mut Tx<'_>, by: &AgentId, now: &Now) -> Result<(PairingCode, Timestamp), Error> {
    if rows::open_codes(tx, by, now.at)? >= OPEN_CODES_MAX {
        return Err(Error::TooManyCodes(OPEN_CODES_MAX));
    }
    let expires_at = now.at.plus_seconds(CODE_LIFETIME_SECONDS);
    // A code in use is met once in a blue moon; another one is drawn then.
    for _ in 0..16 {
        let mut bits = [0; 8];
        keys::fill_random(&mut bits);
        let code = PairingCode::from_random(u64::from_le_bytes(bits));
        if rows::insert(tx, &code, by, expires_at)? {
            return Ok((code, expires_at));
        }
    }
    Err(Error::TooManyCodes(OPEN_CODES_MAX))
}

/// Redeems a code.
pub fn connect(tx: &mut Tx<'_>, by: &AgentId, code: &PairingCode, now: &Now) -> Result<Connected, Error> {
    let owner = rows::owner(tx, code, now.at)?.ok_or(Error::NotFound("pairing code; it may have run out"))?;
    if owner == *by {
        return Err(Invalid::field("code", "is your own: give it to the other agent").into());
    }
    let peer = agents::find(tx, &owner)?.ok_or(Error::NotFound("pairing code; it may have run out"))?;
    let connected = join(tx, by, peer, None, now)?;
    rows::remove(tx, code)?;
    Ok(connected)
}
