//! Whose turn it is to be served. Remotes that answer late wait in a queue of their own, and a turn that takes long gives its
//! place back while it runs, so that none takes a place from one that answers at once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tandem_core::AgentId;
use tandem_store::EventNotice;
use tokio::sync::Notify;

/// Concurrent turns of each pace, by [`Pace`].
const TURNS_MAX: [usize; 3] = [32, 32, 64];
/// Turns that have given back their place and still run.
const LINGERING_MAX: usize = 128;
/// Pause after a turn that failed, for example because the store could not be reached.
const FAILED_PAUSE: Duration = Duration::from_secs(1);

/// How a remote behaved in its last turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// It answered at once.
    Quick,
    /// It has not had a turn yet.
    New,
    /// It answered late.
    Slow,
}

impl Pace {
    const ALL: [Self; 3] = [Self::Quick, Self::New, Self::Slow];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Queued,
    Postponed,
    /// `again`: it was woken meanwhile.
    Running {
        again: bool,
    },
}

#[derive(Debug)]
struct Entry {
    pace: Pace,
    state: State,
}

#[derive(Debug, Default)]
struct Schedule {
    remotes: HashMap<AgentId, Entry>,
    queues: [VecDeque<AgentId>; 3],
    running: [usize; 3],
    lingering: usize,
    /// In the order of their times.
    postponed: VecDeque<(Instant, AgentId)>,
}

impl Schedule {
    fn enqueue(&mut self, agent: &AgentId) {
        if let Some(entry) = self.remotes.get_mut(agent) {
            entry.state = State::Queued;
            self.queues[entry.pace as usize].push_back(agent.clone());
        }
    }

    fn wake(&mut self, agent: &AgentId) {
        match self.remotes.get_mut(agent).map(|entry| &mut entry.state) {
            Some(State::Idle) => self.enqueue(agent),
            Some(State::Running { again }) => *again = true,
            Some(State::Queued | State::Postponed) | None => {}
        }
    }

    fn next(&mut self) -> Option<(AgentId, Pace)> {
        for pace in Pace::ALL {
            if self.running[pace as usize] >= TURNS_MAX[pace as usize] {
                continue;
            }
            while let Some(agent) = self.queues[pace as usize].pop_front() {
                let Some(entry) = self.remotes.get_mut(&agent) else { continue };
                if entry.state == State::Queued {
                    entry.state = State::Running { again: false };
                    self.running[pace as usize] += 1;
                    return Some((agent, pace));
                }
            }
        }
        None
    }

    fn wake_postponed(&mut self, now: Instant) {
        while let Some((_, agent)) = self.postponed.pop_front_if(|(at, _)| *at <= now) {
            if self.remotes.get(&agent).is_some_and(|entry| entry.state == State::Postponed) {
                self.enqueue(&agent);
            }
        }
    }
}

/// The remotes, and those with something to do.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    schedule: Mutex<Schedule>,
    bell: Notify,
}

impl Queue {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records which agents have new events. Runs on the store's thread, so it never waits.
    pub(crate) fn notify(&self, notices: &[EventNotice]) {
        let mut schedule = self.schedule();
        if schedule.remotes.is_empty() {
            return;
        }
        notices.iter().for_each(|notice| schedule.wake(&notice.agent));
        drop(schedule);
        self.bell.notify_one();
    }

    /// Has these remotes served, also if they were not known.
    pub(crate) fn wake(&self, agents: &[AgentId]) {
        let mut schedule = self.schedule();
        for agent in agents {
            let new = Entry { pace: Pace::New, state: State::Idle };
            schedule.remotes.entry(agent.clone()).or_insert(new);
            schedule.wake(agent);
        }
        drop(schedule);
        self.bell.notify_one();
    }

    /// Notes that these remotes exist.
    pub(super) fn know(&self, agents: &[AgentId]) {
        let mut schedule = self.schedule();
        for agent in agents {
            let new = Entry { pace: Pace::New, state: State::Idle };
            schedule.remotes.entry(agent.clone()).or_insert(new);
        }
    }

    pub(super) fn wake_postponed(&self) {
        self.schedule().wake_postponed(Instant::now());
        self.bell.notify_one();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.schedule().remotes.is_empty()
    }

    /// Waits until there may be another turn to start.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// The next turn, if there is one and a place for it.
    pub(super) fn next_turn(self: &Arc<Self>) -> Option<Turn> {
        let (agent, place) = self.schedule().next()?;
        Some(Turn {
            queue: Arc::clone(self),
            agent,
            place: Some(place),
            was_slow: None,
            end: TurnEnd::Failed,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// Nothing is due.
    Idle,
    /// There may be more to do.
    More,
    /// There is no such remote.
    Off,
    /// It is repeated after a pause.
    Failed,
}

/// The turn of a remote. Dropping it frees its place; without a result it counts as failed.
#[derive(Debug)]
pub(super) struct Turn {
    queue: Arc<Queue>,
    pub(super) agent: AgentId,
    /// The pace whose place it has; `None` after it gave that back.
    place: Option<Pace>,
    /// Whether the remote was slow, if anything was asked.
    pub(super) was_slow: Option<bool>,
    pub(super) end: TurnEnd,
}

impl Turn {
    /// Gives back the place while the turn goes on, unless too many have done so.
    pub(super) fn linger(&mut self) {
        let mut schedule = self.queue.schedule();
        if let Some(place) = self.place.filter(|_| schedule.lingering < LINGERING_MAX) {
            schedule.lingering += 1;
            schedule.running[place as usize] -= 1;
            self.place = None;
        }
        drop(schedule);
        self.queue.bell.notify_one();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut schedule = self.queue.schedule();
        match self.place {
            Some(place) => schedule.running[place as usize] -= 1,
            None => schedule.lingering -= 1,
        }
        if let Some(entry) = schedule.remotes.get_mut(&self.agent) {
            let again = matches!(entry.state, State::Running { again: true });
            if let Some(was_slow) = self.was_slow {
                entry.pace = if was_slow { Pace::Slow } else { Pace::Quick };
            }
            entry.state = State::Idle;
            match self.end {
                TurnEnd::Failed => {
                    entry.state = State::Postponed;
                    schedule.postponed.push_back((Instant::now() + FAILED_PAUSE, self.agent.clone()));
                }
                TurnEnd::More => schedule.enqueue(&self.agent),
                // It may have been made after its row was looked for.
                TurnEnd::Idle | TurnEnd::Off if again => schedule.enqueue(&self.agent),
                TurnEnd::Idle => {}
                TurnEnd::Off => drop(schedule.remotes.remove(&self.agent)),
            }
        }
        drop(schedule);
        self.queue.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> AgentId {
        format!("agent_{number}").parse().unwrap()
    }

    #[test]
    fn slow_remotes_take_no_place_from_quick_ones() {
        let queue = Arc::new(Queue::default());
        let slow: Vec<AgentId> = (0..500).map(id).collect();
        queue.wake(&slow);
        let mut turns: Vec<Turn> = std::iter::from_fn(|| queue.next_turn()).collect();
        assert_eq!(turns.len(), TURNS_MAX[Pace::New as usize]);
        turns.iter_mut().for_each(Turn::linger);
        let more: Vec<Turn> = std::iter::from_fn(|| queue.next_turn()).collect();
        assert_eq!(more.len(), TURNS_MAX[Pace::New as usize], "their places are free again");
        let quick = id(1_000);
        queue.wake(std::slice::from_ref(&quick));
        // It has answered at once before.
        queue.schedule().remotes.get_mut(&quick).unwrap().pace = Pace::Quick;
        queue.schedule().remotes.get_mut(&quick).unwrap().state = State::Idle;
        queue.wake(std::slice::from_ref(&quick));
        assert_eq!(queue.next_turn().unwrap().agent, quick);
        drop((turns, more));
        let schedule = queue.schedule();
        assert_eq!((schedule.running, schedule.lingering), ([0; 3], 0));
    }

    #[test]
    fn who_is_woken_in_its_turn_gets_another_one() {
        let queue = Arc::new(Queue::default());
        let one = [id(1)];
        queue.wake(&one);
        let mut turn = queue.next_turn().unwrap();
        queue.wake(&one);
        turn.end = TurnEnd::Off;
        drop(turn);
        let mut turn = queue.next_turn().unwrap();
        turn.end = TurnEnd::Off;
        drop(turn);
        assert!(queue.next_turn().is_none() && queue.is_empty());
    }
}
