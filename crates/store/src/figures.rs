//! Counts by step of time, for plots. Several nodes add to the same rows.

use tandem_core::Timestamp;

use crate::declare::insert;
use crate::{Error, Tx};

/// Adds to a count.
pub fn add(tx: &mut Tx<'_>, subject: &str, kind: &str, at: Timestamp, value: i64) -> Result<(), Error> {
    insert!(figures { subject: subject, kind: kind, at: at, value: value }, on conflict (subject, kind, at) add)
        .send(tx)
}

/// Writes a measure over the last one of the same step.
pub fn set(tx: &mut Tx<'_>, subject: &str, kind: &str, at: Timestamp, value: i64) -> Result<(), Error> {
    insert!(figures { subject: subject, kind: kind, at: at, value: value }, on conflict (subject, kind, at) replace)
        .send(tx)
}

/// The counts of one kind since a time, oldest first.
pub fn since(
    tx: &mut Tx<'_>,
    subject: &str,
    kind: &str,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<(Timestamp, i64)>, Error> {
    let sql =
        "select at, value from figures where subject = ?1 and kind = ?2 and at >= ?3 order by at limit ?4";
    tx.list(sql, &[subject.into(), kind.into(), since.into(), limit.into()])
}

/// Removes the counts of agents before a time, and those of the hub before another; tells how many.
pub fn sweep(tx: &mut Tx<'_>, of_agents: Timestamp, of_hub: Timestamp, limit: i64) -> Result<u64, Error> {
    let mut removed = 0;
    for (whose, until) in [("subject <> ''", of_agents), ("subject = ''", of_hub)] {
        let sql = format!(
            "delete from figures where (subject, kind, at) in
                 (select subject, kind, at from figures where {whose} and at < ?1 order by at limit ?2)"
        );
        removed += tx.execute(&sql, &[until.into(), limit.into()])?;
    }
    Ok(removed)
}
