//! What commands print: tables and texts for people, JSON for programs. Text from peers passes through [`text`] before it
//! is printed.

pub(crate) mod progress;
pub(crate) mod secret;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::exit::Outcome;

/// Where a command prints, and how.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) json: bool,
    /// Whether to leave out everything but results.
    pub(crate) quiet: bool,
    /// Whether standard output is a terminal.
    pub(crate) interactive: bool,
    /// Whether standard error is a terminal, where progress is shown.
    pub(crate) progress: bool,
    colour: bool,
    width: usize,
}

/// Width of lines where no terminal has one.
const WIDTH: usize = 80;

impl Terminal {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let interactive = io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = (interactive && !set("NO_COLOR") && !dumb) || set("CLICOLOR_FORCE");
        let width = if interactive { width() } else { usize::MAX };
        let progress = io::stderr().is_terminal() && !quiet && !json;
        Self { json, quiet, interactive, progress, colour, width }
    }

    /// Whether a person reads what is asked, and can answer.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Columns of the terminal; unlimited in a pipe.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Columns for wrapped text.
    pub(crate) fn text_width(&self) -> usize {
        if self.interactive { self.width.clamp(20, 120) } else { WIDTH }
    }

    /// Safe text in lines that fit the terminal, each with an indent in front; in a pipe as it is.
    pub(crate) fn wrapped(&self, text: &str, indent: &str) -> String {
        if self.interactive { text::wrap(text, self.width, indent) } else { format!("{indent}{text}") }
    }

    /// A value to stand after a label of this width. A long one continues below itself; one that cannot be broken, such
    /// as an id, goes to a line of its own.
    pub(crate) fn beside(&self, label_width: usize, value: &str) -> String {
        let width = unicode_width::UnicodeWidthStr::width(value);
        if !self.interactive || label_width + width <= self.width {
            return value.to_owned();
        }
        if !value.contains(' ') && width + 2 <= self.width {
            return format!("\n  {value}");
        }
        let wrapped = text::wrap(value, self.width, &" ".repeat(label_width));
        wrapped.get(label_width..).unwrap_or_default().to_owned()
    }

    /// A result: the view as one line of JSON, or what `human` prints.
    pub(crate) fn result(&self, view: &impl Serialize, human: impl FnOnce(&Self) -> Outcome) -> Outcome {
        if self.json { self.json_line(view) } else { human(self) }
    }

    pub(crate) fn json_line(&self, view: &impl Serialize) -> Outcome {
        let json =
            serde_json::to_string(view).map_err(|cause| anyhow::anyhow!("cannot write JSON: {cause}"))?;
        self.line(&text::json(&json))
    }

    /// A line of a result.
    pub(crate) fn line(&self, line: &str) -> Outcome {
        print(&format!("{line}\n"))
    }

    /// A line beside the result: advice, or what was done. Left out with `--quiet` and `--json`.
    pub(crate) fn note(&self, line: &str) {
        if !self.quiet && !self.json {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// A warning, which no option leaves out.
    pub(crate) fn warn(&self, line: &str) {
        let _ = writeln!(io::stderr(), "{}", self.colour(line, AnsiColor::Yellow));
    }

    /// A confirmation: printed like a result, but left out with `--quiet` and `--json`.
    pub(crate) fn done(&self, line: &str) -> Outcome {
        if self.quiet || self.json { Ok(()) } else { self.line(line) }
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled(text, Style::new().dimmed())
    }

    pub(crate) fn colour(&self, text: &str, colour: AnsiColor) -> String {
        self.styled(text, Style::new().fg_color(Some(colour.into())))
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Outcome {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output.
pub(crate) fn print_bytes(bytes: &[u8]) -> Outcome {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// The result of a write to standard output. A reader that has enough ends the command quietly, as other Unix tools
/// do.
pub(crate) fn written(result: io::Result<()>) -> Outcome {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}

fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { WIDTH } else { columns }
}
