//! Who can be woken, and by which way first: the ways that this client has, what the model does at the moment, and whether a
//! way was seen to work. Nothing here reads a clock or does I/O.
//!
//! To the hub all of these ways are the rung `channel`: the bridge shows news in an open session, which starts a turn.

/// A way in which the bridge can start a turn of the model, the best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// The socket on which a session of Claude Code takes messages.
    SessionInbox,
    /// A channel notification of MCP, which Claude Code takes only in sessions that were started with channels.
    Channel,
    /// The app server of Codex, with the id of the session once that is known.
    CodexServer(Option<String>),
    /// `codex queue`, with the id of the session.
    CodexQueue(String),
}

#[derive(Debug, Default)]
pub(super) struct Rungs {
    ways: Vec<Way>,
    /// The way to which the model was last seen to react.
    works: Option<Way>,
    /// The way of the last wake.
    tried: Option<Way>,
    /// Tool calls that run, and those of them that will show news.
    running: usize,
    showing: usize,
}

impl Rungs {
    /// Notes the ways of this client.
    pub(super) fn set(&mut self, ways: Vec<Way>) {
        self.ways = ways;
    }

    pub(super) fn can_wake(&self) -> bool {
        !self.ways.is_empty()
    }

    /// Whether a wake was seen to work.
    pub(super) fn works(&self) -> bool {
        self.works.is_some()
    }

    /// The ways for a wake, in the order in which they are tried: first the one that was seen to work, and after each wake
    /// that nobody has answered the next one.
    pub(super) fn ways(&self, tries: u8) -> Vec<Way> {
        let mut ways = self.ways.clone();
        ways.sort_by_key(|way| self.works.as_ref() != Some(way));
        let first = usize::from(tries).checked_rem(ways.len()).unwrap_or_default();
        ways.rotate_left(first);
        ways
    }

    /// Notes by which way the model is woken.
    pub(super) fn try_way(&mut self, way: Way) {
        self.tried = Some(way);
    }

    /// Notes that the model has reacted to the last wake.
    pub(super) fn has_worked(&mut self) {
        self.works.clone_from(&self.tried);
    }

    /// Notes that nobody reacts any more. Returns whether somebody had done so before.
    pub(super) fn works_no_longer(&mut self) -> bool {
        self.works.take().is_some()
    }

    pub(super) fn call_begins(&mut self, shows_news: bool) {
        self.running += 1;
        self.showing += usize::from(shows_news);
    }

    pub(super) fn call_ends(&mut self, shows_news: bool) {
        self.running -= 1;
        self.showing -= usize::from(shows_news);
    }

    /// Whether the model does nothing with Tandem at the moment.
    pub(super) fn is_idle(&self) -> bool {
        self.running == 0
    }

    /// Whether a call runs that will show the news.
    pub(super) fn is_showing(&self) -> bool {
        self.showing > 0
    }
}

/// Whether a session of Claude Code takes channel notifications, by the command line with which it was started. Only an
/// option of the command line lets a server of the user do that.
pub(super) fn takes_channels(program: &str, arguments: &[String]) -> bool {
    let is_known = ["claude", "node", "bun"].contains(&program);
    let has = |option: &&String| {
        ["--channels", "--dangerously-load-development-channels"].iter().any(|name| {
            option.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    // What another program does with its options is not known.
    !is_known || arguments.iter().any(|option| has(&option))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> Rungs {
        Rungs { ways: vec![Way::SessionInbox, Way::Channel], ..Rungs::default() }
    }

    #[test]
    fn each_way_is_tried_when_the_one_before_brought_nothing() {
        let rungs = both();
        let first = |tries| rungs.ways(tries)[0].clone();
        assert_eq!([first(0), first(1), first(2)], [Way::SessionInbox, Way::Channel, Way::SessionInbox]);
        assert_eq!(
            rungs.ways(1),
            [Way::Channel, Way::SessionInbox],
            "the rest is for a way that fails at once"
        );
        assert_eq!(Rungs::default().ways(2), []);
    }

    #[test]
    fn the_way_that_has_worked_comes_first_until_nobody_reacts() {
        let mut rungs = both();
        rungs.try_way(Way::Channel);
        assert!(!rungs.works(), "it was only tried");
        rungs.has_worked();
        assert!(rungs.works());
        assert_eq!(rungs.ways(0), [Way::Channel, Way::SessionInbox]);
        assert!(rungs.works_no_longer());
        assert!(!rungs.works_no_longer(), "that is said once");
        assert_eq!(rungs.ways(0)[0], Way::SessionInbox);
    }

    #[test]
    fn calls_that_run_are_counted() {
        let mut rungs = both();
        rungs.call_begins(true);
        rungs.call_begins(false);
        assert!(!rungs.is_idle() && rungs.is_showing());
        rungs.call_ends(true);
        assert!(!rungs.is_idle() && !rungs.is_showing());
        rungs.call_ends(false);
        assert!(rungs.is_idle());
    }

    #[test]
    fn only_a_session_that_was_started_with_channels_takes_them() {
        let words = |line: &str| line.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>();
        for line in
            ["claude --channels plugin:x", "claude --dangerously-load-development-channels=server:tandem"]
        {
            assert!(takes_channels("claude", &words(line)), "{line}");
        }
        for line in ["claude", "claude --channelsx", "claude -p channels"] {
            assert!(!takes_channels("claude", &words(line)), "{line}");
        }
        assert!(takes_channels("another", &words("another")), "nothing is known of it");
    }
}
