//! Removing what has run out and what has been kept long enough, a little at a time.

use tandem_core::{AgentId, Timestamp};
use tandem_store::retention::{self, Deliveries, Logs};
use tandem_store::{Tx, idempotency, networks, pairing};

use crate::Error;
use crate::idempotency::KEPT_SECONDS;

/// How many rows of a kind one pass removes.
const ROWS_MAX: i64 = 500;
/// How many logs one pass looks at.
const LOGS_MAX: i64 = 200;

/// What one pass removed of what had run out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Swept {
    /// Answers kept for requests that may be sent twice.
    pub answers: u64,
    /// Invitations to networks.
    pub invites: u64,
    /// Pairing codes and used challenges.
    pub codes: u64,
}

impl Swept {
    /// Whether there may be more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        [self.answers, self.invites, self.codes].into_iter().any(is_full)
    }
}

/// Whether a pass removed as much as it may.
#[must_use]
pub fn is_full(rows: u64) -> bool {
    rows >= ROWS_MAX.unsigned_abs()
}

/// One pass over what has run out.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp) -> Result<Swept, Error> {
    Ok(Swept {
        answers: idempotency::sweep(tx, now.plus_seconds(-KEPT_SECONDS), ROWS_MAX)?,
        invites: networks::sweep_invites(tx, now, ROWS_MAX)?,
        codes: pairing::sweep(tx, now, ROWS_MAX)?,
    })
}

/// Which of the next logs begin with an event from before `until`.
pub fn old_logs(tx: &mut Tx<'_>, after: &str, until: Timestamp) -> Result<Logs, Error> {
    Ok(retention::logs_from(tx, after, until, LOGS_MAX)?)
}

/// Removes the beginning of an agent's log: what is from before `until` and behind every cursor that the agent has
/// ever moved, and behind its webhook's where that is on. An agent that has acknowledged nothing keeps all of it.
pub fn trim_log(tx: &mut Tx<'_>, agent: &AgentId, until: Timestamp) -> Result<u64, Error> {
    let Some(reached) = retention::reached(tx, agent)? else { return Ok(0) };
    let acknowledged =
        [reached.events_acked, reached.updates_acked].into_iter().filter(|cursor| *cursor > 0).min();
    let Some(acknowledged) = acknowledged else { return Ok(0) };
    let up_to = reached.webhook.map_or(acknowledged, |delivered| delivered.min(acknowledged));
    Ok(retention::remove_events(tx, agent, up_to, until, ROWS_MAX)?)
}

/// Removes webhook deliveries from before `until` that were taken or given up, from after one of them on.
pub fn trim_deliveries(tx: &mut Tx<'_>, after: &str, until: Timestamp) -> Result<Deliveries, Error> {
    Ok(retention::remove_deliveries(tx, after, until, ROWS_MAX)?)
}
