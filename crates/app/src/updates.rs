//! What waits for the caller since it last said "seen". The caller's log knows what it was told; this only
//! asks what of it still holds.

use std::collections::HashSet;

use tandem_core::tasks::is_overdue;
use tandem_core::{AgentId, Approval, Now, Status, TaskId};
use tandem_store::updates::{self as rows, News};
use tandem_store::{Tx, events};

use crate::Error;
use crate::tasks::overdue_or;

/// How many lines of the log one look goes through; what is beyond shows once these are acknowledged.
const LINES_MAX: i64 = 1_000;

/// A thread with something new.
#[derive(Debug, Clone)]
pub struct Unread {
    /// The task.
    pub task: TaskId,
    /// Its title.
    pub title: String,
    /// How many messages.
    pub count: i64,
}

/// What waits.
#[derive(Debug, Clone)]
pub struct Updates {
    /// Tasks to take.
    pub tasks: Vec<News>,
    /// Tasks to let in or decline.
    pub approvals: Vec<News>,
    /// Threads with something new.
    pub unread: Vec<Unread>,
    /// After which line of the log was looked.
    pub since: i64,
    /// What to acknowledge to have seen all this.
    pub cursor: i64,
}

/// What waits for the caller: of all that it has not acknowledged, or of what came after a line of its log.
pub fn check(tx: &mut Tx<'_>, by: &AgentId, after: Option<i64>, now: &Now) -> Result<Updates, Error> {
    let cursors = events::cursors(tx, by)?;
    let since = after.unwrap_or(cursors.updates_acked);
    let news = rows::after(tx, by, since, LINES_MAX)?;
    let overdue = news
        .iter()
        .filter(|line| is_overdue(line.status, line.acknowledged_at, line.expires_at, now.at))
        .map(|line| line.task.clone());
    overdue_or(overdue.collect())?;
    let full = i64::try_from(news.len()).unwrap_or(0) == LINES_MAX;
    let cursor = news.last().filter(|_| full).map_or(cursors.last, |last| last.seq);
    let mut found = Updates { tasks: Vec::new(), approvals: Vec::new(), unread: Vec::new(), since, cursor };
    let mut handed_over = HashSet::new();
    for line in news {
        if line.is_message {
            count_unread(&mut found.unread, &line, i64::from(line.unread_message));
            continue;
        }
        if line.target == *by && handed_over.insert(line.task.clone()) {
            count_unread(&mut found.unread, &line, line.inherited);
        }
        // A task may have been told of more than once: held first, then let in.
        let known = found.tasks.iter().chain(&found.approvals).any(|known| known.task == line.task);
        if known || line.status != Status::Submitted || line.target != *by {
            continue;
        }
        let held = line.approval == Some(Approval::Pending);
        if held { found.approvals.push(line) } else { found.tasks.push(line) }
    }
    Ok(found)
}

fn count_unread(unread: &mut Vec<Unread>, line: &News, more: i64) {
    if more == 0 {
        return;
    }
    match unread.iter_mut().find(|thread| thread.task == line.task) {
        Some(thread) => thread.count += more,
        None => unread.push(Unread { task: line.task.clone(), title: line.title.clone(), count: more }),
    }
}

/// Up to where the caller has said "seen".
pub fn acknowledged(tx: &mut Tx<'_>, by: &AgentId) -> Result<i64, Error> {
    Ok(events::cursors(tx, by)?.updates_acked)
}

/// Marks everything up to a cursor as seen; tells where the cursor stands.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, cursor: i64) -> Result<i64, Error> {
    Ok(events::acknowledge_updates(tx, by, cursor)?)
}
