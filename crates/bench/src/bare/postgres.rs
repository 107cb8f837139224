//! The least that a durable hub could do on PostgreSQL: a bare grouped loop.
//!
//! Two connections take turns: each takes every waiting job, writes all rows of the group with one statement for each
//! table, and commits once. Two round trips for a group, whatever its size. Rows that both may change are locked in the
//! order of their keys, so that neither waits for the other in a circle. No rules; it must never get any.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anyhow::Context as _;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_postgres::{Client, NoTls, Row, Statement};

use super::rows::{
    CHECK_IN_MS, Contents, GROUP_MAX, MessageJob, ORDERS, PAGE_ROWS, QUEUE_MAX, SCHEMA, TaskJob, Write,
    page_name,
};

/// How many connections write, and how many read.
const WRITERS: usize = 2;
const READERS: usize = 2;
/// Statements are planned while the tables are nearly empty; these plans must stay right when they have filled.
const SESSION: &str =
    "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off";

type Reply = oneshot::Sender<Result<i64, String>>;
type Jobs = Arc<Mutex<mpsc::Receiver<(Write, Reply)>>>;

/// The bare loop in a schema of its own, which the URL names.
#[derive(Debug)]
pub(super) struct Postgres {
    writes: mpsc::Sender<(Write, Reply)>,
    readers: Vec<Reader>,
    turn: AtomicUsize,
}

#[derive(Debug)]
struct Reader {
    client: Client,
    task: Statement,
    page: Statement,
}

async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot connect to PostgreSQL (without TLS)")?;
    // It ends with its client; how it ended shows in the requests.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    client.batch_execute(SESSION).await?;
    Ok(client)
}

impl Postgres {
    /// Creates the tables and starts the loops.
    pub(super) async fn open(url: &str, contents: &Contents) -> anyhow::Result<Self> {
        let client = connect(url).await?;
        client.batch_execute(&SCHEMA.replace(" without rowid", "")).await?;
        if contents.in_order {
            client.batch_execute(ORDERS).await?;
        }
        insert(&client, contents).await?;
        let (writes, jobs) = mpsc::channel(QUEUE_MAX);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..WRITERS {
            let writer = Writer::new(connect(url).await?).await?;
            tokio::spawn(writer.run(Arc::clone(&jobs)));
        }
        let mut readers = Vec::new();
        for _ in 0..READERS {
            let client = connect(url).await?;
            let task = client.prepare("select body from tasks where id = $1").await?;
            let page =
                client.prepare("select body from pages where name = $1 order by number limit $2").await?;
            readers.push(Reader { client, task, page });
        }
        Ok(Self { writes, readers, turn: AtomicUsize::new(0) })
    }

    pub(super) async fn write(&self, job: Write) -> anyhow::Result<i64> {
        let (reply, answer) = oneshot::channel();
        self.writes.try_send((job, reply)).context("the queue of writes is full")?;
        answer.await?.map_err(anyhow::Error::msg)
    }

    pub(super) async fn task(&self, id: &str) -> anyhow::Result<Option<String>> {
        let reader = self.reader();
        let row = reader.client.query_opt(&reader.task, &[&id]).await?;
        Ok(row.map(|row| row.get(0)))
    }

    pub(super) async fn page(&self, name: &str, count: i64) -> anyhow::Result<Vec<String>> {
        let reader = self.reader();
        let rows = reader.client.query(&reader.page, &[&name, &count]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn reader(&self) -> &Reader {
        &self.readers[self.turn.fetch_add(1, Relaxed) % READERS]
    }
}

async fn insert(client: &Client, contents: &Contents) -> anyhow::Result<()> {
    let agents = &contents.agents;
    let (ones, others): (Vec<&str>, Vec<&str>) =
        contents.connections.iter().map(|(one, other)| (one.as_str(), other.as_str())).unzip();
    client.execute("insert into agents select id, id from unnest($1::text[]) id", &[agents]).await?;
    client.execute("insert into mailboxes select id, 0 from unnest($1::text[]) id", &[agents]).await?;
    let both = "insert into connections select a, b, null from unnest($1::text[], $2::text[]) c (a, b)
        union select b, a, null from unnest($1::text[], $2::text[]) c (a, b)";
    client.execute(both, &[&ones, &others]).await?;
    for (page, text) in &contents.pages {
        let names: Vec<String> = agents.iter().map(|agent| page_name(page, agent)).collect();
        let rows = "insert into pages select name, number, $2::text
            from unnest($1::text[]) name, generate_series(0, $3::bigint - 1) number";
        client.execute(rows, &[&names, text, &PAGE_ROWS]).await?;
    }
    Ok(client.batch_execute("analyze").await?)
}

// The statements of a group. Jobs arrive as one array for each column.
const CONNECTED: &str = "select a.name, c.approval from unnest($1::text[], $2::text[]) j (by_id, to_id)
    join agents a on a.id = j.to_id
    join connections c on c.agent = j.to_id and c.peer = j.by_id";
const LOCK_TASKS: &str = "select id, messages from tasks where id = any($1::text[]) order by id for update";
const LOCK_MAILBOXES: &str = "select agent, last_seq from mailboxes where agent = any($1::text[])
    order by agent for update";
const TASKS: &str = "insert into tasks select id, by_id, to_id, title, body, 'submitted', 0, 0, at, at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    j (id, by_id, to_id, title, body, at)";
const LOG: &str = "insert into task_log select id, 1, 'submitted', by_id, at
    from unnest($1::text[], $2::text[], $3::bigint[]) j (id, by_id, at)";
const DEADLINES: &str = "insert into deadlines select at + $4::bigint, task, 'check-in', number
    from unnest($1::text[], $2::bigint[], $3::bigint[]) j (task, number, at)";
const PAIRS: &str = "insert into pairs select least(a, b), greatest(a, b), count(*)
    from unnest($1::text[], $2::text[]) j (a, b) group by 1, 2 order by 1, 2
    on conflict (low, high) do update set live = pairs.live + excluded.live";
const MESSAGES: &str =
    "insert into messages select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[],
    $5::text[], $6::text[], $7::bigint[])";
const TASK_COUNTS: &str =
    "update tasks set unread = unread + number - messages, messages = number, updated_at = $3
    from unnest($1::text[], $2::bigint[]) j (task, number) where id = task";
const COUNTERS: &str = "update mailboxes set last_seq = seq from unnest($1::text[], $2::bigint[]) j (id, seq)
    where agent = id";
const EVENTS: &str = "insert into events select to_id, seq, $7::text, task, by_id, data, at
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    j (to_id, seq, task, by_id, data, at)";

/// One connection that writes, with its statements.
struct Writer {
    client: Client,
    connected: Statement,
    lock_tasks: Statement,
    lock_mailboxes: Statement,
    tasks: Statement,
    log: Statement,
    deadlines: Statement,
    pairs: Statement,
    messages: Statement,
    task_counts: Statement,
    counters: Statement,
    events: Statement,
}

/// The last number in each mailbox of a group, counted on as jobs take theirs.
struct Numbers(HashMap<String, i64>);

impl Numbers {
    fn of(rows: &[Row]) -> Self {
        Self(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn next(&mut self, key: &str) -> anyhow::Result<i64> {
        let last = self.0.get_mut(key).with_context(|| format!("{key} is unknown"))?;
        *last += 1;
        Ok(*last)
    }

    fn columns(&self) -> (Vec<&str>, Vec<i64>) {
        self.0.iter().map(|(key, last)| (key.as_str(), *last)).unzip()
    }
}

impl Writer {
    async fn new(client: Client) -> anyhow::Result<Self> {
        Ok(Self {
            connected: client.prepare(CONNECTED).await?,
            lock_tasks: client.prepare(LOCK_TASKS).await?,
            lock_mailboxes: client.prepare(LOCK_MAILBOXES).await?,
            tasks: client.prepare(TASKS).await?,
            log: client.prepare(LOG).await?,
            deadlines: client.prepare(DEADLINES).await?,
            pairs: client.prepare(PAIRS).await?,
            messages: client.prepare(MESSAGES).await?,
            task_counts: client.prepare(TASK_COUNTS).await?,
            counters: client.prepare(COUNTERS).await?,
            events: client.prepare(EVENTS).await?,
            client,
        })
    }

    /// Takes every waiting job, again and again. A failing job fails its group, as on SQLite.
    async fn run(self, jobs: Jobs) {
        loop {
            let mut group = Vec::new();
            {
                let mut jobs = jobs.lock().await;
                if jobs.recv_many(&mut group, GROUP_MAX).await == 0 {
                    return;
                }
            }
            let (mut tasks, mut messages) = (Vec::new(), Vec::new());
            let (mut of_tasks, mut of_messages) = (Vec::new(), Vec::new());
            for (job, reply) in group {
                match job {
                    Write::Task(job) => {
                        tasks.push(job);
                        of_tasks.push(reply);
                    }
                    Write::Message(job) => {
                        messages.push(job);
                        of_messages.push(reply);
                    }
                }
            }
            if !tasks.is_empty() {
                self.reply(of_tasks, self.write_tasks(&tasks).await).await;
            }
            if !messages.is_empty() {
                self.reply(of_messages, self.write_messages(&messages).await).await;
            }
        }
    }

    async fn reply(&self, replies: Vec<Reply>, outcome: anyhow::Result<Vec<i64>>) {
        match outcome {
            Ok(numbers) => {
                for (reply, number) in replies.into_iter().zip(numbers) {
                    // The client may have left.
                    let _ = reply.send(Ok(number));
                }
            }
            Err(error) => {
                let _ = self.client.batch_execute("rollback").await;
                for reply in replies {
                    let _ = reply.send(Err(format!("{error:#}")));
                }
            }
        }
    }

    async fn write_tasks(&self, jobs: &[TaskJob]) -> anyhow::Result<Vec<i64>> {
        let text = |of: fn(&TaskJob) -> &str| jobs.iter().map(of).collect::<Vec<&str>>();
        let (ids, by, to) = (text(|job| &job.id), text(|job| &job.by), text(|job| &job.to));
        let (titles, bodies, data) = (text(|job| &job.title), text(|job| &job.body), text(|job| &job.event));
        let at: Vec<i64> = jobs.iter().map(|job| job.at).collect();
        let firsts = vec![0_i64; jobs.len()];
        let client = &self.client;
        let (_, connected, _, _, _, _, mailboxes) = tokio::try_join!(
            biased;
            async { client.batch_execute("begin").await },
            async { client.query(&self.connected, &[&by, &to]).await },
            async { client.execute(&self.tasks, &[&ids, &by, &to, &titles, &bodies, &at]).await },
            async { client.execute(&self.log, &[&ids, &by, &at]).await },
            async { client.execute(&self.deadlines, &[&ids, &firsts, &at, &CHECK_IN_MS]).await },
            async { client.execute(&self.pairs, &[&by, &to]).await },
            async { client.query(&self.lock_mailboxes, &[&to]).await },
        )?;
        anyhow::ensure!(connected.len() == jobs.len(), "an agent is not connected");
        let mut numbers = Numbers::of(&mailboxes);
        let seqs: Vec<i64> = to.iter().map(|agent| numbers.next(agent)).collect::<anyhow::Result<_>>()?;
        let (agents, last) = numbers.columns();
        tokio::try_join!(
            biased;
            async { client.execute(&self.counters, &[&agents, &last]).await },
            async { client.execute(&self.events, &[&to, &seqs, &ids, &by, &data, &at, &"task.created"]).await },
            async { client.batch_execute("commit").await },
        )?;
        Ok(seqs)
    }

    async fn write_messages(&self, jobs: &[MessageJob]) -> anyhow::Result<Vec<i64>> {
        let text = |of: fn(&MessageJob) -> &str| jobs.iter().map(of).collect::<Vec<&str>>();
        let (ids, tasks) = (text(|job| &job.id), text(|job| &job.task));
        let (by, to) = (text(|job| &job.by), text(|job| &job.to));
        let (bodies, data) = (text(|job| &job.body), text(|job| &job.event));
        let at: Vec<i64> = jobs.iter().map(|job| job.at).collect();
        let client = &self.client;
        let (_, connected, locked, mailboxes) = tokio::try_join!(
            biased;
            async { client.batch_execute("begin").await },
            async { client.query(&self.connected, &[&by, &to]).await },
            async { client.query(&self.lock_tasks, &[&tasks]).await },
            async { client.query(&self.lock_mailboxes, &[&to]).await },
        )?;
        anyhow::ensure!(connected.len() == jobs.len(), "an agent is not connected");
        let (mut of_tasks, mut of_agents) = (Numbers::of(&locked), Numbers::of(&mailboxes));
        let places: Vec<i64> = tasks.iter().map(|task| of_tasks.next(task)).collect::<anyhow::Result<_>>()?;
        let seqs: Vec<i64> = to.iter().map(|agent| of_agents.next(agent)).collect::<anyhow::Result<_>>()?;
        let ((agents, last), (changed, counts)) = (of_agents.columns(), of_tasks.columns());
        let newest = at.iter().max().copied().unwrap_or_default();
        tokio::try_join!(
            biased;
            async { client.execute(&self.messages, &[&ids, &tasks, &places, &by, &to, &bodies, &at]).await },
            async { client.execute(&self.deadlines, &[&tasks, &places, &at, &CHECK_IN_MS]).await },
            async { client.execute(&self.task_counts, &[&changed, &counts, &newest]).await },
            async { client.execute(&self.counters, &[&agents, &last]).await },
            async { client.execute(&self.events, &[&to, &seqs, &tasks, &by, &data, &at, &"message.created"]).await },
            async { client.batch_execute("commit").await },
        )?;
        Ok(seqs)
    }
}
