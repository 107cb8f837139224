//! Retention: removes expired and old rows, a bounded number per transaction.

use tandem_core::{AgentId, Timestamp};
use tandem_store::retention::{self, Deliveries, Logs};
use tandem_store::{Tx, decisions, idempotency, limits, networks, pairing, sign_ins};

use crate::Error;
use crate::idempotency::RETENTION_SECONDS;

/// Rows of one kind that a pass removes at most.
const ROWS_MAX: i64 = 500;
/// Event logs that a pass inspects at most.
const LOGS_MAX: i64 = 200;

/// The number of expired rows that a pass removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Swept {
    /// Stored answers of idempotent requests.
    pub answers: u64,
    pub invites: u64,
    /// Pairing codes and used challenges.
    pub codes: u64,
    /// Browser sessions and codes of one-time links.
    pub sessions: u64,
    /// Windows of limits.
    pub limits: u64,
}

impl Swept {
    /// Whether more rows may be left.
    #[must_use]
    pub fn is_full(&self) -> bool {
        [self.answers, self.invites, self.codes, self.sessions, self.limits].into_iter().any(is_full)
    }
}

/// Whether a pass removed as many rows as it may.
#[must_use]
pub fn is_full(rows: u64) -> bool {
    rows >= ROWS_MAX.unsigned_abs()
}

/// Removes expired rows, one pass.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp) -> Result<Swept, Error> {
    Ok(Swept {
        answers: idempotency::sweep(tx, now.plus_seconds(-RETENTION_SECONDS), ROWS_MAX)?,
        invites: networks::sweep_invites(tx, now, ROWS_MAX)?,
        codes: pairing::sweep(tx, now, ROWS_MAX)?,
        sessions: sign_ins::sweep(tx, now, ROWS_MAX)?,
        limits: limits::sweep(tx, now, ROWS_MAX)?,
    })
}

/// Among the next logs, those whose first event is older than `until`.
pub fn old_logs(tx: &mut Tx<'_>, after: &str, until: Timestamp) -> Result<Logs, Error> {
    Ok(retention::logs_from(tx, after, until, LOGS_MAX)?)
}

/// Trims the start of an agent's log. It removes events that are older than `until`, acknowledged by every cursor
/// that the agent uses, and delivered to its webhook if that is active. An agent that never acknowledged anything
/// keeps its whole log.
pub fn trim_log(tx: &mut Tx<'_>, agent: &AgentId, until: Timestamp) -> Result<u64, Error> {
    let Some(reached) = retention::reached(tx, agent)? else { return Ok(0) };
    let acknowledged =
        [reached.events_acked, reached.updates_acked].into_iter().filter(|cursor| *cursor > 0).min();
    let Some(acknowledged) = acknowledged else { return Ok(0) };
    let up_to = reached.webhook.map_or(acknowledged, |delivered| delivered.min(acknowledged));
    Ok(retention::remove_events(tx, agent, up_to, until, ROWS_MAX)?)
}

/// Removes finished webhook deliveries that are older than `until`, starting after a given one.
pub fn trim_deliveries(tx: &mut Tx<'_>, after: &str, until: Timestamp) -> Result<Deliveries, Error> {
    Ok(retention::remove_deliveries(tx, after, until, ROWS_MAX)?)
}

/// Removes decisions that are older than `until`, one pass.
pub fn trim_decisions(tx: &mut Tx<'_>, until: Timestamp) -> Result<u64, Error> {
    Ok(decisions::sweep(tx, until, ROWS_MAX)?)
}
