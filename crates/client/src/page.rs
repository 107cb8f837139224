//! Lists in pages.

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

impl<T> IntoIterator for Page<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

/// The cursor in a `Link` header with `rel="next"`.
pub(crate) fn next_cursor(link: &str) -> Option<String> {
    let (address, _) = link.split_once(">; rel=\"next\"")?;
    let (_, query) = address.rsplit_once('?')?;
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).ok()?;
    pairs.into_iter().find(|(name, _)| name == "cursor").map(|(_, cursor)| cursor)
}
