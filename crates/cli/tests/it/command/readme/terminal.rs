//! A command in a pseudo-terminal, and what is then on the screen.

use std::io::Read as _;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use crate::command::pty::open_terminal;
use crate::harness::PATIENCE;

/// Columns of the terminals.
pub const COLUMNS: u16 = 80;

/// How a text is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    pub bold: bool,
    pub dim: bool,
    /// A colour of the terminal, 31 to 36.
    pub colour: Option<u16>,
}

/// A line of the screen: texts of one style each.
pub type Line = Vec<(String, Style)>;

/// A process in a terminal of its own.
#[derive(Debug)]
pub struct Running {
    child: Child,
    output: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let (mut terminal, end) = open_terminal(50, COLUMNS);
        let stream = || end.try_clone().unwrap();
        let child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
        // Reading stops when nobody but the process, which has ended, holds the other end of the terminal.
        drop((command, end));
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = vec![0; 4_096];
            while let Ok(read @ 1..) = terminal.read(&mut chunk) {
                let _ = sender.send(chunk[..read].to_vec());
            }
        });
        Self { child, output, bytes: Vec::new() }
    }

    /// Reads until the screen is as wanted, or the process has ended, and returns the screen.
    pub fn read_until(&mut self, wanted: impl Fn(&[Line]) -> bool) -> Vec<Line> {
        let deadline = Instant::now() + PATIENCE * 3;
        loop {
            let shown = screen(&self.bytes);
            if wanted(&shown) {
                return shown;
            }
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(chunk) => self.bytes.extend(chunk),
                Err(RecvTimeoutError::Disconnected) => return screen(&self.bytes),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not go on; the screen is {:?}", plain(&shown))
                }
            }
        }
    }

    /// Waits for the end. Returns whether it succeeded, and the screen.
    pub fn end(mut self) -> (bool, Vec<Line>) {
        let shown = self.read_until(|_| false);
        (self.child.wait().unwrap().success(), shown)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The texts of lines.
pub fn plain(lines: &[Line]) -> Vec<String> {
    let text = |line: &Line| line.iter().map(|(text, _)| text.as_str()).collect::<String>();
    lines.iter().map(text).collect()
}

/// What is on the screen after these bytes: the few sequences that the commands use, and no others.
fn screen(bytes: &[u8]) -> Vec<Line> {
    let mut rows: Vec<Vec<(char, Style)>> = vec![Vec::new()];
    let (mut row, mut column, mut style) = (0, 0, Style::default());
    let text = String::from_utf8_lossy(bytes);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                row += 1;
                rows.resize(rows.len().max(row + 1), Vec::new());
            }
            '\r' => column = 0,
            '\u{1b}' => {
                let sequence = sequence_of(&mut chars);
                let (numbers, end) = sequence.split_at(sequence.len().saturating_sub(1));
                match end {
                    "m" => numbers.split(';').for_each(|number| style = restyle(style, number)),
                    "K" => rows[row].clear(),
                    "A" => row -= numbers.parse::<usize>().unwrap_or(1).min(row),
                    // An unfinished sequence at the end of what was read.
                    "" => {}
                    other => panic!("a sequence that this screen does not know: {other}"),
                }
            }
            c => {
                let cells = &mut rows[row];
                cells.resize(cells.len().max(column + 1), (' ', Style::default()));
                cells[column] = (c, style);
                column += 1;
            }
        }
    }
    rows.iter().map(|row| runs(row)).collect()
}

/// The rest of an escape sequence, up to the letter that ends it.
fn sequence_of(chars: &mut impl Iterator<Item = char>) -> String {
    let mut sequence = String::new();
    for c in chars.skip(1) {
        sequence.push(c);
        if c.is_ascii_alphabetic() {
            break;
        }
    }
    sequence
}

fn restyle(style: Style, number: &str) -> Style {
    match number.parse().unwrap_or(0) {
        1 => Style { bold: true, ..style },
        2 => Style { dim: true, ..style },
        colour @ 31..=36 => Style { colour: Some(colour), ..style },
        _ => Style::default(),
    }
}

/// Joins neighbours of one style, without the spaces at the end.
fn runs(row: &[(char, Style)]) -> Line {
    let end = row.iter().rposition(|(c, _)| *c != ' ').map_or(0, |last| last + 1);
    let mut line: Line = Vec::new();
    for (c, style) in &row[..end] {
        match line.last_mut() {
            Some((text, last)) if last == style => text.push(*c),
            _ => line.push((c.to_string(), *style)),
        }
    }
    line
}
