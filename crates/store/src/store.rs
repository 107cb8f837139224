//! The threads that own connections, and the bounded queues in front of them.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::conn::{Conn, Mode};
use crate::executor::{Executor, Shared};
use crate::job::{Erased, Job, Turn};
use crate::lock_queue::{self, LockQueue};
use crate::plan::Plan;
use crate::queue::{Owner, Queue, Size};
use crate::rounds::Moment;
use crate::stats::Stats;
use crate::{Effect, Error, Tx, migrate};

/// Which database, and where.
#[derive(Debug, Clone)]
pub enum Database {
    Sqlite(PathBuf),
    /// A server, by its connection URL.
    Postgres(String),
}

/// A log of 64 MB: a start after a crash reads it in a moment, and a page that changes often is copied back once.
pub(crate) const LOG_PAGES: usize = 16_000;

/// Longer than anything takes that a connection waits for, so that most callers learn the cause.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How much room a database needs to be ready again after it had none.
const ROOM_BYTES: usize = 1 << 20;
/// How many reads share a transaction on PostgreSQL at most.
const READ_GROUP_MAX: usize = 64;
/// How long closing waits for the threads. One whose database never answers is left behind.
const CLOSE_MAX: Duration = Duration::from_secs(5);

/// How many threads and how much may wait.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that write. SQLite has one writer, whatever is said here.
    pub writers: usize,
    pub readers: usize,
    /// How many jobs may wait on each side before callers are turned away.
    pub queue_max: usize,
    /// How many writes share a commit at most.
    pub group_max: usize,
    /// How many pages SQLite's log has when it is copied back.
    pub log_pages: usize,
    /// How long a caller waits for its job.
    pub wait_max: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            writers: 2,
            readers: 2,
            queue_max: 4_096,
            group_max: 256,
            log_pages: LOG_PAGES,
            wait_max: WAIT_MAX,
        }
    }
}

/// Executes the effects of a commit. It is called on the store's thread before anybody is answered, so it must be
/// quick and never wait.
pub type CommitHook = Arc<dyn Fn(Vec<Effect>) + Send + Sync>;

/// The way to the database. Dropping the last handle lets the threads finish what waits.
#[derive(Debug)]
pub struct Store {
    writes: Arc<Queue>,
    reads: Arc<Queue>,
    writers: Threads,
    readers: Threads,
    stats: Arc<Stats>,
    /// Whether other processes write to the same database.
    beside_others: Arc<AtomicBool>,
    wait_max: Duration,
    /// Where to look for room on the disk of a file.
    room: Option<PathBuf>,
    /// When closing must be over.
    close_by: OnceLock<Instant>,
}

impl Store {
    /// Connects, brings the schema up to date and starts the threads. `now_ms` is written beside each
    /// migration. Blocks; call it off the async threads.
    pub fn open(database: &Database, options: &Options, now_ms: i64) -> Result<Self, Error> {
        Self::open_with(database, options, Arc::new(|_| {}), now_ms)
    }

    /// The same, with a hook that executes the effects of every commit.
    pub fn open_with(
        database: &Database,
        options: &Options,
        commit_hook: CommitHook,
        now_ms: i64,
    ) -> Result<Self, Error> {
        let connect = |mode| Conn::open_limited(database, mode);
        let mut first = Conn::open(database, Mode::Write)?;
        migrate::run(&mut first, now_ms)?;
        first.limit_time();
        first.checkpoint_beside(database, options.log_pages.max(1))?;
        let mut writers = vec![first];
        if matches!(database, Database::Postgres(_)) {
            for _ in 1..options.writers.max(1) {
                writers.push(connect(Mode::Write)?);
            }
        }
        let readers: Result<Vec<Conn>, Error> =
            (0..options.readers.max(1)).map(|_| connect(Mode::Read)).collect();

        let stats = Arc::new(Stats::default());
        let writes = Arc::new(Queue::new(options.queue_max, Arc::clone(&stats.waiting_writes)));
        let reads = Arc::new(Queue::new(options.queue_max, Arc::clone(&stats.waiting_reads)));
        let (mut write_threads, mut read_threads) = (Threads::new(), Threads::new());
        let beside_others = Arc::new(AtomicBool::new(false));
        let mut shared = Shared {
            writers: Arc::default(),
            locked_rows: Arc::default(),
            stats: Arc::clone(&stats),
            commit_hook,
            lock_queue: None,
        };
        if let Database::Postgres(_) = database {
            let (conn, (queue, waiting)) = (connect(Mode::Write)?, LockQueue::new());
            let own = shared.clone();
            write_threads.spawn("store-wait", move || lock_queue::serve(conn, &waiting, &own))?;
            shared.lock_queue = Some(queue);
        }
        for conn in writers {
            let (jobs, shared, others) = (Arc::clone(&writes), shared.clone(), Arc::clone(&beside_others));
            let group_max = options.group_max.max(1);
            write_threads.spawn("store-write", move || write(conn, &jobs, group_max, &others, &shared))?;
        }
        for conn in readers? {
            let (jobs, shared) = (Arc::clone(&reads), shared.clone());
            read_threads.spawn("store-read", move || read(conn, &jobs, &shared))?;
        }
        let (writers, readers, wait_max) = (write_threads, read_threads, options.wait_max);
        let room = match database {
            Database::Sqlite(path) => Some(path.with_extension("room")),
            Database::Postgres(_) => None,
        };
        let close_by = OnceLock::new();
        Ok(Self { writes, reads, writers, readers, stats, beside_others, wait_max, room, close_by })
    }

    /// Looks whether the disk of a database file has room for more than a small write. Blocks.
    pub fn check_room(&self) -> Result<(), Error> {
        let Some(path) = &self.room else { return Ok(()) };
        let written = std::fs::write(path, vec![0; ROOM_BYTES]);
        // If this fails, the next look writes over it.
        let _ = std::fs::remove_file(path);
        written.map_err(|error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full(error.to_string()),
            _ => Error::Unwritable(error.to_string()),
        })
    }

    /// Sets when closing must be over, because the process ends then. Threads whose database does not answer are left
    /// behind.
    pub fn close_by(&self, deadline: Instant) {
        // The first deadline holds.
        let _ = self.close_by.set(deadline);
    }

    /// Says whether other processes write to the same database. While one group of jobs is committed, this process begins
    /// the next one only if it is alone: otherwise the others use that time, and larger groups cost all of them less.
    pub fn set_beside_others(&self, beside_others: bool) {
        self.beside_others.store(beside_others, Relaxed);
    }

    /// What has been done so far.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Runs a use case of the hub that changes something, and answers once it is committed. It may run more than once
    /// before that; hence `Fn`.
    pub async fn write<T, E>(
        &self,
        use_case: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.write_for(Owner::Hub, use_case).await
    }

    /// The same for a client.
    pub async fn write_for<T, E>(
        &self,
        owner: Owner,
        use_case: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (use_case, kept) = Erased::new(use_case);
        kept.take(self.submit(Mode::Write, owner, Size::Rows, use_case).await)
    }

    /// Runs a use case of the hub that only looks, on a consistent picture of everything committed so far.
    pub async fn read<T, E>(
        &self,
        use_case: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.read_for(Owner::Hub, Size::Rows, use_case).await
    }

    /// The same for a client.
    pub async fn read_for<T, E>(
        &self,
        owner: Owner,
        size: Size,
        use_case: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (use_case, kept) = Erased::new(use_case);
        kept.take(self.submit(Mode::Read, owner, size, use_case).await)
    }

    /// Waits for a job. The future is boxed: every crate that awaits another kind compiles it again.
    fn submit(
        &self,
        mode: Mode,
        owner: Owner,
        size: Size,
        use_case: Erased,
    ) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send + '_>> {
        Box::pin(self.run(mode, owner, size, use_case))
    }

    async fn run(&self, mode: Mode, owner: Owner, size: Size, use_case: Erased) -> Result<(), Error> {
        let queue = match mode {
            Mode::Write => &self.writes,
            Mode::Read => &self.reads,
        };
        let (reply, answer) = oneshot::channel();
        let turn = Turn::default();
        if let Err(refused) = queue.push(owner, Job::new(use_case, size, reply, turn.clone())) {
            self.stats.turned_away.fetch_add(1, Relaxed);
            return Err(refused);
        }
        match tokio::time::timeout(self.wait_max, answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(Error::Unreachable("the store has stopped".into()))),
            Err(_) => {
                self.stats.turned_away.fetch_add(1, Relaxed);
                let error = if turn.give_up() { Error::Busy } else { Error::TimedOut };
                if mode == Mode::Write {
                    self.stats.write_failed(&error);
                }
                Err(error)
            }
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // The writer closes the database last: only it can tidy away SQLite's log.
        let latest = Instant::now() + CLOSE_MAX;
        let deadline = self.close_by.get().map_or(latest, |by| latest.min(*by));
        self.reads.close();
        self.readers.join_until(deadline);
        self.writes.close();
        self.writers.join_until(deadline);
    }
}

/// Runs jobs that write until the store is closed.
fn write(mut conn: Conn, jobs: &Queue, group_max: usize, beside_others: &AtomicBool, shared: &Shared) {
    let mut plan = Plan::new();
    while let Some((mut group, next)) = jobs.take_next(group_max) {
        group.retain(Job::start);
        // SQLite's only writer takes its next group by itself.
        let mut next = matches!(conn, Conn::Postgres(_)).then_some(next);
        let alone = !beside_others.load(Relaxed);
        let mut hand_over = |moment| drop(next.take_if(|_| alone || moment == Moment::Ended));
        Executor { conn: &mut conn, plan: &mut plan, shared }.write(group, &mut hand_over);
        conn.after_commit();
    }
}

/// Runs jobs that read until the store is closed.
fn read(mut conn: Conn, jobs: &Queue, shared: &Shared) {
    let group_max = if matches!(conn, Conn::Postgres(_)) { READ_GROUP_MAX } else { 1 };
    let mut plan = Plan::new();
    loop {
        // While others wait, the end of one transaction and the beginning of the next are one message.
        let ready = jobs.take_ready(group_max).or_else(|| {
            conn.end_reading();
            jobs.take(group_max)
        });
        let Some(mut group) = ready else { return };
        shared.stats.reads.fetch_add(group.len() as u64, Relaxed);
        group.retain(|job| job.is_awaited() && job.start());
        Executor { conn: &mut conn, plan: &mut plan, shared }.read(group);
    }
}

/// Threads, and a channel that closes when all of them have ended.
#[derive(Debug)]
struct Threads {
    handles: Vec<JoinHandle<()>>,
    running: Option<SyncSender<()>>,
    ended: Mutex<Receiver<()>>,
}

impl Threads {
    fn new() -> Self {
        let (running, ended) = sync_channel(0);
        Self { handles: Vec::new(), running: Some(running), ended: Mutex::new(ended) }
    }

    fn spawn(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        let running = self.running.clone();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            body();
            drop(running);
        });
        let thread = thread.map_err(|error| Error::failed(format!("no thread for the store: {error}")))?;
        self.handles.push(thread);
        Ok(())
    }

    /// Waits for the threads to end, and leaves them behind if they have not by then: what they did not commit is
    /// undone by the database.
    fn join_until(&mut self, deadline: Instant) {
        self.running.take();
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        let left = deadline.saturating_duration_since(Instant::now());
        if ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("the database does not answer; a connection is left open");
            return;
        }
        for thread in self.handles.drain(..) {
            // A thread that panicked outside of a job has said so on its own.
            let _ = thread.join();
        }
    }
}
