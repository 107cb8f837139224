//! One connection of either database, with the same few verbs.

use crate::postgres::PostgresConn;
use crate::sqlite::SqliteConn;
use crate::statement::{Locks, Read};
use crate::{Database, Error, Row, Value};

#[expect(clippy::large_enum_variant, reason = "a handful exist, each owned by a thread")]
pub(crate) enum Conn {
    Sqlite(SqliteConn),
    Postgres(PostgresConn),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
}

/// Takes the rows of a query one by one, and says each time whether it wants the next.
pub(crate) type Take<'a> = dyn FnMut(&mut Row<'_>) -> Result<bool, Error> + 'a;

impl Conn {
    /// Connects for work that takes as long as it takes.
    pub(crate) fn open(database: &Database, mode: Mode) -> Result<Self, Error> {
        Self::open_with(database, mode, false)
    }

    /// Connects for jobs, whose statements are limited in time where the database is another process.
    pub(crate) fn open_limited(database: &Database, mode: Mode) -> Result<Self, Error> {
        Self::open_with(database, mode, true)
    }

    fn open_with(database: &Database, mode: Mode, limited: bool) -> Result<Self, Error> {
        Ok(match database {
            Database::Sqlite(path) => Self::Sqlite(SqliteConn::open(path, mode)?),
            Database::Postgres(url) => {
                let config = url.parse().map_err(|_| {
                    Error::failed(
                        "the database URL is not of the form postgres://user:password@host/name".into(),
                    )
                })?;
                Self::Postgres(PostgresConn::open(config, limited)?)
            }
        })
    }

    /// Limits the time of statements from now on, as [`Self::open_limited`] does.
    pub(crate) fn limit_time(&mut self) {
        match self {
            Self::Sqlite(_) => {}
            Self::Postgres(conn) => conn.limit_time(),
        }
    }

    /// Has SQLite's log copied back by a thread of its own.
    pub(crate) fn checkpoint_beside(&mut self, database: &Database, log_pages: usize) -> Result<(), Error> {
        match (self, database) {
            (Self::Sqlite(conn), Database::Sqlite(path)) => conn.checkpoint_beside(path, log_pages),
            _ => Ok(()),
        }
    }

    /// Does what a writer should do between two commits.
    pub(crate) fn after_commit(&mut self) {
        if let Self::Sqlite(conn) = self {
            conn.after_commit();
        }
    }

    pub(crate) fn begin(&mut self, mode: Mode) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.begin(mode),
            Self::Postgres(conn) => conn.begin(mode),
        }
    }

    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.commit(),
            Self::Postgres(conn) => conn.commit(),
        }
    }

    pub(crate) fn rollback(&mut self) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.rollback(),
            Self::Postgres(conn) => conn.rollback(),
        }
    }

    /// Ends a transaction that has only read, at the latest when [`Self::end_reading`] is called. Where the database is
    /// another process, that travels with the beginning of the next one.
    pub(crate) fn end_reading_later(&mut self) {
        match self {
            Self::Sqlite(_) => self.end_reading(),
            Self::Postgres(conn) => conn.end_with_next(),
        }
    }

    /// Ends a transaction that has only read.
    pub(crate) fn end_reading(&mut self) {
        if let Err(error) = self.rollback() {
            tracing::debug!(%error, "a read transaction could not be ended");
        }
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, Error> {
        match self {
            Self::Sqlite(conn) => conn.execute(sql, params),
            Self::Postgres(conn) => conn.execute(sql, params),
        }
    }

    pub(crate) fn send(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.execute(sql, params).map(drop),
            Self::Postgres(conn) => conn.send(sql, params),
        }
    }

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
        match self {
            Self::Sqlite(conn) => conn.each(sql, params, take),
            Self::Postgres(conn) => conn.each(sql, params, take),
        }
    }

    /// The same of a query that is run for each of these keys, until no more rows are wanted.
    pub(crate) fn each_by_key(
        &mut self,
        sql: &str,
        keys: &[Value<'_>],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.each_by_key(sql, keys, take),
            Self::Postgres(conn) => {
                let mut more = true;
                for key in keys.iter().map(std::slice::from_ref) {
                    conn.each(sql, key, &mut |row| {
                        more = take(row)?;
                        Ok(more)
                    })?;
                    if !more {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// The same of a declared query, which locks what it says if others write at the same time.
    pub(crate) fn each_of(
        &mut self,
        read: &Read,
        params: &[Value<'_>],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let locks = if self.locks_rows() { Locks::Wait } else { Locks::None };
        match self {
            Self::Sqlite(conn) => conn.each(read.sql(), params, take),
            Self::Postgres(conn) => conn.each(read.single(locks), params, take),
        }
    }

    /// Whether each statement is a message to another process.
    pub(crate) fn asks_by_message(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Whether a transaction that writes may run beside others that do.
    pub(crate) fn locks_rows(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(conn) => conn.locks_rows(),
        }
    }

    /// Several statements at once, without parameters.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(conn) => conn.batch(sql),
            Self::Postgres(conn) => conn.batch(sql),
        }
    }

    /// Whether the next transactions wait for locked rows only for a moment.
    pub(crate) fn set_impatient(&mut self, impatient: bool) {
        match self {
            // One writer meets no locked row.
            Self::Sqlite(_) => {}
            Self::Postgres(conn) => conn.impatient = impatient,
        }
    }

    /// Waits a little, before a lost race is run again.
    pub(crate) fn pause(&mut self, pause: std::time::Duration) {
        match self {
            // One writer loses no race.
            Self::Sqlite(_) => {}
            Self::Postgres(conn) => conn.pause(pause),
        }
    }
}
