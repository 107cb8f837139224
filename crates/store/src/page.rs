//! A page that is being filled with rows.

use crate::table::FromRow;
use crate::{Error, Row};

/// How full a page is. Rows with long texts are read until they fill one: so many of them would be too much.
#[derive(Debug)]
pub(crate) struct PageRoom {
    room: usize,
    bytes: usize,
    rows: usize,
    cut: bool,
}

impl PageRoom {
    /// An empty page that has room for so many bytes in JSON.
    pub(crate) fn new(room: usize) -> Self {
        Self { room, bytes: 0, rows: 0, cut: false }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is more than there was room for.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Reads a row, if it fits. The first one always does.
    pub(crate) fn add<T: FromRow>(&mut self, row: &mut Row<'_>, to: &mut Vec<T>) -> Result<bool, Error> {
        if self.bytes >= self.room && self.rows > 0 {
            self.cut = true;
            return Ok(false);
        }
        row.count_bytes();
        let found = T::from_row(row)?;
        let fits = self.takes(row.counted_bytes());
        if fits {
            to.push(found);
        }
        Ok(fits)
    }

    fn takes(&mut self, bytes: usize) -> bool {
        let bytes = self.bytes + bytes;
        self.cut = bytes > self.room && self.rows > 0;
        if !self.cut {
            self.bytes = bytes;
            self.rows += 1;
        }
        !self.cut
    }
}
