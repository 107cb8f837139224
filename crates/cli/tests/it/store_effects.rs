//! What the store does after a commit: the effects of what was committed, once, and of nothing else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use rstest::rstest;
use tandem_app::Error;
use tandem_core::files::File;
use tandem_core::{AgentId, Timestamp};
use tandem_store::{Database, Effect, Options, Store, Tx, files, idempotency};

use crate::harness::{Db, Place, eventually};

/// A store that notes which effects it executes.
struct Watched {
    place: Place,
    store: Option<Arc<Store>>,
    executed: Arc<Mutex<Vec<String>>>,
}

/// An effect with a name by which it is known.
fn effect(name: &str) -> Effect {
    Effect::KeyEnded(agent(name))
}

fn agent(name: &str) -> AgentId {
    format!("agent_{name}").parse().unwrap()
}

/// Writes a row, so that the job has changed something.
fn write_row(tx: &mut Tx<'_>, name: &str) -> Result<(), Error> {
    let kept = idempotency::Kept { request_hash: vec![1], status: 200, body: "{}".into() };
    Ok(idempotency::keep(tx, &agent(name), name, &kept, Timestamp(1), Timestamp(1))?)
}

impl Watched {
    async fn open(db: Db, options: Options) -> Self {
        let place = Place::new(db);
        let database = match &place.database {
            Some(url) => Database::Postgres(url.clone()),
            None => Database::Sqlite(place.folder.join("tandem.db")),
        };
        let executed = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&executed);
        let hook = move |effects: Vec<Effect>| {
            let names = effects.into_iter().map(|effect| match effect {
                Effect::KeyEnded(agent) => agent.as_str().trim_start_matches("agent_").to_owned(),
                other => format!("{other:?}"),
            });
            seen.lock().unwrap().extend(names);
        };
        let opened = move || Store::open_with(&database, &options, Arc::new(hook), 0).unwrap();
        let store = tokio::task::spawn_blocking(opened).await.unwrap();
        Self { place, store: Some(Arc::new(store)), executed }
    }

    fn store(&self) -> &Arc<Store> {
        self.store.as_ref().unwrap()
    }

    fn executed(&self) -> Vec<String> {
        self.executed.lock().unwrap().clone()
    }

    async fn has_row(&self, name: &str) -> bool {
        let name = name.to_owned();
        let found = self.store().read(move |tx| {
            Ok::<_, Error>(idempotency::find(tx, &agent(&name), &name, Timestamp(0))?.is_some())
        });
        found.await.unwrap()
    }

    /// Holds up one writer until the flag is set.
    async fn hold(&self) -> Arc<AtomicBool> {
        let (release, held) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (until, begun, store) = (Arc::clone(&release), Arc::clone(&held), Arc::clone(self.store()));
        tokio::spawn(async move {
            let hold = move |_: &mut Tx<'_>| {
                begun.store(true, Ordering::SeqCst);
                while !until.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                Ok::<_, Error>(())
            };
            store.write(hold).await
        });
        eventually(async || held.load(Ordering::SeqCst).then_some(())).await;
        release
    }

    async fn wait_for_jobs(&self, count: u64) {
        let waiting = || {
            let figures = self.store().stats().figures();
            figures.iter().find(|(name, _)| *name == "waiting_writes").unwrap().1
        };
        eventually(async || (waiting() >= count).then_some(())).await;
    }

    async fn close(mut self) {
        let store = self.store.take();
        tokio::task::spawn_blocking(move || drop(store)).await.unwrap();
        drop(self.place);
    }
}

fn one_writer() -> Options {
    Options { writers: 1, ..Options::default() }
}

#[rstest]
#[tokio::test]
async fn the_effects_of_a_commit_are_executed_before_the_answer(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    let watched = Watched::open(db, Options::default()).await;
    for number in 0..20 {
        let write = watched.store().write(move |tx| {
            write_row(tx, &format!("n{number}"))?;
            tx.after_commit(effect(&format!("n{number}")));
            Ok::<_, Error>(())
        });
        write.await.unwrap();
        assert_eq!(watched.executed().len(), number + 1, "executed before the answer");
    }
    watched.close().await;
}

#[rstest]
#[tokio::test]
async fn the_effects_of_a_commit_are_executed_even_if_nobody_waits(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
) {
    let watched = Watched::open(db, one_writer()).await;
    let release = watched.hold().await;
    for number in 0..10 {
        let write = watched.store().write(move |tx| {
            write_row(tx, &format!("n{number}"))?;
            tx.after_commit(effect(&format!("n{number}")));
            Ok::<_, Error>(())
        });
        // Handed over to the store, and given up.
        assert!(write.now_or_never().is_none());
    }
    assert_eq!(watched.executed(), [] as [&str; 0]);
    release.store(true, Ordering::SeqCst);
    let expected: Vec<String> = (0..10).map(|number| format!("n{number}")).collect();
    eventually(async || (watched.executed().len() >= expected.len()).then_some(())).await;
    assert_eq!(watched.executed(), expected, "in the order of the commits");
    assert!(watched.has_row("n9").await);
    watched.close().await;
}

/// How a job ends that has registered an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Well,
    /// Refused before it has written anything: the group goes on.
    Refused,
    /// Refused after it has written: on SQLite the group is rolled back, and each job runs again alone.
    RefusedLate,
    Panics,
    /// It meets an error of the database.
    Fails,
    /// It meets one and takes no notice of it.
    FailsUnnoticed,
    /// It meets one at its first two runs: in the group, and alone.
    WellAtLast,
}

impl Ends {
    fn is_well(self) -> bool {
        matches!(self, Self::Well | Self::WellAtLast)
    }

    fn run(self, tx: &mut Tx<'_>, name: &str, run: usize) -> Result<(), Error> {
        tx.after_commit(effect(name));
        if self == Self::Refused {
            return Err(Error::NotFound("thing"));
        }
        write_row(tx, name)?;
        match self {
            Self::Well | Self::Refused => Ok(()),
            Self::RefusedLate => Err(Error::NotFound("thing")),
            Self::Panics => panic!("{name} panics on purpose"),
            Self::Fails => violate(tx),
            Self::FailsUnnoticed => {
                let _ = violate(tx);
                Ok(())
            }
            Self::WellAtLast => {
                if run < 2 {
                    violate(tx)
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// Inserts the same row twice, which no database allows.
fn violate(tx: &mut Tx<'_>) -> Result<(), Error> {
    let file = File {
        id: "file_x".parse().unwrap(),
        task: "task_x".parse().unwrap(),
        message: "msg_x".parse().unwrap(),
        uploader: agent("x"),
        name: "x".into(),
        mime_type: "text/plain".into(),
        size_bytes: 1,
        created_at: Timestamp(1),
    };
    for _ in 0..2 {
        files::insert(tx, &file)?;
        // What was only sent shows its failure with the next question.
        files::find(tx, &file.id)?;
    }
    Ok(())
}

/// Jobs that share a transaction as far as that works out; how often each ran.
async fn run_together(watched: &Watched, jobs: &[Ends]) -> Vec<usize> {
    let release = watched.hold().await;
    let runs: Vec<_> = jobs.iter().map(|_| Arc::new(AtomicUsize::new(0))).collect();
    let mut writes = Vec::new();
    for (number, ends) in jobs.iter().copied().enumerate() {
        let (ran, store) = (Arc::clone(&runs[number]), Arc::clone(watched.store()));
        writes.push(tokio::spawn(async move {
            let run = move |tx: &mut Tx<'_>| {
                ends.run(tx, &format!("n{number}"), ran.fetch_add(1, Ordering::SeqCst))
            };
            store.write(run).await
        }));
        watched.wait_for_jobs(number as u64 + 1).await;
    }
    release.store(true, Ordering::SeqCst);
    for (number, write) in writes.into_iter().enumerate() {
        let answer = write.await.unwrap();
        assert_eq!(answer.is_ok(), jobs[number].is_well(), "{number}: {answer:?}");
    }
    runs.iter().map(|ran| ran.load(Ordering::SeqCst)).collect()
}

#[rstest]
#[case::all_well(&[Ends::Well, Ends::Well, Ends::Well])]
#[case::one_refused(&[Ends::Well, Ends::Refused, Ends::Well])]
#[case::one_refused_late(&[Ends::Well, Ends::RefusedLate, Ends::Well])]
#[case::one_panics(&[Ends::Well, Ends::Panics, Ends::Well])]
#[case::one_fails(&[Ends::Well, Ends::Fails, Ends::Well])]
#[case::one_fails_unnoticed(&[Ends::Well, Ends::FailsUnnoticed, Ends::Well])]
#[case::one_fails_at_first(&[Ends::Well, Ends::WellAtLast, Ends::Well])]
#[case::refused_alone(&[Ends::Refused])]
#[case::panics_alone(&[Ends::Panics])]
#[case::fails_alone(&[Ends::Fails])]
#[tokio::test]
async fn only_what_is_committed_has_effects_and_each_once(
    #[values(Db::Sqlite, Db::Postgres)] db: Db,
    #[case] jobs: &[Ends],
) {
    let watched = Watched::open(db, one_writer()).await;
    let runs = run_together(&watched, jobs).await;
    let well = (0..jobs.len()).filter(|number| jobs[*number].is_well());
    let expected: Vec<String> = well.map(|number| format!("n{number}")).collect();
    // Jobs that wait together may be committed in any order.
    let mut executed = watched.executed();
    executed.sort();
    assert_eq!(executed, expected, "{jobs:?}, which ran {runs:?} times");
    for (number, ends) in jobs.iter().enumerate() {
        assert_eq!(watched.has_row(&format!("n{number}")).await, ends.is_well(), "{number}");
    }
    // On PostgreSQL, what a refused job wrote was never sent.
    if jobs[0] == Ends::Well && db == Db::Sqlite {
        let spoilt = !jobs.iter().all(|ends| matches!(ends, Ends::Well | Ends::Refused));
        assert_eq!(runs[0] > 1, spoilt, "a spoilt group runs again: {runs:?}");
    }
    watched.close().await;
}

/// Two writers commit beside each other. Each effect is executed once, and those of one agent in the order of its log as
/// far as one job waits for the other.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn effects_of_an_agent_come_in_order(#[values(Db::Sqlite, Db::Postgres)] db: Db) {
    const AGENTS: usize = 6;
    const EACH: usize = 30;
    let watched = Watched::open(db, Options { writers: 2, group_max: 4, ..Options::default() }).await;
    let writers: Vec<_> = (0..AGENTS)
        .map(|number| {
            let store = Arc::clone(watched.store());
            tokio::spawn(async move {
                for count in 0..EACH {
                    let name = format!("a{number}-{count}");
                    let write = store.write(move |tx| {
                        write_row(tx, &name)?;
                        tx.after_commit(effect(&name));
                        Ok::<_, Error>(())
                    });
                    write.await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let executed = watched.executed();
    assert_eq!(executed.len(), AGENTS * EACH);
    for number in 0..AGENTS {
        let own = executed.iter().filter(|name| name.starts_with(&format!("a{number}-"))).cloned();
        let expected: Vec<String> = (0..EACH).map(|count| format!("a{number}-{count}")).collect();
        assert_eq!(own.collect::<Vec<_>>(), expected);
    }
    watched.close().await;
}

/// The connection breaks during the commit, so that nobody knows whether it happened. Then bytes must not be deleted;
/// but a key that may have ended has to be looked up again.
#[tokio::test]
async fn after_an_unknown_commit_only_harmless_effects_are_executed() {
    let watched = Watched::open(Db::Postgres, one_writer()).await;
    // Once, so that the next write is sent at once, together with its commit.
    watched.store().write(|tx| write_row(tx, "before")).await.unwrap();
    let (begun, release) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (reached, until, store) = (Arc::clone(&begun), Arc::clone(&release), Arc::clone(watched.store()));
    let writing = tokio::spawn(async move {
        let write = store.write(move |tx| {
            write_row(tx, "unknown")?;
            tx.after_commit(effect("unknown"));
            tx.after_commit(Effect::FilesRemoved(vec!["file_x".parse().unwrap()]));
            reached.store(true, Ordering::SeqCst);
            while !until.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            Ok::<_, Error>(())
        });
        write.await
    });
    eventually(async || begun.load(Ordering::SeqCst).then_some(())).await;
    watched.place.end_connections();
    release.store(true, Ordering::SeqCst);
    let answer = writing.await.unwrap();
    assert!(matches!(answer, Err(Error::Store(tandem_store::Error::Unknown(_)))), "{answer:?}");
    assert_eq!(watched.executed(), ["unknown"]);
    watched.close().await;
}
