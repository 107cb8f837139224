//! What waits for the caller since it last said "seen".

use tandem_core::{AgentId, Task};
use tandem_store::messages::Unread;
use tandem_store::{Tx, events, messages, tasks};

use crate::Error;

/// How many entries of a kind are shown; what is beyond shows once these are acknowledged.
const ENTRIES_MAX: i64 = 100;
/// How many unread messages are looked at to count them by task.
const UNREAD_SCAN_MAX: i64 = 1_000;

/// What waits.
#[derive(Debug, Clone)]
pub struct Updates {
    /// Tasks to take.
    pub tasks: Vec<Task>,
    /// Tasks to let in or decline.
    pub approvals: Vec<Task>,
    /// Threads with something new.
    pub unread: Vec<Unread>,
    /// What to acknowledge to have seen all this.
    pub cursor: i64,
}

/// What waits for the caller.
pub fn check(tx: &mut Tx<'_>, by: &AgentId) -> Result<Updates, Error> {
    let cursors = events::cursors(tx, by)?;
    Ok(Updates {
        tasks: tasks::news(tx, by, false, cursors.updates_acked, ENTRIES_MAX)?,
        approvals: tasks::news(tx, by, true, cursors.updates_acked, ENTRIES_MAX)?,
        unread: messages::unread(tx, by, cursors.updates_acked, UNREAD_SCAN_MAX)?,
        cursor: cursors.last,
    })
}

/// Marks everything up to a cursor as seen; tells where the cursor stands.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, cursor: i64) -> Result<i64, Error> {
    Ok(events::acknowledge_updates(tx, by, cursor)?)
}
