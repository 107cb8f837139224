//! From the output of a worker to a result that fits into a message.

use std::path::Path;

use tandem_api::tasks::TaskView;
use tandem_core::text::{BODY_BYTES_MAX, json_bytes};
use tandem_disk::replace;

use super::journal::{ResultKind, WorkResult};
use super::out_folder;
use super::task::Runner;
use crate::profiles::create_private;
use crate::terminal::{text, time};

/// Bytes of a text on an encrypted task: it is sealed as JSON, and a third longer then.
const SEALED_BYTES_MAX: usize = 180 * 1024;
/// The name of an output that is too long for a message.
pub(super) const OUTPUT_FILE: &str = "result.txt";
/// Names of files in a note.
const NAMES_MAX: usize = 20;
/// The end of a text that was cut.
const CUT: &str = "\n\n(The rest was cut off.)";

impl Runner {
    /// The result of a worker that has ended well, or with a question.
    pub(super) fn result(
        &self,
        view: &TaskView,
        folder: &Path,
        kind: ResultKind,
        stdout: &[u8],
    ) -> WorkResult {
        let text = String::from_utf8_lossy(stdout).replace('\0', "\u{fffd}");
        let text = if text.trim_end().is_empty() { "(no output)" } else { text.trim_end() };
        let (files, left_out) = out_folder::list(folder);
        let note = left_out_note(&left_out);
        let leaves_files = !left_out.is_empty();
        let result =
            |text, output| WorkResult { kind, text, files, output, leaves_files, refused: Vec::new() };
        let whole = format!("{text}{note}");
        if fits(view, &whole) {
            return result(whole, None);
        }
        let file = self.output_file(&view.id);
        match write(&file, stdout) {
            Ok(()) => {
                let size = time::bytes(stdout.len() as u64);
                let text = format!("The result has {size}; it is in the file {OUTPUT_FILE}.{note}");
                result(text, Some(file))
            }
            // Better a part of it than another run, which would find the disk as full.
            Err(why) => {
                self.session.terminal.warn(&format!("{}: cannot write {}: {why}", view.id, file.display()));
                result(shortened(view, text, &note), None)
            }
        }
    }
}

/// Writes a file for this user only. When this returns, it survives a power failure.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Err(std::io::ErrorKind::InvalidInput.into()) };
    create_private(folder)?;
    replace(file, bytes)
}

/// Bytes that a text takes in a message on this task, and how many may be.
fn text_limit(view: &TaskView) -> (fn(&str) -> usize, usize) {
    if view.encrypted { (json_bytes, SEALED_BYTES_MAX) } else { (str::len, BODY_BYTES_MAX) }
}

fn fits(view: &TaskView, text: &str) -> bool {
    let (bytes, max) = text_limit(view);
    bytes(text) <= max
}

/// What is not sent because of its number, its size or its kind.
fn left_out_note(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> = names.iter().take(NAMES_MAX).map(|name| text::line(name)).collect();
    if names.len() > NAMES_MAX {
        shown.push(format!("and {} more", names.len() - NAMES_MAX));
    }
    let (count, names) = (names.len(), shown.join(", "));
    format!("\n\n({count} files were not sent, too many, too large or no plain files: {names}.)")
}

/// The text of a result as it is sent, with the names of files that could not be sent.
pub(super) fn said(view: &TaskView, result: &WorkResult) -> String {
    let note = match result.refused.as_slice() {
        [] => String::new(),
        refused => format!("\n\n(Not sent: {}.)", refused.join("; ")),
    };
    shortened(view, &result.text, &note)
}

/// A text that fits into a message with this end: its beginning, if it does not fit as a whole.
fn shortened(view: &TaskView, text: &str, end: &str) -> String {
    let whole = format!("{text}{end}");
    if fits(view, &whole) {
        return whole;
    }
    let (bytes, max) = text_limit(view);
    let mut left = max.saturating_sub(bytes(CUT) + bytes(end));
    let mut kept = String::new();
    for letter in text.chars() {
        let size = bytes(letter.encode_utf8(&mut [0; 4]));
        if size > left {
            break;
        }
        left -= size;
        kept.push(letter);
    }
    kept + CUT + end
}
