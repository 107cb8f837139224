//! Whose turn it is to be served. Receivers that answer late wait in queues of their own, so they never take a place
//! from one that answers at once.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tandem_core::{AgentId, TaskId};
use tandem_store::EventNotice;
use tandem_store::pushes::Due;
use tokio::sync::Notify;

/// Pause after a turn that failed, for example because the store could not be reached.
const FAILED_PAUSE: Duration = Duration::from_secs(1);
/// Pushes of one client that have their turn or wait for it. Its others wait in the database, so that a client with
/// thousands of them keeps nobody else waiting.
const PUSHES_OF_ONE_MAX: usize = 64;

/// Who gets something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ReceiverId {
    /// The webhook of an agent.
    Webhook(AgentId),
    /// The receiver of pushes about a task.
    Push {
        task: TaskId,
        id: Arc<str>,
        /// The client that wants them.
        owner: AgentId,
    },
}

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
    /// The pace with this number.
    fn numbered(number: i64) -> Self {
        let known = usize::try_from(number).ok().and_then(|number| Self::ALL.get(number));
        known.copied().unwrap_or(Self::New)
    }

    /// Its number in the database.
    pub(crate) fn number(self) -> i64 {
        self as i64
    }

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
    receivers: HashMap<ReceiverId, Receiver>,
    /// By pace. An entry counts only if its receiver is in the state `Queued` with this pace.
    queues: [VecDeque<ReceiverId>; 4],
    running: [usize; 4],
    /// In the order of their times.
    postponed: VecDeque<(Instant, ReceiverId)>,
    /// How many of the receivers are pushes of a client.
    pushes: HashMap<AgentId, usize>,
}

impl Schedule {
    fn enqueue(&mut self, of: &ReceiverId) {
        if let Some(receiver) = self.receivers.get_mut(of) {
            receiver.state = State::Queued(receiver.pace);
            self.queues[receiver.pace as usize].push_back(of.clone());
        }
    }

    fn wake(&mut self, of: &ReceiverId) {
        match self.receivers.get_mut(of).map(|receiver| &mut receiver.state) {
            Some(State::Idle) => self.enqueue(of),
            Some(State::Running { again, .. }) => *again = true,
            Some(State::Queued(_) | State::Postponed) | None => {}
        }
    }

    fn remove(&mut self, of: &ReceiverId) {
        self.receivers.remove(of);
        if let ReceiverId::Push { owner, .. } = of
            && let Some(count) = self.pushes.get_mut(owner)
        {
            *count -= 1;
            if *count == 0 {
                self.pushes.remove(owner);
            }
        }
    }

    /// Queues a push that is due; false if its client has too many in the queues.
    fn add_push(&mut self, due: &Due) -> bool {
        let Due { task, id, owner, .. } = due;
        let of = ReceiverId::Push { task: task.clone(), id: id.as_str().into(), owner: owner.clone() };
        if self.receivers.contains_key(&of) {
            return true;
        }
        let count = self.pushes.entry(owner.clone()).or_default();
        if *count >= PUSHES_OF_ONE_MAX {
            return false;
        }
        *count += 1;
        let pace = Pace::numbered(due.pace);
        self.receivers.insert(of.clone(), Receiver { pace, state: State::Idle });
        self.enqueue(&of);
        true
    }

    fn activate(&mut self, of: &ReceiverId) -> &mut Receiver {
        let new = Receiver { pace: Pace::New, state: State::Idle };
        self.receivers.entry(of.clone()).or_insert(new)
    }

    fn change(&mut self, of: &ReceiverId) {
        let receiver = self.activate(of);
        receiver.pace = Pace::New;
        match &mut receiver.state {
            State::Running { again, changed } => (*again, *changed) = (true, true),
            State::Queued(Pace::New) | State::Postponed => {}
            State::Idle | State::Queued(_) => self.enqueue(of),
        }
    }

    fn next(&mut self) -> Option<(ReceiverId, Pace)> {
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

    fn end_turn(&mut self, of: &ReceiverId, place: Pace, measured: Option<Pace>, end: TurnEnd) {
        self.running[place as usize] -= 1;
        let Some(receiver) = self.receivers.get_mut(of) else { return };
        let State::Running { again, changed } = receiver.state else { return };
        if let Some(measured) = measured.filter(|_| !changed) {
            receiver.pace = measured;
        }
        match end {
            TurnEnd::Failed => {
                receiver.state = State::Postponed;
                self.postponed.push_back((Instant::now() + FAILED_PAUSE, of.clone()));
            }
            TurnEnd::More => self.enqueue(of),
            // It may have been activated after its row was read.
            TurnEnd::Idle | TurnEnd::Off if again => self.enqueue(of),
            TurnEnd::Idle => receiver.state = State::Idle,
            TurnEnd::Off => self.remove(of),
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

/// The agents with a webhook, and whoever else gets something.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    schedule: Mutex<Schedule>,
    bell: Notify,
    /// Rings when something may have happened that is to be pushed, if anybody wants pushes.
    push_bell: Notify,
    wants_pushes: AtomicBool,
}

fn webhook(agent: &AgentId) -> ReceiverId {
    ReceiverId::Webhook(agent.clone())
}

impl Receivers {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records which agents have new events. Runs on the store's thread, so it never waits.
    pub(crate) fn notify(&self, notices: &[EventNotice]) {
        let mut schedule = self.schedule();
        notices.iter().for_each(|notice| schedule.wake(&webhook(&notice.agent)));
        drop(schedule);
        self.bell.notify_one();
        if self.wants_pushes() {
            self.push_bell.notify_one();
        }
    }

    /// Records that somebody wants pushes.
    pub(crate) fn want_pushes(&self) {
        self.wants_pushes.store(true, Ordering::Relaxed);
        self.push_bell.notify_one();
    }

    /// Whether anybody is known to want pushes.
    pub(crate) fn wants_pushes(&self) -> bool {
        self.wants_pushes.load(Ordering::Relaxed)
    }

    /// Waits until there may be something to push.
    pub(crate) async fn push_rung(&self) {
        self.push_bell.notified().await;
    }

    /// Queues pushes that are due. Returns the clients that have too many in the queues.
    pub(crate) fn add_pushes(&self, due: &[Due]) -> Vec<AgentId> {
        let mut schedule = self.schedule();
        let mut full: Vec<AgentId> = Vec::new();
        for due in due {
            if !full.contains(&due.owner) && !schedule.add_push(due) {
                full.push(due.owner.clone());
            }
        }
        drop(schedule);
        self.bell.notify_one();
        full
    }

    /// Records that a webhook was changed. It counts as active until its row was read, and as new: its receiver may
    /// be another one.
    pub(crate) fn changed(&self, agent: &AgentId) {
        self.schedule().change(&webhook(agent));
        self.bell.notify_one();
    }

    /// Records that an agent has a due delivery, also if it was not known to have a webhook.
    pub(crate) fn wake_due(&self, agent: &AgentId) {
        let mut schedule = self.schedule();
        schedule.activate(&webhook(agent));
        schedule.wake(&webhook(agent));
        drop(schedule);
        self.bell.notify_one();
    }

    /// Records what the work list says. An agent whose turn it is, or will be, needs no other one: the list may be
    /// older than the turn, and it is read again.
    pub(crate) fn wake_listed(&self, agents: &[AgentId]) {
        let mut schedule = self.schedule();
        for agent in agents {
            let of = webhook(agent);
            if schedule.activate(&of).state == State::Idle {
                schedule.enqueue(&of);
            }
        }
        drop(schedule);
        self.bell.notify_one();
    }

    /// Records that agents have a webhook.
    pub(crate) fn activate(&self, agents: &[AgentId]) {
        let mut schedule = self.schedule();
        for agent in agents {
            schedule.activate(&webhook(agent));
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
        let (of, place) = self.schedule().next()?;
        Some(Turn { receivers: Arc::clone(self), of, place, measured: None, end: TurnEnd::Failed })
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
    pub(crate) of: ReceiverId,
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
        self.receivers.schedule().end_turn(&self.of, self.place, self.measured, self.end);
        self.receivers.bell.notify_one();
        // Another push of the same client may have waited for this place.
        if matches!(self.of, ReceiverId::Push { .. }) {
            self.receivers.push_bell.notify_one();
        }
    }
}
