//! Brings the schema up to date, once, when the store opens.

use crate::conn::{Conn, Mode};
use crate::{Error, Value};

/// Applied in order. A file that has been released never changes again.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "foundation", include_str!("../migrations/0001_foundation.sql")),
    (2, "reach", include_str!("../migrations/0002_reach.sql")),
    (3, "webhooks", include_str!("../migrations/0003_webhooks.sql")),
    (4, "lifecycle", include_str!("../migrations/0004_lifecycle.sql")),
    (5, "content", include_str!("../migrations/0005_content.sql")),
    (6, "events", include_str!("../migrations/0006_events.sql")),
    (7, "amends", include_str!("../migrations/0007_amends.sql")),
    (8, "updates", include_str!("../migrations/0008_updates.sql")),
    (9, "bounds", include_str!("../migrations/0009_bounds.sql")),
    (10, "webhook_leases", include_str!("../migrations/0010_webhook_leases.sql")),
    (11, "wake", include_str!("../migrations/0011_wake.sql")),
    (12, "sign_ins", include_str!("../migrations/0012_sign_ins.sql")),
    (13, "asked", include_str!("../migrations/0013_asked.sql")),
    (14, "nodes", include_str!("../migrations/0014_nodes.sql")),
    (16, "webhook_work", include_str!("../migrations/0016_webhook_work.sql")),
];

/// Stands among the versions while a restore is under way, so that no hub, of this version or an older one, takes
/// half a database for a whole one.
pub(crate) const RESTORING: i64 = 1_000_000;

/// The version of the schema that this program makes.
pub(crate) fn known() -> i64 {
    MIGRATIONS.last().map_or(0, |last| last.0)
}

/// The version that a database says it has.
pub(crate) fn applied(conn: &mut Conn) -> Result<i64, Error> {
    let mut found = conn.rows("select coalesce(max(version), 0) from schema_migrations", &[])?;
    let applied = match found.first_mut() {
        Some(row) => row.take()?,
        None => 0,
    };
    if applied == RESTORING {
        return Err(Error::failed(
            "a restore into this database did not finish; empty the database and the data folder, and restore again"
                .into(),
        ));
    }
    Ok(applied)
}

pub(crate) fn run(conn: &mut Conn, now_ms: i64) -> Result<(), Error> {
    // Two nodes may start on one database at the same moment; the one that loses looks again.
    let mut tries = 0;
    loop {
        match attempt(conn, now_ms) {
            Err(Error::LostRace | Error::Taken(_)) if tries < 20 => {
                let _ = conn.rollback();
                tries += 1;
                conn.pause(std::time::Duration::from_millis(100));
            }
            Err(error) => {
                let _ = conn.rollback();
                return Err(error);
            }
            Ok(()) => return Ok(()),
        }
    }
}

fn attempt(conn: &mut Conn, now_ms: i64) -> Result<(), Error> {
    conn.begin(Mode::Write)?;
    conn.batch(
        "create table if not exists schema_migrations (
             version bigint primary key, name text not null, applied_at bigint not null
         )",
    )?;
    let (applied, known) = (applied(conn)?, known());
    if applied > known {
        return Err(Error::failed(format!(
            "this database was made by a newer tandem: its schema is version {applied}, this one knows {known}"
        )));
    }
    let rows = conn.rows("select version from schema_migrations", &[])?;
    let done: Vec<i64> = rows.into_iter().map(|mut row| row.take()).collect::<Result<_, _>>()?;
    for (version, name, sql) in MIGRATIONS.iter().filter(|migration| !done.contains(&migration.0)) {
        let sql = match conn {
            Conn::Sqlite(_) => {
                sql.replace("/* sqlite: without rowid */", "without rowid").replace("-- sqlite: ", "")
            }
            Conn::Postgres(_) => sql.replace("-- postgres: ", ""),
        };
        conn.batch(&sql)?;
        conn.execute(
            "insert into schema_migrations (version, name, applied_at) values (?1, ?2, ?3)",
            &[Value::Int(*version), Value::from(*name), Value::Int(now_ms)],
        )?;
    }
    conn.commit()
}
