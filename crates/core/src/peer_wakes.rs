//! How often each other agent may wake an agent's model. One that sends task after task would otherwise keep the model at
//! work without end, at the cost of its owner.

use std::collections::VecDeque;
use std::time::Duration;

use crate::ids::AgentId;
use crate::time::Timestamp;

/// Wakes of one other agent within the window.
const WAKES_MAX: usize = 60;
const WINDOW_MS: i64 = 3_600_000;
/// Wakes that are remembered, of all agents together.
const REMEMBERED_MAX: usize = 5_000;

/// The wakes of the last hour, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PeerWakes(VecDeque<(Timestamp, AgentId)>);

impl PeerWakes {
    /// Forgets what is over, and what has a time in the future: the clock was set back since.
    pub fn forget_old(&mut self, now: Timestamp) {
        self.0.retain(|(at, _)| (0..WINDOW_MS).contains(&now.ms_since(*at)));
    }

    /// How long an agent has to wait for its next wake; `None` if it may cause one now.
    #[must_use]
    pub fn wait_of(&self, agent: &AgentId, now: Timestamp) -> Option<Duration> {
        let of_agent: Vec<Timestamp> =
            self.0.iter().filter(|(_, other)| other == agent).map(|(at, _)| *at).collect();
        let blocking = of_agent.get(of_agent.len().checked_sub(WAKES_MAX)?)?;
        let left_ms = blocking.plus_ms(WINDOW_MS).ms_since(now);
        u64::try_from(left_ms).ok().filter(|left| *left > 0).map(Duration::from_millis)
    }

    /// Notes that an agent has woken the model.
    pub fn note(&mut self, agent: &AgentId, now: Timestamp) {
        if self.0.len() == REMEMBERED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((now, agent.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_wakes_of_the_hour() {
        let (mut wakes, start) = (PeerWakes::default(), Timestamp(1_800_000_000_000));
        let agent = |name: &str| name.parse::<AgentId>().unwrap();
        let (ada, bob) = (agent("agent_ada"), agent("agent_bob"));
        for second in 0..60 {
            let now = start.plus_ms(second * 1_000);
            assert_eq!(wakes.wait_of(&ada, now), None);
            wakes.note(&ada, now);
        }
        let now = start.plus_ms(120_000);
        assert_eq!(wakes.wait_of(&ada, now), Some(Duration::from_secs(3_480)));
        assert_eq!(wakes.wait_of(&bob, now), None);
        let over = start.plus_ms(WINDOW_MS);
        assert_eq!(wakes.wait_of(&ada, over), None, "the oldest is over");
        wakes.note(&ada, over);
        assert_eq!(wakes.wait_of(&ada, over), Some(Duration::from_secs(1)));
        wakes.forget_old(start.plus_ms(-1));
        assert_eq!(wakes, PeerWakes::default(), "the clock was set back");
    }
}
