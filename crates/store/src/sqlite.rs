//! SQLite by rusqlite. One writer, several readers, full durability.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use crate::checkpoint::Checkpoints;
use crate::conn::{Mode, Take};
use crate::{Error, Row, Value};

/// How much each connection remembers of the database. The system remembers the rest, and a larger cache costs every
/// commit: SQLite goes through all of it whenever a page was split.
pub(crate) const CACHE_KIB: u32 = 16_384;

/// How long a lock of another program is waited for. Everybody waits behind it.
const BUSY_MS: u32 = 2_000;

pub(crate) struct SqliteConn {
    /// Before the connection, so that they end before it does: it tidies the log away.
    checkpoints: Option<Checkpoints>,
    conn: Connection,
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

pub(crate) fn failure(error: rusqlite::Error) -> Error {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let text = error.to_string();
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return Error::failed(text) };
    match failure.code {
        _ if [SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY].contains(&failure.extended_code) => {
            Error::Taken(text)
        }
        ErrorCode::DiskFull => Error::Full(text),
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::ReadOnly
        | ErrorCode::SystemIoFailure
        | ErrorCode::CannotOpen => Error::Unwritable(text),
        _ => Error::failed(text),
    }
}

/// A column of a row.
pub(crate) fn value<'r>(row: &'r rusqlite::Row<'_>, column: usize) -> Result<Value<'r>, Error> {
    Ok(match row.get_ref(column).map_err(failure)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(_) => return Err(Error::failed("a column held a fraction".into())),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => text.into(),
            Err(_) => return Err(Error::failed("a column held broken text".into())),
        },
        ValueRef::Blob(bytes) => bytes.into(),
    })
}

/// Hands over rows; whether more are wanted.
fn each(mut found: rusqlite::Rows<'_>, take: &mut Take<'_>) -> Result<bool, Error> {
    while let Some(row) = found.next().map_err(failure)? {
        if !take(&mut Row::sqlite(row))? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl SqliteConn {
    pub(crate) fn open(path: &Path, mode: Mode) -> Result<Self, Error> {
        let flags = match mode {
            Mode::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Mode::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        } | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags).map_err(failure)?;
        conn.set_prepared_statement_cache_capacity(256);
        // Without this, SQLite plans a statement anew whenever a parameter changes that a partial index might
        // depend on: with our indexes, that is nearly every execution.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failure)?;
        if mode == Mode::Write {
            conn.execute_batch("pragma journal_mode = wal; pragma synchronous = full;").map_err(failure)?;
        }
        conn.execute_batch(&format!(
            "pragma busy_timeout = {BUSY_MS}; pragma temp_store = memory; pragma cache_size = -{CACHE_KIB};"
        ))
        .map_err(failure)?;
        Ok(Self { checkpoints: None, conn })
    }

    /// Has the log copied back by a thread of its own.
    pub(crate) fn checkpoint_beside(&mut self, path: &Path, log_pages: usize) -> Result<(), Error> {
        self.checkpoints = Some(Checkpoints::beside(&mut self.conn, path, log_pages)?);
        Ok(())
    }

    /// Does what is due between two commits.
    pub(crate) fn after_commit(&mut self) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.after_commit(&self.conn);
        }
    }

    pub(crate) fn begin(&mut self, mode: Mode) -> Result<(), Error> {
        // A rollback may have failed with the disk.
        self.rollback()?;
        let sql = match mode {
            Mode::Write => "begin immediate",
            Mode::Read => "begin",
        };
        self.execute(sql, &[]).map(drop)
    }

    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        self.execute("commit", &[]).map(drop)
    }

    pub(crate) fn rollback(&mut self) -> Result<(), Error> {
        // SQLite ends a transaction by itself on some failures, a full disk among them.
        if self.conn.is_autocommit() {
            return Ok(());
        }
        self.execute("rollback", &[]).map(drop)
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.conn.execute_batch(sql).map_err(failure)
    }

    fn prepared(&mut self, sql: &str, params: &[Value<'_>]) -> Result<rusqlite::CachedStatement<'_>, Error> {
        let mut statement = self.conn.prepare_cached(sql).map_err(failure)?;
        for (index, param) in params.iter().enumerate() {
            statement.raw_bind_parameter(index + 1, param).map_err(failure)?;
        }
        Ok(statement)
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, Error> {
        let changed = self.prepared(sql, params)?.raw_execute().map_err(failure)?;
        Ok(changed as u64)
    }

    pub(crate) fn each(&mut self, sql: &str, params: &[Value<'_>], take: &mut Take<'_>) -> Result<(), Error> {
        let mut statement = self.prepared(sql, params)?;
        each(statement.raw_query(), take).map(drop)
    }

    /// The same of a query that is run for each of these keys.
    pub(crate) fn each_by_key(
        &mut self,
        sql: &str,
        keys: &[Value<'_>],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let mut statement = self.prepared(sql, &[])?;
        for key in keys {
            statement.raw_bind_parameter(1, key).map_err(failure)?;
            if !each(statement.raw_query(), take)? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_lock_are_told_apart() {
        let name = format!("tandem-{}-{:?}.db", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        let mut conn = SqliteConn::open(&path, Mode::Write).unwrap();
        conn.batch("create table t (x blob); pragma max_page_count = 8").unwrap();
        let full = conn.execute("insert into t values (zeroblob(100000))", &[]);
        assert!(matches!(full, Err(Error::Full(_))), "{full:?}");
        conn.rollback().unwrap();
        let mut other = SqliteConn::open(&path, Mode::Write).unwrap();
        other.batch("pragma busy_timeout = 1; begin immediate").unwrap();
        conn.batch("pragma busy_timeout = 1").unwrap();
        let locked = conn.begin(Mode::Write);
        assert!(matches!(locked, Err(Error::Unwritable(_))), "{locked:?}");
        other.rollback().unwrap();
        conn.begin(Mode::Write).unwrap();
        drop((conn, other));
        std::fs::remove_file(&path).unwrap();
    }
}
