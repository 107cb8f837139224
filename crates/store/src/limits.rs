//! Windows of limits that hold for all nodes together.

use std::sync::Arc;

use tandem_core::Timestamp;

use crate::declare::{insert, read, update};
use crate::statement::Read;
use crate::table::columns;
use crate::{Error, Tx};

/// How much of a limit is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When it begins anew.
    pub ends_at: Timestamp,
    pub used: i64,
}

columns! {
    "w", window: Window {
        ends_at,
        used,
    }
}

fn window() -> &'static Arc<Read> {
    read!(Window: "limit_windows w where w.kind = ?1 and w.who = ?2",
        of limit_windows as w { kind: 1, who: 2 } uses []; lock w)
}

/// Says that [`find`] will be called, so that its row can be fetched together with others.
pub fn expect(tx: &mut Tx<'_>, kind: &str, who: &str) -> Result<(), Error> {
    window().expect(tx, &[kind.into(), who.into()])
}

/// The window of one counter, whether it has ended or not.
pub fn find(tx: &mut Tx<'_>, kind: &str, who: &str) -> Result<Option<Window>, Error> {
    // What is not read yet will be when the job runs again.
    Ok(window().peek(tx, &[kind.into(), who.into()])?.flatten())
}

/// Begins the first window of a counter. Of two at once, the unique key refuses the second, which then runs again.
pub fn insert(tx: &mut Tx<'_>, kind: &str, who: &str, window: &Window) -> Result<(), Error> {
    insert!(limit_windows { ..window: Window, kind: kind, who: who }).send(tx)
}

/// Changes the window of a counter that has one.
pub fn update(tx: &mut Tx<'_>, kind: &str, who: &str, window: &Window) -> Result<(), Error> {
    update!(limit_windows { ends_at: window.ends_at, used: window.used } where { kind: kind, who: who })
        .send(tx)
}

/// Removes windows that have ended, a bounded number at a time; tells how many.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from limit_windows where (kind, who) in
             (select kind, who from limit_windows where ends_at <= ?1 order by ends_at limit ?2)",
        &[now.into(), limit.into()],
    )
}
