//! Where the time of a task went, in one bar for lists.

use tandem_core::messages::SYSTEM;
use tandem_core::{Role, Timestamp, Waits};
use tandem_hub::ops::figures::Past;
use tandem_hub::ops::needs::Followed;

use super::life::{Move, Story, draw, looks, percent, spans};

/// The time of a task in one bar.
#[derive(Debug, Clone)]
pub(crate) struct MiniLife {
    pub(crate) bars: Vec<MiniBar>,
    /// The same in words.
    pub(crate) label: String,
}

#[derive(Debug, Clone)]
pub(crate) struct MiniBar {
    pub(crate) class: &'static str,
    pub(crate) x: String,
    pub(crate) width: String,
}

impl MiniLife {
    /// Where the time of a task went, as one of its parties sees it.
    pub(crate) fn of(followed: &Followed, past: &Past, now: Timestamp) -> Self {
        let (task, waits) = (&followed.task, followed.waits);
        let lease_ms = task.lease_seconds.map(|lease| lease * 1_000);
        Self::drawn(past, (waits, followed.silent_since, lease_ms), followed.role, now)
    }

    /// The same from what an operator may know.
    pub(crate) fn drawn(
        past: &Past,
        (waits, silent_since, lease_ms): (Waits, Option<Timestamp>, Option<i64>),
        role: Role,
        now: Timestamp,
    ) -> Self {
        let moves: Vec<Move> = past
            .moves
            .iter()
            .map(|line| Move { at: line.at, to: line.to, by_hub: line.actor == SYSTEM })
            .collect();
        // When it was answered is not looked up for a list: of a task that was, the present wait is the target's.
        let answered = [moves.last().map_or(now, |last| Timestamp(last.at.0 + 1))];
        let story = Story {
            moves: &moves,
            decided: &past.decided,
            answers: if waits == Waits::Resumption { &answered } else { &[] },
            is_held: waits == Waits::Approval,
            silent_since,
            lease_ms,
            now,
        };
        let spans = spans(&story);
        let is_over = waits == Waits::End;
        let (start, end) =
            (spans.first().map_or(now, |span| span.from), spans.last().map_or(now, |span| span.until));
        let whole = end.ms_since(start).max(1);
        let bars = spans.iter().map(|span| MiniBar {
            class: looks(span.phase, role, is_over).0,
            x: percent(span.from.ms_since(start), whole),
            width: percent(span.until.ms_since(span.from), whole),
        });
        let rows = draw(&spans, role, is_over).rows;
        let label: Vec<String> = rows.iter().map(|row| format!("{} {}", row.word, row.length)).collect();
        Self { bars: bars.collect(), label: label.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_app::figures::PastMove;
    use tandem_core::Status;

    fn at(minutes: i64) -> Timestamp {
        Timestamp(1_800_000_000_000 + minutes * 60_000)
    }

    fn to(minutes: i64, to: Status) -> PastMove {
        PastMove { task: "task_1".parse().unwrap(), to, actor: "agent_1".to_owned(), at: at(minutes) }
    }

    #[test]
    fn one_bar_tells_the_whole_time() {
        let moves = vec![to(0, Status::Submitted), to(10, Status::Working), to(40, Status::InputRequired)];
        let past = Past { moves, decided: vec![at(5)] };
        let draw = |waits| MiniLife::drawn(&past, (waits, None, None), Role::Initiator, at(50));
        let life = draw(Waits::Answer);
        let bars: Vec<_> = life.bars.iter().map(|bar| (bar.class, &*bar.x, &*bar.width)).collect();
        assert_eq!(bars[..2], [("hub", "0.00%", "10.00%"), ("hub", "10.00%", "10.00%")]);
        assert_eq!(bars[2..], [("work", "20.00%", "60.00%"), ("you", "80.00%", "20.00%")]);
        assert!(life.label.ends_with("Working 30 min, Waiting for you 10 min"), "{}", life.label);
        assert_eq!(
            draw(Waits::Resumption).bars.last().map(|bar| bar.class),
            Some("hub"),
            "it waits for them"
        );
    }
}
