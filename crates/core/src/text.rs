//! Text from outside, checked once: a value of one of these types is within the bounds of the contract.
//!
//! No text may contain a NUL character: PostgreSQL cannot store it, and both databases must behave alike.

use std::fmt;

use crate::events::EVENT_TYPES;
use crate::webhooks::SECRET_CHARS_MIN;

/// What is wrong with a value: the end of a sentence that starts with the name of the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

fn unfit<T>(why: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit(why.into()))
}

/// The largest description or message (256 KiB); more is answered with 413.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// Bytes of a text inside a JSON document.
#[must_use]
pub fn json_bytes(text: &str) -> usize {
    let bytes = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..=31 => 6,
        _ => 1,
    };
    // Most texts have little to escape, and to look for it costs much less than to add up.
    let chunk_bytes = |chunk: &[u8]| {
        let is_plain =
            chunk.iter().fold(true, |plain, &byte| plain & (byte > 31) & (byte != b'"') & (byte != b'\\'));
        if is_plain { chunk.len() } else { chunk.iter().copied().map(bytes).sum() }
    };
    text.as_bytes().chunks(64).map(chunk_bytes).sum()
}

fn line(text: &str, chars_max: usize) -> Result<(), Unfit> {
    if text.trim().is_empty() {
        return unfit("must not be empty");
    }
    if text.chars().any(char::is_control) {
        return unfit("must not contain control characters");
    }
    at_most(text, chars_max)
}

/// A line by which people tell agents or networks apart: what cannot be seen in it would let two of them look alike.
fn name(text: &str, chars_max: usize) -> Result<(), Unfit> {
    let (mut before, mut rest) = (None, text.chars());
    while let Some(c) = rest.next() {
        if is_invisible(c) && !forms_neighbours(before, c, rest.clone().next()) {
            return unfit("must not contain invisible characters");
        }
        before = Some(c);
    }
    line(text, chars_max)
}

fn at_most(text: &str, chars_max: usize) -> Result<(), Unfit> {
    if text.chars().count() > chars_max {
        return unfit(format!("must be at most {chars_max} characters long"));
    }
    no_nul(text)
}

fn no_nul(text: &str) -> Result<(), Unfit> {
    if text.contains('\0') {
        return unfit("must not contain a NUL character");
    }
    Ok(())
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize, serde::Serialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Unfit;
            fn try_from(text: String) -> Result<Self, Unfit> {
                let check: fn(&str) -> Result<(), Unfit> = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_type!(
    /// The name of an agent or a network.
    AgentName,
    |t| name(t, 64)
);
text_type!(AgentDescription, |t| at_most(t, 500));
text_type!(
    /// The title of a task: one line.
    Title,
    |t| line(t, 128)
);
text_type!(
    /// A caller's own name for a connection.
    Alias,
    |t| line(t, 64)
);
text_type!(
    /// Why a party ended or declined a task.
    Reason,
    |t| at_most(t, 1_000)
);
text_type!(
    /// An opaque key with which an agent assigns events to its own sessions.
    SessionKey,
    |t| {
        if t.len() > 256 {
            return unfit("must be at most 256 bytes long");
        }
        no_nul(t)
    }
);
text_type!(
    /// A description or a message. Its length is checked later, because the answer is 413 and not 400.
    Body,
    no_nul
);
text_type!(SearchText, |t| at_most(t, 200));

/// A name that a program gives to something of its own: no empty text, and nothing that cannot be printed.
fn printable(text: &str, bytes_max: usize) -> Result<(), Unfit> {
    match text.len() {
        0 => unfit("must not be empty"),
        bytes if bytes > bytes_max => unfit(format!("must be at most {bytes_max} bytes long")),
        _ if text.chars().any(char::is_control) => unfit("must not contain control characters"),
        _ => Ok(()),
    }
}

text_type!(
    /// The id of a conversation: the tasks of one agent for another that belong together.
    ContextId,
    |t| printable(t, 128)
);
// What a client of another protocol calls a message or an artifact. It need not be unique.
text_type!(ForeignId, |t| printable(t, 256));
text_type!(
    /// A tag by which agents are found.
    Capability,
    |t| {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if t.is_empty() || t.len() > 256 || !t.bytes().all(fits) {
            return unfit("each must be 1 to 256 characters of a-z, 0-9 and -");
        }
        Ok(())
    }
);

text_type!(
    /// The secret that signs webhook deliveries.
    WebhookSecret,
    |t| {
        if t.chars().count() < SECRET_CHARS_MIN {
            return unfit(format!("must be at least {SECRET_CHARS_MIN} characters long"));
        }
        at_most(t, 512)
    }
);

/// The events a webhook gets, without repetition, in the order given; none named means all.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "Vec<String>")]
pub struct WebhookEvents(Vec<String>);

impl TryFrom<Vec<String>> for WebhookEvents {
    type Error = Unfit;
    fn try_from(events: Vec<String>) -> Result<Self, Unfit> {
        if events.iter().any(|event| !EVENT_TYPES.contains(&event.as_str())) {
            return unfit(format!("each must be one of {}", EVENT_TYPES.join(", ")));
        }
        Ok(Self(without_repetition(events)))
    }
}

impl From<WebhookEvents> for Vec<String> {
    fn from(events: WebhookEvents) -> Self {
        events.0
    }
}

/// An agent's tags: at most twenty, without repetition, in the order given.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "Vec<Capability>")]
pub struct Capabilities(Vec<Capability>);

impl Capabilities {
    /// The tags, in the order given.
    #[must_use]
    pub fn as_slice(&self) -> &[Capability] {
        &self.0
    }
}

impl TryFrom<Vec<Capability>> for Capabilities {
    type Error = Unfit;
    fn try_from(tags: Vec<Capability>) -> Result<Self, Unfit> {
        if tags.len() > 20 {
            return unfit("must be at most 20 tags");
        }
        Ok(Self(without_repetition(tags)))
    }
}

fn without_repetition<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// A whole number within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "i64")]
pub struct Within<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Within<MIN, MAX> {
    /// The largest number.
    #[must_use]
    pub const fn max() -> i64 {
        MAX
    }

    /// The checked number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> TryFrom<i64> for Within<MIN, MAX> {
    type Error = Unfit;
    fn try_from(number: i64) -> Result<Self, Unfit> {
        if (MIN..=MAX).contains(&number) {
            Ok(Self(number))
        } else {
            unfit(format!("must be from {MIN} to {MAX}"))
        }
    }
}

/// The form in which text is compared in searches: lower case, made here so that both databases compare the same.
#[must_use]
pub fn searchable(text: &str) -> String {
    text.to_lowercase()
}

/// Characters that take no place, or change the order in which others are shown: the general categories Cf, Zl and Zp, what
/// Unicode calls default-ignorable, and the blank pattern of Braille.
const INVISIBLE: [(char, char); 26] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a character takes no place, or changes the order in which others are shown. Names are compared without such
/// characters, and a terminal shows them as escapes.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    let at = INVISIBLE.partition_point(|(_, last)| *last < c);
    INVISIBLE.get(at).is_some_and(|(first, _)| *first <= c)
}

/// Whether an invisible character only forms its neighbours, as in most emoji, in Persian and in Hindi: a terminal shows it as
/// it is there. Beside ASCII it could only hide something.
#[must_use]
pub fn forms_neighbours(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is_drawn = |c: char| !c.is_ascii() && !c.is_control() && !c.is_whitespace() && !is_invisible(c);
    match c {
        // The second case is a keycap.
        '\u{fe0e}' | '\u{fe0f}' => before.is_some_and(is_drawn) || after == Some('\u{20e3}'),
        '\u{200c}' | '\u{200d}' => {
            before.is_some_and(|c| is_drawn(c) || c == '\u{fe0f}') && after.is_some_and(is_drawn)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_what_can_be_seen() {
        for good in ["Bob", "Zoë", "数据", "Ада 2", "data bot \u{1f916}", "❤\u{fe0f} bot", "می\u{200c}خواهم"]
        {
            assert!(AgentName::try_from(good.to_owned()).is_ok(), "{good}");
        }
        for hidden in [
            '\u{200b}',
            '\u{200d}',
            '\u{202e}',
            '\u{2066}',
            '\u{ad}',
            '\u{3164}',
            '\u{2800}',
            '\u{feff}',
            '\u{e0041}',
            '\u{fe0f}',
        ] {
            for name in [hidden.to_string(), format!("Bob{hidden}"), format!("B{hidden}ob")] {
                assert!(AgentName::try_from(name.clone()).is_err(), "{name:?}");
            }
        }
    }

    #[test]
    fn invisible_characters_are_known_by_their_categories() {
        for (first, last) in INVISIBLE {
            assert!(is_invisible(first) && is_invisible(last), "{first:?}");
        }
        assert!(INVISIBLE.is_sorted() && INVISIBLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
        // A sign of every kind: hyphen, joiner, mark of direction, isolate, tag, selector, filler, separator, note.
        for c in "\u{ad}\u{200c}\u{200d}\u{200e}\u{2066}\u{e0041}\u{fe0f}\u{e0100}\u{3164}\u{2029}\u{fffb}\u{180f}\u{17b4}"
            .chars()
        {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in "a \u{a0}\té中\u{301}\u{fffc}\u{fffd}\u{2019}👩\u{1f3fd}".chars() {
            assert!(!is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn joiners_stay_where_a_script_needs_them() {
        let stays = |text: &str| {
            let all: Vec<char> = text.chars().collect();
            let at = |n: usize| all.get(n).copied();
            (0..all.len())
                .filter(|n| is_invisible(all[*n]))
                .all(|n| forms_neighbours(n.checked_sub(1).and_then(at), all[n], at(n + 1)))
        };
        for text in
            ["می\u{200c}خواهم", "👩\u{200d}💻", "❤\u{fe0f}\u{200d}🔥", "⚠\u{fe0f} x", "1\u{fe0f}\u{20e3}"]
        {
            assert!(stays(text), "{text:?}");
        }
        for text in
            ["bob\u{200d}", "b\u{200c}ob", "bob\u{fe0f}", "é\u{200d}", "⚠\u{fe0f}\u{fe0f}", "é\u{200b}é"]
        {
            assert!(!stays(text), "{text:?}");
        }
    }
}
