//! Whole groups of reads and writes on PostgreSQL: one message there and one back, whatever their number.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use futures_util::future::{join, join_all};
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use tokio_postgres::{Client, Statement};

use crate::lock::{self, LockClass};
use crate::plan::{Batch, Plan, Query, Rows};
use crate::postgres::{PostgresConn, deliver, failure, values};
use crate::statement::{Locks, Read};
use crate::{Error, Value};

/// One parameter of many executions, as an array.
#[derive(Debug)]
struct Column<'a> {
    rows: Vec<&'a [Value<'static>]>,
    number: usize,
}

impl Column<'_> {
    fn values(&self) -> impl Iterator<Item = &Value<'static>> {
        self.rows.iter().map(|row| row.get(self.number).unwrap_or(&Value::Null))
    }
}

impl ToSql for Column<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let unexpected = || Err("a parameter has the wrong type".into());
        match *ty {
            Type::INT8_ARRAY | Type::INT4_ARRAY => {
                let mut numbers = Vec::with_capacity(self.rows.len());
                for value in self.values() {
                    numbers.push(match value {
                        Value::Null => None,
                        Value::Int(number) => Some(*number),
                        Value::Text(_) | Value::Bytes(_) => return unexpected(),
                    });
                }
                if *ty == Type::INT8_ARRAY {
                    return numbers.to_sql(ty, out);
                }
                let short: Result<Vec<Option<i32>>, _> =
                    numbers.into_iter().map(|number| number.map(i32::try_from).transpose()).collect();
                short?.to_sql(ty, out)
            }
            Type::BYTEA_ARRAY => {
                let mut bytes = Vec::with_capacity(self.rows.len());
                for value in self.values() {
                    bytes.push(match value {
                        Value::Null => None,
                        Value::Bytes(bytes) => Some(bytes.as_ref()),
                        Value::Int(_) | Value::Text(_) => return unexpected(),
                    });
                }
                bytes.to_sql(ty, out)
            }
            _ => {
                let mut texts = Vec::with_capacity(self.rows.len());
                for value in self.values() {
                    texts.push(match value {
                        Value::Null => None,
                        Value::Text(text) => Some(text.as_ref()),
                        Value::Int(_) | Value::Bytes(_) => return unexpected(),
                    });
                }
                texts.to_sql(ty, out)
            }
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8_ARRAY, Type::INT4_ARRAY, Type::BYTEA_ARRAY, Type::TEXT_ARRAY].contains(ty)
    }

    to_sql_checked!();
}

fn columns<'a>(rows: &[&'a [Value<'static>]], statement: &Statement) -> Vec<Column<'a>> {
    (0..statement.params().len()).map(|number| Column { rows: rows.to_vec(), number }).collect()
}

/// The names of a statement's parameter types; nothing if there is none, or one that is not sent in arrays.
fn type_names(statement: &Statement) -> Option<Vec<&'static str>> {
    let name = |ty: &Type| match *ty {
        Type::INT8 => Some("int8"),
        Type::INT4 => Some("int4"),
        Type::BYTEA => Some("bytea"),
        Type::TEXT | Type::VARCHAR => Some("text"),
        _ => None,
    };
    let names: Option<Vec<_>> = statement.params().iter().map(name).collect();
    names.filter(|names| !names.is_empty())
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
        let waiting = self.take_waiting();
        let found = self.wait(async |client| {
            let fetch = join_all(asked.iter().map(|asked| asked.fetch(client)));
            let (sent, found) = join(deliver(client, &waiting), fetch).await;
            sent?;
            found.into_iter().collect::<Result<Vec<_>, Error>>()
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
        let waiting = self.take_waiting();
        let written = self.wait(async |client| {
            let writes = join_all(statements.iter().map(|(statement, rows, merged)| async move {
                if *merged {
                    let rows: Vec<&[Value<'static>]> = rows.iter().map(Vec::as_slice).collect();
                    return client.execute_raw(statement, columns(&rows, statement)).await.map(drop);
                }
                // All of them are sent before the first is answered.
                for outcome in join_all(rows.iter().map(|row| client.execute_raw(statement, row))).await {
                    outcome?;
                }
                Ok(())
            }));
            let write = async { (writes.await, Instant::now()) };
            let (sent, ((written, written_at), committed)) =
                join(deliver(client, &waiting), join(write, client.batch_execute("commit"))).await;
            sent?;
            for outcome in written {
                outcome.map_err(failure)?;
            }
            committed.map(|()| (count, written_at.elapsed())).map_err(failure)
        });
        self.end_transaction(written)
    }
}
