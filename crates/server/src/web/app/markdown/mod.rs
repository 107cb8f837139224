//! Markdown of agents as HTML that cannot act: no images, no raw HTML, no classes, and links that show where they lead.
//!
//! The parser is given a limited amount of text. Its events are written as HTML by `html`, which knows a fixed set of
//! tags.

mod html;
#[cfg(test)]
mod tests;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use url::Url;

use html::Html;

/// Longer text is cut, at a place between two characters.
pub(crate) const RENDERED_BYTES_MAX: usize = 16 * 1024;
/// Cells of all tables of a text.
const CELLS_MAX: usize = 1_000;
/// Deeper nesting is shown as plain text.
const DEPTH_MAX: usize = 24;
/// Text that becomes longer is shown as it is: an address that is written once can be meant a thousand times.
const HTML_BYTES_MAX: usize = 8 * RENDERED_BYTES_MAX;

/// What one page may spend on Markdown. Text costs up to 0.3 µs of processor time for each byte and 0.1 µs for each event, so a
/// page costs a few milliseconds whatever agents write. What comes after that is shown as it was written.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Bytes of the texts.
    bytes: usize,
    /// Tags and pieces of text.
    events: usize,
}

impl Budget {
    pub(crate) fn of_a_page() -> Self {
        Self { bytes: 8 * RENDERED_BYTES_MAX, events: 12_000 }
    }

    /// Takes the bytes of a text; false if there are not so many left.
    fn take_text(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some() && self.events > 0
    }

    fn take_event(&mut self) -> bool {
        let left = self.events.checked_sub(1);
        self.events = left.unwrap_or(0);
        left.is_some()
    }
}

/// Text of an agent, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Clean HTML. Templates may put it into a page as it is.
    Html(String),
    /// Plain text, which templates escape.
    Plain(String),
}

/// The beginning of a text, and whether that is all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) shown: Shown,
    pub(crate) is_cut: bool,
}

#[must_use]
pub(crate) fn markdown(text: &str, budget: &mut Budget) -> Excerpt {
    let (text, is_cut) = cut(text);
    let shown = match render(text, budget) {
        Some(html) => Shown::Html(html),
        None => Shown::Plain(text.to_owned()),
    };
    Excerpt { shown, is_cut }
}

/// The text as it is, such as JSON.
#[must_use]
pub(crate) fn plain(text: &str) -> Excerpt {
    let (text, is_cut) = cut(text);
    Excerpt { shown: Shown::Plain(text.to_owned()), is_cut }
}

/// All of the text as it is. Plain text costs no more than its size.
#[must_use]
pub(crate) fn whole(text: &str) -> Excerpt {
    Excerpt { shown: Shown::Plain(text.to_owned()), is_cut: false }
}

fn cut(text: &str) -> (&str, bool) {
    if text.len() <= RENDERED_BYTES_MAX {
        return (text, false);
    }
    let kept = &text[..text.floor_char_boundary(RENDERED_BYTES_MAX)];
    // Not in the middle of a line, if there are lines.
    let kept = kept.rfind('\n').filter(|end| *end > RENDERED_BYTES_MAX / 2).map_or(kept, |end| &kept[..end]);
    (kept, true)
}

/// HTML; none if the text is nested too deeply, has too many cells, becomes too long, or if the budget is used up.
fn render(text: &str, budget: &mut Budget) -> Option<String> {
    if !budget.take_text(text.len()) {
        return None;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let (mut page, mut depth, mut cells) = (Page::default(), 0_usize, 0_usize);
    for event in Parser::new_ext(text, options) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A short text can stand for a table of very many cells.
        cells += usize::from(matches!(event, Event::Start(Tag::TableCell)));
        if !budget.take_event() || depth > DEPTH_MAX || cells > CELLS_MAX {
            return None;
        }
        page.push(event);
        if page.html.len() > HTML_BYTES_MAX {
            return None;
        }
    }
    Some(page.html.into_text())
}

/// The HTML so far, and the link that is open.
#[derive(Default)]
struct Page {
    html: Html,
    /// Where the open link leads, if a browser may follow it, and its text so far.
    open: Option<(Result<String, String>, String)>,
    /// Links within the text of the open one, which are not links of their own.
    within: usize,
}

impl Page {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Link { .. }) if self.open.is_some() => self.within += 1,
            Event::End(TagEnd::Link) if self.within > 0 => self.within -= 1,
            Event::Start(Tag::Link { dest_url, link_type, title, id }) => {
                let address = followed(&dest_url);
                if let Ok(address) = &address {
                    let dest_url = CowStr::from(address.as_str());
                    self.html.push(&Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                self.open = Some((address, String::new()));
            }
            Event::End(TagEnd::Link) => self.close_link(),
            other => {
                if let Some((_, shown)) = &mut self.open
                    && let Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) = &other
                {
                    shown.push_str(text);
                }
                self.html.push(&other);
            }
        }
    }

    /// Ends a link, and says where it leads unless its text does.
    fn close_link(&mut self) {
        let Some((address, shown)) = self.open.take() else { return };
        let address = match address {
            Ok(address) => {
                self.html.push(&Event::End(TagEnd::Link));
                address
            }
            Err(address) => address,
        };
        if shown.trim().trim_end_matches('/') != address.trim_end_matches('/') {
            self.html.address(&address);
        }
    }
}

/// The address as a browser would go to it, if it may; else the address as it was written.
fn followed(address: &str) -> Result<String, String> {
    match Url::parse(address) {
        // A name before the host makes one address look like another.
        Ok(url)
            if matches!(url.scheme(), "http" | "https")
                && url.username().is_empty()
                && url.password().is_none() =>
        {
            Ok(url.to_string())
        }
        _ => Err(address.to_owned()),
    }
}
