//! A PostgreSQL schema for one measurement, removed afterwards.

use anyhow::Context as _;
use tokio_postgres::NoTls;

/// A schema that is removed with everything in it when its owner is dropped.
#[derive(Debug)]
pub(super) struct Schema {
    database: String,
    name: String,
}

impl Schema {
    pub(super) async fn new(database: &str) -> anyhow::Result<Self> {
        let name = format!("tandem_bench_{}", tandem_app::keys::random_hex::<6>());
        let schema = Self { database: without_tls(database), name };
        run(&schema.database, &format!("create schema {}", schema.name))
            .await
            .context("cannot create a schema for the measurement")?;
        Ok(schema)
    }

    /// The URL of the database for a program that is to use this schema only.
    pub(super) fn url(&self) -> String {
        let separator = if self.database.contains('?') { '&' } else { '?' };
        format!("{}{separator}options=-c%20search_path%3D{}", self.database, self.name)
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (database, name) = (self.database.clone(), self.name.clone());
        let drop_it = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run(&database, &format!("drop schema {name} cascade")))
        };
        // On a thread, because dropping happens within a runtime.
        let removed = std::thread::spawn(drop_it).join();
        if !matches!(removed, Ok(Ok(()))) {
            eprintln!("tandem-bench: could not remove the schema {}", self.name);
        }
    }
}

/// The hub and the bare server have to pay the same for their connections, and the bare one knows no TLS.
fn without_tls(database: &str) -> String {
    match database.split_once('?') {
        Some((_, options)) if options.contains("sslmode=") => database.to_owned(),
        Some(_) => format!("{database}&sslmode=disable"),
        None => format!("{database}?sslmode=disable"),
    }
}

async fn run(database: &str, sql: &str) -> anyhow::Result<()> {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
    let driver = tokio::spawn(connection);
    client.batch_execute(sql).await?;
    drop(client);
    Ok(driver.await??)
}
