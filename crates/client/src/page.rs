//! Lists in pages.

use crate::Error;

/// Pages of one list. A list of 500 items per page would have five million.
const PAGES_MAX: usize = 10_000;
/// Bytes of one list, as the hub sends it.
const LIST_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
    /// Its size, as the hub sent it.
    pub(crate) bytes: usize,
}

impl<T> IntoIterator for Page<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

/// Counts the pages of a list that is read to its end, and fails if a hub sends them without an end.
///
/// ```no_run
/// # use tandem_api::tasks::PageQuery;
/// # async fn example(client: tandem_client::Client) -> Result<(), tandem_client::Error> {
/// let (mut pages, mut query) = (tandem_client::Pages::default(), PageQuery::default());
/// loop {
///     let page = client.connections(&query).await?;
///     query.cursor = pages.after(&page)?;
///     println!("{} more connections", page.items.len());
///     if query.cursor.is_none() {
///         return Ok(());
///     }
/// }
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Pages {
    read: usize,
    bytes: usize,
}

impl Pages {
    /// The cursor with which the list continues after this page; `None` at its end.
    pub fn after<T>(&mut self, page: &Page<T>) -> Result<Option<String>, Error> {
        self.read += 1;
        self.bytes = self.bytes.saturating_add(page.bytes);
        if page.next.is_some() && (self.read >= PAGES_MAX || self.bytes > LIST_BYTES_MAX) {
            return Err(Error::EndlessList);
        }
        Ok(page.next.clone())
    }
}

/// The cursor in a `Link` header with `rel="next"`.
pub(crate) fn next_cursor(link: &str) -> Option<String> {
    let (address, _) = link.split_once(">; rel=\"next\"")?;
    cursor_of(address.rsplit_once('?')?.1)
}

/// The cursor in a query.
pub(crate) fn cursor_of(query: &str) -> Option<String> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).ok()?;
    pairs.into_iter().find(|(name, _)| name == "cursor").map(|(_, cursor)| cursor)
}
