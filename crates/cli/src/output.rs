//! Writing to standard output and standard error. `println!` panics when nobody reads any more, as in
//! `tandem backup hub.tar | head -1`; a command that did its work must not end with a panic.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _};

/// Writes a line to standard output. If that fails, nobody is there to be told.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}

/// Writes a line to standard error.
macro_rules! report {
    ($($text:tt)*) => { $crate::output::warning(format_args!($($text)*)) };
}

pub(crate) use {report, say};

pub(crate) fn line(text: Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

pub(crate) fn warning(text: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes to standard error without a line break.
pub(crate) fn progress(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes what a command is for to standard output. A reader that has enough is no error; a full disk is.
pub(crate) fn result(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
