//! Where the time of a task went: held, on its way, worked on, silent, waiting. A pure function of its history, and a
//! drawing whose measures are SVG attributes in percent.

use tandem_api::actor::Actor;
use tandem_core::{Role, Status, Timestamp, Waits};
use tandem_hub::ops::threads::ThreadPage;

use super::super::words;

/// What a task does, or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// At the gate of its target.
    Held,
    /// Until its target takes it.
    Delivery,
    Work,
    /// Its target gives no sign of life.
    Silence,
    /// It waits for its initiator.
    Initiator,
    /// It waits for its target, which has the answer.
    Target,
}

/// A time in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) phase: Phase,
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
}

/// A change of status.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    pub(crate) at: Timestamp,
    pub(crate) to: Status,
    pub(crate) by_hub: bool,
}

/// What is known of a task's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Story<'a> {
    /// Changes of status, oldest first.
    pub(crate) moves: &'a [Move],
    /// When it was decided at a gate.
    pub(crate) decided: &'a [Timestamp],
    /// When its initiator wrote.
    pub(crate) answers: &'a [Timestamp],
    /// Whether it is held now.
    pub(crate) is_held: bool,
    /// Since when its target has been silent.
    pub(crate) silent_since: Option<Timestamp>,
    /// The time between two signs of life that was promised.
    pub(crate) lease_ms: Option<i64>,
    pub(crate) now: Timestamp,
}

/// The phases of a task, one after the other. Drafts and the time after the end have none.
pub(crate) fn spans(story: &Story<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    for (place, begun) in story.moves.iter().enumerate() {
        let next = story.moves.get(place + 1);
        let (from, until) = (begun.at, next.map_or(story.now, |next| next.at));
        let mut push = |phase, from: Timestamp, until: Timestamp| {
            if until > from {
                found.push(Span { phase, from, until });
            }
        };
        let within = |times: &[Timestamp]| times.iter().copied().find(|at| *at >= from && *at <= until);
        // Two phases with a moment between them; the second is missing if there is no such moment.
        let mut two = |first, cut: Option<Timestamp>, second| {
            let cut = cut.unwrap_or(until).clamp(from, until);
            push(first, from, cut);
            push(second, cut, until);
        };
        match begun.to {
            Status::Submitted if next.is_none() && story.is_held => two(Phase::Held, None, Phase::Delivery),
            Status::Submitted => {
                two(Phase::Held, Some(within(story.decided).unwrap_or(from)), Phase::Delivery);
            }
            Status::Working => {
                let stalled =
                    next.filter(|next| next.by_hub && matches!(next.to, Status::Submitted | Status::Expired));
                let silent = match (stalled, next) {
                    (Some(stalled), _) => story.lease_ms.map(|lease| Timestamp(stalled.at.0 - lease)),
                    (None, None) => story.silent_since,
                    (None, Some(_)) => None,
                };
                two(Phase::Work, silent, Phase::Silence);
            }
            Status::InputRequired | Status::AuthRequired => {
                let answer = story.answers.iter().copied().find(|at| *at > from && *at <= until);
                two(Phase::Initiator, answer, Phase::Target);
            }
            Status::Draft
            | Status::Completed
            | Status::Failed
            | Status::Rejected
            | Status::Cancelled
            | Status::Expired => {}
        }
    }
    found
}

/// A rectangle: place and width, as attributes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) x: String,
    pub(crate) width: String,
}

/// A phase with all its times.
#[derive(Debug)]
pub(crate) struct Row {
    /// `hub`, `work`, `you` or `silent`.
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) word: String,
    pub(crate) bars: Vec<Bar>,
    pub(crate) length: String,
}

/// A line of the time axis.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) x: String,
    pub(crate) word: String,
}

/// The drawing.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) rows: Vec<Row>,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) is_over: bool,
}

/// Below this part of the whole a bar is a tick of fixed width.
const TICK_PERMILLE: i64 = 7;
/// Steps of the axis.
const STEPS_S: [i64; 17] = [
    1, 5, 10, 30, 60, 300, 600, 1_200, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 259_200, 604_800,
    2_592_000,
];
const TICKS_MAX: i64 = 4;

impl Life {
    pub(crate) fn of(thread: &ThreadPage, now: Timestamp) -> Self {
        let task = &thread.task;
        let moves: Vec<Move> = thread
            .history
            .iter()
            .map(|line| Move { at: line.created_at, to: line.to_status, by_hub: line.actor == Actor::System })
            .collect();
        let initiator = Actor::Agent(task.initiator_agent_id.clone());
        let said = thread.messages.iter().filter(|message| message.sender_agent_id == initiator);
        let answers: Vec<Timestamp> = said.map(|message| message.created_at).collect();
        let decided: Vec<Timestamp> = thread.gates.iter().map(|gate| gate.at).collect();
        let is_over = thread.waits == Waits::End;
        let story = Story {
            moves: &moves,
            decided: &decided,
            answers: &answers,
            is_held: thread.waits == Waits::Approval,
            silent_since: thread.silent_since,
            lease_ms: task.lease_seconds.map(|lease| lease * 1_000),
            now,
        };
        draw(&spans(&story), thread.role, is_over)
    }
}

/// Lays the phases out, one row each in the order in which they began.
pub(crate) fn draw(spans: &[Span], role: Role, is_over: bool) -> Life {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Life { rows: Vec::new(), ticks: Vec::new(), is_over };
    };
    let (start, whole) = (first.from, last.until.ms_since(first.from).max(1));
    let mut order: Vec<Phase> = Vec::new();
    for span in spans {
        if !order.contains(&span.phase) {
            order.push(span.phase);
        }
    }
    let rows = order.into_iter().map(|phase| {
        let of_phase: Vec<&Span> = spans.iter().filter(|span| span.phase == phase).collect();
        let ms: i64 = of_phase.iter().map(|span| span.until.ms_since(span.from)).sum();
        let bar = |span: &&Span| {
            let length = span.until.ms_since(span.from);
            let is_tick = length * 1_000 < whole * TICK_PERMILLE;
            let width = if is_tick { "3".to_owned() } else { percent(length, whole) };
            Bar { x: percent(span.from.ms_since(start), whole), width }
        };
        let (class, icon, word) = looks(phase, role, is_over);
        let bars = of_phase.iter().map(bar).collect();
        Row { class, icon, word: word.to_owned(), bars, length: words::length(ms) }
    });
    Life { rows: rows.collect(), ticks: ticks(whole), is_over }
}

pub(super) fn looks(phase: Phase, role: Role, is_over: bool) -> (&'static str, &'static str, &'static str) {
    let is_initiator = role == Role::Initiator;
    match phase {
        Phase::Held if is_initiator => ("hub", "status-held", "Held at their gate"),
        Phase::Held => ("you", "status-held", "Held at your gate"),
        Phase::Delivery => ("hub", "send", "On its way"),
        Phase::Work => ("work", "status-working", "Working"),
        Phase::Silence => ("silent", "warn", "Silent"),
        Phase::Initiator if is_initiator && is_over => ("you", "status-input-required", "Waited for you"),
        Phase::Initiator if is_initiator => ("you", "status-input-required", "Waiting for you"),
        Phase::Initiator | Phase::Target if is_over => ("hub", "clock", "Waited for them"),
        Phase::Target if !is_initiator => ("hub", "clock", "Answered"),
        Phase::Initiator | Phase::Target => ("hub", "clock", "Waiting for them"),
    }
}

/// A part of the whole with two digits behind the point.
pub(super) fn percent(part: i64, whole: i64) -> String {
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

fn ticks(whole: i64) -> Vec<Tick> {
    let step = STEPS_S.into_iter().map(|s| s * 1_000).find(|step| whole / step <= TICKS_MAX);
    let step = step.unwrap_or(whole);
    let places = (1..).map(|number| number * step).take_while(|at| *at * 100 < whole * 85);
    places.map(|at| Tick { x: percent(at, whole), word: words::length(at).replace(".0 s", " s") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Phase::{Delivery, Held, Initiator, Silence, Target, Work};

    const MINUTE: i64 = 60_000;

    fn at(minutes: i64) -> Timestamp {
        Timestamp(1_800_000_000_000 + minutes * MINUTE)
    }

    fn to(minutes: i64, to: Status) -> Move {
        Move { at: at(minutes), to, by_hub: false }
    }

    fn story<'a>(moves: &'a [Move], decided: &'a [Timestamp], answers: &'a [Timestamp]) -> Story<'a> {
        let (is_held, silent_since, lease_ms) = (false, None, Some(5 * MINUTE));
        Story { moves, decided, answers, is_held, silent_since, lease_ms, now: at(100) }
    }

    fn phases(story: &Story<'_>) -> Vec<(Phase, i64, i64)> {
        let minutes = |time: Timestamp| time.ms_since(at(0)) / MINUTE;
        spans(story).iter().map(|span| (span.phase, minutes(span.from), minutes(span.until))).collect()
    }

    #[test]
    fn a_task_goes_from_phase_to_phase() {
        let moves = [
            to(0, Status::Draft),
            to(1, Status::Submitted),
            to(6, Status::Working),
            to(20, Status::InputRequired),
            to(30, Status::Working),
            to(40, Status::Completed),
        ];
        let (decided, answers) = ([at(5)], [at(2), at(24), at(26)]);
        let story = story(&moves, &decided, &answers);
        assert_eq!(
            phases(&story),
            [
                (Held, 1, 5),
                (Delivery, 5, 6),
                (Work, 6, 20),
                (Initiator, 20, 24),
                (Target, 24, 30),
                (Work, 30, 40)
            ],
            "the draft and the time after the end are left out"
        );
    }

    #[test]
    fn what_goes_on_lasts_until_now() {
        let held = [to(0, Status::Submitted)];
        assert_eq!(phases(&Story { is_held: true, ..story(&held, &[], &[]) }), [(Held, 0, 100)]);
        assert_eq!(phases(&story(&held, &[], &[])), [(Delivery, 0, 100)]);
        let asked = [to(0, Status::Working), to(10, Status::AuthRequired)];
        assert_eq!(phases(&story(&asked, &[], &[])), [(Work, 0, 10), (Initiator, 10, 100)]);
        assert_eq!(
            phases(&story(&asked, &[], &[at(10)])).last(),
            Some(&(Initiator, 10, 100)),
            "not an answer"
        );
    }

    #[test]
    fn silence_is_told_from_work() {
        let working = [to(0, Status::Working)];
        let silent = Story { silent_since: Some(at(70)), ..story(&working, &[], &[]) };
        assert_eq!(phases(&silent), [(Work, 0, 70), (Silence, 70, 100)]);
        // The hub has tried again after the lease had run out.
        let again = Move { by_hub: true, ..to(30, Status::Submitted) };
        let moves = [to(0, Status::Working), again, to(31, Status::Working), to(40, Status::Completed)];
        let expected = [(Work, 0, 25), (Silence, 25, 30), (Delivery, 30, 31), (Work, 31, 40)];
        assert_eq!(phases(&story(&moves, &[], &[])), expected);
    }

    #[test]
    fn bars_are_parts_of_the_whole() {
        let span = |phase, from, until| Span { phase, from: at(from), until: at(until) };
        let life = draw(&[span(Held, 0, 25), span(Work, 25, 75), span(Held, 75, 100)], Role::Target, true);
        let rows: Vec<_> = life.rows.iter().map(|row| (row.class, &*row.word, &*row.length)).collect();
        assert_eq!(rows, [("you", "Held at your gate", "50 min"), ("work", "Working", "50 min")]);
        let bars: Vec<_> = life.rows[0].bars.iter().map(|bar| (&*bar.x, &*bar.width)).collect();
        assert_eq!(bars, [("0.00%", "25.00%"), ("75.00%", "25.00%")]);
        let ticks: Vec<_> = life.ticks.iter().map(|tick| (&*tick.x, &*tick.word)).collect();
        assert_eq!(ticks, [("30.00%", "30 min"), ("60.00%", "1 h")]);
        // What is too short to be seen has a fixed width; the edge is 0.7 %.
        let short = Span { phase: Delivery, from: at(0), until: Timestamp(at(0).0 + 41_999) };
        let exact = Span { phase: Delivery, from: at(0), until: Timestamp(at(0).0 + 42_000) };
        for (span, width) in [(short, "3"), (exact, "0.70%")] {
            let life =
                draw(&[span, Span { phase: Work, from: span.until, until: at(100) }], Role::Target, false);
            assert_eq!(life.rows[0].bars[0].width, width);
        }
        assert!(draw(&[], Role::Target, false).rows.is_empty());
    }
}
