//! Times and durations for people.

use std::time::Duration;

use tandem_core::Timestamp;

/// The time of this machine.
pub(crate) fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "the command line has no clock of a hub")]
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

/// How long ago, such as `4m ago`; `in 4m` for the future.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.ms_since(at) / 1_000;
    match seconds {
        -4..=4 => "now".to_owned(),
        5.. => format!("{} ago", short(seconds)),
        _ => format!("in {}", short(-seconds)),
    }
}

/// A duration with its largest unit, such as `90s`, `4m`, `3h`, `2d`.
pub(crate) fn short(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Parses `30`, `30s`, `10m`, `1h` or `2d` as seconds.
pub(crate) fn seconds(text: &str) -> Result<i64, String> {
    let wrong =
        || format!("{text:?} is not a time: give seconds, or a number with s, m, h or d, such as 90s or 1h");
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    digits.parse::<i64>().ok().and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)
}

/// The longest time that a command waits; a longer one means the same.
const YEAR_SECONDS: u64 = 365 * 86_400;

/// Parses a time as [`seconds`] does.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    seconds(text).map(|seconds| Duration::from_secs(seconds.unsigned_abs().min(YEAR_SECONDS)))
}

/// A number of bytes, such as `1.4 MB`.
pub(crate) fn bytes(count: u64) -> String {
    let units = ["kB", "MB", "GB"];
    if count < 1_000 {
        return format!("{count} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let mut value = count as f64 / 1_000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1_000.0;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}
