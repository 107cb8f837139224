//! The alternate screen of the terminal, with keys read one by one. Dropping it restores the terminal.

use std::io::{self, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

use crate::exit::Outcome;
use crate::terminal::{Terminal, print, text};

const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_REST: &str = "\x1b[J";

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) bold: bool,
}

/// The alternate screen.
#[derive(Debug)]
pub(super) struct Screen {
    /// The settings of the terminal before; `None` if the keyboard is no terminal.
    before: Option<Termios>,
    keys: mpsc::Receiver<u8>,
    /// Without a keyboard, keeps the channel open, so that only a signal ends the command.
    _no_keys: Option<mpsc::Sender<u8>>,
}

impl Screen {
    /// Switches to the alternate screen and reads keys without waiting for the end of a line.
    pub(super) fn open() -> Outcome<Self> {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut settings = before.clone();
            // Ctrl-C stays a signal, which also works while the hub does not answer.
            settings.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            tcsetattr(io::stdin(), OptionalActions::Now, &settings).map_err(io::Error::from)?;
        }
        let (sender, keys) = mpsc::channel(8);
        let mut screen = Self { before, keys, _no_keys: None };
        print(ENTER)?;
        if screen.before.is_none() {
            screen._no_keys = Some(sender);
            return Ok(screen);
        }
        // It waits in a read until the process ends.
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut key = [0];
            while stdin.read_exact(&mut key).is_ok() && sender.blocking_send(key[0]).is_ok() {}
        });
        Ok(screen)
    }

    /// The next key; `None` when there are no more.
    pub(super) async fn key(&mut self) -> Option<u8> {
        self.keys.recv().await
    }

    /// Draws lines, cut to the size of the terminal.
    pub(super) fn draw(&mut self, terminal: &Terminal, lines: &[Line]) -> Outcome {
        let size = tcgetwinsize(io::stdout()).ok();
        let or = |found: Option<u16>, usual: usize| {
            found.map(usize::from).filter(|found| *found > 0).unwrap_or(usual)
        };
        let columns = or(size.map(|size| size.ws_col), 80);
        let rows = or(size.map(|size| size.ws_row), 24);
        let mut frame = String::from(HOME);
        for (number, line) in lines.iter().take(rows).enumerate() {
            if number > 0 {
                frame.push_str("\r\n");
            }
            let shown = text::cut(&line.text, columns);
            frame.push_str(&if line.bold { terminal.bold(&shown) } else { shown });
            frame.push_str(CLEAR_LINE);
        }
        frame.push_str(CLEAR_REST);
        print(&frame)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nothing more can be done for a terminal that is gone.
        let _ = io::stdout().write_all(LEAVE.as_bytes()).and_then(|()| io::stdout().flush());
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
