//! A transaction, as use cases see it.

use std::sync::Arc;

use tandem_core::events::EventKind;
use tandem_core::{AgentId, FileId, TaskId, Timestamp};

use crate::conn::{Conn, Take};
use crate::lock::LockedRow;
use crate::page::PageRoom;
use crate::plan::Plan;
use crate::statement::{Locks, Read, Write};
use crate::{Error, Row, Value};

/// Something that must happen outside the database because a transaction was committed.
///
/// A use case registers it with [`Tx::after_commit`]. The store hands it to its [`crate::CommitHook`] right after the
/// commit, on its own thread, whether or not anybody still waits for the use case. An effect of a transaction that was
/// rolled back is dropped.
#[derive(Debug, Clone)]
pub enum Effect {
    /// An event was appended to an agent's log: its listeners wake up.
    EventAppended(EventNotice),
    /// An agent's API key is no longer valid: the key was replaced, or the agent suspended or deleted.
    KeyEnded(AgentId),
    /// Somebody was signed out of an agent's pages, in one browser or in all.
    SignedOut(AgentId),
    /// An agent's webhook was changed. How is read from the database, because the effects of two writers may be
    /// executed in another order than they were committed in.
    WebhookChanged(AgentId),
    /// An agent has a delivery that is due now.
    WebhookDue(AgentId),
    /// A client of A2A wants something pushed to it.
    PushWanted,
    /// The rows of these files are gone: their bytes are removed.
    FilesRemoved(Vec<FileId>),
}

impl Effect {
    /// Whether it does no harm when the transaction turns out not to have been committed. Only such effects are
    /// executed when the connection broke during the commit, so that nobody knows.
    pub(crate) fn is_safe_if_undone(&self) -> bool {
        match self {
            Self::EventAppended(_)
            | Self::KeyEnded(_)
            | Self::SignedOut(_)
            | Self::WebhookChanged(_)
            | Self::WebhookDue(_)
            | Self::PushWanted => true,
            Self::FilesRemoved(_) => false,
        }
    }
}

/// What listeners are told about a new event; they read the event itself from the log.
#[derive(Debug, Clone)]
pub struct EventNotice {
    pub agent: AgentId,
    pub seq: i64,
    pub kind: EventKind,
    pub task: Option<TaskId>,
    pub at: Timestamp,
}

/// Hands over a row, and counts what is read of it.
fn metered(meter: &mut Option<Meter>, row: &mut Row<'_>, take: &mut Take<'_>) -> Result<bool, Error> {
    let Some(meter) = meter else { return take(row) };
    row.count_bytes();
    let taken = take(row);
    meter.bytes += row.counted_bytes();
    taken
}

/// Hands over rows that were read before.
fn hand_over(rows: Vec<Row<'static>>, take: &mut Take<'_>) -> Result<(), Error> {
    for mut row in rows {
        if !take(&mut row)? {
            break;
        }
    }
    Ok(())
}

/// Where the statements of a job go.
enum Work<'c> {
    /// To the database, at once.
    Conn(&'c mut Conn),
    /// To the reads and writes of a whole group, which go to the database together.
    Plan(&'c mut Plan),
}

/// An open transaction on either database.
pub struct Tx<'c> {
    work: Work<'c>,
    dirty: bool,
    failure: Option<Error>,
    effects: Vec<Effect>,
    /// Whether an earlier job of the same, uncommitted transaction has ended a key.
    keys_ended: bool,
    meter: Option<Meter>,
    /// Rows that others keep locked: it fails instead of waiting for them.
    avoided: Vec<LockedRow>,
    /// The rows that it has locked, or tried to.
    locked: Vec<LockedRow>,
}

impl std::fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("dirty", &self.dirty).finish_non_exhaustive()
    }
}

/// How many bytes fill a page, as they go over the wire.
pub const PAGE_BYTES: usize = 4 << 20;

/// How much a job may read, and how much it has read.
#[derive(Debug)]
struct Meter {
    /// The size of a page.
    page: usize,
    /// What to say if a page does not fit because there is less room than a page has by right.
    short: Option<Error>,
    bytes: usize,
}

impl<'c> Tx<'c> {
    #[cfg(test)]
    pub(crate) fn new(conn: &'c mut Conn) -> Self {
        Self::on_connection(conn, false, Vec::new())
    }

    /// The transaction of a job whose statements go to the database at once. It fails where it would lock an avoided row.
    /// Earlier jobs of the same transaction may have ended a key.
    pub(crate) fn on_connection(conn: &'c mut Conn, keys_ended: bool, avoided: Vec<LockedRow>) -> Self {
        Self { avoided, ..Self::on(Work::Conn(conn), keys_ended) }
    }

    fn on(work: Work<'c>, keys_ended: bool) -> Self {
        let (effects, avoided, locked) = Default::default();
        Self { work, dirty: false, failure: None, effects, keys_ended, meter: None, avoided, locked }
    }

    /// The transaction of a job that runs against what its group has read.
    pub(crate) fn planned(plan: &'c mut Plan, keys_ended: bool) -> Self {
        Self::on(Work::Plan(plan), keys_ended)
    }

    /// The rows that the job has locked. If it has failed because of one, that is the last.
    pub(crate) fn take_locked(&mut self) -> Vec<LockedRow> {
        std::mem::take(&mut self.locked)
    }

    /// Counts what is read from now on. If there is memory for less than a page, `short` says why, and is the outcome of a
    /// page that does not fit.
    pub fn meter(&mut self, page: usize, short: Option<Error>) {
        self.meter = Some(Meter { page, short, bytes: 0 });
    }

    /// About how many bytes of JSON was read since then.
    #[must_use]
    pub fn read_bytes(&self) -> usize {
        self.meter.as_ref().map_or(0, |meter| meter.bytes)
    }

    /// Whether this transaction has ended a key, so that what is known outside of it about keys is out of date.
    #[must_use]
    pub fn has_ended_keys(&self) -> bool {
        self.keys_ended
    }

    /// Whether the job has written anything.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// What the database itself complained of, whatever the use case made of it.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// Whether others write at the same time, so that what decides has to be locked. SQLite has one writer.
    pub(crate) fn locks_rows(&self) -> bool {
        match &self.work {
            Work::Conn(conn) => conn.locks_rows(),
            Work::Plan(plan) => plan.locks() != Locks::None,
        }
    }

    /// Registers something to be done once this transaction is committed.
    pub fn after_commit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    /// Runs a statement and tells how many rows it touched.
    pub(crate) fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, Error> {
        let result = match &mut self.work {
            Work::Conn(conn) => conn.execute(sql, params),
            Work::Plan(plan) => return Err(plan.needs_connection()),
        };
        self.dirty |= !matches!(result, Ok(0));
        self.noted(result)
    }

    /// Runs a statement whose outcome nobody waits for. On PostgreSQL it travels together with the next
    /// statement; a failure shows there, or at the commit.
    pub(crate) fn send(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), Error> {
        self.dirty = true;
        let result = match &mut self.work {
            Work::Conn(conn) => conn.send(sql, params),
            Work::Plan(plan) => return Err(plan.needs_connection()),
        };
        self.noted(result)
    }

    /// The same with a declared statement. In a group it is only noted, and sent with the writes of all jobs.
    pub(crate) fn write(&mut self, write: &'static Write, params: &[Value<'_>]) -> Result<(), Error> {
        self.dirty = true;
        let result = match &mut self.work {
            Work::Conn(conn) => conn.send(write.sql(), params),
            Work::Plan(plan) => return plan.write(write, params),
        };
        self.noted(result)
    }

    /// All rows of a query; every query carries its own limit.
    pub(crate) fn rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row<'static>>, Error> {
        let mut rows = Vec::new();
        self.each(sql, params, &mut |row| {
            rows.push(row.keep()?);
            Ok(true)
        })?;
        Ok(rows)
    }

    /// Hands over the rows of a query as they come.
    pub(crate) fn each(&mut self, sql: &str, params: &[Value<'_>], take: &mut Take<'_>) -> Result<(), Error> {
        let meter = &mut self.meter;
        let result = match &mut self.work {
            Work::Conn(conn) => conn.each(sql, params, &mut |row| metered(meter, row, take)),
            Work::Plan(plan) => {
                return hand_over(plan.rows_of_text(sql, params)?, &mut |row| metered(meter, row, take));
            }
        };
        self.noted(result)
    }

    /// The same of a declared query.
    pub(crate) fn each_of(
        &mut self,
        read: &Arc<Read>,
        params: &[Value<'_>],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let meter = &mut self.meter;
        let result = match &mut self.work {
            Work::Conn(conn) => {
                let row = if conn.locks_rows() { read.locked_row(params) } else { None };
                let is_avoided = row.as_ref().is_some_and(|row| self.avoided.contains(row));
                self.locked.extend(row);
                if is_avoided {
                    Err(Error::Locked)
                } else {
                    conn.each_of(read, params, &mut |row| metered(meter, row, take))
                }
            }
            Work::Plan(plan) => {
                return hand_over(plan.rows(read, params)?, &mut |row| metered(meter, row, take));
            }
        };
        self.noted(result)
    }

    /// All rows of a declared query.
    fn read(&mut self, read: &Arc<Read>, params: &[Value<'_>]) -> Result<Vec<Row<'static>>, Error> {
        let mut rows = Vec::new();
        self.each_of(read, params, &mut |row| {
            rows.push(row.keep()?);
            Ok(true)
        })?;
        Ok(rows)
    }

    /// The same for rows that will be needed later, so that they can be fetched together with others. `None` means that
    /// they are fetched and the job runs again.
    pub(crate) fn peek(
        &mut self,
        read: &Arc<Read>,
        params: &[Value<'_>],
    ) -> Result<Option<Vec<Row<'static>>>, Error> {
        match &mut self.work {
            Work::Conn(_) => self.read(read, params).map(Some),
            Work::Plan(plan) => plan.peek(read, params),
        }
    }

    /// Says that these rows will be needed later. In a group they are fetched together with others; on a connection
    /// that would only be a query more.
    pub(crate) fn prefetch(&mut self, read: &Arc<Read>, params: &[Value<'_>]) -> Result<(), Error> {
        match &mut self.work {
            Work::Conn(_) => Ok(()),
            Work::Plan(plan) => plan.peek(read, params).map(drop),
        }
    }

    /// An empty page, with the room that is left for it.
    pub(crate) fn empty_page(&self) -> PageRoom {
        let room = self.meter.as_ref().map_or(PAGE_BYTES, |meter| meter.page.saturating_sub(meter.bytes));
        PageRoom::new(room)
    }

    /// Hands over the rows of a query that may be long; the caller takes what fits in its page.
    pub(crate) fn each_of_page(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let result = match &mut self.work {
            Work::Conn(conn) => conn.each(sql, params, take),
            // What is read for a group is kept in memory, so it must be short.
            Work::Plan(plan) => return Err(plan.needs_connection()),
        };
        self.noted(result)
    }

    /// The same of a query that is run for each of these keys.
    pub(crate) fn each_of_page_by_key(
        &mut self,
        sql: &str,
        keys: &[Value<'_>],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let result = match &mut self.work {
            Work::Conn(conn) => conn.each_by_key(sql, keys, take),
            Work::Plan(plan) => return Err(plan.needs_connection()),
        };
        self.noted(result)
    }

    /// Counts a page, and tells whether there was more than fits in it.
    pub(crate) fn count_page(&mut self, page: &PageRoom) -> Result<bool, Error> {
        if let Some(meter) = &mut self.meter {
            meter.bytes += page.bytes();
            if let Some(short) = meter.short.as_ref().filter(|_| page.is_cut()) {
                return Err(short.clone());
            }
        }
        Ok(page.is_cut())
    }

    /// Whether each statement is a message to another process, so that one is better than many.
    pub(crate) fn asks_by_message(&self) -> bool {
        match &self.work {
            Work::Conn(conn) => conn.asks_by_message(),
            Work::Plan(_) => true,
        }
    }

    fn noted<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.failure = Some(error.clone());
        }
        result
    }
}
