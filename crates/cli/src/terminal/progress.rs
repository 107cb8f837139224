//! Progress on standard error: bars for what has a size, spinners for what has none. Nothing is drawn when standard error
//! is no terminal, or with `--quiet` or `--json`.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Terminal;

/// A bar for bytes, with rate and remaining time.
pub(crate) fn bytes(terminal: &Terminal, what: &str, total: u64) -> ProgressBar {
    let style = "{msg} {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    bar(terminal, what, total, style)
}

pub(crate) fn steps(terminal: &Terminal, what: &str, total: u64) -> ProgressBar {
    bar(terminal, what, total, "{msg} {bar:24} {percent}% {eta}")
}

/// A spinner for work of unknown length.
pub(crate) fn spinner(terminal: &Terminal, what: &str) -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, target(terminal));
    // Without a style, a bar of unknown length is drawn as an empty bar without its message.
    spinner.set_style(ProgressStyle::default_spinner());
    spinner.set_message(what.to_owned());
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

fn bar(terminal: &Terminal, what: &str, total: u64, style: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), target(terminal));
    // The styles of this file are valid; if one is not, the default is shown.
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

fn target(terminal: &Terminal) -> ProgressDrawTarget {
    if terminal.progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
