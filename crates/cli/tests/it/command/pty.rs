//! Commands in a pseudo-terminal, where they print tables and colours.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{Cli, Ran};
use crate::harness::PATIENCE;

impl Cli {
    /// Runs a command whose standard streams are a terminal of this width. Everything that reaches the terminal is in
    /// `stdout`, with the line ends that the command printed.
    pub async fn in_terminal(&self, columns: u16, arguments: &[&str]) -> Ran {
        self.in_terminal_with(columns, arguments, "").await
    }

    /// The same with something that is typed.
    pub async fn in_terminal_with(&self, columns: u16, arguments: &[&str], typed: &str) -> Ran {
        let (mut master, terminal) = open_terminal(24, columns);
        master.write_all(typed.as_bytes()).unwrap();
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        let mut command = self.command(arguments);
        let mut child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
        // The reader sees the end when the last process that has the terminal open ends.
        drop((command, terminal));
        let reader = tokio::task::spawn_blocking(move || {
            let (mut master, mut bytes, mut piece) = (master, Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = master.read(&mut piece) {
                bytes.extend_from_slice(&piece[..count]);
            }
            bytes
        });
        let ended = tokio::time::timeout(PATIENCE * 3, child.wait()).await;
        let status = ended.unwrap_or_else(|_| panic!("{arguments:?} does not end")).unwrap();
        let text = String::from_utf8(reader.await.unwrap()).unwrap();
        Ran { code: status.code().unwrap_or(-1), stdout: text.replace("\r\n", "\n"), stderr: String::new() }
    }
}

/// A terminal of this size: the end that shows what a command prints, and the end for the command.
pub fn open_terminal(rows: u16, columns: u16) -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let terminal = File::options().read(true).write(true).custom_flags(flags).open(path).unwrap();
    (File::from(master), terminal)
}

/// Text without the sequences that set colours; any other escape sequence stays.
pub fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        let after = &rest[at + 2..];
        let digits = after.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        if after.as_bytes().get(digits) == Some(&b'm') {
            plain.push_str(&rest[..at]);
            rest = &after[digits + 1..];
        } else {
            plain.push_str(&rest[..at + 2]);
            rest = after;
        }
    }
    plain + rest
}
