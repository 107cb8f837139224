//! From the output of a worker to a result that fits into a message.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use tandem_api::tasks::TaskView;
use tandem_core::text::{BODY_BYTES_MAX, json_bytes};

use super::journal::{ResultKind, WorkResult};
use super::leavings;
use super::task::Runner;
use crate::profiles::create_private;
use crate::terminal::time;

/// Bytes of a text on an encrypted task: it is sealed as JSON, and a third longer then.
const SEALED_BYTES_MAX: usize = 180 * 1024;
/// The name of an output that is too long for a message.
pub(super) const OUTPUT_FILE: &str = "result.txt";
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
        let (files, left_out) = leavings::list(folder);
        let note = match left_out {
            0 => String::new(),
            _ => format!("\n\n({left_out} files were not sent: too many, too large or no plain files.)"),
        };
        let whole = format!("{text}{note}");
        if fits(view, &whole) {
            return WorkResult { kind, text: whole, files, output: None };
        }
        let file = self.output_file(&view.id);
        match write(&file, stdout) {
            Ok(()) => {
                let size = time::bytes(stdout.len() as u64);
                let text = format!("The result has {size}; it is in the file {OUTPUT_FILE}.{note}");
                WorkResult { kind, text, files, output: Some(file) }
            }
            // Better a part of it than another run, which would find the disk as full.
            Err(why) => {
                self.session.terminal.warn(&format!("{}: cannot write {}: {why}", view.id, file.display()));
                WorkResult { kind, text: cut(view, &whole), files, output: None }
            }
        }
    }
}

/// Writes a file for this user only. When this returns, it survives a power failure.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Err(std::io::ErrorKind::InvalidInput.into()) };
    create_private(folder)?;
    // One of an earlier run.
    let _ = fs::remove_file(file);
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    written.write_all(bytes)?;
    written.sync_all()?;
    File::open(folder)?.sync_all()
}

/// Bytes that a text takes in a message on this task, and how many may be.
fn room(view: &TaskView) -> (fn(&str) -> usize, usize) {
    if view.encrypted { (json_bytes, SEALED_BYTES_MAX) } else { (str::len, BODY_BYTES_MAX) }
}

fn fits(view: &TaskView, text: &str) -> bool {
    let (bytes, max) = room(view);
    bytes(text) <= max
}

/// A text that fits into a message: the beginning, if it does not fit as a whole.
pub(super) fn cut(view: &TaskView, text: &str) -> String {
    if fits(view, text) {
        return text.to_owned();
    }
    let (bytes, max) = room(view);
    let mut left = max - bytes(CUT);
    let mut kept = String::new();
    for letter in text.chars() {
        let size = bytes(letter.encode_utf8(&mut [0; 4]));
        if size > left {
            break;
        }
        left -= size;
        kept.push(letter);
    }
    kept + CUT
}
