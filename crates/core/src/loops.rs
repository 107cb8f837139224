//! Loop detection: when the hub should not ask a model for another answer.

/// Two shorter messages in turn count as an exchange of courtesies.
const SHORT_CHARS: usize = 100;
/// This many messages without an answer are a monologue.
const MONOLOGUE: usize = 3;

/// One message of a thread, as one party sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Whether this party wrote it.
    pub mine: bool,
    /// Length in characters.
    pub chars: usize,
}

/// Why a model is not asked to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// The last messages are all from the other agent.
    Monologue,
    /// The last two messages are short and from both sides, such as thanks and "you are welcome".
    PingPong,
}

/// Checks a thread, oldest message first. `None` means that a model may be asked.
#[must_use]
pub fn looping(lines: &[Line]) -> Option<Loop> {
    let newest: Vec<&Line> = lines.iter().rev().take(MONOLOGUE).collect();
    if newest.len() == MONOLOGUE && newest.iter().all(|line| !line.mine) {
        return Some(Loop::Monologue);
    }
    match newest.as_slice() {
        [last, before, ..] if last.mine != before.mine && last.chars.max(before.chars) < SHORT_CHARS => {
            Some(Loop::PingPong)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Loop, looping};

    fn thread(text: &[(bool, usize)]) -> Vec<Line> {
        text.iter().map(|&(mine, chars)| Line { mine, chars }).collect()
    }

    #[test]
    fn two_short_lines_in_turn_are_a_ping_pong() {
        assert_eq!(looping(&thread(&[(true, 99), (false, 99)])), Some(Loop::PingPong));
        assert_eq!(looping(&thread(&[(true, 99), (false, 100)])), None);
        assert_eq!(looping(&thread(&[(true, 100), (false, 99)])), None);
        assert_eq!(looping(&thread(&[(false, 5), (false, 5)])), None);
    }

    #[test]
    fn three_lines_of_the_other_are_a_monologue() {
        assert_eq!(looping(&thread(&[(false, 500), (false, 500), (false, 500)])), Some(Loop::Monologue));
        assert_eq!(looping(&thread(&[(true, 500), (false, 500), (false, 500)])), None);
    }

    #[test]
    fn a_beginning_is_no_loop() {
        assert_eq!(looping(&[]), None);
        assert_eq!(looping(&thread(&[(false, 5)])), None);
    }
}
