//! What holds whatever happens: three agents and the clock do things at random, on the real store, and after
//! each of them the invariants of the task machine are asked.

mod checks;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config as Runs, TestRunner};
use rstest::rstest;
use tandem_app::decisions::Origin;
use tandem_app::messages::NewMessage;
use tandem_app::tasks::{self, Change, Defaults, Expected, HeartbeatInput, NewReply, NewTask, Outcome};
use tandem_app::{Error, agents, approvals, deadlines, messages, pairing, updates};
use tandem_core::messages::{DELETED, Message};
use tandem_core::tasks::{OnStall, Task};
use tandem_core::{AgentId, IdSource, Now, Rule, Status, TaskId, Timestamp, Way};
use tandem_store::events::Logged;
use tandem_store::tasks::LogLine;
use tandem_store::{Database, Effect, Options, Store, Tx};

use crate::harness::{Db, Place};

const DEFAULTS: Defaults = Defaults { ttl_seconds: None, check_in_seconds: Some(30), max_messages: 200 };

/// What may happen. Agents are 0 to 2, and all connected; tasks are counted in the order they were made.
#[derive(Debug, Clone)]
enum Act {
    Create {
        by: usize,
        to: usize,
        terms: [bool; 6],
        stall: u8,
    },
    Move {
        task: usize,
        by: usize,
        to: Status,
    },
    Say {
        task: usize,
        by: usize,
    },
    Reply {
        task: usize,
        by: usize,
        outcome: u8,
    },
    Read {
        task: usize,
        by: usize,
    },
    Ack {
        task: usize,
        by: usize,
    },
    Beat {
        task: usize,
        by: usize,
    },
    Retry {
        task: usize,
        by: usize,
    },
    Reassign {
        task: usize,
        by: usize,
        to: usize,
    },
    Approve {
        task: usize,
        by: usize,
    },
    Reject {
        task: usize,
        by: usize,
    },
    Delete {
        task: usize,
        by: usize,
    },
    Budget {
        task: usize,
        by: usize,
    },
    Gate {
        of: usize,
        hold: bool,
    },
    /// Takes back the newest message that it wrote.
    TakeBack {
        task: usize,
        by: usize,
    },
    /// Acknowledges its updates, but for so many of the newest events.
    Seen {
        by: usize,
        but: i64,
    },
    /// Time goes by; the timer may or may not come round.
    Wait {
        seconds: i64,
        timer: bool,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let agent = || 0..3_usize;
    let pair = || (0..3_usize, 0..3_usize);
    let status = (0..Status::ALL.len()).prop_map(|index| Status::ALL[index]);
    let act = proptest::prop_oneof![
        5 => (agent(), agent(), any::<[bool; 6]>(), 0..3_u8)
            .prop_map(|(by, to, terms, stall)| Act::Create { by, to, terms, stall }),
        14 => (pair(), status).prop_map(|((task, by), to)| Act::Move { task, by, to }),
        7 => pair().prop_map(|(task, by)| Act::Say { task, by }),
        3 => (pair(), 0..3_u8).prop_map(|((task, by), outcome)| Act::Reply { task, by, outcome }),
        3 => pair().prop_map(|(task, by)| Act::Read { task, by }),
        3 => pair().prop_map(|(task, by)| Act::Ack { task, by }),
        2 => pair().prop_map(|(task, by)| Act::Beat { task, by }),
        4 => pair().prop_map(|(task, by)| Act::Retry { task, by }),
        4 => (pair(), agent()).prop_map(|((task, by), to)| Act::Reassign { task, by, to }),
        2 => pair().prop_map(|(task, by)| Act::Approve { task, by }),
        1 => pair().prop_map(|(task, by)| Act::Reject { task, by }),
        1 => pair().prop_map(|(task, by)| Act::Delete { task, by }),
        1 => pair().prop_map(|(task, by)| Act::Budget { task, by }),
        2 => (agent(), any::<bool>()).prop_map(|(of, hold)| Act::Gate { of, hold }),
        3 => pair().prop_map(|(task, by)| Act::TakeBack { task, by }),
        6 => (agent(), 0..5_i64).prop_map(|(by, but)| Act::Seen { by, but }),
        8 => (1..25_i64, any::<bool>()).prop_map(|(seconds, timer)| Act::Wait { seconds, timer }),
    ];
    proptest::collection::vec(act, 1..100)
}

/// A task with its history and its thread.
type Whole = (Task, Vec<String>, Vec<Message>);
/// An event: its number, its kind, its task and all of it.
type Line = (i64, String, Option<TaskId>, String);

/// Everything that is stored about the tasks of one run.
#[derive(Debug, Clone, PartialEq)]
struct Stored {
    tasks: Vec<Option<Whole>>,
    events: Vec<Vec<Line>>,
    ends: Vec<i64>,
}

struct World<'s> {
    store: &'s Store,
    runtime: &'s tokio::runtime::Runtime,
    ids: Arc<IdSource>,
    at: Timestamp,
    agents: Vec<AgentId>,
    tasks: Vec<TaskId>,
    holds: [bool; 3],
}

impl World<'_> {
    fn now(&self) -> Now {
        Now::new(self.at, Arc::clone(&self.ids))
    }

    /// Runs a use case the way the hub does.
    fn run<T: Send + 'static>(
        &self,
        use_case: impl Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Result<T, Error> {
        let use_case = Arc::new(use_case);
        loop {
            let (now, case) = (self.now(), Arc::clone(&use_case));
            let overdue = match self.runtime.block_on(self.store.write(move |tx| case(tx, &now))) {
                Err(Error::Overdue(overdue)) => overdue,
                other => return other,
            };
            let now = self.now();
            self.runtime.block_on(self.store.write(move |tx| tasks::expire(tx, &overdue, &now))).unwrap();
        }
    }

    fn timer(&self) {
        loop {
            let claimed = self.run(deadlines::claim).unwrap();
            for deadline in claimed.deadlines {
                self.run(move |tx, now| deadlines::handle(tx, &deadline, now)).unwrap();
            }
            if !claimed.more {
                return;
            }
        }
    }

    fn stored(&self) -> Stored {
        let (agents, tasks) = (self.agents.clone(), self.tasks.clone());
        self.run(move |tx, _| {
            let mut found = Vec::new();
            for id in &tasks {
                let task = tandem_store::tasks::find(tx, id)?;
                let log: Vec<LogLine> = tandem_store::tasks::log_lines(tx, id, 0, 10_000)?;
                let thread = tandem_store::messages::before(tx, id, i64::MAX, 10_000)?.0;
                found.push(task.map(|task| (task, log.iter().map(|l| format!("{l:?}")).collect(), thread)));
            }
            let mut events = Vec::new();
            let mut ends = Vec::new();
            for agent in &agents {
                let log: Vec<Logged> = tandem_store::events::after(tx, agent, 0, 100_000)?;
                events.push(log.into_iter().map(|e| (e.seq, e.kind, e.task, e.data)).collect());
                ends.push(tandem_store::events::cursors(tx, agent)?.last);
            }
            Ok(Stored { tasks: found, events, ends })
        })
        .unwrap()
    }

    fn log_of(&self, task: &TaskId) -> Vec<LogLine> {
        let task = task.clone();
        self.run(move |tx, _| Ok(tandem_store::tasks::log_lines(tx, &task, 0, 10_000)?)).unwrap()
    }

    fn act(&mut self, act: &Act) -> Result<(), Error> {
        let agents = self.agents.clone();
        let id = |task: usize| self.tasks.get(task).cloned().unwrap_or_else(|| "task_none".parse().unwrap());
        let text = || NewMessage::plain("hi".to_owned().try_into().unwrap());
        match *act {
            Act::Create { by, to, terms, stall } => {
                let [draft, reviewed, ttl, lease, window, short] = terms;
                let target = agents[to].as_str().to_owned().try_into().unwrap();
                let new = NewTask {
                    draft,
                    requires_review: reviewed,
                    ttl_seconds: ttl.then(|| 20.try_into().unwrap()),
                    lease_seconds: lease.then(|| 10.try_into().unwrap()),
                    check_in_seconds: window.then(|| 5.try_into().unwrap()),
                    max_messages: short.then(|| 3.try_into().unwrap()),
                    on_stall: Some([OnStall::Notify, OnStall::Expire, OnStall::Retry][usize::from(stall)]),
                    ..NewTask::plain(target, "T".to_owned().try_into().unwrap())
                };
                let made = self.run(move |tx, now| tasks::create(tx, &agents[by], &new, &DEFAULTS, now))?;
                self.tasks.push(made.id);
                Ok(())
            }
            Act::Move { task, by, to } => {
                let task = id(task);
                let change = Change { status: Some(to), ..Change::default() };
                self.run(move |tx, now| tasks::change(tx, &agents[by], &task, &change, now).map(drop))
            }
            Act::Say { task, by } => {
                let (task, new) = (id(task), text());
                self.run(move |tx, now| messages::send(tx, &agents[by], &task, &new, now).map(drop))
            }
            Act::Reply { task, by, outcome } => {
                let outcome = [Outcome::Completed, Outcome::Failed, Outcome::Cancelled][usize::from(outcome)];
                let (task, new) =
                    (id(task), NewReply { message: text(), outcome, expected: Expected::default() });
                self.run(move |tx, now| tasks::reply(tx, &agents[by], &task, &new, now).map(drop))
            }
            Act::Read { task, by } => {
                let task = id(task);
                self.run(move |tx, now| tasks::read(tx, &agents[by], &task, now).map(drop))
            }
            Act::Ack { task, by } => {
                let task = id(task);
                self.run(move |tx, now| tasks::acknowledge(tx, &agents[by], &task, now).map(drop))
            }
            Act::Beat { task, by } => {
                let task = id(task);
                self.run(move |tx, now| {
                    tasks::heartbeat(tx, &agents[by], &task, &HeartbeatInput::default(), now).map(drop)
                })
            }
            Act::Retry { task, by } => {
                let task = id(task);
                self.run(move |tx, now| {
                    tasks::retry(tx, &agents[by], &task, &Expected::default(), now).map(drop)
                })
            }
            Act::Reassign { task, by, to } => {
                let task = id(task);
                let to = agents[to].as_str().to_owned().try_into().unwrap();
                self.run(move |tx, now| {
                    tasks::reassign(tx, &agents[by], &task, &to, &Expected::default(), now).map(drop)
                })
            }
            Act::Approve { task, by } => {
                let task = id(task);
                self.run(move |tx, now| {
                    approvals::approve(
                        tx,
                        &agents[by],
                        &task,
                        None,
                        &Expected::default(),
                        &Origin::of(Way::Rest),
                        now,
                    )
                    .map(drop)
                })
            }
            Act::Reject { task, by } => {
                let task = id(task);
                self.run(move |tx, now| {
                    approvals::reject(
                        tx,
                        &agents[by],
                        &task,
                        None,
                        &Expected::default(),
                        &Origin::of(Way::Rest),
                        now,
                    )
                    .map(drop)
                })
            }
            Act::Delete { task, by } => {
                let task = id(task);
                self.run(move |tx, now| {
                    tasks::delete(tx, &agents[by], &task, &Expected::default(), now).map(drop)
                })
            }
            Act::Budget { task, by } => {
                let task = id(task);
                let change = Change { max_messages: Some(9.try_into().unwrap()), ..Change::default() };
                self.run(move |tx, now| tasks::change(tx, &agents[by], &task, &change, now).map(drop))
            }
            Act::Gate { of, hold } => {
                self.holds[of] = hold;
                let rule = if hold { Rule::Require } else { Rule::Auto };
                let change = agents::Change { default_approval: Some(Some(rule)), ..Default::default() };
                self.run(move |tx, now| agents::change(tx, &agents[of], &change, now).map(drop))
            }
            Act::TakeBack { task, by } => {
                let task = id(task);
                self.run(move |tx, now| {
                    let thread = tandem_store::messages::before(tx, &task, i64::MAX, 10_000)?.0;
                    let own = thread.iter().rev().find(|message| {
                        message.sender.as_ref() == Some(&agents[by]) && message.content != DELETED
                    });
                    let own = own.ok_or(Error::NotFound("message"))?;
                    messages::delete(tx, &agents[by], &task, &own.id, now).map(drop)
                })
            }
            Act::Seen { by, but } => self.run(move |tx, _| {
                let last = tandem_store::events::cursors(tx, &agents[by])?.last;
                updates::acknowledge(tx, &agents[by], last - but).map(drop)
            }),
            Act::Wait { seconds, timer } => {
                self.at = self.at.plus_seconds(seconds);
                if timer {
                    self.timer();
                }
                Ok(())
            }
        }
    }
}

/// Three agents, each connected with the others.
fn people(world: &mut World<'_>) {
    for name in ["Ada", "Bob", "Eve"] {
        let mut key_hash = [0; 32];
        tandem_app::keys::fill_random(&mut key_hash);
        let new = agents::NewAgent::plain(name.to_owned().try_into().unwrap(), key_hash);
        let made = world.run(move |tx, now| agents::register(tx, &new, now)).unwrap();
        world.agents.push(made.id);
    }
    for (one, other) in [(0, 1), (1, 2), (2, 0)] {
        let (one, other) = (world.agents[one].clone(), world.agents[other].clone());
        let paired = world.run(move |tx, now| {
            let code = pairing::generate(tx, &one, now)?.code;
            pairing::connect(tx, &other, &code, now).map(drop)
        });
        paired.unwrap();
    }
}

#[rstest]
fn the_invariants_hold(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let (database, cases) = match &place.database {
        Some(url) => (Database::Postgres(url.clone()), 64),
        None => (Database::Sqlite(place.folder.join("tandem.db")), 200),
    };
    let told = Arc::new(Mutex::new(HashMap::<AgentId, Vec<i64>>::new()));
    let heard = Arc::clone(&told);
    let on_commit = move |effects: Vec<Effect>| {
        let mut heard = heard.lock().unwrap();
        for effect in effects {
            if let Effect::EventAppended(notice) = effect {
                heard.entry(notice.agent).or_default().push(notice.seq);
            }
        }
    };
    let store = Store::open_with(&database, &Options::default(), Arc::new(on_commit), 0).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ids = Arc::new(IdSource::new(tandem_app::keys::fill_random));
    let runs = Runs { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Runs::default() };
    TestRunner::new(runs)
        .run(&acts(), |acts| {
            let mut world = World {
                store: &store,
                runtime: &runtime,
                ids: Arc::clone(&ids),
                at: Timestamp(1_800_000_000_000),
                agents: Vec::new(),
                tasks: Vec::new(),
                holds: [false; 3],
            };
            people(&mut world);
            let mut before = world.stored();
            for act in &acts {
                let answer = world.act(act);
                let after = world.stored();
                world.check_step(act, &answer, &before, &after);
                before = after;
            }
            world.timer();
            let stored = world.stored();
            for (task, ..) in stored.tasks.iter().flatten() {
                assert!(!task.is_overdue(world.at), "nothing overdue is left by the timer");
                let silent = task.lease.until.is_some_and(|until| until <= world.at);
                assert!(!(task.status == Status::Working && silent), "nor a lease that ran out");
            }
            let told = told.lock().unwrap().clone();
            world.check(&stored, &told);
            Ok(())
        })
        .unwrap();
}
