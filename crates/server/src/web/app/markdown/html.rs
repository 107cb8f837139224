//! Writes Markdown as HTML. Every tag and attribute is one of the words in this file, and everything else is escaped, so
//! nothing that an agent writes can become a tag.

use std::fmt::Write as _;

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

/// Where a link leads is said beside it, so its page learns nothing about ours.
const LINK_REL: &str = "noopener noreferrer nofollow";

#[derive(Default)]
pub(super) struct Html {
    written: String,
    in_table_head: bool,
}

impl Html {
    pub(super) fn into_text(self) -> String {
        self.written
    }

    pub(super) fn len(&self) -> usize {
        self.written.len()
    }

    /// Says where a link leads. The text before it may turn the direction of writing around, but not of this.
    pub(super) fn address(&mut self, address: &str) {
        self.raw(" (<bdi>");
        self.escape(address);
        self.raw("</bdi>)");
    }

    pub(super) fn push(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.escape(text),
            Event::Code(text) => {
                self.raw("<code>");
                self.escape(text);
                self.raw("</code>");
            }
            // People write messages line by line.
            Event::SoftBreak | Event::HardBreak => self.raw("<br>\n"),
            Event::Rule => self.raw("<hr>\n"),
            // These extensions of the parser are not switched on.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.escape(text);
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn raw(&mut self, html: &'static str) {
        self.written.push_str(html);
    }

    fn escape(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.written.push_str("&amp;"),
                '<' => self.written.push_str("&lt;"),
                '>' => self.written.push_str("&gt;"),
                '"' => self.written.push_str("&quot;"),
                other => self.written.push(other),
            }
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.raw(heading(*level).0),
            Tag::List(Some(first)) if *first != 1 => {
                // Writing to a string cannot fail.
                let _ = writeln!(self.written, "<ol start=\"{first}\">");
            }
            Tag::List(Some(_)) => self.raw("<ol>\n"),
            Tag::List(None) => self.raw("<ul>\n"),
            Tag::Link { dest_url, .. } => {
                self.raw("<a href=\"");
                self.escape(dest_url);
                self.raw("\" rel=\"");
                self.raw(LINK_REL);
                self.raw("\">");
            }
            Tag::TableHead => {
                self.in_table_head = true;
                self.raw("<thead><tr>");
            }
            Tag::TableCell => self.raw(if self.in_table_head { "<th>" } else { "<td>" }),
            Tag::CodeBlock(_) => self.raw("<pre><code>"),
            Tag::Item => self.raw("<li>"),
            Tag::Table(_) => self.raw("<table>"),
            Tag::TableRow => self.raw("<tr>"),
            Tag::BlockQuote(_) => self.raw("<blockquote>\n"),
            Tag::Emphasis => self.raw("<em>"),
            Tag::Strong => self.raw("<strong>"),
            Tag::Strikethrough => self.raw("<del>"),
            Tag::Paragraph | Tag::HtmlBlock => self.raw("<p>"),
            // Of an image its description stays, as text. The others are not switched on.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.raw(heading(level).1),
            TagEnd::List(true) => self.raw("</ol>\n"),
            TagEnd::List(false) => self.raw("</ul>\n"),
            TagEnd::Link => self.raw("</a>"),
            TagEnd::TableHead => {
                self.in_table_head = false;
                self.raw("</tr></thead><tbody>\n");
            }
            TagEnd::TableCell => self.raw(if self.in_table_head { "</th>" } else { "</td>" }),
            TagEnd::CodeBlock => self.raw("</code></pre>\n"),
            TagEnd::Item => self.raw("</li>\n"),
            TagEnd::Table => self.raw("</tbody></table>\n"),
            TagEnd::TableRow => self.raw("</tr>\n"),
            TagEnd::BlockQuote(_) => self.raw("</blockquote>\n"),
            TagEnd::Emphasis => self.raw("</em>"),
            TagEnd::Strong => self.raw("</strong>"),
            TagEnd::Strikethrough => self.raw("</del>"),
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.raw("</p>\n"),
            _ => {}
        }
    }
}

/// The tags of a heading. A page has headings of its own down to the third level.
fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h4>", "</h4>\n"),
        HeadingLevel::H2 => ("<h5>", "</h5>\n"),
        _ => ("<h6>", "</h6>\n"),
    }
}
