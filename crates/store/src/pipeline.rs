//! Whole groups of reads and writes on PostgreSQL: one message there and one back, whatever their number.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use futures_util::future::{FutureExt as _, LocalBoxFuture, TryFutureExt as _, join, poll_immediate};
use tokio_postgres::{Client, Statement};

use crate::arrays::{columns, type_names};
use crate::lock::{self, LockClass};
use crate::plan::{Batch, Plan, Query, Rows};
use crate::postgres::{HeldBack, PostgresConn, failure, values};
use crate::statement::{Locks, Read};
use crate::{Error, Value};

/// Requests to the server, sent in the order in which they are added, whoever waits for which answer.
pub(crate) struct Pipeline<'a, T>(Vec<Request<'a, T>>);

enum Request<'a, T> {
    Sent(LocalBoxFuture<'a, Result<T, Error>>),
    Answered(Result<T, Error>),
}

impl<'a, T> Pipeline<'a, T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Sends a request. The driver sends it when it is first asked for the answer: here, and not when its turn comes.
    pub(crate) async fn send(&mut self, request: impl Future<Output = Result<T, Error>> + 'a) {
        let mut request = request.boxed_local();
        self.0.push(match poll_immediate(&mut request).await {
            Some(answer) => Request::Answered(answer),
            None => Request::Sent(request),
        });
    }

    /// Waits for all answers. The first failure is the one that counts, because it makes the rest of its transaction fail
    /// too.
    pub(crate) async fn answers(self) -> Result<Vec<T>, Error> {
        let mut answers = Vec::with_capacity(self.0.len());
        for request in self.0 {
            answers.push(match request {
                Request::Sent(request) => request.await,
                Request::Answered(answer) => answer,
            });
        }
        answers.into_iter().collect()
    }
}

impl Pipeline<'_, ()> {
    /// Sends one more request, and waits for its answer behind all others.
    pub(crate) async fn with<T>(self, last: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let mut last = Box::pin(last);
        let answered = poll_immediate(&mut last).await;
        // In their order: the connection takes no answer before the one ahead of it was fetched.
        let before = self.answers().await;
        let answer = match answered {
            Some(answer) => answer,
            None => last.await,
        };
        before?;
        answer
    }
}

/// Sends everything that was held back.
pub(crate) async fn send_held_back<'a>(client: &'a Client, waiting: &'a [HeldBack]) -> Pipeline<'a, ()> {
    let mut pipeline = Pipeline::new();
    for statement in waiting {
        let request = async move {
            match statement {
                HeldBack::Plain(sql) => client.batch_execute(sql).await,
                HeldBack::Prepared(statement, params) => {
                    client.execute_raw(statement, params).await.map(drop)
                }
            }
        };
        pipeline.send(request.map_err(failure)).await;
    }
    pipeline
}

/// Queries with the same text.
struct Asked {
    statement: Statement,
    /// The same without locks, where locked rows are left out: it tells which ones.
    unlocked: Option<Statement>,
    queries: Vec<Query>,
    /// Whether the statement answers all of them at once.
    merged: bool,
}

type Found = Vec<Rows>;

impl Asked {
    async fn fetch(&self, client: &Client) -> Result<(Found, Option<Found>), Error> {
        let locked = self.ask(client, &self.statement);
        match &self.unlocked {
            None => Ok((locked.await?, None)),
            Some(unlocked) => {
                let (found, all) = join(locked, self.ask(client, unlocked)).await;
                Ok((found?, Some(all?)))
            }
        }
    }

    async fn ask(&self, client: &Client, statement: &Statement) -> Result<Found, Error> {
        let mut found: Found = self.queries.iter().map(|_| Vec::new()).collect();
        if !self.merged {
            for (query, rows) in self.queries.iter().zip(&mut found) {
                let mut stream = pin!(client.query_raw(statement, &query.params).await.map_err(failure)?);
                while let Some(row) = stream.try_next().await.map_err(failure)? {
                    rows.push(values(&row)?);
                }
            }
            return Ok(found);
        }
        let params: Vec<&[Value<'static>]> =
            self.queries.iter().map(|query| query.params.as_slice()).collect();
        let params = columns(&params, statement);
        let mut stream = pin!(client.query_raw(statement, params).await.map_err(failure)?);
        while let Some(row) = stream.try_next().await.map_err(failure)? {
            let mut values = values(&row)?;
            let number = match values.first() {
                Some(Value::Int(number)) => usize::try_from(number - 1).ok(),
                _ => None,
            };
            let rows = number.and_then(|number| found.get_mut(number));
            let rows = rows.ok_or_else(|| Error::failed("a row of no query was found".into()))?;
            values.remove(0);
            rows.push(values);
        }
        Ok(found)
    }
}

/// Where a query comes in a round: locks in their order, then what is only looked at, then mailboxes. What is looked at
/// is read after the locks that protect it. The last part puts the query that only locks before others of its table.
fn rank(read: &Arc<Read>) -> (LockClass, bool, &str, bool) {
    match read.lock() {
        None => (LockClass::Mailbox, false, "", false),
        Some(lock) => {
            let only = lock::of_table(lock.table).is_some_and(|only| Arc::ptr_eq(only, read));
            (lock.class, true, lock.table, !only)
        }
    }
}

type Groups = Vec<(Arc<Read>, Vec<Query>)>;

fn add(groups: &mut Groups, query: Query) {
    match groups.iter_mut().find(|(read, _)| Arc::ptr_eq(read, &query.read)) {
        Some((_, queries)) => queries.push(query),
        None => groups.push((Arc::clone(&query.read), vec![query])),
    }
}

/// Where several statements lock rows of one table, has one lock all of them first: each would lock its own in their
/// order, and together they would not.
fn lock_together(groups: &mut Groups) {
    let table = |read: &Read| read.lock().map(|lock| lock.table);
    let mut more: Vec<Query> = Vec::new();
    for (read, queries) in &*groups {
        let same = groups.iter().filter(|(other, _)| table(other) == table(read)).count();
        if read.lock().is_some() && same > 1 {
            more.extend(queries.iter().filter_map(Query::only_lock));
        }
    }
    for query in more {
        let is_there = groups.iter().any(|(read, queries)| {
            Arc::ptr_eq(read, &query.read) && queries.iter().any(|other| other.params == query.params)
        });
        if !is_there {
            add(groups, query);
        }
    }
}

impl PostgresConn {
    /// Reads what a group is missing. Returns the number of statements.
    pub(crate) fn fetch(&mut self, plan: &mut Plan) -> Result<usize, Error> {
        let locks = plan.locks();
        let mut groups = Groups::new();
        for query in plan.take_missing() {
            add(&mut groups, query);
        }
        if locks == Locks::Wait {
            lock_together(&mut groups);
        }
        groups.sort_by(|(one, _), (other, _)| rank(one).cmp(&rank(other)));
        let mut asked = Vec::with_capacity(groups.len());
        for (read, mut queries) in groups {
            queries.sort_by(|one, other| one.params.cmp(&other.params));
            asked.push(self.ask(&read, queries, locks)?);
        }
        let waiting = self.take_held_back();
        let found = self.wait(async |client| {
            let held_back = send_held_back(client, &waiting).await;
            let mut reads = Pipeline::new();
            for asked in &asked {
                reads.send(asked.fetch(client)).await;
            }
            held_back.answers().await?;
            reads.answers().await
        })?;
        let mut statements = 0;
        for (asked, (found, all)) in asked.into_iter().zip(found) {
            statements += if asked.merged { 1 } else { asked.queries.len() };
            for (number, (query, rows)) in asked.queries.into_iter().zip(found).enumerate() {
                let there = all.as_ref().and_then(|all| all.get(number)).map_or(0, Vec::len);
                plan.found(query, rows, there);
            }
        }
        Ok(statements)
    }

    fn ask(&mut self, read: &Read, queries: Vec<Query>, locks: Locks) -> Result<Asked, Error> {
        let single = self.prepare(read.single(locks))?;
        let types = type_names(&single).filter(|_| queries.len() > 1);
        let leaves_out = locks == Locks::Skip && read.lock().is_some();
        let of = |locks| match &types {
            Some(types) => read.merged(types, locks),
            None => read.single(locks),
        };
        let unlocked = leaves_out.then(|| self.prepare(of(Locks::None))).transpose()?;
        Ok(Asked { statement: self.prepare(of(locks))?, unlocked, queries, merged: types.is_some() })
    }

    /// Writes the rows of a group and commits. Returns the number of statements, and how long the commit took after the
    /// last of them.
    pub(crate) fn finish(&mut self, batches: Vec<Batch>) -> Result<(usize, Duration), Error> {
        let mut statements = Vec::with_capacity(batches.len());
        for mut batch in batches {
            batch.sort();
            let single = self.prepare(batch.write.single())?;
            let types = type_names(&single).filter(|_| batch.rows.len() > 1);
            let (statement, is_merged) = match types {
                Some(types) => (self.prepare(batch.write.merged(&types))?, true),
                None => (single, false),
            };
            statements.push((statement, batch.rows, is_merged));
        }
        let count = statements.iter().map(|(_, rows, merged)| if *merged { 1 } else { rows.len() }).sum();
        let waiting = self.take_held_back();
        let written = self.wait(async |client| {
            let held_back = send_held_back(client, &waiting).await;
            let mut writes = Pipeline::new();
            for (statement, rows, merged) in &statements {
                if *merged {
                    let rows: Vec<&[Value<'static>]> = rows.iter().map(Vec::as_slice).collect();
                    let write = async move { client.execute_raw(statement, columns(&rows, statement)).await };
                    writes.send(write.map_err(failure)).await;
                } else {
                    for row in rows {
                        writes.send(client.execute_raw(statement, row).map_err(failure)).await;
                    }
                }
            }
            let mut commit = Pipeline::new();
            commit.send(client.batch_execute("commit").map_err(failure)).await;
            let (held_back, written) = (held_back.answers().await, writes.answers().await);
            let written_at = Instant::now();
            let committed = commit.answers().await;
            held_back?;
            written?;
            committed.map(|_| (count, written_at.elapsed()))
        });
        self.end_transaction(written)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn requests_are_sent_as_they_are_added_and_the_first_failure_counts() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let sent = RefCell::new(Vec::new());
        let request = |number: usize, fails: bool| {
            let sent = &sent;
            async move {
                sent.borrow_mut().push(number);
                // The later one is answered first.
                for _ in number..3 {
                    tokio::task::yield_now().await;
                }
                if fails { Err(Error::failed(number.to_string())) } else { Ok(number) }
            }
        };
        runtime.block_on(async {
            let (mut writes, mut commit) = (Pipeline::new(), Pipeline::new());
            writes.send(request(0, false)).await;
            writes.send(request(1, false)).await;
            commit.send(request(2, false)).await;
            assert_eq!(*sent.borrow(), [0, 1, 2], "before anybody waits for an answer");
            assert_eq!(commit.answers().await.unwrap(), [2]);
            assert_eq!(writes.answers().await.unwrap(), [0, 1]);
            let mut failing = Pipeline::new();
            failing.send(request(0, true)).await;
            failing.send(request(1, true)).await;
            assert_eq!(failing.answers().await.unwrap_err().to_string(), "0");
        });
    }
}
