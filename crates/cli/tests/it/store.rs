//! The store under stress: failing jobs, panics, full queues. What needs SQL is tested in the store itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use rstest::rstest;
use tandem_app::{Error, agents, keys};
use tandem_core::{IdSource, Now, Timestamp};
use tandem_store::{Database, Options, Owner, Size, Store, Tx, idempotency};
use tokio::task::JoinHandle;

use crate::harness::{Db, Place};

fn database(place: &Place) -> Database {
    match &place.database {
        Some(url) => Database::Postgres(url.clone()),
        None => Database::Sqlite(place.folder.join("tandem.db")),
    }
}

async fn open(place: &Place, options: Options) -> Store {
    let database = database(place);
    tokio::task::spawn_blocking(move || Store::open(&database, &options, 0).unwrap()).await.unwrap()
}

async fn close(store: Arc<Store>) {
    tokio::task::spawn_blocking(move || drop(store)).await.unwrap();
}

fn keep(tx: &mut tandem_store::Tx<'_>, key: &str) -> Result<(), Error> {
    let kept = idempotency::Kept { request_hash: vec![1], status: 200, body: "{}".into() };
    Ok(idempotency::keep(tx, &"agent_x".parse().unwrap(), key, &kept, Timestamp(1), Timestamp(1))?)
}

async fn kept(store: &Store, key: String) -> bool {
    let found = store.read(move |tx| {
        Ok::<_, Error>(idempotency::find(tx, &"agent_x".parse().unwrap(), &key, Timestamp(0))?.is_some())
    });
    found.await.unwrap()
}

#[rstest]
#[tokio::test]
async fn a_job_that_fails_or_panics_takes_back_only_itself(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let store = Arc::new(open(&place, Options::default()).await);
    let jobs = (0..60).map(|number| {
        let store = Arc::clone(&store);
        async move {
            let outcome = store.write(move |tx| {
                keep(tx, &format!("k{number}"))?;
                match number % 10 {
                    3 => Err(Error::NotFound("thing")),
                    7 => panic!("job {number} panics on purpose"),
                    _ => Ok(number),
                }
            });
            (number, outcome.await)
        }
    });
    for (number, outcome) in futures_util::future::join_all(jobs).await {
        match number % 10 {
            // In a debug build, a refusal after a write counts as a mistake.
            3 => assert!(matches!(outcome, Err(Error::NotFound(_) | Error::Store(_)))),
            7 => assert!(matches!(outcome, Err(Error::Store(tandem_store::Error::Panicked(_))))),
            _ => assert_eq!(outcome.unwrap(), number),
        }
        assert_eq!(
            kept(&store, format!("k{number}")).await,
            number % 10 != 3 && number % 10 != 7,
            "{number}"
        );
    }
    close(store).await;
}

#[rstest]
#[tokio::test]
async fn a_full_queue_turns_callers_away(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let store = Arc::new(open(&place, Options { writers: 1, queue_max: 4, ..Options::default() }).await);
    let gate = Arc::new(AtomicBool::new(false));
    let (held, holding) = std::sync::mpsc::channel();
    let blocker = {
        let (store, gate) = (Arc::clone(&store), Arc::clone(&gate));
        tokio::spawn(async move {
            let hold = move |_: &mut tandem_store::Tx<'_>| {
                held.send(()).ok();
                while !gate.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                Ok::<_, Error>(())
            };
            store.write(hold).await
        })
    };
    tokio::task::spawn_blocking(move || holding.recv().unwrap()).await.unwrap();
    let waiting: Vec<_> = (0..4)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.write(move |tx| keep(tx, &format!("w{number}"))).await })
        })
        .collect();
    let waiting_writes =
        || store.stats().figures().iter().find(|(name, _)| *name == "waiting_writes").unwrap().1;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while waiting_writes() < 4 {
        assert!(std::time::Instant::now() < deadline, "the queue does not fill");
        tokio::task::yield_now().await;
    }
    let refused = store.write(|tx| keep(tx, "too many")).await;
    assert!(matches!(refused, Err(Error::Store(tandem_store::Error::Busy))), "{refused:?}");
    gate.store(true, Ordering::SeqCst);
    blocker.await.unwrap().unwrap();
    for job in waiting {
        job.await.unwrap().unwrap();
    }
    assert!(!kept(&store, "too many".into()).await);
    close(store).await;
}

/// Which side of a store a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Writes,
    Reads(Size),
}

/// A store with one thread on each side. The thread of one side is busy until it is let go, so that jobs wait.
struct Busy {
    _place: Place,
    store: Arc<Store>,
    side: Side,
    gate: Arc<AtomicBool>,
    ran: Arc<Mutex<Vec<&'static str>>>,
    jobs: Vec<JoinHandle<Result<(), Error>>>,
}

impl Busy {
    async fn new(db: Db, side: Side, options: Options) -> Self {
        let place = Place::new(db);
        let store = Arc::new(open(&place, Options { writers: 1, readers: 1, ..options }).await);
        let gate = Arc::new(AtomicBool::new(false));
        let (held, holding) = std::sync::mpsc::channel();
        let open = Arc::clone(&gate);
        let hold = move |_: &mut Tx<'_>| {
            held.send(()).ok();
            while !open.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            Ok(())
        };
        let of = Arc::clone(&store);
        let job = tokio::spawn(async move {
            match side {
                Side::Writes => of.write(hold).await,
                Side::Reads(_) => of.read(hold).await,
            }
        });
        tokio::task::spawn_blocking(move || holding.recv().unwrap()).await.unwrap();
        Self { _place: place, store, side, gate, ran: Arc::default(), jobs: vec![job] }
    }

    /// Has a job of this owner wait, which notes its name when it runs.
    async fn add(&mut self, name: &'static str) {
        let (store, side, ran) = (Arc::clone(&self.store), self.side, Arc::clone(&self.ran));
        let owner = Owner::agent(&format!("agent_{name}").parse().unwrap());
        let note = move |_: &mut Tx<'_>| {
            ran.lock().unwrap().push(name);
            Ok(())
        };
        let mut job = Box::pin(async move {
            match side {
                Side::Writes => store.write_for(owner, note).await,
                Side::Reads(size) => store.read_for(owner, size, note).await,
            }
        });
        // It waits in the queue after the first look at it.
        let first = std::future::poll_fn(|context| Poll::Ready(job.as_mut().poll(context))).await;
        self.jobs.push(tokio::spawn(async move {
            match first {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => job.await,
            }
        }));
    }

    /// Lets the thread go. Returns the names of the jobs in the order in which they ran, and the outcomes in the order in
    /// which they were added.
    async fn let_go(self) -> (Vec<&'static str>, Vec<Result<(), Error>>) {
        self.gate.store(true, Ordering::SeqCst);
        let mut outcomes = Vec::new();
        for job in self.jobs {
            outcomes.push(job.await.unwrap());
        }
        let ran = self.ran.lock().unwrap().clone();
        close(self.store).await;
        (ran, outcomes)
    }
}

/// One agent floods the hub; each of the others waits for one of its jobs at a time, whatever they read.
#[rstest]
#[tokio::test]
async fn owners_take_turns(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Side::Writes, Side::Reads(Size::Rows), Side::Reads(Size::Page))] side: Side,
    #[values(1, 4, 256)] group_max: usize,
) {
    let mut busy = Busy::new(db, side, Options { group_max, ..Options::default() }).await;
    for name in [["flood"; 40].as_slice(), &["bob"; 3], &["cat"; 2]].concat() {
        busy.add(name).await;
    }
    let (ran, outcomes) = busy.let_go().await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let expected = ["flood", "bob", "cat", "flood", "bob", "cat", "flood", "bob"];
    assert_eq!(ran, [expected.as_slice(), &["flood"; 37]].concat());
}

#[rstest]
#[tokio::test]
async fn an_owner_has_a_bounded_part_of_a_queue(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[values(Side::Writes, Side::Reads(Size::Rows))] side: Side,
) {
    let mut busy = Busy::new(db, side, Options { queue_max: 32, ..Options::default() }).await;
    for name in [["flood"; 6].as_slice(), &["bob"; 4]].concat() {
        busy.add(name).await;
    }
    let (ran, outcomes) = busy.let_go().await;
    assert_eq!(ran.len(), 8);
    let refused: Vec<usize> = (0..outcomes.len()).filter(|place| outcomes[*place].is_err()).collect();
    // The first one is the job that kept the thread busy.
    assert_eq!(refused, [5, 6]);
    let is_own = |outcome: &_| matches!(outcome, Err(Error::Store(tandem_store::Error::OwnShare)));
    assert!(refused.iter().all(|place| is_own(&outcomes[*place])), "{outcomes:?}");
}

/// Nobody waits for what a client no longer wants to know.
#[rstest]
#[tokio::test]
async fn a_read_that_nobody_waits_for_is_not_done(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let mut busy = Busy::new(db, Side::Reads(Size::Rows), Options::default()).await;
    busy.add("gone").await;
    busy.add("here").await;
    let gone = busy.jobs.remove(1);
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    assert_eq!(busy.let_go().await.0, ["here"]);
}

/// Read, compute, write back: the classic that loses updates where transactions see stale rows.
#[rstest]
#[tokio::test]
async fn concurrent_read_modify_write_loses_nothing(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let place = Place::new(db);
    let store = Arc::new(open(&place, Options { writers: 4, group_max: 4, ..Options::default() }).await);
    let now = Now::new(Timestamp(1), Arc::new(IdSource::new(keys::fill_random)));
    let new = agents::NewAgent {
        credits_micro: 400,
        ..agents::NewAgent::plain("ada".to_owned().try_into().unwrap(), [1; 32])
    };
    let ada = store.write(move |tx| agents::register(tx, &new, &now)).await.unwrap().id;
    let jobs = (0..100).map(|_| {
        let (store, ada) = (Arc::clone(&store), ada.clone());
        async move {
            store.write(move |tx| Ok::<_, Error>(tandem_store::agents::deduct(tx, &ada, 1)?)).await.unwrap();
        }
    });
    futures_util::future::join_all(jobs).await;
    let total = store.read(move |tx| agents::profile(tx, &ada));
    assert_eq!(total.await.unwrap().credits_micro, 300);
    close(store).await;
}

/// SQLite's log is copied back beside the writer, and begins anew; also after a long read has kept it from that.
#[tokio::test]
async fn the_log_of_sqlite_does_not_grow_for_ever() {
    const BOUND: u64 = 6_000_000;
    let place = Place::new(Db::Sqlite);
    let store = Arc::new(open(&place, Options { log_pages: 50, group_max: 16, ..Options::default() }).await);
    let log_bytes = || std::fs::metadata(place.folder.join("tandem.db-wal")).unwrap().len();
    // 12 MB each time.
    let write = async |round: usize| {
        let jobs = (0..3_000).map(|number| {
            store.write(move |tx| {
                let body = "x".repeat(4_000);
                let kept = idempotency::Kept { request_hash: vec![1], status: 200, body };
                let key = format!("{round} {number}");
                Ok::<_, Error>(idempotency::keep(
                    tx,
                    &"agent_x".parse().unwrap(),
                    &key,
                    &kept,
                    Timestamp(1),
                    Timestamp(1),
                )?)
            })
        });
        for outcome in futures_util::future::join_all(jobs).await {
            outcome.unwrap();
        }
    };
    write(1).await;
    assert!(log_bytes() < BOUND, "{}", log_bytes());

    let (done, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let reading = {
        let (store, done, begun) = (Arc::clone(&store), Arc::clone(&done), Arc::clone(&begun));
        tokio::spawn(async move {
            let read = store.read(move |tx| {
                idempotency::find(tx, &"agent_x".parse().unwrap(), "1 1", Timestamp(0))?;
                begun.store(true, Ordering::SeqCst);
                while !done.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                Ok::<_, Error>(())
            });
            read.await
        })
    };
    crate::harness::eventually(async || begun.load(Ordering::SeqCst).then_some(())).await;
    write(2).await;
    let with_reader = log_bytes();
    assert!(with_reader > BOUND, "the reader still sees what was: {with_reader}");
    done.store(true, Ordering::SeqCst);
    reading.await.unwrap().unwrap();
    // Once all of it is copied back, the next commit begins the log anew, which its header counts. Until then commits
    // come one by one: how much a fast writer adds meanwhile is up to the machine.
    let begun_anew = || std::fs::read(place.folder.join("tandem.db-wal")).unwrap()[12..16].to_vec();
    let before = begun_anew();
    crate::harness::eventually(async || {
        store.write(|tx| keep(tx, "1 1")).await.unwrap();
        (begun_anew() != before).then_some(())
    })
    .await;
    write(3).await;
    write(4).await;
    assert!(log_bytes() < with_reader + BOUND, "{} after {with_reader}", log_bytes());
    assert!(kept(&store, "4 2999".into()).await);
    close(store).await;
    assert!(!place.folder.join("tandem.db-wal").exists(), "whoever closes it last tidies up");
}

/// Connections that the server ends are opened anew, and nobody notices.
#[tokio::test]
async fn a_database_that_comes_back_is_used_again_on_postgres() {
    let hub = crate::harness::Harness::start(Db::Postgres).await;
    let (ada, bob) = hub.pair().await;
    for _ in 0..3 {
        hub.place.end_connections();
        for _ in 0..4 {
            ada.get("/tasks").await.ok(200);
        }
        hub.place.end_connections();
        let task = ada.task(&bob).await;
        // Looking at it writes down that it was fetched, in a job that asks nothing.
        hub.place.end_connections();
        bob.get(&format!("/tasks/{task}")).await.ok(200);
    }
    assert_eq!(bob.get("/tasks").await.ok(200).as_array().unwrap().len(), 3);
}
