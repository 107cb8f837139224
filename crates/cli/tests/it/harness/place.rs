//! Where the hub of a test stores everything: a database and a folder of its own.

use std::net::SocketAddr;

use tandem_hub::Config;
use tandem_store::{Database, Options, Store};

use super::ADMIN_TOKEN;

/// On which database a test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Db {
    Sqlite,
    Postgres,
}

/// A database of its own, and its data folder. Both go when it is dropped.
#[derive(Debug)]
pub struct Place {
    pub folder: std::path::PathBuf,
    pub database: Option<String>,
    name: String,
}

fn admin_url() -> String {
    std::env::var("TANDEM_TEST_POSTGRES")
        .expect("TANDEM_TEST_POSTGRES is not set: run the tests by ./check, or under scripts/with-postgres")
}

/// Runs a statement on the server's own database.
fn administer(sql: String) {
    on_postgres(admin_url(), sql);
}

/// The URL of a database of the server.
fn url_of(name: &str) -> String {
    let url = admin_url();
    let (server, options) = url.split_once('?').unwrap_or((&url, "sslmode=disable"));
    format!("{}/{name}?{options}", server.rsplit_once('/').unwrap().0)
}

/// A database with an order of its own, so that whatever relies on the order of bytes says so.
fn create_empty(name: &str) {
    administer(format!(
        "create database {name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'"
    ));
}

/// The database with the tables of this version that others are copied from: creating them takes longer than most tests.
/// The first test that needs it makes it; every build of the tests has one of its own.
fn template() -> String {
    let build = std::env::current_exe().and_then(std::fs::metadata).unwrap();
    let changed = build.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    let name = format!("tandem_template_{:x}_{:x}", build.len(), changed.as_nanos());
    let make = |name: String| async move {
        let (client, connection) =
            tokio_postgres::connect(&admin_url(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        // Other tests wait here until it is made. The lock ends with the connection.
        client.batch_execute("select pg_advisory_lock(7461)").await.unwrap();
        let found = client.query("select 1 from pg_database where datname = $1", &[&name]).await.unwrap();
        if found.is_empty() {
            let unfinished = format!("{name}_unfinished");
            client
                .batch_execute(&format!("drop database if exists {unfinished} with (force)"))
                .await
                .unwrap();
            let fill = move |name: &str| {
                create_empty(name);
                let database = Database::Postgres(url_of(name));
                drop(Store::open(&database, &Options::default(), 0).unwrap());
            };
            let filled = unfinished.clone();
            tokio::task::spawn_blocking(move || fill(&filled)).await.unwrap();
            client.batch_execute(&format!("alter database {unfinished} rename to {name}")).await.unwrap();
        }
    };
    let wanted = name.clone();
    std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(make(wanted));
    })
    .join()
    .unwrap();
    name
}

/// Runs statements on a database, on a thread because tests are async already.
fn on_postgres(url: String, sql: String) {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
            let driver = tokio::spawn(connection);
            client.batch_execute(&sql).await.unwrap();
            drop(client);
            driver.await.unwrap().unwrap();
        });
    };
    std::thread::spawn(run).join().unwrap();
}

impl Place {
    pub fn new(db: Db) -> Self {
        let copy = |name: &str| administer(format!("create database {name} template {}", template()));
        Self::with(db, copy)
    }

    /// A place whose database on PostgreSQL has no tables yet. A file of SQLite never has.
    pub fn empty(db: Db) -> Self {
        Self::with(db, create_empty)
    }

    fn with(db: Db, create: impl Fn(&str)) -> Self {
        let name = format!("tandem_test_{}", tandem_app::keys::random_hex::<8>());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let database = (db == Db::Postgres).then(|| {
            create(&name);
            url_of(&name)
        });
        Self { folder, database, name }
    }

    /// The data folder of another node of a cluster.
    pub fn node_folder(&self, number: usize) -> std::path::PathBuf {
        let mut name = self.folder.clone().into_os_string();
        name.push(format!("-node{number}"));
        name.into()
    }

    /// The same folder with another database. Dropping this removes nothing.
    pub fn with_database(&self, url: String) -> Self {
        Self { folder: self.folder.clone(), database: Some(url), name: String::new() }
    }

    /// Runs statements on the database while no hub uses it.
    pub fn execute(&self, sql: &str) {
        match &self.database {
            Some(url) => on_postgres(url.clone(), sql.to_owned()),
            None => {
                let file = rusqlite::Connection::open(self.folder.join("tandem.db")).unwrap();
                file.execute_batch(sql).unwrap();
            }
        }
    }

    /// Ends every connection to the database, as a server does that is restarted.
    pub fn end_connections(&self) {
        let name = &self.name;
        administer(format!(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'"
        ));
    }

    /// The settings of most tests: no rate limit gets in their way.
    pub fn config(&self) -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: self.folder.clone(),
            database: self.database.clone(),
            admin_token: Some(ADMIN_TOKEN.into()),
            // More than the default, so that writers get into each other's way.
            database_writers: 2,
            rate_limit_max: 0,
            rate_limit_register_max: 0,
            rate_limit_discover_max: 0,
            max_messages_per_minute: 0,
            pair_attempts_max: 0,
            min_discovery_age_hours: 0,
            ..Config::default()
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.name.is_empty() {
            return;
        }
        if self.database.is_some() {
            administer(format!("drop database if exists {} with (force)", self.name));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
        for number in 1..super::cluster::NODES {
            let _ = std::fs::remove_dir_all(self.node_folder(number));
        }
    }
}
