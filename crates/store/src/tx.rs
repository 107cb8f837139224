//! A transaction, as use cases see it.

use tandem_core::events::EventKind;
use tandem_core::{AgentId, TaskId, Timestamp};

use crate::conn::Conn;
use crate::{Error, Row, Value};

/// That an agent's log has grown: who, by which number, and what kind of news. Never the news itself.
#[derive(Debug, Clone)]
pub struct Told {
    /// Whose log.
    pub agent: AgentId,
    /// The event's number there.
    pub seq: i64,
    /// What happened.
    pub kind: EventKind,
    /// On which task.
    pub task: Option<TaskId>,
    /// When.
    pub at: Timestamp,
}

/// An open transaction on either database.
pub struct Tx<'c> {
    conn: &'c mut Conn,
    dirty: bool,
    failure: Option<Error>,
    told: Vec<Told>,
}

impl std::fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("dirty", &self.dirty).finish_non_exhaustive()
    }
}

/// How many bytes of rows fill a page.
const PAGE_BYTES: usize = 8 << 20;

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: &'c mut Conn) -> Self {
        Self { conn, dirty: false, failure: None, told: Vec::new() }
    }

    /// Whether the job has written anything.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// What the database itself complained of, whatever the use case made of it.
    pub(crate) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// Notes that an agent has news; whoever waits for it is woken after the commit.
    pub(crate) fn note_told(&mut self, told: Told) {
        self.told.push(told);
    }

    /// Everybody who has news once this is committed.
    pub(crate) fn into_told(self) -> Vec<Told> {
        self.told
    }

    /// Runs a statement and tells how many rows it touched.
    pub fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, Error> {
        let result = self.conn.execute(sql, params);
        self.dirty |= !matches!(result, Ok(0));
        self.noted(result)
    }

    /// Runs a statement whose outcome nobody waits for. On PostgreSQL it travels together with the next
    /// statement; a failure shows there, or at the commit.
    pub fn send(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), Error> {
        self.dirty = true;
        let result = self.conn.send(sql, params);
        self.noted(result)
    }

    /// All rows of a query; every query carries its own limit.
    pub fn rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        self.dirty |= !sql.trim_start().starts_with("select");
        let result = self.conn.rows(sql, params);
        self.noted(result)
    }

    /// The first rows of a query, until they fill a page, and whether there are more. For rows with long texts: so many
    /// of them would be too much.
    pub(crate) fn page(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(Vec<Row>, bool), Error> {
        let result = self.conn.rows_within(sql, params, PAGE_BYTES);
        self.noted(result).map(|found| (found.rows, found.cut))
    }

    /// The only row of a query, if there is one.
    pub fn optional(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, params)?.into_iter().next())
    }

    /// The row of a query that always has one.
    pub fn one(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Row, Error> {
        self.optional(sql, params)?
            .ok_or_else(|| Error::failed("a query that must find a row found none".into()))
    }

    fn noted<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.failure = Some(error.clone());
        }
        result
    }
}
