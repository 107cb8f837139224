//! The floor: the least a durable hub could do on this database, for `tandem bench` to measure against.
//!
//! One writer thread takes whatever waits, writes as many rows as a use case does, and commits once;
//! reader threads look rows up. No rules, no ids to check, no savepoints, no erased types; no indexes but primary
//! keys and, if wanted, the two by which a task's parties find it. What the store above costs is the distance to
//! this file. It must never grow features.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, Statement, params};
use tokio::sync::oneshot;

use crate::Error;
use crate::checkpoint::Checkpoints;
use crate::sqlite::CACHE_KIB;
use crate::store::LOG_PAGES;

/// How many jobs wait, how many share a commit and how many threads read: as in the store's defaults.
const QUEUE_MAX: usize = 4_096;
const GROUP_MAX: usize = 256;
const READERS: usize = 2;
/// How long a check-in waits.
const CHECK_IN_MS: i64 = 30_000;
/// How many rows a shelf holds: the longest page that is measured.
const SHELF_ROWS: i64 = 101;

const SCHEMA: &str = "
    create table agents (id text primary key, name text not null) without rowid;
    create table connections (agent text, peer text, approval text, primary key (agent, peer)) without rowid;
    create table mailboxes (agent text primary key, last_seq integer not null) without rowid;
    create table pairs (low text, high text, live integer not null, primary key (low, high)) without rowid;
    create table tasks (id text primary key, initiator text not null, target text not null, title text not null,
        body text not null, status text not null, messages integer not null, unread integer not null,
        created_at integer not null, updated_at integer not null) without rowid;
    create table task_log (task text, number integer, status text not null, actor text not null,
        created_at integer not null, primary key (task, number)) without rowid;
    create table deadlines (due_at integer, task text, kind text, number integer,
        primary key (due_at, task, kind, number)) without rowid;
    create table messages (id text primary key, task text not null, number integer not null, sender text not null,
        recipient text not null, body text not null, created_at integer not null) without rowid;
    create table events (agent text, seq integer, kind text not null, task text not null, sender text not null,
        data text not null, created_at integer not null, primary key (agent, seq)) without rowid;
    create table shelves (name text, number integer, body text not null, primary key (name, number)) without rowid;";

/// What lists of tasks need: no database shows an agent its newest tasks without an order by agent and age.
const LISTS: &str = "
    create index tasks_of_initiator on tasks (initiator, status, created_at, id);
    create index tasks_of_target on tasks (target, status, created_at, id);";

/// A job that writes, with everything it needs made beforehand.
#[derive(Debug)]
pub enum Write {
    /// Six rows, as many as a new task: the task, its history, its check-in, the pair's count, the counter and the
    /// event.
    Task {
        /// The new task's id; ids must grow.
        id: String,
        /// Who makes it.
        by: String,
        /// Whom it is for.
        to: String,
        /// What it is called.
        title: String,
        /// What is to be done.
        body: String,
        /// What the other side is told.
        event: String,
        /// When.
        at: i64,
    },
    /// Five rows, as many as a message: the message, its check-in, the task's counts, the counter and the event.
    Message {
        /// The new message's id; ids must grow.
        id: String,
        /// On which task.
        task: String,
        /// Who says it.
        by: String,
        /// To whom.
        to: String,
        /// What.
        body: String,
        /// What the other side is told.
        event: String,
        /// When.
        at: i64,
    },
}

enum Read {
    Row(String),
    Shelf(String, i64),
}

type Reply<T> = oneshot::Sender<Result<T, Error>>;
type Writes = (Write, Reply<i64>);
type Reads = (Read, Reply<Vec<String>>);

/// What stands on the floor before anybody comes.
#[derive(Debug)]
pub struct Furniture<'a> {
    /// Ids of agents.
    pub agents: &'a [String],
    /// Which of them are connected.
    pub joined: &'a [(String, String)],
    /// The name of a shelf that each agent has, and the text of every row on it.
    pub shelves: &'a [(&'a str, &'a str)],
    /// Whether tasks are kept in order for both of their parties.
    pub lists: bool,
}

/// The floor, opened on a file of its own.
#[derive(Debug)]
pub struct Floor {
    writes: SyncSender<Writes>,
    reads: SyncSender<Reads>,
}

fn failure(error: rusqlite::Error) -> Error {
    Error::failed(error.to_string())
}

impl Floor {
    /// Makes the tables in a new file and starts the threads.
    pub fn open(path: &Path, furniture: &Furniture<'_>) -> Result<Self, Error> {
        let mut conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        conn.execute_batch("pragma journal_mode = wal; pragma synchronous = full;")
            .and_then(|()| conn.execute_batch(SCHEMA))
            .and_then(|()| conn.execute_batch(if furniture.lists { LISTS } else { "" }))
            .and_then(|()| furnish(&conn, furniture))
            .map_err(failure)?;
        let checkpoints = Checkpoints::beside(&mut conn, path, LOG_PAGES)?;
        let (writes, jobs) = sync_channel(QUEUE_MAX);
        spawn(move || write_loop(&conn, &jobs, checkpoints))?;
        let (reads, jobs) = sync_channel(QUEUE_MAX);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..READERS {
            let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            let jobs = Arc::clone(&jobs);
            spawn(move || read_loop(&conn, &jobs))?;
        }
        Ok(Self { writes, reads })
    }

    /// Runs a job and answers with the event's number once everything is on the disk.
    pub async fn write(&self, job: Write) -> Result<i64, Error> {
        submit(&self.writes, job).await
    }

    /// The text of one task; nothing if there is none.
    pub async fn row(&self, id: String) -> Result<Option<String>, Error> {
        Ok(submit(&self.reads, Read::Row(id)).await?.pop())
    }

    /// So many rows of a shelf of an agent.
    pub async fn shelf(&self, shelf: &str, agent: &str, count: i64) -> Result<Vec<String>, Error> {
        submit(&self.reads, Read::Shelf(shelf_name(shelf, agent), count)).await
    }
}

async fn submit<J, T>(queue: &SyncSender<(J, Reply<T>)>, job: J) -> Result<T, Error> {
    let (reply, answer) = oneshot::channel();
    queue.try_send((job, reply)).map_err(|_| Error::Busy)?;
    answer.await.unwrap_or_else(|_| Err(Error::Unreachable("the floor has stopped".into())))
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(failure)?;
    conn.execute_batch(&format!("pragma busy_timeout = 5000; pragma cache_size = -{CACHE_KIB};"))
        .map_err(failure)?;
    Ok(conn)
}

fn spawn(body: impl FnOnce() -> Result<(), rusqlite::Error> + Send + 'static) -> Result<(), Error> {
    let run = move || {
        if let Err(error) = body() {
            tracing::error!(%error, "the floor gave way");
        }
    };
    let thread = std::thread::Builder::new().name("floor".into()).spawn(run);
    thread.map(drop).map_err(|error| Error::failed(format!("no thread for the floor: {error}")))
}

fn shelf_name(shelf: &str, agent: &str) -> String {
    format!("{agent} {shelf}")
}

fn furnish(conn: &Connection, furniture: &Furniture<'_>) -> rusqlite::Result<()> {
    conn.execute_batch("begin")?;
    for agent in furniture.agents {
        conn.execute("insert into agents values (?1, ?1)", [agent])?;
        conn.execute("insert into mailboxes values (?1, 0)", [agent])?;
        let mut row = conn.prepare_cached("insert into shelves values (?1, ?2, ?3)")?;
        for (shelf, text) in furniture.shelves {
            for number in 0..SHELF_ROWS {
                row.execute(params![shelf_name(shelf, agent), number, text])?;
            }
        }
    }
    for (agent, peer) in furniture.joined {
        conn.execute(
            "insert or ignore into connections values (?1, ?2, null), (?2, ?1, null)",
            [agent, peer],
        )?;
    }
    conn.execute_batch("commit")
}

/// Every statement of the writer, prepared once.
struct Statements<'c> {
    agent: Statement<'c>,
    connection: Statement<'c>,
    task: Statement<'c>,
    last: Statement<'c>,
    count: Statement<'c>,
    deadline: Statement<'c>,
    event: Statement<'c>,
    pair: Statement<'c>,
    log: Statement<'c>,
    new_task: Statement<'c>,
    message: Statement<'c>,
    task_counts: Statement<'c>,
}

impl<'c> Statements<'c> {
    fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            agent: conn.prepare("select name from agents where id = ?1")?,
            connection: conn.prepare("select approval from connections where agent = ?1 and peer = ?2")?,
            task: conn
                .prepare("select messages, initiator, target, status, body from tasks where id = ?1")?,
            last: conn.prepare("select last_seq from mailboxes where agent = ?1")?,
            count: conn.prepare("update mailboxes set last_seq = ?2 where agent = ?1")?,
            deadline: conn.prepare("insert into deadlines values (?1, ?2, 'check-in', ?3)")?,
            event: conn.prepare("insert into events values (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?,
            pair: conn.prepare(
                "insert into pairs values (min(?1, ?2), max(?1, ?2), 1)
                 on conflict (low, high) do update set live = live + 1",
            )?,
            log: conn.prepare("insert into task_log values (?1, 1, 'submitted', ?2, ?3)")?,
            new_task: conn
                .prepare("insert into tasks values (?1, ?2, ?3, ?4, ?5, 'submitted', 0, 0, ?6, ?6)")?,
            message: conn.prepare("insert into messages values (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?,
            task_counts: conn.prepare(
                "update tasks set messages = ?2, unread = unread + 1, updated_at = ?3 where id = ?1",
            )?,
        })
    }

    /// The next number in an agent's log.
    fn number(&mut self, agent: &str) -> rusqlite::Result<i64> {
        let next = self.last.query_row([agent], |row| row.get::<_, i64>(0))? + 1;
        self.count.execute(params![agent, next])?;
        Ok(next)
    }

    fn run(&mut self, job: &Write) -> rusqlite::Result<i64> {
        match job {
            Write::Task { id, by, to, title, body, event, at } => {
                let _: String = self.agent.query_row([to], |row| row.get(0))?;
                let _: Option<String> = self.connection.query_row([to, by], |row| row.get(0))?;
                let seq = self.number(to)?;
                self.event.execute(params![to, seq, "task.created", id, by, event, at])?;
                self.deadline.execute(params![at + CHECK_IN_MS, id, 0])?;
                self.pair.execute([by, to])?;
                self.log.execute(params![id, by, at])?;
                self.new_task.execute(params![id, by, to, title, body, at])?;
                Ok(seq)
            }
            Write::Message { id, task, by, to, body, event, at } => {
                let _: String = self.agent.query_row([to], |row| row.get(0))?;
                let messages: i64 = self.task.query_row([task], |row| row.get(0))?;
                let seq = self.number(to)?;
                self.event.execute(params![to, seq, "message.created", task, by, event, at])?;
                self.deadline.execute(params![at + CHECK_IN_MS, task, messages + 1])?;
                self.message.execute(params![id, task, messages + 1, by, to, body, at])?;
                self.task_counts.execute(params![task, messages + 1, at])?;
                Ok(seq)
            }
        }
    }
}

/// Takes what waits, commits it together, then answers. A failing job fails its group: there is none in
/// a measurement that is worth anything, and it is counted as an error there.
fn write_loop(
    conn: &Connection,
    jobs: &Receiver<Writes>,
    mut checkpoints: Checkpoints,
) -> rusqlite::Result<()> {
    let mut statements = Statements::prepare(conn)?;
    let mut begin = conn.prepare("begin immediate")?;
    let mut commit = conn.prepare("commit")?;
    while let Ok(first) = jobs.recv() {
        let mut group = vec![first];
        while group.len() < GROUP_MAX {
            let Ok(job) = jobs.try_recv() else { break };
            group.push(job);
        }
        begin.execute([])?;
        let done: rusqlite::Result<Vec<i64>> = group.iter().map(|(job, _)| statements.run(job)).collect();
        let outcome = done.and_then(|numbers| commit.execute([]).map(|_| numbers));
        if outcome.is_err() && !conn.is_autocommit() {
            conn.execute_batch("rollback")?;
        }
        match outcome {
            Ok(numbers) => {
                for ((_, reply), number) in group.into_iter().zip(numbers) {
                    // Whoever asked may have gone away.
                    let _ = reply.send(Ok(number));
                }
            }
            Err(error) => {
                let error = failure(error);
                for (_, reply) in group {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
        checkpoints.after_commit(conn);
    }
    Ok(())
}

fn read_loop(conn: &Connection, jobs: &Mutex<Receiver<Reads>>) -> rusqlite::Result<()> {
    let mut row = conn.prepare("select body from tasks where id = ?1")?;
    let mut shelf = conn.prepare("select body from shelves where name = ?1 order by number limit ?2")?;
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((job, reply)) = next else { return Ok(()) };
        let found: rusqlite::Result<Vec<String>> = match job {
            Read::Row(id) => row.query_map([id], |row| row.get(0)).and_then(Iterator::collect),
            Read::Shelf(name, count) => {
                shelf.query_map(params![name, count], |row| row.get(0)).and_then(Iterator::collect)
            }
        };
        let _ = reply.send(found.map_err(failure));
    }
}
