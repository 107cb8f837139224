//! The wake ladder: how an idle agent learns that something waits for it. A program that runs for an agent reports the
//! rung it provides; the hub shows the best one and when it last worked, and claims nothing that was not observed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::messages::words;
use crate::text::Unfit;
use crate::time::Timestamp;

/// How often a program that runs reports its rung. One that misses two reports counts as gone.
pub const REPORT_EVERY: Duration = Duration::from_secs(30);
/// How long after the model has seen a task a channel can still claim that it caused that.
pub const CLAIM_MAX_MS: i64 = 60_000;

words!(
    /// One way of showing news to an agent's model, the best first.
    #[derive(PartialOrd, Ord)]
    Rung, "must be channel, runner, hook, longPoll or pull", {
        /// The bridge shows news in the open session of a tool, which starts a turn.
        Channel = "channel",
        /// A runner starts a worker for each task.
        Runner = "runner",
        /// A hook shows news at the next turn of a tool.
        Hook = "hook",
        /// The model waits for news in a tool call.
        LongPoll = "longPoll",
        /// The model sees news when it asks for them.
        Pull = "pull",
    }
);

impl Rung {
    /// All rungs, the best first.
    pub const ALL: [Self; 5] = [Self::Channel, Self::Runner, Self::Hook, Self::LongPoll, Self::Pull];

    /// How long a report holds: until two reports are missing, and a little for the way. A hook runs only at the turns of a
    /// tool, so it reports rarely: every four minutes while the tool is used.
    #[must_use]
    pub const fn report_holds_ms(self) -> i64 {
        match self {
            Self::Hook => 600_000,
            Self::Channel | Self::Runner | Self::LongPoll | Self::Pull => 75_000,
        }
    }
}

/// What is known about one rung of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RungReport {
    /// Until when its last report holds; `None` after the program said that it ends.
    pub provided_until: Option<Timestamp>,
    /// When it last demonstrably showed something to a model.
    pub worked_at: Option<Timestamp>,
}

/// What is known about the rungs of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ladder(BTreeMap<Rung, RungReport>);

impl Ladder {
    /// What is known about a rung.
    #[must_use]
    pub fn report(&self, rung: Rung) -> RungReport {
        self.0.get(&rung).copied().unwrap_or_default()
    }

    /// Notes that a program provides a rung from now on, or no longer.
    pub fn set_provided(&mut self, rung: Rung, provided: bool, now: Timestamp) {
        let until = provided.then(|| now.plus_ms(rung.report_holds_ms()));
        self.0.entry(rung).or_default().provided_until = until;
    }

    /// Notes that a rung has worked.
    pub fn set_worked(&mut self, rung: Rung, at: Timestamp) {
        let known = &mut self.0.entry(rung).or_default().worked_at;
        *known = (*known).max(Some(at));
    }

    /// Whether a program provides this rung now. A report from a time that has not come yet counts for nothing: the clock
    /// was set back, and nobody knows how old the report is.
    #[must_use]
    pub fn provides(&self, rung: Rung, now: Timestamp) -> bool {
        let left_ms = self.report(rung).provided_until.map(|until| until.ms_since(now));
        left_ms.is_some_and(|left| 0 < left && left <= rung.report_holds_ms())
    }
}

/// The form in which a ladder is stored: `channel:UNTIL:WORKED`, separated by spaces, `-` for no time.
impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |at: Option<Timestamp>| at.map_or("-".to_owned(), |at| at.0.to_string());
        for (place, (rung, report)) in self.0.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            let (until, worked) = (time(report.provided_until), time(report.worked_at));
            write!(f, "{space}{}:{until}:{worked}", rung.as_str())?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Ladder {
    type Error = Unfit;

    fn try_from(stored: String) -> Result<Self, Unfit> {
        let unknown = || Unfit("is not a ladder".into());
        let time = |text: &str| match text {
            "-" => Ok(None),
            number => number.parse().map(|ms| Some(Timestamp(ms))).map_err(|_| unknown()),
        };
        let mut ladder = Self::default();
        for entry in stored.split_ascii_whitespace() {
            let fields: Vec<&str> = entry.split(':').collect();
            let [rung, until, worked] = fields[..] else { return Err(unknown()) };
            let report = RungReport { provided_until: time(until)?, worked_at: time(worked)? };
            ladder.0.insert(rung.to_owned().try_into()?, report);
        }
        Ok(ladder)
    }
}
