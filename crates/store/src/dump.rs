//! Every table, out and in again: one picture of all rows for a backup, and the way of such rows into an empty
//! database. It knows tables and values, and neither files nor the format of an archive.

use crate::conn::{Conn, Mode};
use crate::query::Query;
use crate::{Database, Error, Row, migrate};

/// One value of a row of a backup.
pub use crate::value::Value;

/// How many rows of a table are in memory at once.
const PAGE_ROWS: usize = 200;

/// A table, and what its rows are told apart by.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub name: &'static str,
    /// The columns of its primary key.
    pub key: &'static [&'static str],
}

const fn table(name: &'static str, key: &'static [&'static str]) -> Table {
    Table { name, key }
}

/// All tables but [`LEFT_OUT`] and the one that tells the version of the schema; a test compares this with what migrations make.
pub const TABLES: &[Table] = &[
    table("agents", &["id"]),
    table("agent_capabilities", &["capability", "agent_id"]),
    table("directory_terms", &["term", "agent_id"]),
    table("mailboxes", &["agent_id"]),
    table("ended_keys", &["key_hash"]),
    table("events", &["agent_id", "seq"]),
    table("connections", &["agent_id", "peer_id"]),
    table("blocks", &["agent_id", "blocked_id"]),
    table("guests", &["agent_id"]),
    table("remotes", &["agent_id"]),
    table("remote_tasks", &["task_id"]),
    table("pairing_codes", &["code"]),
    table("used_challenges", &["challenge"]),
    table("hub_secrets", &["name"]),
    table("pairs", &["low_id", "high_id"]),
    table("cancellations", &["by_id", "peer_id"]),
    table("tasks", &["id"]),
    table("used_task_ids", &["id"]),
    table("removed_tasks", &["id"]),
    table("former_targets", &["agent_id", "task_id"]),
    table("task_log", &["task_id", "number"]),
    table("decisions", &["task_id", "attempt"]),
    table("figures", &["subject", "kind", "at"]),
    table("messages", &["id"]),
    table("deferred_marks", &["task_id", "for_target", "to_number"]),
    table("idempotency", &["agent_id", "key"]),
    table("deliveries", &["id"]),
    table("push_configs", &["task_id", "id"]),
    table("deadlines", &["due_at", "task_id", "kind", "number"]),
    table("networks", &["id"]),
    table("network_members", &["network_id", "agent_id"]),
    table("network_invites", &["code"]),
    table("network_messages", &["id"]),
    table("removed_networks", &["id"]),
    table("signatures", &["task_id", "hash"]),
    FILES,
];

/// Tables that a backup leaves out: people sign in again after a restore, so that no session that ended comes back;
/// and which nodes run, who is connected to them and what is used of a limit is true for a moment only.
pub const LEFT_OUT: &[&str] =
    &["browser_sessions", "sign_ins", "setup_codes", "nodes", "presences", "limit_windows"];

/// The name of the hub's secret from which the epoch of its event logs is made.
pub const EPOCH: &str = "epoch";

/// What is known of files; a backup writes it last, when it knows which bytes there were.
pub const FILES: Table = table("files", &["id"]);

/// The version of the schema that this program makes and takes.
#[must_use]
pub fn schema_version() -> i64 {
    migrate::known()
}

/// The names of all tables in a database; none where there is no database yet.
pub fn tables_in(database: &Database) -> Result<Vec<String>, Error> {
    if is_missing(database) {
        return Ok(Vec::new());
    }
    tables_of(&mut Conn::open(database, Mode::Read)?)
}

pub(crate) fn tables_of(conn: &mut Conn) -> Result<Vec<String>, Error> {
    // The one question that each database is asked in its own words.
    let sql = match conn {
        Conn::Sqlite(_) => "select name from sqlite_master where type = 'table' and name not like 'sqlite%'",
        Conn::Postgres(_) => "select tablename from pg_catalog.pg_tables where schemaname = current_schema()",
    };
    conn.rows(sql, &[])?.into_iter().map(|mut row| row.take()).collect()
}

/// The columns that a row is given; those that the database computes are not among them: a trigger of PostgreSQL
/// computes `webhook_behind`, which SQLite does itself.
pub(crate) fn columns_of(conn: &mut Conn, table: &Table) -> Result<Vec<String>, Error> {
    let name = table.name;
    let sql = match conn {
        Conn::Sqlite(_) => format!("select name from pragma_table_info('{name}') order by cid"),
        Conn::Postgres(_) => format!(
            "select attname from pg_catalog.pg_attribute where attrelid = '{name}'::regclass
                 and attnum > 0 and not attisdropped and attname <> 'webhook_behind' order by attnum"
        ),
    };
    conn.rows(&sql, &[])?.into_iter().map(|mut row| row.take()).collect()
}

/// SQLite makes a file that is not there; looking must not.
fn is_missing(database: &Database) -> bool {
    matches!(database, Database::Sqlite(path) if !path.exists())
}

/// The first table that has a row, if one has. Changes nothing.
pub fn occupied(database: &Database) -> Result<Option<String>, Error> {
    if is_missing(database) {
        return Ok(None);
    }
    let mut conn = Conn::open(database, Mode::Read)?;
    let present = tables_of(&mut conn)?;
    if present.iter().any(|name| name == "schema_migrations") {
        // Says so itself if a restore did not finish.
        migrate::applied(&mut conn)?;
    }
    first_occupied(&mut conn, &present)
}

fn first_occupied(conn: &mut Conn, present: &[String]) -> Result<Option<String>, Error> {
    for name in TABLES.iter().map(|table| table.name).filter(|name| present.iter().any(|have| have == name)) {
        if !conn.rows(&format!("select 1 from {name} limit 1"), &[])?.is_empty() {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}

/// One picture of a database, whatever is written to it meanwhile. It ends when this is dropped.
pub struct Snapshot {
    conn: Conn,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Snapshot")
    }
}

impl Snapshot {
    /// Takes the picture, of a database with the schema of this program. Blocks, like all of this.
    pub fn take(database: &Database) -> Result<Self, Error> {
        if let Database::Sqlite(path) = database
            && is_missing(database)
        {
            return Err(Error::failed(format!("there is no database at {}", path.display())));
        }
        let mut conn = Conn::open(database, Mode::Read)?;
        if !tables_of(&mut conn)?.iter().any(|name| name == "schema_migrations") {
            return Err(Error::failed("this is not a database of tandem, or no hub ever ran on it".into()));
        }
        conn.begin(Mode::Read)?;
        if let Conn::Postgres(_) = conn {
            // Copying a large file between two looks is no reason to end the picture.
            conn.batch("set local idle_in_transaction_session_timeout = 0")?;
        }
        let (applied, known) = (migrate::applied(&mut conn)?, migrate::known());
        if applied != known {
            return Err(Error::failed(format!(
                "the schema of this database is version {applied}, and this tandem knows {known}; use the \
                 version of tandem that the hub runs"
            )));
        }
        Ok(Self { conn })
    }

    /// The columns of a table, in the order in which rows are given.
    pub fn columns(&mut self, table: &Table) -> Result<Vec<String>, Error> {
        columns_of(&mut self.conn, table)
    }

    pub fn count(&mut self, table: &Table) -> Result<u64, Error> {
        let mut rows = self.conn.rows(&format!("select count(*) from {}", table.name), &[])?;
        let count: i64 = rows.first_mut().map_or(Ok(0), Row::take)?;
        Ok(count.unsigned_abs())
    }

    /// Hands over a table's rows in the order of its key, a page at a time.
    pub fn pages<E: From<Error>>(
        &mut self,
        table: &Table,
        mut take: impl FnMut(Vec<Vec<Value<'static>>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let columns = self.columns(table)?;
        let mut after = None;
        loop {
            let page = self.page(table, &columns, after.as_deref())?;
            let full = page.len() == PAGE_ROWS;
            after = page.last().map(|row| key_of(table, &columns, row));
            if !page.is_empty() {
                take(page)?;
            }
            if !full {
                return Ok(());
            }
        }
    }

    fn page(
        &mut self,
        table: &Table,
        columns: &[String],
        after: Option<&[Value<'static>]>,
    ) -> Result<Vec<Vec<Value<'static>>>, Error> {
        let key = table.key.join(", ");
        let mut query = Query::default();
        query.push("select ").push(&quoted(columns)).push(" from ").push(table.name);
        if let Some(after) = after {
            query.push(" where (").push(&key).push(") > (");
            for (place, value) in after.iter().enumerate() {
                query.push(if place > 0 { ", " } else { "" }).bind(value.clone());
            }
            query.push(")");
        }
        query.push(" order by ").push(&key).push(&format!(" limit {PAGE_ROWS}"));
        Ok(self.conn.rows(&query.sql, &query.params)?.into_iter().map(Row::into_values).collect())
    }

    pub fn has_file(&mut self, id: &str) -> Result<bool, Error> {
        Ok(!self.conn.rows("select 1 from files where id = ?1", &[id.into()])?.is_empty())
    }
}

fn key_of(table: &Table, columns: &[String], row: &[Value<'static>]) -> Vec<Value<'static>> {
    let place = |name: &&str| columns.iter().position(|column| column == name);
    table.key.iter().filter_map(place).filter_map(|place| row.get(place).cloned()).collect()
}

/// A column may be called like a word of SQL.
fn quoted(columns: &[String]) -> String {
    columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ")
}

/// The way of rows into an empty database. Until it is finished, no hub starts on that.
pub struct Load {
    conn: Conn,
}

impl std::fmt::Debug for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Load")
    }
}

impl Load {
    /// Makes the tables and marks the database as unfinished.
    pub fn begin(database: &Database, now_ms: i64) -> Result<Self, Error> {
        let mut conn = Conn::open(database, Mode::Write)?;
        migrate::run(&mut conn, now_ms)?;
        conn.begin(Mode::Write)?;
        let present = tables_of(&mut conn)?;
        if let Some(name) = first_occupied(&mut conn, &present)? {
            conn.rollback()?;
            return Err(Error::failed(format!("the database is not empty: {name} has rows")));
        }
        conn.execute(
            "insert into schema_migrations (version, name, applied_at) values (?1, ?2, ?3)",
            &[migrate::RESTORING.into(), "restoring".into(), now_ms.into()],
        )?;
        conn.commit()?;
        Ok(Self { conn })
    }

    pub fn columns(&mut self, table: &Table) -> Result<Vec<String>, Error> {
        columns_of(&mut self.conn, table)
    }

    /// Adds rows, all or none of them. `columns` are some that [`Self::columns`] named.
    pub fn add(&mut self, table: &Table, columns: &[String], rows: &[Vec<Value<'_>>]) -> Result<(), Error> {
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let sql = format!("insert into {} ({}) values ({})", table.name, quoted(columns), places.join(", "));
        self.conn.begin(Mode::Write)?;
        for row in rows {
            if row.len() != columns.len() {
                return Err(Error::failed(format!("a row of {} has too few or too many values", table.name)));
            }
            self.conn.send(&sql, row)?;
        }
        self.conn.commit()
    }

    /// Ends it: from now on, the database is a hub's. Bytes of files are counted anew, because a backup leaves out
    /// those that went while it was made.
    pub fn finish(mut self) -> Result<(), Error> {
        self.conn.begin(Mode::Write)?;
        // The hub makes a new one when it starts: clients learn by it that cursors from after the backup mean nothing.
        self.conn.execute("delete from hub_secrets where name = ?1", &[EPOCH.into()])?;
        self.conn.execute(
            "update agents set file_bytes =
                 (select coalesce(sum(f.size_bytes), 0) from files f where f.uploader_id = agents.id)
             where file_bytes <>
                 (select coalesce(sum(f.size_bytes), 0) from files f where f.uploader_id = agents.id)",
            &[],
        )?;
        self.conn
            .execute("delete from schema_migrations where version = ?1", &[migrate::RESTORING.into()])?;
        self.conn.commit()
    }
}

/// Gives back the room of removed rows to the disk, on SQLite; nobody else may have the database open. PostgreSQL
/// does so by itself.
pub fn compact(database: &Database) -> Result<(), Error> {
    match database {
        Database::Postgres(_) => Ok(()),
        // The copy that this makes goes to the disk: it is as large as the database.
        Database::Sqlite(_) => Conn::open(database, Mode::Write)?
            .batch("pragma temp_store = file; vacuum; pragma wal_checkpoint(truncate);"),
    }
}
