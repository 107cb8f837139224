//! Shows how a file changes.

use std::path::Path;

use anstyle::AnsiColor;
use similar::TextDiff;

use crate::terminal::{Terminal, text};

/// Lines around a change.
const CONTEXT: usize = 2;
/// Characters of a line that are shown. Some tools write their whole file in one line.
const LINE_CHARS_MAX: usize = 500;
/// Words in a line that may have a secret of someone else.
const SECRETS: [&str; 6] = ["key", "token", "secret", "password", "authorization", "bearer"];

/// The change of a file as a unified diff. Lines of others that may have a secret are not shown.
pub(super) fn unified(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| match text {
        Some(_) => path.display().to_string(),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(CONTEXT).header(&name(before), &name(after)).to_string();
    let lines: Vec<&str> = unified.lines().collect();
    let is_header = |line: &str| line.starts_with("--- ") || line.starts_with("+++ ");
    // A line of someone else that only gets a comma is removed and added.
    let removes_secret =
        lines.iter().any(|line| line.starts_with('-') && !is_header(line) && has_secret(line));
    let shown = lines.iter().map(|line| {
        let is_own = line.starts_with('+') && !removes_secret;
        match line.chars().next() {
            Some(mark) if !is_header(line) && !is_own && has_secret(line) => format!("{mark} (not shown)"),
            _ => clipped(line),
        }
    });
    shown.collect::<Vec<_>>().join("\n")
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{} … ({} more bytes)", &line[..end], line.len() - end),
        None => line.to_owned(),
    }
}

/// What a person reads about a change of the mode.
pub(super) fn mode_line(before: Option<u32>, after: Option<u32>) -> Option<String> {
    let (before, after) = (before?, after?);
    let who = if after < before { "only you can read it" } else { "as it was before" };
    Some(format!("  mode {before:o} becomes {after:o}: {who}"))
}

fn has_secret(line: &str) -> bool {
    let line = line.to_lowercase();
    SECRETS.iter().any(|word| line.contains(word))
}

/// A diff with colours, for a terminal.
pub(super) fn coloured(terminal: &Terminal, diff: &str) -> String {
    let line = |line: &str| {
        let safe = text::lines(line);
        match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => terminal.bold(&safe),
            Some(b'+') => terminal.colour(&safe, AnsiColor::Green),
            Some(b'-') => terminal.colour(&safe, AnsiColor::Red),
            Some(b'@') => terminal.dim(&safe),
            _ => safe,
        }
    };
    diff.lines().map(line).collect::<Vec<_>>().join("\n")
}
