//! The rules of waking, with a clock that the tests move.

use tandem_core::Timestamp;
use tandem_core::events::Subject;
use tandem_core::peer_wakes::PeerWakes;

use super::news::{Clock, TASKS_MAX};
use super::open_wake::ANSWER_MAX;
use super::queue::{HOUR, LOCK_PAUSE, LOCK_TRIES, NEWS_MAX, TRIES_MAX};
use super::*;
use crate::profiles::Woken;

const REACTION: Duration = Duration::from_secs(60);

struct World {
    state: State,
    limit: PeerWakes,
    clock: Clock,
}

impl World {
    fn new() -> Self {
        let mut state = State::default();
        state.rungs.set(vec![Way::CodexQueue("thread".into())]);
        let time = Timestamp(1_767_225_600_000);
        Self {
            state,
            limit: PeerWakes::default(),
            clock: Clock { now: Instant::now(), time, reaction: REACTION, age_min: Duration::ZERO },
        }
    }

    fn later(&mut self, by: Duration) {
        self.clock.now += by;
        self.clock.time = self.clock.time.plus_ms(i64::try_from(by.as_millis()).unwrap());
    }

    fn arrives(&mut self, task: &str, cursor: i64) {
        self.state.queue.add(News {
            subject: Subject::Task,
            task: Some(task.parse().unwrap()),
            from: Some("agent_ada".parse().unwrap()),
            cursor,
            arrived: self.clock.now,
            tries: 0,
        });
    }

    /// The tasks that the model is woken for now. None if it is not woken.
    fn wakes(&mut self, woken: Option<Woken>) -> Option<Vec<String>> {
        if !self.state.is_due(self.clock.now) {
            return None;
        }
        self.limit.forget_old(self.clock.time);
        let (limit, time) = (&self.limit, self.clock.time);
        let news = self.state.queue.take(woken, |agent| limit.wait_of(agent, time), self.clock);
        let way = self.state.rungs.ways(news.iter().map(|one| one.tries).min()?).remove(0);
        self.limit.note(news[0].from.as_ref().unwrap(), time);
        let was_idle = self.state.rungs.is_idle();
        let (number, tasks) = self.state.wake.begin(&news, was_idle);
        self.state.queue.note_wake(&tasks, self.clock.now);
        self.state.rungs.try_way(way);
        self.state.wake.sent(number, self.clock.now);
        Some(tasks.iter().map(ToString::to_string).collect())
    }

    /// The model looks at a task, in a call that begins now.
    fn looks_at(&mut self, task: &str) -> usize {
        let answers = self.state.wake.answerable(self.clock.now);
        self.state.queue.forget_task(task);
        self.state.confirm(answers, |one| one.as_str() == task).len()
    }

    /// The time to react passes. Returns whether the model is known to react no longer.
    fn nobody_reacts(&mut self) -> bool {
        self.later(REACTION);
        let (again, no_longer_works) = self.state.expire(REACTION, self.clock.now).unwrap();
        self.state.queue.put_back(again);
        no_longer_works
    }
}

#[test]
fn news_that_come_together_are_one_wake() {
    let mut world = World::new();
    for (task, cursor) in [("task_1", 1), ("task_2", 2), ("task_1", 3)] {
        world.arrives(task, cursor);
    }
    assert_eq!(world.wakes(None).unwrap(), ["task_1", "task_2"]);
    world.arrives("task_3", 4);
    assert_eq!(world.wakes(None), None, "the first is not answered yet");
    assert_eq!(world.looks_at("task_2"), 1);
    assert_eq!(world.wakes(None).unwrap(), ["task_3"]);
}

#[test]
fn a_wake_that_is_ignored_is_repeated_so_often() {
    let mut world = World::new();
    world.arrives("task_1", 1);
    for _ in 0..TRIES_MAX {
        assert_eq!(world.wakes(None).unwrap(), ["task_1"]);
        assert!(!world.nobody_reacts(), "it was never seen to work");
    }
    assert_eq!(world.wakes(None), None);
    world.arrives("task_2", 2);
    assert_eq!(world.wakes(None).unwrap(), ["task_2"], "it is not deaf for what comes later");
}

#[test]
fn a_model_that_reacts_no_longer_is_noticed() {
    let mut world = World::new();
    world.arrives("task_1", 1);
    world.wakes(None).unwrap();
    assert_eq!(world.looks_at("task_1"), 1);
    assert!(world.state.rungs.works());
    world.arrives("task_2", 2);
    for no_longer_works in [false, false, true] {
        world.wakes(None).unwrap();
        assert_eq!(world.nobody_reacts(), no_longer_works);
    }
    assert!(!world.state.rungs.works());
}

#[test]
fn a_look_counts_as_an_answer_only_in_time_and_of_an_idle_model() {
    let mut world = World::new();
    world.arrives("task_1", 1);
    world.wakes(None).unwrap();
    world.later(ANSWER_MAX);
    assert_eq!(world.looks_at("task_1"), 0, "too late");
    world.arrives("task_2", 2);
    world.state.rungs.call_begins(false);
    world.wakes(None).unwrap();
    assert_eq!(world.looks_at("task_2"), 0, "it was at work anyway");
    assert!(!world.state.rungs.works());
}

#[test]
fn a_task_has_its_wakes_of_the_hour() {
    let mut world = World::new();
    for cursor in 0..10 {
        world.arrives("task_1", cursor + 1);
        assert!(world.wakes(None).is_some(), "wake {cursor}");
        world.looks_at("task_1");
    }
    world.arrives("task_1", 11);
    world.arrives("task_2", 12);
    assert_eq!(world.wakes(None).unwrap(), ["task_2"], "other tasks are not concerned");
    world.looks_at("task_2");
    world.later(HOUR);
    world.arrives("task_1", 13);
    assert_eq!(world.wakes(None).unwrap(), ["task_1"]);
}

#[test]
fn an_agent_that_wakes_too_often_waits() {
    let mut world = World::new();
    for number in 1..=60 {
        let task = format!("task_{number}");
        world.arrives(&task, number);
        assert!(world.wakes(None).is_some(), "wake {number}");
        world.looks_at(&task);
    }
    world.arrives("task_61", 61);
    assert_eq!(world.wakes(None), None);
    world.later(HOUR);
    let due = world.state.queue.due_postponed(world.clock.now);
    world.state.queue.take_up(due, 0);
    assert_eq!(world.wakes(None).unwrap(), ["task_61"], "it is late, and not lost");
}

#[test]
fn what_another_bridge_wakes_for_is_left_to_it_for_a_while() {
    let mut world = World::new();
    world.arrives("task_1", 1);
    world.arrives("task_2", 2);
    let woken = Woken { up_to: 2, answered: 1 };
    assert_eq!(world.wakes(Some(woken)), None);
    assert!(world.state.queue.due_postponed(world.clock.now).is_empty());
    world.later(REACTION);
    let due = world.state.queue.due_postponed(world.clock.now);
    world.state.queue.take_up(due, 1);
    assert_eq!(world.wakes(Some(woken)).unwrap(), ["task_2"], "task 1 was answered there");
}

#[test]
fn a_lock_that_is_kept_only_delays_a_wake() {
    let mut world = World::new();
    world.arrives("task_1", 1);
    for _ in 0..LOCK_TRIES {
        assert!(world.state.is_due(world.clock.now));
        world.state.queue.lock_is_taken(world.clock.now, REACTION);
        assert!(!world.state.is_due(world.clock.now));
        world.later(LOCK_PAUSE);
    }
    assert_eq!(world.wakes(None), None, "who has the lock may wake");
    world.later(REACTION);
    let due = world.state.queue.due_postponed(world.clock.now);
    world.state.queue.take_up(due, 0);
    assert_eq!(world.wakes(None).unwrap(), ["task_1"]);
}

#[test]
fn what_the_model_has_seen_wakes_nobody() {
    let mut world = World::new();
    world.arrives("task_1", 1);
    world.state.queue.shown(2);
    world.arrives("task_2", 2);
    assert_eq!(world.wakes(None), None);
    world.arrives("task_3", 3);
    world.state.queue.forget_task("task_3");
    assert_eq!(world.wakes(None), None);
    // A hub that was restored gives its numbers out again.
    world.state.rewind(1);
    world.arrives("task_4", 2);
    assert_eq!(world.wakes(None).unwrap(), ["task_4"]);
}

#[test]
fn news_without_end_take_no_room() {
    let mut world = World::new();
    for cursor in 0..1_000 {
        world.arrives(&format!("task_{cursor}"), cursor + 1);
    }
    assert_eq!(world.state.queue.len(), NEWS_MAX);
    let tasks = world.wakes(None).unwrap();
    assert_eq!((tasks.len(), tasks[0].as_str()), (TASKS_MAX, "task_900"));
}

/// A task can be there before the client has said how it can be woken.
#[test]
fn news_wait_until_the_client_can_be_woken() {
    let mut world = World::new();
    world.state.rungs.set(Vec::new());
    world.arrives("task_1", 1);
    assert_eq!(world.wakes(None), None);
    world.state.rungs.set(vec![Way::SessionInbox]);
    assert_eq!(world.wakes(None).unwrap(), ["task_1"]);
}
