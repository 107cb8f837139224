//! Removing what has run out, a little at a time.

use tandem_core::Now;
use tandem_store::{Tx, idempotency, networks, pairing};

use crate::Error;
use crate::idempotency::KEPT_SECONDS;

/// How many rows of a kind one pass removes.
const ROWS_MAX: i64 = 500;

/// One pass; tells how many rows went, so that the caller knows whether to go on.
pub fn sweep(tx: &mut Tx<'_>, now: &Now) -> Result<u64, Error> {
    let answers = idempotency::sweep(tx, now.at.plus_seconds(-KEPT_SECONDS), ROWS_MAX)?;
    let invites = networks::sweep_invites(tx, now.at, ROWS_MAX)?;
    Ok(answers + invites + pairing::sweep(tx, now.at, ROWS_MAX)?)
}
