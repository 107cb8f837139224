//! Races between nodes: three stores write the same rows of one PostgreSQL at the same time. Each node has its own
//! writers, so nothing but the locks of the rows keeps them apart.

use std::sync::Arc;

use futures_util::future::join_all;
use tandem_app::idempotency::{self, Key};
use tandem_app::tasks::{Change, Defaults, Expected, NewTask};
use tandem_app::{Error, agents, connections, files, keys, messages, networks, pairing, tasks, updates};
use tandem_core::text::Body;
use tandem_core::{AgentId, IdSource, Now, Status, TaskId, Timestamp};
use tandem_store::{Database, Options, Store, Tx, connections as pair_rows, events, tasks as task_rows};

use crate::harness::{Db, Place};

const DEFAULTS: Defaults = Defaults { ttl_seconds: None, check_in_seconds: Some(0), max_messages: 100_000 };

/// Three nodes on one database, and two agents that are connected.
struct World {
    stores: Vec<Arc<Store>>,
    now: Now,
    ada: AgentId,
    bob: AgentId,
    _place: Place,
}

impl World {
    async fn new() -> Self {
        let place = Place::new(Db::Postgres);
        let mut stores = Vec::new();
        for _ in 0..3 {
            let database = Database::Postgres(place.database.clone().unwrap());
            let options = Options { group_max: 8, ..Options::default() };
            let open = move || Store::open(&database, &options, 0).unwrap();
            stores.push(Arc::new(tokio::task::spawn_blocking(open).await.unwrap()));
        }
        let now = Now::new(Timestamp(1_800_000_000_000), Arc::new(IdSource::new(keys::fill_random)));
        let mut agents = Vec::new();
        for number in 0..2 {
            agents.push(register(&stores[0], &now, number).await);
        }
        let [ada, bob] = agents.try_into().unwrap();
        let world = Self { stores, now, ada, bob, _place: place };
        world.pair().await.unwrap();
        world
    }

    async fn pair(&self) -> Result<(), Error> {
        let (ada, bob) = (self.ada.clone(), self.bob.clone());
        let code = self.on(0, move |tx, now| pairing::generate(tx, &ada, now)).await?.code;
        self.on(0, move |tx, now| pairing::connect(tx, &bob, &code, now)).await.map(drop)
    }

    /// Runs a use case on one of the nodes.
    async fn on<T: Send + 'static>(
        &self,
        node: usize,
        act: impl Fn(&mut Tx<'_>, &Now) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let now = self.now.clone();
        self.stores[node % 3].write(move |tx| act(tx, &now)).await
    }

    async fn create(&self, node: usize, id: Option<&str>) -> Result<TaskId, Error> {
        let (ada, target) = (self.ada.clone(), self.bob.to_string().try_into().unwrap());
        let mut new = NewTask::plain(target, "Work".to_owned().try_into().unwrap());
        new.id = id.map(|id| id.parse().unwrap());
        self.on(node, move |tx, now| tasks::create(tx, &ada, &new, &DEFAULTS, now)).await.map(|task| task.id)
    }

    async fn set(&self, node: usize, by: &AgentId, task: &TaskId, to: Status) -> Result<(), Error> {
        let (by, task) = (by.clone(), task.clone());
        let change = Change { status: Some(to), ..Change::default() };
        self.on(node, move |tx, now| tasks::change(tx, &by, &task, &change, now).map(drop)).await
    }

    async fn say(&self, node: usize, by: &AgentId, task: &TaskId) -> Result<(), Error> {
        let (by, task) = (by.clone(), task.clone());
        let new = messages::NewMessage::plain(Body::try_from("Hello".to_owned()).unwrap());
        self.on(node, move |tx, now| messages::send(tx, &by, &task, &new, now).map(drop)).await
    }

    /// The numbers of an agent's log.
    async fn log(&self, agent: &AgentId) -> Vec<i64> {
        let agent = agent.clone();
        let log = self.on(0, move |tx, _| {
            let last = events::cursors(tx, &agent)?.last;
            let mut seqs = Vec::new();
            while let Some(event) = events::after(tx, &agent, seqs.last().copied().unwrap_or(0), 1)?.pop() {
                seqs.push(event.seq);
            }
            assert_eq!(seqs.last().copied().unwrap_or(0), last);
            Ok(seqs)
        });
        log.await.unwrap()
    }

    async fn live_tasks(&self) -> i64 {
        let (ada, bob) = (self.ada.clone(), self.bob.clone());
        self.on(0, move |tx, _| Ok(pair_rows::live_with(tx, &ada, &bob)?)).await.unwrap()
    }

    async fn task(&self, id: &TaskId) -> tandem_core::Task {
        let id = id.clone();
        self.on(0, move |tx, _| Ok(task_rows::find(tx, &id)?.unwrap())).await.unwrap()
    }

    async fn close(self) {
        let stores = self.stores;
        tokio::task::spawn_blocking(move || drop(stores)).await.unwrap();
    }
}

async fn register(store: &Store, now: &Now, number: usize) -> AgentId {
    let mut key_hash = [0; 32];
    keys::fill_random(&mut key_hash);
    let new = agents::NewAgent {
        credits_micro: 1_000_000,
        ..agents::NewAgent::plain(format!("agent {number}").try_into().unwrap(), key_hash)
    };
    let now = now.clone();
    store.write(move |tx| agents::register(tx, &new, &now)).await.unwrap().id
}

fn is_gap_free(log: &[i64]) -> bool {
    log.iter().copied().eq(1..=log.len() as i64)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_many_takers_gets_a_task_on_postgres() {
    let world = World::new().await;
    let tasks = join_all((0..30).map(|node| world.create(node, None))).await;
    let tasks: Vec<TaskId> = tasks.into_iter().map(Result::unwrap).collect();
    let takers = tasks.iter().flat_map(|task| (0..9).map(move |node| (node, task)));
    let bob = world.bob.clone();
    let taken = join_all(takers.map(|(node, task)| {
        let (world, bob) = (&world, &bob);
        async move { (task.clone(), world.set(node, bob, task, Status::Working).await) }
    }))
    .await;
    for task in &tasks {
        let winners = taken.iter().filter(|(of, outcome)| of == task && outcome.is_ok()).count();
        assert_eq!(winners, 1, "{task}");
        let found = world.task(task).await;
        assert_eq!((found.status, found.counts.log, found.version), (Status::Working, 2, 2));
    }
    let lost = taken.iter().filter(|(_, outcome)| outcome.is_err());
    for (_, outcome) in lost {
        assert!(matches!(outcome, Err(Error::OnTask { .. } | Error::Refused(_))), "{outcome:?}");
    }
    assert!(is_gap_free(&world.log(&world.ada).await) && is_gap_free(&world.log(&bob).await));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_and_logs_are_right_after_a_storm_on_one_pair_on_postgres() {
    let world = World::new().await;
    let (ada, bob) = (world.ada.clone(), world.bob.clone());
    let lives = join_all((0..60).map(|number| {
        let (world, ada, bob) = (&world, &ada, &bob);
        async move {
            let task = world.create(number, None).await?;
            let said = join_all((0..3).map(|node| world.say(node, if node == 1 { ada } else { bob }, &task)));
            said.await.into_iter().collect::<Result<Vec<()>, Error>>()?;
            world.set(number + 1, bob, &task, Status::Working).await?;
            if number % 2 == 0 {
                world.set(number + 2, bob, &task, Status::Completed).await?;
            }
            Ok::<_, Error>(task)
        }
    }))
    .await;
    let tasks: Vec<TaskId> = lives.into_iter().map(Result::unwrap).collect();
    for task in &tasks {
        assert_eq!(world.task(task).await.counts.messages, 3);
    }
    assert_eq!(world.live_tasks().await, 30);
    assert!(is_gap_free(&world.log(&ada).await) && is_gap_free(&world.log(&bob).await));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_sent_to_three_nodes_at_once_takes_effect_once_on_postgres() {
    let world = World::new().await;
    for round in 0..20 {
        let key = Key { key: format!("key {round}"), request_hash: [1; 32] };
        let answers = join_all((0..6).map(|node| {
            let (ada, key) = (world.ada.clone(), key.clone());
            let target: tandem_core::text::Alias = world.bob.to_string().try_into().unwrap();
            world.on(node, move |tx, now| {
                if let Some(kept) = idempotency::find::<String>(tx, &ada, &key, now)? {
                    return Ok(kept);
                }
                let new = NewTask::plain(target.clone(), "Once".to_owned().try_into().unwrap());
                let id = tasks::create(tx, &ada, &new, &DEFAULTS, now)?.id.to_string();
                idempotency::keep(tx, &ada, &key, &id, now)?;
                Ok(id)
            })
        }))
        .await;
        let answers: Vec<String> = answers.into_iter().map(Result::unwrap).collect();
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    }
    assert_eq!(world.live_tasks().await, 20);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_belongs_to_one_task_on_postgres() {
    let world = World::new().await;
    for round in 0..20 {
        let id = format!("mine_{round}");
        let made = join_all((0..6).map(|node| world.create(node, Some(&id)))).await;
        assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
        assert!(made.iter().all(|made| matches!(made, Ok(_) | Err(Error::IdTaken))), "{made:?}");
    }
    assert_eq!(world.live_tasks().await, 20);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_a_task_that_is_being_deleted_is_never_free_on_postgres() {
    let world = World::new().await;
    for round in 0..20 {
        let id = format!("mine_{round}");
        let task = world.create(0, Some(&id)).await.unwrap();
        world.set(0, &world.ada, &task, Status::Cancelled).await.unwrap();
        let again = join_all((0..6).map(|node| world.create(node, Some(&id))));
        let delete = async {
            let (by, task) = (world.ada.clone(), task.clone());
            world.on(round, move |tx, now| tasks::delete(tx, &by, &task, &Expected::default(), now)).await
        };
        let (again, deleted) = tokio::join!(again, delete);
        deleted.unwrap();
        assert!(again.iter().all(|made| matches!(made, Err(Error::IdTaken))), "{again:?}");
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_task_survives_the_connection_that_carried_it_on_postgres() {
    let world = World::new().await;
    for round in 0..12 {
        let (ada, bob) = (world.ada.clone(), world.bob.clone());
        let (by, peer) = (ada.clone(), bob.clone());
        let connection = world.on(0, move |tx, _| Ok(pair_rows::between(tx, &by, &peer)?.unwrap()));
        let connection = connection.await.unwrap();
        let creates = join_all((0..12).map(|node| world.create(node, None)));
        let disconnect = async {
            let by = bob.clone();
            world.on(round, move |tx, now| connections::disconnect(tx, &by, &connection, now)).await
        };
        let (made, ended) = tokio::join!(creates, disconnect);
        ended.unwrap();
        for task in made.into_iter().filter_map(Result::ok) {
            assert_eq!(world.task(&task).await.status, Status::Cancelled, "round {round}");
        }
        assert_eq!(world.live_tasks().await, 0);
        world.pair().await.unwrap();
    }
    assert!(is_gap_free(&world.log(&world.ada).await) && is_gap_free(&world.log(&world.bob).await));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_redeemed_once_and_a_limit_is_a_limit_on_postgres() {
    let world = World::new().await;
    let mut others = Vec::new();
    for number in 2..10 {
        others.push(register(&world.stores[0], &world.now, number).await);
    }
    let ada = world.ada.clone();
    let by = ada.clone();
    let code = world.on(0, move |tx, now| pairing::generate(tx, &by, now)).await.unwrap().code;
    let redeemed = join_all(others.iter().enumerate().map(|(node, other)| {
        let (other, code) = (other.clone(), code.clone());
        world.on(node, move |tx, now| pairing::connect(tx, &other, &code, now).map(drop))
    }))
    .await;
    assert_eq!(redeemed.iter().filter(|redeemed| redeemed.is_ok()).count(), 1, "{redeemed:?}");

    // An invitation for three.
    let by = ada.clone();
    let network = world.on(0, move |tx, now| {
        let new = networks::NewNetwork { name: "Lab".to_owned().try_into().unwrap(), description: None };
        let network = networks::create(tx, &by, &new, now)?.id;
        let invite = networks::NewInvite { max_uses: Some(3.try_into().unwrap()), expires_in: None };
        Ok(networks::invite(tx, &by, &network, &invite, now)?.code)
    });
    let code = network.await.unwrap();
    let joined = join_all(others.iter().enumerate().map(|(node, other)| {
        let (other, code) = (other.clone(), code.clone());
        world.on(node, move |tx, now| networks::join(tx, &other, &code, now).map(|network| network.members))
    }))
    .await;
    assert_eq!(joined.iter().filter(|joined| joined.is_ok()).count(), 3, "{joined:?}");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledging_updates_beside_new_messages_counts_right_on_postgres() {
    let world = World::new().await;
    let task = world.create(0, None).await.unwrap();
    let (ada, bob) = (world.ada.clone(), world.bob.clone());
    let talk = join_all((0..40).map(|node| world.say(node, &ada, &task)));
    let seen = join_all((0..40).map(|node| {
        let by = bob.clone();
        world.on(node, move |tx, _| {
            let last = events::cursors(tx, &by)?.last;
            updates::acknowledge(tx, &by, last).map(drop)
        })
    }));
    let (talk, seen) = tokio::join!(talk, seen);
    for outcome in talk.into_iter().chain(seen) {
        outcome.unwrap();
    }
    let by = bob.clone();
    let counted = world.on(0, move |tx, _| {
        let acked = events::cursors(tx, &by)?.updates_acked;
        Ok((acked, events::after(tx, &by, acked, 200)?.len() as i64))
    });
    let (acked, after) = counted.await.unwrap();
    let found = world.task(&task).await;
    // The count holds while the last of them is newer than the cursor.
    let unseen = &found.target_side.unseen;
    assert_eq!(if unseen.last > Some(acked) { unseen.count } else { 0 }, after);
    assert_eq!((found.counts.messages, found.target_side.unread), (40, 40));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_file_is_told_of_once_on_postgres() {
    let world = World::new().await;
    let task = world.create(0, None).await.unwrap();
    let ada = world.ada.clone();
    let (by, on) = (ada.clone(), task.clone());
    let file = world.on(0, move |tx, now| {
        let new = files::NewFile {
            id: now.new_id(),
            name: "a.txt".into(),
            mime_type: "text/plain".into(),
            size_bytes: 5,
            sealed: None,
            limit: None,
            sent: None,
            quota: 1_000,
        };
        files::attach(tx, &by, &on, &new, now).map(|(file, _)| file.id)
    });
    let file = file.await.unwrap();
    let deleted = join_all((0..6).map(|node| {
        let (by, file) = (ada.clone(), file.clone());
        world.on(node, move |tx, now| files::delete(tx, &by, &file, now).map(drop))
    }))
    .await;
    assert_eq!(deleted.iter().filter(|deleted| deleted.is_ok()).count(), 1, "{deleted:?}");
    let by = ada.clone();
    let bytes = world.on(0, move |tx, _| Ok(tandem_store::files::bytes_of(tx, &by)?)).await;
    assert_eq!(bytes.unwrap(), 0);
    world.close().await;
}
