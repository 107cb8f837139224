//! Windows of limits that hold for all nodes together.

use tandem_core::Timestamp;

use crate::table::{FromRow as _, columns, insert, sql};
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

fn query() -> &'static str {
    sql!("select {} from limit_windows w where w.kind = ?1 and w.who = ?2 /* lock w */", Window)
}

/// Says that [`find`] will be called, so that its row can be fetched together with others.
pub fn expect(tx: &mut Tx<'_>, kind: &str, who: &str) -> Result<(), Error> {
    tx.prefetch(query(), &[kind.into(), who.into()])
}

/// The window of one counter, whether it has ended or not.
pub fn find(tx: &mut Tx<'_>, kind: &str, who: &str) -> Result<Option<Window>, Error> {
    // What is not read yet will be when the job runs again.
    let found = tx.peek(query(), &[kind.into(), who.into()])?.and_then(|mut rows| rows.pop());
    found.map(|mut row| Window::from_row(&mut row)).transpose()
}

/// Begins the first window of a counter. Of two at once, the unique key refuses the second, which then runs again.
pub fn insert(tx: &mut Tx<'_>, kind: &str, who: &str, window: &Window) -> Result<(), Error> {
    insert!(limit_windows { ..window: Window, kind: kind, who: who }).send(tx)
}

/// Changes the window of a counter that has one.
pub fn update(tx: &mut Tx<'_>, kind: &str, who: &str, window: &Window) -> Result<(), Error> {
    tx.send(
        "update limit_windows set ends_at = ?3, used = ?4 where kind = ?1 and who = ?2",
        &[kind.into(), who.into(), window.ends_at.into(), window.used.into()],
    )
}

/// Removes windows that have ended, a bounded number at a time; tells how many.
pub fn sweep(tx: &mut Tx<'_>, now: Timestamp, limit: i64) -> Result<u64, Error> {
    tx.execute(
        "delete from limit_windows where (kind, who) in
             (select kind, who from limit_windows where ends_at <= ?1 order by ends_at limit ?2)",
        &[now.into(), limit.into()],
    )
}
