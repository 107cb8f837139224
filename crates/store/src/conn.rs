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

/// Rows that were found, as far as there was room for them.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<Row>,
    /// Whether there are more than there was room for.
    pub(crate) cut: bool,
    /// Their size, if the room is limited.
    pub(crate) bytes: usize,
    room: usize,
}

impl Rows {
    /// `room` is a number of bytes in JSON.
    pub(crate) fn new(room: usize) -> Self {
        Self { rows: Vec::new(), cut: false, bytes: 0, room }
    }

    /// Whether one more that was found may be added; if not, that is noted.
    pub(crate) fn has_room(&mut self) -> bool {
        self.cut |= self.bytes >= self.room;
        !self.cut
    }

    /// Adds a row if there is room for it. There always is a first one.
    pub(crate) fn push(&mut self, row: Row) {
        if self.room < usize::MAX {
            let bytes = self.bytes + row.json_bytes();
            self.cut = bytes > self.room && !self.rows.is_empty();
            if self.cut {
                return;
            }
            self.bytes = bytes;
        }
        self.rows.push(row);
    }
}

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

    pub(crate) fn rows(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        self.rows_within(sql, params, usize::MAX).map(|found| found.rows)
    }

    /// The rows of a declared query, which locks what it says if others write at the same time.
    pub(crate) fn read(&mut self, read: &Read, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        let locks = if self.locks_rows() { Locks::Wait } else { Locks::None };
        let found = match self {
            Self::Sqlite(conn) => conn.rows(read.sql(), params, usize::MAX),
            Self::Postgres(conn) => conn.rows(read.single(locks), params, usize::MAX),
        };
        found.map(|found| found.rows)
    }

    /// Rows until they have so many bytes in JSON.
    pub(crate) fn rows_within(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        room: usize,
    ) -> Result<Rows, Error> {
        match self {
            Self::Sqlite(conn) => conn.rows(sql, params, room),
            Self::Postgres(conn) => conn.rows(sql, params, room),
        }
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
