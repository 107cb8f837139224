//! The events that were returned last, to recognise a log that is no longer the same.

use std::collections::VecDeque;

/// Events that are remembered: 16 bytes each.
const REMEMBERED: usize = 10_000;
/// Events that are compared after every connection.
const COMPARED: usize = 20;

/// Numbers and hashes of events, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Seen(VecDeque<(i64, u64)>);

/// What the comparison with one event of the hub's log shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// It was returned before.
    Same,
    /// Another event had this number. All events after it are new too.
    Other,
    /// No event had this number.
    Unseen,
}

impl Seen {
    fn find(&self, cursor: i64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&cursor, |(cursor, _)| *cursor)
    }

    pub(super) fn compare(&self, cursor: i64, hash: u64) -> Compared {
        match self.find(cursor).ok().and_then(|at| self.0.get(at)) {
            Some((_, seen)) if *seen == hash => Compared::Same,
            Some(_) => Compared::Other,
            None => Compared::Unseen,
        }
    }

    pub(super) fn remember(&mut self, cursor: i64, hash: u64) {
        match self.find(cursor) {
            Ok(at) => {
                self.0.truncate(at);
                self.0.push_back((cursor, hash));
            }
            Err(at) => self.0.insert(at, (cursor, hash)),
        }
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    /// Forgets the events after a cursor: the hub no longer has them.
    pub(super) fn forget_after(&mut self, cursor: i64) {
        let keep = self.find(cursor + 1).unwrap_or_else(|at| at);
        self.0.truncate(keep);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of the oldest remembered event.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.0.front().map(|(cursor, _)| *cursor)
    }

    /// The number with which the usual comparison begins, of the events up to a cursor.
    pub(super) fn compared_from(&self, cursor: i64) -> Option<i64> {
        let end = self.find(cursor + 1).unwrap_or_else(|at| at);
        self.0.get(end.checked_sub(1)?.saturating_sub(COMPARED - 1)).map(|(cursor, _)| *cursor)
    }
}
