//! When two models talk past each other: who is asked for an answer, and when it is better not to ask.

/// A text shorter than this may be a mere courtesy.
const SHORT_CHARS: usize = 100;
/// So many messages without an answer are a monologue.
const MONOLOGUE: usize = 3;

/// One message of a thread, as one party sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Whether that party wrote it.
    pub mine: bool,
    /// How many characters it has.
    pub chars: usize,
}

/// Why a party is not asked to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// The other one goes on and on.
    Monologue,
    /// They exchange courtesies.
    PingPong,
}

/// Whether a thread, oldest line first, has come to the point where asking for another answer does harm.
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
