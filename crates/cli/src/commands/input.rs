//! Arguments that become checked types, and text from standard input.

use std::io::Read as _;

use tandem_core::text::Unfit;

use crate::exit::{Failure, Outcome};

/// Bytes that are read from standard input. More than the hub takes, so that it can say so.
const STDIN_BYTES_MAX: u64 = 1024 * 1024;

/// A checked type from an argument. `name` says which argument is wrong.
pub(crate) fn checked<T: TryFrom<String, Error = Unfit>>(name: &str, text: impl Into<String>) -> Outcome<T> {
    T::try_from(text.into()).map_err(|unfit| Failure::usage(format!("{name} {}", unfit.0)))
}

/// The text of an argument; `-` reads standard input.
pub(crate) fn text_or_stdin(argument: &str) -> Outcome<String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        return Err(Failure::usage("standard input is longer than 1 MiB; send it as a file instead"));
    }
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage("standard input is not valid UTF-8"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Asks for confirmation on a terminal. Elsewhere `--yes` is needed.
pub(crate) fn confirm(question: &str, yes: bool) -> Outcome {
    use std::io::IsTerminal as _;
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("{question} Give --yes to confirm.")));
    }
    if ask(question)? { Ok(()) } else { Err(Failure::refused("nothing was done")) }
}

/// Asks a question on a terminal. Elsewhere the answer is no.
pub(crate) fn ask(question: &str) -> Outcome<bool> {
    use std::io::{IsTerminal as _, Write as _};
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    let mut errors = std::io::stderr();
    write!(errors, "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
