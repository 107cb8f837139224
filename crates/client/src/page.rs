//! Lists in pages.

use std::collections::HashSet;
use std::future::Future;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tandem_api::tasks::PageQuery;

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

/// Reads a list page by page, `limit` items at a time, while `each` wants more. Fails if a hub sends pages without an
/// end.
///
/// ```no_run
/// # async fn example(client: tandem_client::Client) -> Result<(), tandem_client::Error> {
/// let mut names = Vec::new();
/// let read = async |query| client.connections(&query).await;
/// tandem_client::each_page(500, read, |page| {
///     names.extend(page.into_iter().map(|one| one.connected.agent_name));
///     names.len() < 10_000
/// })
/// .await
/// # }
/// ```
pub async fn each_page<T, F>(
    limit: i64,
    mut read: impl FnMut(PageQuery) -> F,
    mut each: impl FnMut(Page<T>) -> bool,
) -> Result<(), Error>
where
    F: Future<Output = Result<Page<T>, Error>>,
{
    let (mut cursor, mut bytes, mut seen) = (None, 0_usize, HashSet::new());
    for _ in 0..PAGES_MAX {
        let page = read(PageQuery { limit: Some(limit), cursor }).await?;
        bytes = bytes.saturating_add(page.bytes);
        cursor = page.next.clone();
        let wants_more = each(page);
        let Some(next) = cursor.as_ref().filter(|_| wants_more) else { return Ok(()) };
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        // Pages that lead back to one that was read would go on for ever.
        if !seen.insert(hasher.finish()) || bytes > LIST_BYTES_MAX {
            break;
        }
    }
    Err(Error::EndlessList)
}

/// Reads a list page by page until an item is the wanted one.
pub async fn find_on_pages<T, U, F>(
    limit: i64,
    read: impl FnMut(PageQuery) -> F,
    mut wanted: impl FnMut(T) -> Option<U>,
) -> Result<Option<U>, Error>
where
    F: Future<Output = Result<Page<T>, Error>>,
{
    let mut found = None;
    each_page(limit, read, |page| {
        found = page.into_iter().find_map(&mut wanted);
        found.is_none()
    })
    .await?;
    Ok(found)
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
