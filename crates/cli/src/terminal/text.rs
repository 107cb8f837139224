//! Makes text from elsewhere safe to print. Control characters could move the cursor, change the title of the window or
//! hide text; direction marks could show it in another order.

use std::fmt::Write as _;

use tandem_core::text::{forms_neighbours, is_invisible};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Characters of one text that are shown. What is longer can be read with `--json`.
const CHARS_MAX: usize = 64 * 1024;
/// Marks on one character that are shown. No script needs more; hundreds would cover the lines above and below.
const MARKS_MAX: usize = 8;

/// Whether a character must not reach the terminal as it is.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Text in one line. Unsafe characters are shown as escapes, line breaks as spaces.
pub(crate) fn line(text: &str) -> String {
    let mut safe = Safe::with_capacity(text.len());
    let mut all = text.chars().peekable();
    for count in 0.. {
        let Some(c) = all.next() else { break };
        if count == CHARS_MAX {
            safe.push('…', None);
            break;
        }
        match c {
            '\n' | '\t' => safe.push(' ', None),
            '\r' => {}
            c => safe.push(c, all.peek().copied()),
        }
    }
    safe.text
}

/// Text in its lines. Unsafe characters are shown as escapes, except line breaks; a tab becomes spaces.
pub(crate) fn lines(text: &str) -> String {
    let mut safe = Safe::with_capacity(text.len());
    let mut all = text.chars().peekable();
    for count in 0.. {
        let Some(c) = all.next() else { break };
        if count == CHARS_MAX {
            let rest = text.chars().count() - count;
            let _ = write!(safe.text, "\n… {rest} more characters; --json shows all");
            break;
        }
        match c {
            '\n' => safe.end_line(),
            '\t' => "    ".chars().for_each(|c| safe.push(c, None)),
            '\r' => {}
            c => safe.push(c, all.peek().copied()),
        }
    }
    safe.text
}

/// Text that is safe to print.
struct Safe {
    text: String,
    /// The last character of the original.
    before: Option<char>,
    /// Marks since the last character that has a width.
    marks: usize,
}

impl Safe {
    fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes.min(CHARS_MAX)), before: None, marks: 0 }
    }

    fn push(&mut self, c: char, next: Option<char>) {
        let before = self.before.replace(c);
        if is_unsafe(c) && !forms_neighbours(before, c, next) {
            self.marks = 0;
            // Writing to a string cannot fail.
            let _ = write!(self.text, "\\u{{{:x}}}", u32::from(c));
        } else if c.width() != Some(0) {
            self.marks = 0;
            self.text.push(c);
        } else if self.marks < MARKS_MAX {
            self.marks += 1;
            self.text.push(c);
        }
    }

    fn end_line(&mut self) {
        (self.marks, self.before) = (0, None);
        self.text.push('\n');
    }
}

/// JSON with unsafe characters as escapes. They can only be inside strings, so it stays the same JSON.
pub(crate) fn json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Cuts a line to a width, with an ellipsis if something is missing.
pub(crate) fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// Wraps safe text at spaces, each line with an indent in front. A word that is longer than a line is broken.
pub(crate) fn wrap(text: &str, columns: usize, indent: &str) -> String {
    let columns = columns.saturating_sub(indent.width()).max(10);
    let mut wrapped = Vec::new();
    for line in text.split('\n') {
        // The width is counted along: a character may have any number of marks, which take no column.
        let (mut current, mut used) = (String::new(), 0);
        for word in line.split(' ') {
            if !current.is_empty() && used + 1 + word.width() > columns {
                wrapped.push(std::mem::take(&mut current));
                used = 0;
            } else if !current.is_empty() {
                current.push(' ');
                used += 1;
            }
            let mut before = 0;
            for c in word.chars() {
                // This selector makes a wide picture of a narrow sign.
                let width = if c == '\u{fe0f}' && before == 1 { 1 } else { c.width().unwrap_or(0) };
                if used + width > columns {
                    wrapped.push(std::mem::take(&mut current));
                    used = 0;
                }
                current.push(c);
                (used, before) = (used + width, width);
            }
        }
        wrapped.push(current);
    }
    wrapped.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
