//! The least that a durable hub could do on SQLite.
//!
//! One writer thread takes every waiting job, writes as many rows as a use case does, and commits once; reader threads
//! look rows up. No rules, no savepoints, no dynamic types. The distance to this file is what the hub costs; it must
//! never get features.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use rusqlite::{Connection, OpenFlags, Statement, params};
use tokio::sync::oneshot;

use super::checkpoint::Checkpoints;
use super::rows::{CHECK_IN_MS, Contents, GROUP_MAX, ORDERS, PAGE_ROWS, QUEUE_MAX, SCHEMA, Write, page_name};

/// How many threads read, and how much each connection caches: as in the hub.
const READERS: usize = 2;
const CACHE_KIB: u32 = 16_384;

enum Read {
    Task(String),
    Page(String, i64),
}

type Reply<T> = oneshot::Sender<rusqlite::Result<T>>;
type Writes = (Write, oneshot::Sender<Result<i64, String>>);
type Reads = (Read, Reply<Vec<String>>);

/// The bare loop on a file of its own.
#[derive(Debug)]
pub(super) struct Sqlite {
    writes: SyncSender<Writes>,
    reads: SyncSender<Reads>,
}

impl Sqlite {
    /// Creates the tables in a new file and starts the threads.
    pub(super) fn open(path: &Path, contents: &Contents) -> anyhow::Result<Self> {
        let mut conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        conn.execute_batch("pragma journal_mode = wal; pragma synchronous = full;")?;
        conn.execute_batch(SCHEMA)?;
        if contents.in_order {
            conn.execute_batch(ORDERS)?;
        }
        insert(&conn, contents)?;
        let checkpoints = Checkpoints::start(&mut conn, path)?;
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

    pub(super) async fn write(&self, job: Write) -> anyhow::Result<i64> {
        let (reply, answer) = oneshot::channel();
        self.writes.try_send((job, reply)).context("the queue of writes is full")?;
        answer.await?.map_err(anyhow::Error::msg)
    }

    pub(super) async fn task(&self, id: String) -> anyhow::Result<Option<String>> {
        Ok(self.read(Read::Task(id)).await?.pop())
    }

    pub(super) async fn page(&self, name: String, count: i64) -> anyhow::Result<Vec<String>> {
        self.read(Read::Page(name, count)).await
    }

    async fn read(&self, job: Read) -> anyhow::Result<Vec<String>> {
        let (reply, answer) = oneshot::channel();
        self.reads.try_send((job, reply)).ok().context("the queue of reads is full")?;
        Ok(answer.await??)
    }
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.execute_batch(&format!("pragma busy_timeout = 5000; pragma cache_size = -{CACHE_KIB};"))?;
    Ok(conn)
}

fn spawn(body: impl FnOnce() -> rusqlite::Result<()> + Send + 'static) -> std::io::Result<()> {
    let run = move || {
        if let Err(error) = body() {
            eprintln!("tandem-bench bare: a loop has ended: {error}");
        }
    };
    std::thread::Builder::new().name("bare".into()).spawn(run).map(drop)
}

fn insert(conn: &Connection, contents: &Contents) -> rusqlite::Result<()> {
    conn.execute_batch("begin")?;
    for agent in &contents.agents {
        conn.execute("insert into agents values (?1, ?1)", [agent])?;
        conn.execute("insert into mailboxes values (?1, 0)", [agent])?;
        let mut row = conn.prepare_cached("insert into pages values (?1, ?2, ?3)")?;
        for (page, text) in &contents.pages {
            for number in 0..PAGE_ROWS {
                row.execute(params![page_name(page, agent), number, text])?;
            }
        }
    }
    for (agent, peer) in &contents.connections {
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
    fn next_seq(&mut self, agent: &str) -> rusqlite::Result<i64> {
        let next = self.last.query_row([agent], |row| row.get::<_, i64>(0))? + 1;
        self.count.execute(params![agent, next])?;
        Ok(next)
    }

    fn run(&mut self, job: &Write) -> rusqlite::Result<i64> {
        match job {
            Write::Task(job) => {
                let (id, by, to) = (&job.id, &job.by, &job.to);
                let _: String = self.agent.query_row([to], |row| row.get(0))?;
                let _: Option<String> = self.connection.query_row([to, by], |row| row.get(0))?;
                let seq = self.next_seq(to)?;
                self.event.execute(params![to, seq, "task.created", id, by, job.event, job.at])?;
                self.deadline.execute(params![job.at + CHECK_IN_MS, id, 0])?;
                self.pair.execute([by, to])?;
                self.log.execute(params![id, by, job.at])?;
                self.new_task.execute(params![id, by, to, job.title, job.body, job.at])?;
                Ok(seq)
            }
            Write::Message(job) => {
                let (task, by, to) = (&job.task, &job.by, &job.to);
                let _: String = self.agent.query_row([to], |row| row.get(0))?;
                let number = self.task.query_row([task], |row| row.get::<_, i64>(0))? + 1;
                let seq = self.next_seq(to)?;
                self.event.execute(params![to, seq, "message.created", task, by, job.event, job.at])?;
                self.deadline.execute(params![job.at + CHECK_IN_MS, task, number])?;
                self.message.execute(params![job.id, task, number, by, to, job.body, job.at])?;
                self.task_counts.execute(params![task, number, job.at])?;
                Ok(seq)
            }
        }
    }
}

/// Takes every waiting job, commits them together, then replies. A failing job fails its group: a measurement with
/// failures is worth nothing, and counts them as errors.
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
                    // The client may have left.
                    let _ = reply.send(Ok(number));
                }
            }
            Err(error) => {
                for (_, reply) in group {
                    let _ = reply.send(Err(error.to_string()));
                }
            }
        }
        checkpoints.after_commit(conn);
    }
    Ok(())
}

fn read_loop(conn: &Connection, jobs: &Mutex<Receiver<Reads>>) -> rusqlite::Result<()> {
    let mut task = conn.prepare("select body from tasks where id = ?1")?;
    let mut page = conn.prepare("select body from pages where name = ?1 order by number limit ?2")?;
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((job, reply)) = next else { return Ok(()) };
        let found = match job {
            Read::Task(id) => task.query_map([id], |row| row.get(0)).and_then(Iterator::collect),
            Read::Page(name, count) => {
                page.query_map(params![name, count], |row| row.get(0)).and_then(Iterator::collect)
            }
        };
        let _ = reply.send(found);
    }
}
