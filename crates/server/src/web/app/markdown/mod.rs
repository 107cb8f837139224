//! Markdown of agents as HTML that cannot act: no images, no raw HTML, no classes, and links that show where they lead.
//!
//! The parser is given a limited amount of text, and its output is cleaned again by a list of what may stay. Whatever is
//! not on the list is gone, so a fault in the first step shows nothing it should not.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, Url, UrlRelative};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Longer text is cut, at a place between two characters.
pub const RENDERED_BYTES_MAX: usize = 16 * 1024;
/// Cells of all tables of a text.
const CELLS_MAX: usize = 1_000;
/// Deeper nesting is shown as plain text.
const DEPTH_MAX: usize = 24;
const LINK_REL: &str = "noopener noreferrer nofollow";
const TAGS: [&str; 21] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
];

/// Text of an agent, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// Clean HTML. Templates may put it into a page as it is.
    Html(String),
    /// Plain text, which templates escape.
    Plain(String),
}

/// The beginning of a text, and whether that is all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// What is shown.
    pub shown: Shown,
    /// Whether there is more.
    pub is_cut: bool,
}

/// The text as Markdown.
#[must_use]
pub fn markdown(text: &str) -> Excerpt {
    let (text, is_cut) = cut(text);
    let shown = match render(text) {
        Some(html) => Shown::Html(html),
        None => Shown::Plain(text.to_owned()),
    };
    Excerpt { shown, is_cut }
}

/// The text as it is, such as JSON.
#[must_use]
pub fn plain(text: &str) -> Excerpt {
    let (text, is_cut) = cut(text);
    Excerpt { shown: Shown::Plain(text.to_owned()), is_cut }
}

/// All of the text as it is. Plain text costs no more than its size.
#[must_use]
pub fn whole(text: &str) -> Excerpt {
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

/// Clean HTML; none if the text is nested too deeply or has too many cells.
fn render(text: &str) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let (mut events, mut links, mut depth, mut cells) = (Vec::new(), Links::default(), 0_usize, 0_usize);
    for event in Parser::new_ext(text, options) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        // A short text can stand for a table of very many cells.
        cells += usize::from(matches!(event, Event::Start(Tag::TableCell)));
        if depth > DEPTH_MAX || cells > CELLS_MAX {
            return None;
        }
        links.push(event, &mut events);
    }
    let mut unclean = String::new();
    html::push_html(&mut unclean, events.into_iter());
    Some(CLEANER.clean(&unclean).to_string())
}

/// Turns parser events into those that may be shown, and keeps track of the link that is open.
#[derive(Default)]
struct Links {
    /// Where the open link leads, if a browser may follow it, and its text so far.
    open: Option<(Result<String, String>, String)>,
}

impl Links {
    fn push<'t>(&mut self, event: Event<'t>, events: &mut Vec<Event<'t>>) {
        match event {
            Event::Start(Tag::Link { dest_url, link_type, title, id }) => {
                let address = followed(&dest_url);
                if let Ok(address) = &address {
                    let dest_url = CowStr::from(address.clone());
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                self.open = Some((address, String::new()));
            }
            Event::End(TagEnd::Link) => self.close(events),
            // Of an image its description stays, as text.
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            Event::Start(Tag::HtmlBlock) => events.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => events.push(Event::End(TagEnd::Paragraph)),
            Event::Html(text) | Event::InlineHtml(text) => self.text(text, events),
            Event::Text(text) => self.text(text, events),
            Event::Code(text) => {
                self.note(&text);
                events.push(Event::Code(text));
            }
            // People write messages line by line.
            Event::SoftBreak => events.push(Event::HardBreak),
            Event::Start(Tag::Heading { level, .. }) => {
                let (level, id, classes, attrs) = (below_the_page(level), None, Vec::new(), Vec::new());
                events.push(Event::Start(Tag::Heading { level, id, classes, attrs }));
            }
            Event::End(TagEnd::Heading(level)) => {
                events.push(Event::End(TagEnd::Heading(below_the_page(level))))
            }
            other => events.push(other),
        }
    }

    fn text<'t>(&mut self, text: CowStr<'t>, events: &mut Vec<Event<'t>>) {
        self.note(&text);
        events.push(Event::Text(text));
    }

    fn note(&mut self, text: &str) {
        if let Some((_, shown)) = &mut self.open {
            shown.push_str(text);
        }
    }

    /// Ends a link, and says where it leads unless its text does.
    fn close(&mut self, events: &mut Vec<Event<'_>>) {
        let Some((address, shown)) = self.open.take() else { return };
        let address = match address {
            Ok(address) => {
                events.push(Event::End(TagEnd::Link));
                address
            }
            Err(address) => address,
        };
        if shown.trim().trim_end_matches('/') != address.trim_end_matches('/') {
            events.push(Event::Text(format!(" ({address})").into()));
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

/// A page has headings of its own down to the third level.
fn below_the_page(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner
        .tags(HashSet::from(TAGS))
        .tag_attributes(HashMap::from([("a", HashSet::from(["href"])), ("ol", HashSet::from(["start"]))]))
        .url_schemes(HashSet::from(["http", "https"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some(LINK_REL));
    cleaner
});
