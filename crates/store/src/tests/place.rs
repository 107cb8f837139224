//! A database of its own for each test, on either server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::conn::{Conn, Mode};
use crate::{Database, Error, Row, Tx, Value, dump, migrate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Db {
    Sqlite,
    Postgres,
}

/// A new database with an open transaction. It goes when this is dropped.
pub(super) struct Place {
    pub(super) database: Database,
    /// Nothing once it was closed.
    conn: Option<Conn>,
    folder: PathBuf,
    name: String,
}

fn admin_url() -> String {
    std::env::var("TANDEM_TEST_POSTGRES")
        .expect("TANDEM_TEST_POSTGRES is not set: run the tests by ./check, or under scripts/with-postgres")
}

fn administer(sql: &str) {
    Conn::open(&Database::Postgres(admin_url()), Mode::Write).and_then(|mut conn| conn.batch(sql)).unwrap();
}

impl Place {
    pub(super) fn new(db: Db) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tandem_store_{}_{number}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let database = match db {
            Db::Sqlite => Database::Sqlite(folder.join("tandem.db")),
            Db::Postgres => {
                administer(&format!("create database {name}"));
                let url = admin_url();
                let (server, options) = url.split_once('?').unwrap_or((&url, "sslmode=disable"));
                Database::Postgres(format!("{}/{name}?{options}", server.rsplit_once('/').unwrap().0))
            }
        };
        let mut conn = Conn::open(&database, Mode::Write).unwrap();
        migrate::run(&mut conn, 0).unwrap();
        conn.begin(Mode::Write).unwrap();
        Self { database, conn: Some(conn), folder, name }
    }

    fn conn(&mut self) -> &mut Conn {
        self.conn.as_mut().unwrap()
    }

    /// Runs something in the open transaction.
    pub(super) fn run<T>(&mut self, act: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>) -> T {
        act(&mut Tx::new(self.conn())).unwrap()
    }

    /// Commits, and closes the connection.
    pub(super) fn close(&mut self) {
        self.conn().commit().unwrap();
        self.conn = None;
    }

    /// The rows of a table, with all columns that the database itself says it has.
    pub(super) fn raw(&mut self, table: &str) -> Vec<BTreeMap<String, Value<'static>>> {
        let table = dump::TABLES.iter().find(|known| known.name == table).unwrap();
        let conn = self.conn();
        let columns = dump::columns_of(conn, table).unwrap();
        let names: Vec<String> = columns.iter().map(|column| format!("\"{column}\"")).collect();
        let key = table.key.join(", ");
        let sql = format!("select {} from {} order by {key}", names.join(", "), table.name);
        let rows = conn.rows(&sql, &[]).unwrap().into_iter().map(Row::into_values);
        rows.map(|row| columns.iter().cloned().zip(row).collect()).collect()
    }

    /// The only row of a table has exactly these columns with these values.
    #[track_caller]
    pub(super) fn expect<const N: usize>(&mut self, table: &str, expected: [(&str, Value<'_>); N]) {
        let expected: BTreeMap<String, Value<'static>> =
            expected.into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
        assert_eq!(expected.len(), N, "a column is named twice");
        assert_eq!(self.raw(table), [expected], "{table}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.conn = None;
        if let Database::Postgres(_) = self.database {
            administer(&format!("drop database if exists {} with (force)", self.name));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
