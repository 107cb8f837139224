//! How pages say things: statuses, times, numbers. One place, so that every screen says them alike.

use tandem_core::{Approval, Status, Timestamp, Waits};

/// A status as people see it: a word, an icon and a tone of colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatusMark {
    pub(crate) word: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) tone: &'static str,
}

/// The mark of a status. A task that is held for approval has a mark of its own.
pub(crate) fn status(status: Status, approval: Option<Approval>) -> StatusMark {
    let (word, icon, tone) = match status {
        Status::Submitted if approval == Some(Approval::Pending) => {
            ("Held for approval", "status-held", "wait")
        }
        Status::Draft => ("Draft", "status-draft", "plain"),
        Status::Submitted => ("Submitted", "status-submitted", "plain"),
        Status::Working => ("Working", "status-working", "active"),
        Status::InputRequired => ("Input required", "status-input-required", "wait"),
        Status::AuthRequired => ("Auth required", "status-auth-required", "wait"),
        Status::Completed => ("Completed", "status-completed", "good"),
        Status::Failed => ("Failed", "status-failed", "bad"),
        Status::Rejected => ("Rejected", "status-rejected", "bad"),
        Status::Cancelled => ("Cancelled", "status-cancelled", "plain"),
        Status::Expired => ("Expired", "status-expired", "bad"),
    };
    StatusMark { word, icon, tone }
}

/// The mark of a task: its status, or what matters more than that.
pub(crate) fn mark(of: Status, waits: Waits) -> StatusMark {
    let held = (waits == Waits::Approval).then_some(Approval::Pending);
    let usual = status(of, held);
    match waits {
        Waits::Sign => StatusMark { word: "Stalled", icon: "warn", tone: "wait" },
        Waits::Acceptance => StatusMark { word: "Result to accept", icon: "shield", tone: "wait" },
        Waits::Resumption => StatusMark { word: "Answered", icon: "check", tone: "plain" },
        _ => usual,
    }
}

/// A moment: exact for machines and on hover, relative for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct When {
    /// ISO 8601.
    pub(crate) iso: String,
    /// The same without the letters.
    pub(crate) exact: String,
    /// "2 min ago", or "in 2 min".
    pub(crate) relative: String,
    /// The time of day, with seconds.
    pub(crate) clock: String,
}

impl When {
    pub(crate) fn new(at: Timestamp, now: Timestamp) -> Self {
        let iso = at.to_string();
        let exact = format!("{} UTC", iso.replace('T', " ").trim_end_matches('Z'));
        let clock = iso.get(11..19).unwrap_or_default().to_owned();
        Self { relative: relative(at, now), iso, exact, clock }
    }
}

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago, or in how long. `times.js` has the same rule; both are tested with the same table.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let ms = now.ms_since(at).abs();
    if ms < 10 * SECOND {
        return "just now".to_owned();
    }
    if ms >= 30 * DAY {
        return date(at);
    }
    // Steps of ten seconds: a text that changes every second draws the eye.
    let shown = if ms < MINUTE { ms - ms % (10 * SECOND) } else { ms };
    if at > now { format!("in {}", span(shown)) } else { format!("{} ago", span(shown)) }
}

/// The day of a moment: "3 May 2026".
fn date(at: Timestamp) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"];
    let iso = at.to_string();
    let part = |range: std::ops::Range<usize>| iso.get(range).and_then(|text| text.parse::<usize>().ok());
    let month = part(5..7).and_then(|month| MONTHS.get(month.saturating_sub(1)));
    match (iso.get(..4), month, part(8..10)) {
        (Some(year), Some(month), Some(day)) => format!("{day} {month} {year}"),
        _ => iso,
    }
}

/// A span of time in its largest unit.
pub(crate) fn span(ms: i64) -> String {
    match ms {
        ..MINUTE => format!("{} s", ms / SECOND),
        MINUTE..HOUR => format!("{} min", ms / MINUTE),
        HOUR..DAY => format!("{} h", ms / HOUR),
        _ => format!("{} d", ms / DAY),
    }
}

/// What is left of a time: "2 h 5 min", "11 min", "1:59". `times.js` counts it down.
pub(crate) fn left(ms: i64) -> String {
    match ms.max(0) {
        0 => "0:00".to_owned(),
        ms @ ..120_000 => {
            let seconds = (ms + SECOND - 1) / SECOND;
            format!("{}:{:02}", seconds / 60, seconds % 60)
        }
        ms @ HOUR..DAY => format!("{} {} min", span(ms), ms % HOUR / MINUTE),
        ms => span(ms),
    }
}

/// Text as HTML shows it, also within an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&#38;"),
            '<' => html.push_str("&#60;"),
            '>' => html.push_str("&#62;"),
            '"' => html.push_str("&#34;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
    html
}

/// A short span, exact to a tenth of a second: "0.4 s".
pub(crate) fn short_span(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => span(ms),
    }
}

/// A number that was counted up to a limit: "1,000+" when it is reached.
pub(crate) fn count(number: i64, max: i64) -> String {
    if number >= max { format!("{}+", thousands(max)) } else { thousands(number) }
}

/// A number with commas.
pub(crate) fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// A size in bytes: "38 kB".
pub(crate) fn size(bytes: i64) -> String {
    match bytes {
        ..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// The two letters of an avatar: the first of two words, or the first two of one.
pub(crate) fn initials(name: &str) -> String {
    let mut parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let (first, second) = (parts.next().unwrap_or("?"), parts.next());
    let letters = first.chars().take(1).chain(match second {
        Some(second) => second.chars().next(),
        None => first.chars().nth(1),
    });
    letters.flat_map(char::to_uppercase).collect()
}

/// The avatars of several agents of one owner: where two would be alike, the second letter of the later one becomes the
/// first in its name that tells it apart.
pub(crate) fn initials_of_all<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let usual = initials(name);
        let first: String = usual.chars().take(1).collect();
        let mut others = name.chars().skip(1).filter(|c| c.is_alphanumeric()).map(|second| {
            let second: String = second.to_uppercase().collect();
            format!("{first}{second}")
        });
        let is_free = |letters: &String| !taken.contains(letters);
        let chosen = if is_free(&usual) { usual } else { others.find(is_free).unwrap_or(usual) };
        taken.push(chosen);
    }
    taken
}

/// The type of a file in a word: what people call it, or the ending of its name.
pub(crate) fn file_type(name: &str, mime_type: &str) -> String {
    const KNOWN: [(&str, &str); 8] = [
        ("md", "Markdown"),
        ("txt", "Text"),
        ("log", "Text"),
        ("rs", "Rust"),
        ("py", "Python"),
        ("js", "JavaScript"),
        ("ts", "TypeScript"),
        ("yml", "YAML"),
    ];
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_usual = |ending: &&String| ending.len() <= 5 && ending.chars().all(|c| c.is_ascii_alphanumeric());
    match ending.as_ref().filter(is_usual) {
        Some(ending) if !ending.is_empty() => KNOWN
            .iter()
            .find(|known| known.0 == ending)
            .map_or_else(|| ending.to_ascii_uppercase(), |known| known.1.to_owned()),
        _ => mime_type.to_owned(),
    }
}

/// A length of time for people who compare: "2.0 s", "4 min", "1 h 20 min".
pub(crate) fn length(ms: i64) -> String {
    let minutes = ms / 60_000;
    match ms {
        ..60_000 => short_span(ms.max(0)),
        60_000..3_600_000 => format!("{minutes} min"),
        3_600_000..172_800_000 if minutes % 60 == 0 => format!("{} h", minutes / 60),
        3_600_000..172_800_000 => format!("{} h {} min", minutes / 60, minutes % 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

/// A name of an agent within a sentence of ours.
pub(crate) fn quoted(name: &str) -> String {
    format!("“{name}”")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_read_well() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(count(1_000, 1_000), "1,000+");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(38_400), "38 kB");
        assert_eq!(size(1_250_000), "1.2 MB");
        assert_eq!(short_span(1_640), "1.6 s");
        assert_eq!((length(2_040), length(8)), ("2.0 s".to_owned(), "8 ms".to_owned()));
        assert_eq!(length(4 * 60_000 + 59_999), "4 min");
        assert_eq!((length(3_600_000), length(4_800_000)), ("1 h".to_owned(), "1 h 20 min".to_owned()));
    }

    #[test]
    fn times_are_told_as_the_script_tells_them() {
        let table: serde_json::Value =
            serde_json::from_str(include_str!("../../../../cli/tests/browser/times.json")).unwrap();
        let now = Timestamp(table["now"].as_i64().unwrap());
        for (kind, tell) in [
            ("relative", (|ms, now| relative(now, Timestamp(now.0 + ms))) as fn(i64, Timestamp) -> String),
            ("left", |ms, _| left(ms)),
        ] {
            for (ms, text) in table[kind].as_object().unwrap() {
                assert_eq!(tell(ms.parse().unwrap(), now), text.as_str().unwrap(), "{kind} {ms}");
            }
        }
        assert_eq!(escaped("<a href='\"'>&</a>"), "&#60;a href=&#39;&#34;&#39;&#62;&#38;&#60;/a&#62;");
    }

    #[test]
    fn two_letters_tell_agents_apart() {
        assert_eq!(initials("spec-reviewer"), "SR");
        assert_eq!(initials("bob"), "BO");
        assert_eq!(initials("<a>"), "A");
        assert_eq!(initials("—"), "?");
        assert_eq!(initials_of_all(["spec-reviewer", "sales-robot", "bob"]), ["SR", "SA", "BO"]);
        assert_eq!(initials_of_all(["aa", "aa"]), ["AA", "AA"], "nothing tells them apart");
    }

    #[test]
    fn files_have_a_type_that_people_know() {
        assert_eq!(file_type("openapi-v3.yaml", "text/plain"), "YAML");
        assert_eq!(file_type("changes.md", "text/markdown"), "Markdown");
        assert_eq!(file_type("README", "text/plain"), "text/plain");
        assert_eq!(file_type("x.<b>", "text/plain"), "text/plain");
    }
}
