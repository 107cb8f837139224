//! Brings the schema up to date, once, when the store opens.

use std::time::{Duration, Instant};

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
    (15, "webhook_work", include_str!("../migrations/0015_webhook_work.sql")),
    (16, "limits", include_str!("../migrations/0016_limits.sql")),
    (17, "facts", include_str!("../migrations/0017_facts.sql")),
    (18, "used_task_ids", include_str!("../migrations/0018_used_task_ids.sql")),
    (19, "removals", include_str!("../migrations/0019_removals.sql")),
    (20, "a2a", include_str!("../migrations/0020_a2a.sql")),
    (21, "a2a_profiles", include_str!("../migrations/0021_a2a_profiles.sql")),
    (22, "decisions", include_str!("../migrations/0022_decisions.sql")),
    (23, "deferred_marks", include_str!("../migrations/0023_deferred_marks.sql")),
    (24, "push_configs", include_str!("../migrations/0024_push_configs.sql")),
    (25, "remotes", include_str!("../migrations/0025_remotes.sql")),
    (26, "figures", include_str!("../migrations/0026_figures.sql")),
];

/// Stands among the versions while a restore is under way, so that no hub, of this version or an older one, takes
/// half a database for a whole one.
pub(crate) const RESTORING: i64 = 1_000_000;

/// The version of the schema that this program makes.
pub(crate) fn known() -> i64 {
    MIGRATIONS.last().map_or(0, |last| last.0)
}

/// How many migrations there are.
#[cfg(test)]
pub(crate) fn count() -> usize {
    MIGRATIONS.len()
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

/// The row that a node locks while it changes the schema. It counts as no version.
const LOCK: i64 = 0;
/// How long a node waits for another one that changes the schema, or for transactions that keep it from doing so.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// How often a taken name is believed to be another node's doing.
const TAKEN_MAX: u32 = 20;
/// Pause before it looks again.
const PAUSE: Duration = Duration::from_millis(100);
/// After so long it says why it does not start.
const SILENT: Duration = Duration::from_secs(5);

/// Brings the schema up to date. Of nodes that start at the same moment, one does it and the others wait. If that one
/// dies, its transaction is undone and the next one goes on.
pub(crate) fn run(conn: &mut Conn, now_ms: i64) -> Result<(), Error> {
    let started = Instant::now();
    let (mut taken, mut said) = (0, false);
    loop {
        let outcome = attempt(conn, now_ms);
        if outcome.is_err() {
            let _ = conn.rollback();
        }
        match outcome {
            // Another node was first, or a transaction on one of the tables did not end in time.
            Err(Error::LostRace | Error::Locked) if started.elapsed() < WAIT_MAX => {}
            Err(Error::Taken(_)) if taken < TAKEN_MAX => taken += 1,
            outcome => return outcome,
        }
        if started.elapsed() > SILENT && !said {
            said = true;
            tracing::warn!("waiting for another node that changes the schema, or for a long transaction");
        }
        conn.pause(PAUSE);
    }
}

fn attempt(conn: &mut Conn, now_ms: i64) -> Result<(), Error> {
    conn.begin(Mode::Write)?;
    conn.batch(
        "create table if not exists schema_migrations (
             version bigint primary key, name text not null, applied_at bigint not null
         )",
    )?;
    if missing(conn)?.is_empty() {
        return conn.commit();
    }
    // Whoever has changed this row goes on; the others wait for its commit and look again.
    conn.execute(
        "insert into schema_migrations (version, name, applied_at) values (?1, 'lock', ?2)
         on conflict (version) do update set applied_at = excluded.applied_at",
        &[Value::Int(LOCK), Value::Int(now_ms)],
    )?;
    for (version, name, sql) in missing(conn)? {
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

/// The migrations that the database does not have. Refuses a database with more than this program knows.
fn missing(conn: &mut Conn) -> Result<Vec<&'static (i64, &'static str, &'static str)>, Error> {
    let (applied, known) = (applied(conn)?, known());
    if applied > known {
        return Err(Error::failed(format!(
            "this database was made by a newer tandem: its schema is version {applied}, this one knows {known}; start \
             the version that the other nodes run, or a newer one"
        )));
    }
    let rows = conn.rows("select version from schema_migrations", &[])?;
    let done: Vec<i64> = rows.into_iter().map(|mut row| row.take()).collect::<Result<_, _>>()?;
    Ok(MIGRATIONS.iter().filter(|migration| !done.contains(&migration.0)).collect())
}
