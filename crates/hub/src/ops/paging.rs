//! Paged lists: limits and cursors.

use tandem_app::{Invalid, Page};
use tandem_core::{Id, Timestamp};

use crate::Error;

/// A page of a list, and the cursor of the next page if there is one.
#[derive(Debug, Clone)]
pub struct Listed<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
}

impl<T> Listed<T> {
    /// Converts a page of rows into a page of views.
    pub(crate) fn new<R, C>(
        page: Page<R, C>,
        view: impl FnMut(R) -> T,
        cursor: impl FnOnce(&C) -> String,
    ) -> Self {
        Self { items: page.items.into_iter().map(view).collect(), next: page.next.as_ref().map(cursor) }
    }
}

impl<T> Listed<T> {
    /// Cuts the page to a size, but not below one item. The next page begins behind the last item that is left.
    #[must_use]
    pub(crate) fn cut(
        mut self,
        bytes_max: usize,
        bytes: impl Fn(&T) -> usize,
        cursor: impl FnOnce(&T) -> String,
    ) -> Self {
        let mut total = 0;
        let too_much = |item: &T| {
            total += bytes(item);
            total > bytes_max
        };
        let fit = self.items.iter().position(too_much).map(|fit| fit.max(1));
        if let Some(fit) = fit.filter(|fit| *fit < self.items.len()) {
            self.items.truncate(fit);
            self.next = self.items.last().map(cursor);
        }
        self
    }
}

/// Default and maximum page size.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    default: i64,
    max: i64,
}

/// The limits of most lists.
pub const LIST: Limits = Limits { default: 50, max: 500 };
/// Tasks and approvals, which clients read as a whole.
pub const TASKS: Limits = Limits { default: 500, max: 500 };
/// Connections and members, which clients read as a whole.
pub const WHOLE: Limits = Limits { default: 500, max: 1_000 };
/// Messages: as many as the usual budget of a task, because clients take the first page for the whole thread.
pub const MESSAGES: Limits = Limits { default: 1_000, max: 1_000 };
/// The directory.
pub const DIRECTORY: Limits = Limits { default: 20, max: 100 };

impl Limits {
    /// The requested page size, reduced to the maximum.
    pub fn of(self, asked: Option<i64>) -> Result<i64, Invalid> {
        match asked {
            None => Ok(self.default),
            Some(limit) if limit < 1 => Err(Invalid::field("limit", "must be at least 1")),
            Some(limit) => Ok(limit.min(self.max)),
        }
    }
}

/// The error for an unknown cursor.
#[must_use]
pub fn bad_cursor() -> Invalid {
    Invalid::field("cursor", "must be one that this hub gave out")
}

/// Parses the cursor of a list ordered by time.
pub fn place<T>(cursor: Option<&str>) -> Result<Option<(Timestamp, Id<T>)>, Invalid> {
    let Some(cursor) = cursor else { return Ok(None) };
    let (at, id) = cursor.split_once('.').ok_or_else(bad_cursor)?;
    let at: i64 = at.parse().map_err(|_| bad_cursor())?;
    Ok(Some((Timestamp(at), id.parse().map_err(|_| bad_cursor())?)))
}

/// Formats the cursor of a list ordered by time.
#[must_use]
pub fn cursor<T>(place: &(Timestamp, Id<T>)) -> String {
    format!("{}.{}", place.0.0, place.1)
}

/// Parses the cursor of a numbered list.
pub fn number(cursor: Option<&str>) -> Result<Option<i64>, Invalid> {
    let Some(cursor) = cursor else { return Ok(None) };
    let number = cursor.parse().ok().filter(|number: &i64| *number >= 0);
    number.map(Some).ok_or_else(bad_cursor)
}

/// Parses the cursor of a list ordered by id.
pub(crate) fn id<T>(cursor: Option<&str>) -> Result<Option<Id<T>>, Error> {
    cursor.map(|text| text.parse().map_err(|_| bad_cursor().into())).transpose()
}
