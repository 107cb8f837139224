//! How pages say things: statuses, times, numbers. One place, so that every screen says them alike.

use tandem_core::{Approval, Status, Timestamp};

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
        let ms = now.ms_since(at);
        let relative = match (span(ms.abs()), ms) {
            (None, _) => "now".to_owned(),
            (Some(span), 0..) => format!("{span} ago"),
            (Some(span), _) => format!("in {span}"),
        };
        Self { iso, exact, relative, clock }
    }
}

/// A span of time in its largest unit; none for less than ten seconds, which is "now".
pub(crate) fn span(ms: i64) -> Option<String> {
    let seconds = ms / 1_000;
    let text = match seconds {
        ..10 => return None,
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    };
    Some(text)
}

/// A short span, exact to a tenth of a second: "0.4 s".
pub(crate) fn short_span(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => span(ms).unwrap_or_default(),
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

/// The letter of an avatar.
pub(crate) fn initial(name: &str) -> String {
    name.chars()
        .find(|c| c.is_alphanumeric())
        .map_or_else(|| "?".to_owned(), |c| c.to_uppercase().to_string())
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
        let now = Timestamp(1_800_000_000_000);
        assert_eq!(When::new(now.plus_seconds(-130), now).relative, "2 min ago");
        assert_eq!(When::new(now.plus_seconds(130), now).relative, "in 2 min");
        assert_eq!(When::new(now, now).relative, "now");
        assert_eq!(initial("<ada>"), "A");
    }
}
