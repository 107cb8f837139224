//! The rows that the bare server keeps, and the two databases that it can keep them in.

use super::postgres::Postgres;
use super::sqlite::Sqlite;

/// How many jobs wait, and how many share a commit: as in the store's defaults.
pub(super) const QUEUE_MAX: usize = 4_096;
pub(super) const GROUP_MAX: usize = 256;
/// How long a check-in waits.
pub(super) const CHECK_IN_MS: i64 = 30_000;
/// How many rows a stored page has: as many as the longest page that is measured, and one more.
pub(super) const PAGE_ROWS: i64 = 101;

/// The tables, for both databases; PostgreSQL has no `without rowid`.
pub(super) const SCHEMA: &str = "
    create table agents (id text primary key, name text not null) without rowid;
    create table connections (agent text, peer text, approval text, primary key (agent, peer)) without rowid;
    create table mailboxes (agent text primary key, last_seq bigint not null) without rowid;
    create table pairs (low text, high text, live bigint not null, primary key (low, high)) without rowid;
    create table tasks (id text primary key, initiator text not null, target text not null, title text not null,
        body text not null, status text not null, messages bigint not null, unread bigint not null,
        created_at bigint not null, updated_at bigint not null) without rowid;
    create table task_log (task text, number bigint, status text not null, actor text not null,
        created_at bigint not null, primary key (task, number)) without rowid;
    create table deadlines (due_at bigint, task text, kind text, number bigint,
        primary key (due_at, task, kind, number)) without rowid;
    create table messages (id text primary key, task text not null, number bigint not null, sender text not null,
        recipient text not null, body text not null, created_at bigint not null) without rowid;
    create table events (agent text, seq bigint, kind text not null, task text not null, sender text not null,
        data text not null, created_at bigint not null, primary key (agent, seq)) without rowid;
    create table pages (name text, number bigint, body text not null, primary key (name, number)) without rowid;";

/// What lists of tasks need: no database shows an agent its newest tasks without an index by agent and age.
pub(super) const ORDERS: &str = "
    create index tasks_of_initiator on tasks (initiator, status, created_at, id);
    create index tasks_of_target on tasks (target, status, created_at, id);";

/// Six rows, as many as a new task has in the hub: the task, its log, its check-in, the pair's count, the mailbox's
/// counter and the event.
#[derive(Debug)]
pub(super) struct TaskJob {
    /// Ids must grow.
    pub(super) id: String,
    pub(super) by: String,
    pub(super) to: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) event: String,
    pub(super) at: i64,
}

/// Five rows, as many as a message has in the hub: the message, its check-in, the task's counts, the mailbox's
/// counter and the event.
#[derive(Debug)]
pub(super) struct MessageJob {
    /// Ids must grow.
    pub(super) id: String,
    pub(super) task: String,
    pub(super) by: String,
    pub(super) to: String,
    pub(super) body: String,
    pub(super) event: String,
    pub(super) at: i64,
}

/// A job that writes; everything it needs has been computed before.
#[derive(Debug)]
pub(super) enum Write {
    Task(TaskJob),
    Message(MessageJob),
}

/// What the database contains before the first request.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) agents: Vec<String>,
    pub(super) connections: Vec<(String, String)>,
    /// The name of a page that each agent has, and the text of every row of it.
    pub(super) pages: [(&'static str, String); 2],
    /// Whether tasks are kept in the two list orders.
    pub(super) in_order: bool,
}

/// The name under which a page of an agent is stored.
pub(super) fn page_name(page: &str, agent: &str) -> String {
    format!("{agent} {page}")
}

/// An open database.
#[derive(Debug)]
pub(super) enum Rows {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Rows {
    /// Runs a job and returns the number of its event once everything is on the disk.
    pub(super) async fn write(&self, job: Write) -> anyhow::Result<i64> {
        match self {
            Self::Sqlite(rows) => rows.write(job).await,
            Self::Postgres(rows) => rows.write(job).await,
        }
    }

    pub(super) async fn task(&self, id: String) -> anyhow::Result<Option<String>> {
        match self {
            Self::Sqlite(rows) => rows.task(id).await,
            Self::Postgres(rows) => rows.task(&id).await,
        }
    }

    /// The first rows of a stored page of an agent.
    pub(super) async fn page(&self, page: &str, agent: &str, count: i64) -> anyhow::Result<Vec<String>> {
        let name = page_name(page, agent);
        match self {
            Self::Sqlite(rows) => rows.page(name, count).await,
            Self::Postgres(rows) => rows.page(&name, count).await,
        }
    }
}
