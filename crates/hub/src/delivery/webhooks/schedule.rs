//! Whose turn it is to be served. Receivers that answer late wait in queues of their own, so they never take a place
//! from one that answers at once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tandem_core::AgentId;
use tandem_store::EventNotice;
use tokio::sync::Notify;

/// Pause after a turn that failed, for example because the store could not be reached.
const FAILED_PAUSE: Duration = Duration::from_secs(1);

/// How a receiver behaved in its last turn. Each pace has its own queue and its own places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pace {
    /// It answered at once.
    Quick,
    /// It has not had a turn yet.
    New,
    /// It answered late.
    Slow,
    /// It did not answer in time.
    Silent,
}

impl Pace {
    const ALL: [Self; 4] = [Self::Quick, Self::New, Self::Slow, Self::Silent];

    /// Concurrent turns.
    fn turns_max(self) -> usize {
        match self {
            Self::Quick | Self::Silent => 64,
            Self::New | Self::Slow => 128,
        }
    }

    /// Requests in one turn; they are sent concurrently. Together with [`Self::turns_max`], this bounds the number of
    /// connections: 576.
    pub(crate) fn requests_max(self) -> i64 {
        match self {
            Self::Quick => 4,
            Self::New | Self::Slow | Self::Silent => 1,
        }
    }
}

/// What a receiver does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Queued(Pace),
    /// Its last turn failed, and it waits for the end of the pause.
    Postponed,
    /// `again`: it was woken meanwhile. `changed`: its webhook was changed meanwhile.
    Running {
        again: bool,
        changed: bool,
    },
}

#[derive(Debug)]
struct Receiver {
    pace: Pace,
    state: State,
}

#[derive(Debug, Default)]
struct Schedule {
    receivers: HashMap<AgentId, Receiver>,
    /// By pace. An entry counts only if its receiver is in the state `Queued` with this pace.
    queues: [VecDeque<AgentId>; 4],
    running: [usize; 4],
    /// In the order of their times.
    postponed: VecDeque<(Instant, AgentId)>,
}

impl Schedule {
    fn enqueue(&mut self, agent: &AgentId) {
        if let Some(receiver) = self.receivers.get_mut(agent) {
            receiver.state = State::Queued(receiver.pace);
            self.queues[receiver.pace as usize].push_back(agent.clone());
        }
    }

    fn wake(&mut self, agent: &AgentId) {
        match self.receivers.get_mut(agent).map(|receiver| &mut receiver.state) {
            Some(State::Idle) => self.enqueue(agent),
            Some(State::Running { again, .. }) => *again = true,
            Some(State::Queued(_) | State::Postponed) | None => {}
        }
    }

    fn activate(&mut self, agent: &AgentId) -> &mut Receiver {
        let new = Receiver { pace: Pace::New, state: State::Idle };
        self.receivers.entry(agent.clone()).or_insert(new)
    }

    fn change(&mut self, agent: &AgentId) {
        let receiver = self.activate(agent);
        receiver.pace = Pace::New;
        match &mut receiver.state {
            State::Running { again, changed } => (*again, *changed) = (true, true),
            State::Queued(Pace::New) | State::Postponed => {}
            State::Idle | State::Queued(_) => self.enqueue(agent),
        }
    }

    fn next(&mut self) -> Option<(AgentId, Pace)> {
        for pace in Pace::ALL {
            while self.running[pace as usize] < pace.turns_max() {
                let Some(agent) = self.queues[pace as usize].pop_front() else { break };
                if let Some(receiver) = self.receivers.get_mut(&agent)
                    && receiver.state == State::Queued(pace)
                {
                    receiver.state = State::Running { again: false, changed: false };
                    self.running[pace as usize] += 1;
                    return Some((agent, pace));
                }
            }
        }
        None
    }

    fn end_turn(&mut self, agent: &AgentId, place: Pace, measured: Option<Pace>, end: TurnEnd) {
        self.running[place as usize] -= 1;
        let Some(receiver) = self.receivers.get_mut(agent) else { return };
        let State::Running { again, changed } = receiver.state else { return };
        if let Some(measured) = measured.filter(|_| !changed) {
            receiver.pace = measured;
        }
        match end {
            TurnEnd::Failed => {
                receiver.state = State::Postponed;
                self.postponed.push_back((Instant::now() + FAILED_PAUSE, agent.clone()));
            }
            TurnEnd::More => self.enqueue(agent),
            // It may have been activated after its row was read.
            TurnEnd::Idle | TurnEnd::Off if again => self.enqueue(agent),
            TurnEnd::Idle => receiver.state = State::Idle,
            TurnEnd::Off => drop(self.receivers.remove(agent)),
        }
    }

    fn wake_postponed(&mut self, now: Instant) {
        while let Some((_, agent)) = self.postponed.pop_front_if(|(at, _)| *at <= now) {
            if self.receivers.get(&agent).is_some_and(|receiver| receiver.state == State::Postponed) {
                self.enqueue(&agent);
            }
        }
    }
}

/// The agents with a webhook, and those with something to deliver.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    schedule: Mutex<Schedule>,
    bell: Notify,
}

impl Receivers {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records which agents have new events. Runs on the store's thread, so it never waits.
    pub(crate) fn notify(&self, notices: &[EventNotice]) {
        let mut schedule = self.schedule();
        notices.iter().for_each(|notice| schedule.wake(&notice.agent));
        drop(schedule);
        self.bell.notify_one();
    }

    /// Records that a webhook was changed. It counts as active until its row was read, and as new: its receiver may
    /// be another one.
    pub(crate) fn changed(&self, agent: &AgentId) {
        self.schedule().change(agent);
        self.bell.notify_one();
    }

    /// Records that an agent has a due delivery, also if it was not known to have a webhook.
    pub(crate) fn wake_due(&self, agent: &AgentId) {
        let mut schedule = self.schedule();
        schedule.activate(agent);
        schedule.wake(agent);
        drop(schedule);
        self.bell.notify_one();
    }

    /// Records what the work list says. An agent whose turn it is, or will be, needs no other one: the list may be
    /// older than the turn, and it is read again.
    pub(crate) fn wake_listed(&self, agents: &[AgentId]) {
        let mut schedule = self.schedule();
        for agent in agents {
            if schedule.activate(agent).state == State::Idle {
                schedule.enqueue(agent);
            }
        }
        drop(schedule);
        self.bell.notify_one();
    }

    /// Records that agents have a webhook.
    pub(crate) fn activate(&self, agents: &[AgentId]) {
        let mut schedule = self.schedule();
        for agent in agents {
            schedule.activate(agent);
        }
    }

    /// Wakes the agents whose pause after a failure is over.
    pub(crate) fn wake_postponed(&self) {
        self.schedule().wake_postponed(Instant::now());
        self.bell.notify_one();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.schedule().receivers.is_empty()
    }

    /// Waits until there may be another turn to start.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// The next turn, if there is one and a place for it.
    pub(crate) fn next_turn(self: &Arc<Self>) -> Option<Turn> {
        let (agent, place) = self.schedule().next()?;
        Some(Turn { receivers: Arc::clone(self), agent, place, measured: None, end: TurnEnd::Failed })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// Nothing is due.
    Idle,
    /// There may be more to deliver.
    More,
    /// The agent has no active webhook.
    Off,
    /// It is repeated after a pause.
    Failed,
}

/// The turn of a receiver. Dropping it frees its place; without a result it counts as failed.
#[derive(Debug)]
pub(crate) struct Turn {
    receivers: Arc<Receivers>,
    pub(crate) agent: AgentId,
    place: Pace,
    /// How the receiver behaved, if something was sent.
    pub(crate) measured: Option<Pace>,
    pub(crate) end: TurnEnd,
}

impl Turn {
    /// The pace whose place the turn occupies.
    pub(crate) fn pace(&self) -> Pace {
        self.place
    }

    /// Changes to a place for slow receivers. Returns false if none is free.
    pub(crate) fn slow_down(&mut self) -> bool {
        let mut schedule = self.receivers.schedule();
        if schedule.running[Pace::Slow as usize] >= Pace::Slow.turns_max() {
            return false;
        }
        schedule.running[self.place as usize] -= 1;
        schedule.running[Pace::Slow as usize] += 1;
        drop(schedule);
        self.place = Pace::Slow;
        self.receivers.bell.notify_one();
        true
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.receivers.schedule().end_turn(&self.agent, self.place, self.measured, self.end);
        self.receivers.bell.notify_one();
    }
}
