//! Random lives of tasks on the real store, against a model that knows only the documentation.

use std::sync::Arc;

use proptest::prelude::{Just, Strategy, any};
use proptest::test_runner::{Config as Runs, TestRunner};
use rstest::rstest;
use tandem_app::decisions::Origin;
use tandem_app::tasks::Expected;
use tandem_app::{Error, agents, approvals, connections, messages, pairing, tasks};
use tandem_core::{AgentId, IdSource, Now, Refusal, Role, Rule, Status, TaskId, Timestamp, Way};
use tandem_store::{Database, Options, Store, Tx};

use crate::harness::{Db, Place};
use crate::machine::documented;

const DEFAULTS: tasks::Defaults =
    tasks::Defaults { ttl_seconds: None, check_in_seconds: Some(0), max_messages: 200 };

/// What may happen. Agents are 0 and 1; tasks are counted in the order they were made, and around.
#[derive(Debug, Clone)]
enum Act {
    Create { by: usize, reviewed: bool, draft: bool },
    Move { task: usize, by: usize, to: Status },
    Say { task: usize, by: usize },
    Approve { task: usize, by: usize },
    Reject { task: usize, by: usize },
    Delete { task: usize, by: usize },
    Gate { of: usize, rule: Option<Rule> },
    Disconnect { by: usize },
    Pair,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let agent = || 0..2_usize;
    let task = || 0..4_usize;
    let status = (0..Status::ALL.len()).prop_map(|index| Status::ALL[index]);
    let rule =
        proptest::option::of(any::<bool>().prop_map(|hold| if hold { Rule::Require } else { Rule::Auto }));
    let act = proptest::prop_oneof![
        4 => (agent(), any::<bool>(), any::<bool>()).prop_map(|(by, reviewed, draft)| Act::Create { by, reviewed, draft }),
        20 => (task(), agent(), status).prop_map(|(task, by, to)| Act::Move { task, by, to }),
        6 => (task(), agent()).prop_map(|(task, by)| Act::Say { task, by }),
        3 => (task(), agent()).prop_map(|(task, by)| Act::Approve { task, by }),
        2 => (task(), agent()).prop_map(|(task, by)| Act::Reject { task, by }),
        2 => (task(), agent()).prop_map(|(task, by)| Act::Delete { task, by }),
        2 => (agent(), rule).prop_map(|(of, rule)| Act::Gate { of, rule }),
        1 => agent().prop_map(|by| Act::Disconnect { by }),
        2 => Just(Act::Pair),
    ];
    proptest::collection::vec(act, 1..60)
}

/// One task, as the documentation says it should be.
#[derive(Debug, Clone)]
struct Imagined {
    initiator: usize,
    reviewed: bool,
    status: Status,
    held: bool,
    published: bool,
    said: i64,
    ended: i64,
    log: Vec<Status>,
    deleted: bool,
}

/// Everything, as the documentation says it should be.
#[derive(Debug, Default)]
struct Model {
    connected: bool,
    rules: [Option<Rule>; 2],
    tasks: Vec<Imagined>,
    /// What each agent's log holds: a kind and a task.
    events: [Vec<(&'static str, Option<usize>)>; 2],
    told: [i64; 2],
}

impl Model {
    fn tell(&mut self, to: usize, kind: &'static str, task: Option<usize>) {
        self.events[to].push((kind, task));
        self.told[to] += 1;
    }

    fn visible(&self, task: usize, by: usize) -> Result<&Imagined, &'static str> {
        let found = self.tasks.get(task).filter(|task| !task.deleted);
        found.filter(|task| task.initiator == by || task.published).ok_or("not_found")
    }

    fn publish(&mut self, task: usize) {
        let target = 1 - self.tasks[task].initiator;
        let held = self.rules[target] == Some(Rule::Require);
        let imagined = &mut self.tasks[task];
        (imagined.status, imagined.held, imagined.published) = (Status::Submitted, held, true);
        self.tell(target, if held { "task.approval_required" } else { "task.created" }, Some(task));
    }

    fn shift(&mut self, task: usize, by: usize, to: Status) {
        let from = self.tasks[task].status;
        let published = self.tasks[task].published;
        let imagined = &mut self.tasks[task];
        imagined.status = to;
        imagined.held &= to.is_live();
        imagined.log.push(to);
        imagined.ended += i64::from(to.is_terminal());
        if !published {
            return;
        }
        if from.is_terminal() {
            self.tell(by, "task.updated", Some(task));
        }
        self.tell(1 - by, "task.updated", Some(task));
    }

    fn check_move(&self, task: usize, by: usize, to: Status) -> Result<(), &'static str> {
        let found = self.visible(task, by)?;
        let letter = if found.initiator == by { 'I' } else { 'T' };
        let may = |letter| documented(found.status, to, letter, found.reviewed);
        let anybody = "ITS".chars().any(may);
        if found.status.is_terminal() && !anybody {
            return Err("task_terminal");
        }
        if found.held && !(letter == 'I' && to == Status::Cancelled) {
            return Err("approval_pending");
        }
        if !anybody {
            return Err("invalid_transition");
        }
        if may(letter) {
            return Ok(());
        }
        let review = found.reviewed && letter == 'T' && to == Status::Completed;
        Err(if review { "review_required" } else { "role_not_allowed" })
    }

    fn check_gate(&self, task: usize, by: usize) -> Result<(), &'static str> {
        let found = self.visible(task, by)?;
        if found.initiator == by {
            return Err("role_not_allowed");
        }
        if found.held { Ok(()) } else { Err("invalid_state") }
    }

    fn act(&mut self, act: &Act) -> Result<(), &'static str> {
        match *act {
            Act::Create { by, reviewed, draft } => {
                if !self.connected {
                    return Err("not_connected");
                }
                let (status, log) =
                    (Status::Draft, vec![if draft { Status::Draft } else { Status::Submitted }]);
                let task = Imagined {
                    initiator: by,
                    reviewed,
                    status,
                    log,
                    held: false,
                    published: false,
                    said: 0,
                    ended: 0,
                    deleted: false,
                };
                self.tasks.push(task);
                if !draft {
                    self.publish(self.tasks.len() - 1);
                }
            }
            Act::Move { task, by, to } => {
                self.check_move(task, by, to)?;
                if self.tasks[task].status == Status::Draft && to == Status::Submitted {
                    if !self.connected {
                        return Err("not_connected");
                    }
                    self.publish(task);
                    self.tasks[task].log.push(to);
                } else {
                    if self.tasks[task].status.is_terminal() && !self.connected {
                        return Err("not_connected");
                    }
                    self.shift(task, by, to);
                }
            }
            Act::Say { task, by } => {
                let found = self.visible(task, by)?;
                match found.status {
                    Status::Draft => return Err("task_draft"),
                    status if status.is_terminal() => return Err("task_terminal"),
                    _ if found.held => return Err("approval_pending"),
                    _ => {}
                }
                self.tasks[task].said += 1;
                self.tell(1 - by, "message.created", Some(task));
            }
            Act::Approve { task, by } => {
                self.check_gate(task, by)?;
                self.tasks[task].held = false;
                self.tell(1 - by, "task.updated", Some(task));
                self.tell(by, "task.created", Some(task));
            }
            Act::Reject { task, by } => {
                self.check_gate(task, by)?;
                self.shift(task, by, Status::Cancelled);
            }
            Act::Delete { task, by } => {
                if self.visible(task, by)?.status.is_live() {
                    return Err("task_live");
                }
                self.tasks[task].deleted = true;
                for log in &mut self.events {
                    log.retain(|event| event.1 != Some(task));
                }
            }
            Act::Gate { of, rule } => self.rules[of] = rule,
            Act::Disconnect { by } => {
                if !self.connected {
                    return Err("not_found");
                }
                self.connected = false;
                self.tell(1 - by, "agent.disconnected", None);
                for task in 0..self.tasks.len() {
                    if self.tasks[task].status.is_live() {
                        self.shift(task, by, Status::Cancelled);
                    }
                }
            }
            Act::Pair => {
                if self.connected {
                    return Err("already_connected");
                }
                self.connected = true;
                self.tell(0, "agent.connected", None);
                self.tell(1, "agent.connected", None);
            }
        }
        Ok(())
    }
}

fn code(error: &Error) -> &'static str {
    match error {
        Error::OnTask { error, .. } => code(error),
        Error::NotFound(_) => "not_found",
        Error::NotConnected => "not_connected",
        Error::AlreadyConnected => "already_connected",
        Error::KeyTaken => "key_taken",
        Error::Refused(refusal) => match refusal {
            Refusal::Terminal => "task_terminal",
            Refusal::ApprovalPending => "approval_pending",
            Refusal::Draft => "task_draft",
            Refusal::NoSuchMove { .. } => "invalid_transition",
            Refusal::NotYourMove => "role_not_allowed",
            Refusal::ReviewRequired => "review_required",
            Refusal::InvalidState(_) => "invalid_state",
            Refusal::Live => "task_live",
            Refusal::Encrypted => "task_encrypted",
            Refusal::MessageBudget(_) => "message_budget",
            Refusal::Conflict => "conflict",
        },
        other => panic!("{other:?}"),
    }
}

/// The real thing: two agents on a store, and the tasks made so far.
struct Real<'s> {
    store: &'s Store,
    runtime: &'s tokio::runtime::Runtime,
    now: Now,
    agents: [AgentId; 2],
    tasks: Vec<TaskId>,
}

impl Real<'_> {
    fn write<T: Send + 'static>(
        &self,
        use_case: impl Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let now = self.now.clone();
        self.runtime.block_on(self.store.write(move |tx| use_case(tx, &now)))
    }

    fn task(&self, index: usize) -> TaskId {
        self.tasks.get(index).cloned().unwrap_or_else(|| "task_unknown".parse().unwrap())
    }

    fn act(&mut self, act: &Act) -> Result<(), Error> {
        let agents = self.agents.clone();
        match *act {
            Act::Create { by, reviewed, draft } => {
                let target = agents[1 - by].as_str().to_owned().try_into().unwrap();
                let title = "T".to_owned().try_into().unwrap();
                let new = tasks::NewTask {
                    draft,
                    requires_review: reviewed,
                    ..tasks::NewTask::plain(target, title)
                };
                let made = self.write(move |tx, now| tasks::create(tx, &agents[by], &new, &DEFAULTS, now))?;
                self.tasks.push(made.id);
                Ok(())
            }
            Act::Move { task, by, to } => {
                let task = self.task(task);
                let change = tasks::Change { status: Some(to), ..tasks::Change::default() };
                self.write(move |tx, now| tasks::change(tx, &agents[by], &task, &change, now).map(drop))
            }
            Act::Say { task, by } => {
                let task = self.task(task);
                let new = messages::NewMessage::plain("hi".to_owned().try_into().unwrap());
                self.write(move |tx, now| messages::send(tx, &agents[by], &task, &new, now).map(drop))
            }
            Act::Approve { task, by } => {
                let task = self.task(task);
                self.write(move |tx, now| {
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
                let task = self.task(task);
                self.write(move |tx, now| {
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
                let task = self.task(task);
                self.write(move |tx, now| {
                    tasks::delete(tx, &agents[by], &task, &Expected::default(), now).map(drop)
                })
            }
            Act::Gate { of, rule } => {
                let change = agents::Change { default_approval: Some(rule), ..agents::Change::default() };
                self.write(move |tx, now| agents::change(tx, &agents[of], &change, now).map(drop))
            }
            Act::Disconnect { by } => self.write(move |tx, now| {
                let found = tandem_store::connections::between(tx, &agents[by], &agents[1 - by])?;
                let id = found.ok_or(Error::NotFound("connection"))?;
                connections::disconnect(tx, &agents[by], &id, now).map(drop)
            }),
            Act::Pair => {
                let by = agents[0].clone();
                let code = self.write(move |tx, now| pairing::generate(tx, &by, now))?.code;
                self.write(move |tx, now| pairing::connect(tx, &agents[1], &code, now).map(drop))
            }
        }
    }
}

/// Compares everything that can be seen with what it should be.
fn compare(real: &Real<'_>, model: &Model) {
    let (agents, tasks) = (real.agents.clone(), real.tasks.clone());
    let found = real.write(move |tx, _| {
        let mut views = Vec::new();
        for task in &tasks {
            let row = tandem_store::tasks::find(tx, task)?;
            let log = tandem_store::tasks::log_lines(tx, task, 0, 1_000)?;
            let thread = tandem_store::messages::before(tx, task, i64::MAX, 1_000)?.0;
            views.push((row, log, thread));
        }
        let logs = [0, 1].map(|n| tandem_store::events::after(tx, &agents[n], 0, 10_000).unwrap());
        let ends = [0, 1].map(|n| tandem_store::events::cursors(tx, &agents[n]).unwrap().last);
        let live = tandem_store::connections::reach(tx, &agents[0], &agents[1])?.unwrap().live_tasks;
        Ok((views, logs, ends, live))
    });
    let (views, logs, ends, live) = found.unwrap();
    let mut live_expected = 0;
    for (imagined, (row, log, thread)) in model.tasks.iter().zip(&views) {
        let Some(row) = row else {
            assert!(imagined.deleted && log.is_empty() && thread.is_empty());
            continue;
        };
        assert!(!imagined.deleted);
        assert_eq!((row.status, row.position().held), (imagined.status, imagined.held));
        assert_eq!(
            row.role_of(&real.agents[1 - imagined.initiator]),
            imagined.published.then_some(Role::Target)
        );
        let steps: Vec<Status> = log.iter().map(|line| line.to).collect();
        assert_eq!(steps, imagined.log);
        assert_eq!(log[0].from, None);
        assert!(log.windows(2).all(|pair| pair[1].from == Some(pair[0].to)), "the history has no hole");
        let system = thread.iter().filter(|message| message.sender.is_none()).count();
        let closings = if imagined.reviewed { imagined.ended } else { 0 };
        assert_eq!(system as i64, closings, "one system message for each end of a reviewed task");
        assert_eq!(thread.len() as i64, imagined.said + closings);
        let numbers: Vec<i64> = thread.iter().map(|message| message.number).collect();
        assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>());
        live_expected += i64::from(row.status.is_live());
    }
    assert_eq!(live.unwrap_or(0), live_expected);
    for agent in 0..2 {
        let kinds: Vec<(&str, Option<&TaskId>)> =
            logs[agent].iter().map(|e| (e.kind.as_str(), e.task.as_ref())).collect();
        let expected: Vec<(&str, Option<&TaskId>)> = model.events[agent]
            .iter()
            .map(|(kind, task)| (*kind, task.map(|task| &real.tasks[task])))
            .collect();
        assert_eq!(kinds, expected, "the log of agent {agent}");
        assert_eq!(ends[agent], model.told[agent], "numbers are given without gaps");
        assert!(logs[agent].windows(2).all(|pair| pair[0].seq < pair[1].seq));
    }
}

#[rstest]
fn the_store_lives_as_documented(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let database = match &place.database {
        Some(url) => Database::Postgres(url.clone()),
        None => Database::Sqlite(place.folder.join("tandem.db")),
    };
    let store = Store::open(&database, &Options::default(), 0).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ids = Arc::new(IdSource::new(tandem_app::keys::fill_random));
    let runs = Runs { cases: 96, failure_persistence: None, ..Runs::default() };
    TestRunner::new(runs)
        .run(&acts(), |acts| {
            let now = Now::new(Timestamp(1_800_000_000_000), Arc::clone(&ids));
            let register = |name: &str| {
                let mut key_hash = [0; 32];
                tandem_app::keys::fill_random(&mut key_hash);
                let new = agents::NewAgent::plain(name.to_owned().try_into().unwrap(), key_hash);
                let now = now.clone();
                runtime.block_on(store.write(move |tx| agents::register(tx, &new, &now))).unwrap().id
            };
            let agents = [register("Ada"), register("Bob")];
            let mut real =
                Real { store: &store, runtime: &runtime, now: now.clone(), agents, tasks: Vec::new() };
            let mut model = Model::default();
            for act in [Act::Pair].iter().chain(&acts) {
                let expected = model.act(act);
                let answer = real.act(act).map_err(|error| code(&error));
                assert_eq!(answer, expected, "{act:?}");
            }
            compare(&real, &model);
            Ok(())
        })
        .unwrap();
}
