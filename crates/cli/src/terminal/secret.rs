//! Reading a secret: from a prompt that shows nothing, or from a pipe. Never from an argument, which other users of the
//! machine can see.

use std::io::{self, IsTerminal as _, Read as _};

use crate::exit::{Failure, Outcome};
use crate::{output, signals};

/// Bytes of a secret that are read. Keys are far shorter.
const BYTES_MAX: u64 = 4 * 1024;

/// A secret from standard input: typed without echo on a terminal, read to the end in a pipe.
pub(crate) fn read(prompt: &str) -> Outcome<String> {
    let secret = if io::stdin().is_terminal() { typed(prompt)? } else { piped()? };
    let secret = secret.trim().to_owned();
    if secret.is_empty() {
        return Err(Failure::usage("standard input has no API key")
            .next("Type or paste it at the prompt, or give it in a pipe: `tandem login < FILE`."));
    }
    Ok(secret)
}

fn piped() -> Outcome<String> {
    let mut text = String::new();
    io::stdin()
        .take(BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|cause| Failure::usage(format!("cannot read standard input: {cause}")))?;
    Ok(text)
}

/// Reads a line that the terminal does not show. The terminal also makes no signal of Ctrl-C while this runs: it arrives
/// as a character, so the settings are restored before the process ends.
fn typed(prompt: &str) -> Outcome<String> {
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    struct Restore(Termios);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
            output::progress("\n");
        }
    }

    output::progress(prompt);
    let before = tcgetattr(io::stdin()).map_err(io::Error::from)?;
    let mut silent = before.clone();
    silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    let at_end = before.clone();
    // A signal from elsewhere must not leave the terminal silent either.
    let put_back = signals::at_end(move || drop(Restore(at_end)))?;
    let restore = Restore(before);
    tcsetattr(io::stdin(), OptionalActions::Now, &silent).map_err(io::Error::from)?;
    let line = line(&mut io::stdin().lock().bytes());
    drop((restore, put_back));
    match line? {
        Some(line) => Ok(line),
        // As a shell reports a process that Ctrl-C ended.
        None => std::process::exit(130),
    }
}

/// A line with the usual keys for corrections; `None` after Ctrl-C.
fn line(bytes: &mut impl Iterator<Item = io::Result<u8>>) -> Outcome<Option<String>> {
    let mut line = Vec::new();
    for byte in bytes {
        match byte? {
            3 => return Ok(None),
            b'\r' | b'\n' | 4 => break,
            8 | 127 => {
                line.pop();
            }
            // Ctrl-U.
            21 => line.clear(),
            byte if line.len() < 4_096 => line.push(byte),
            _ => {}
        }
    }
    let line = String::from_utf8(line).map_err(|_| Failure::usage("the API key is not valid UTF-8"))?;
    Ok(Some(line))
}
