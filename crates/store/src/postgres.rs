//! PostgreSQL by tokio-postgres, driven synchronously by the thread that owns the connection.
//!
//! Statements nobody waits for are held back and sent in one pipeline with the next one that somebody
//! does wait for: on this database the round trip is the cost.

mod values;

use std::collections::HashMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use futures_util::future::TryFutureExt as _;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls, Statement};

use crate::conn::{Mode, Take};
use crate::pipeline::send_held_back;
use crate::{Error, Row, Value};

pub(crate) use values::{value, values};

pub(crate) struct PostgresConn {
    runtime: Runtime,
    config: Config,
    client: Option<Client>,
    statements: HashMap<String, Statement>,
    held_back: Vec<HeldBack>,
    /// Whether the server has been told of a transaction that has not ended.
    begun: bool,
    /// Whether that transaction ends with the beginning of the next.
    ends_with_next: bool,
    /// Whether the transaction writes, so that queries lock what they say.
    locks: bool,
    /// Whether a transaction waits for locked rows only for a moment.
    pub(crate) impatient: bool,
    /// Whether the time of statements is limited.
    limited: bool,
    /// When the server was last found to be out of reach.
    failed_at: Option<Instant>,
}

/// How long a statement waits for another transaction's row. Rows are locked in a fixed order, so that most waits end
/// with the other's commit; the server would look for a deadlock only after a second.
const LOCK_TIMEOUT_MS: u32 = 400;
/// Every statement here finds its rows by an index, and most are executed for a few rows again and again. Without this
/// the planner prefers other ways while tables are small, and thinks anew about each execution.
const PLANNER: &str = "-c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off \
     -c enable_hashjoin=off -c enable_mergejoin=off";
/// How long a statement may run, on the server.
const STATEMENT_TIMEOUT_MS: u32 = 5_000;
/// How long a transaction may wait for its next statement before the server ends it: its locks hold up others.
const IDLE_TIMEOUT_MS: u32 = 3_000;
/// How long an answer may take, with the way there and back. A connection that died silently never answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(6);
/// How long it may take to connect and to log in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// How long nobody tries to connect after a failure: everybody who waits would wait as long again.
const CONNECT_PAUSE: Duration = Duration::from_secs(1);
/// When the system asks whether an idle connection is still there, how often, and how many times.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// How many statements may be held back.
const HELD_BACK_MAX: usize = 128;

pub(crate) enum HeldBack {
    Plain(&'static str),
    Prepared(Statement, Vec<Value<'static>>),
}

pub(crate) fn failure(error: tokio_postgres::Error) -> Error {
    let lost = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    match error.code() {
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Error::Locked,
        Some(code) if lost.contains(code) => Error::LostRace,
        Some(code) if *code == SqlState::UNIQUE_VIOLATION => Error::Taken(describe(&error)),
        Some(code) if *code == SqlState::DISK_FULL => Error::Full(describe(&error)),
        Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION || *code == SqlState::IO_ERROR => {
            Error::Unwritable(describe(&error))
        }
        // The statement took too long, and nothing of it was kept.
        Some(code) if *code == SqlState::QUERY_CANCELED => Error::TimedOut,
        // The server ends this connection, or takes none: it stops, starts, has no room, or was told to.
        Some(code) if ["57P", "25P03", "08", "53"].iter().any(|class| code.code().starts_with(class)) => {
            Error::Unreachable(describe(&error))
        }
        Some(_) => Error::failed(describe(&error)),
        None => Error::Unreachable(describe(&error)),
    }
}

/// The driver's own text says only "db error"; what happened stands in its causes.
fn describe(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

impl PostgresConn {
    /// Connects. Without `limited`, statements take as long as they take, as migrations and backups do.
    pub(crate) fn open(config: Config, limited: bool) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::failed(error.to_string()))?;
        let mut conn = Self {
            runtime,
            config,
            client: None,
            statements: HashMap::new(),
            held_back: Vec::new(),
            begun: false,
            ends_with_next: false,
            locks: false,
            impatient: false,
            limited,
            failed_at: None,
        };
        conn.connect()?;
        Ok(conn)
    }

    /// Limits the time of every statement from now on.
    pub(crate) fn limit_time(&mut self) {
        self.limited = true;
        self.client = None;
    }

    fn connect(&mut self) -> Result<(), Error> {
        self.statements.clear();
        self.held_back.clear();
        self.begun = false;
        self.ends_with_next = false;
        if self.failed_at.is_some_and(|at| at.elapsed() < CONNECT_PAUSE) {
            return Err(Error::Unreachable("it could not be reached a moment ago".into()));
        }
        let config = self.bounded_config();
        let client = self.runtime.block_on(async move {
            let connecting = async {
                if config.get_ssl_mode() == SslMode::Disable {
                    let (client, connection) = config.connect(NoTls).await?;
                    tokio::spawn(connection);
                    return Ok(client);
                }
                let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls_config());
                let (client, connection) = config.connect(tls).await?;
                tokio::spawn(connection);
                Ok(client)
            };
            match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
                Ok(connected) => connected.map_err(|error: tokio_postgres::Error| describe(&error)),
                Err(_) => Err("it does not answer".to_owned()),
            }
        });
        self.failed_at = client.is_err().then(Instant::now);
        self.client = Some(client.map_err(Error::Unreachable)?);
        Ok(())
    }

    /// The settings of the URL, with bounds for everything that could wait. What the URL says itself holds.
    fn bounded_config(&self) -> Config {
        let mut config = self.config.clone();
        let mut options = format!("-c lock_timeout={LOCK_TIMEOUT_MS}");
        if self.limited {
            options += &format!(" -c statement_timeout={STATEMENT_TIMEOUT_MS}");
            options += &format!(" -c idle_in_transaction_session_timeout={IDLE_TIMEOUT_MS} {PLANNER}");
        }
        options = format!("{options} {}", config.get_options().unwrap_or_default());
        config.options(options.trim());
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(ANSWER_TIMEOUT);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_idle(KEEPALIVE_IDLE);
            config.keepalives_interval(KEEPALIVE_INTERVAL);
            config.keepalives_retries(KEEPALIVE_RETRIES);
        }
        config
    }

    /// Waits for an answer of the server. A connection that does not answer in time is given up.
    pub(crate) fn wait<T>(&mut self, ask: impl AsyncFnOnce(&Client) -> Result<T, Error>) -> Result<T, Error> {
        let Some(client) = &self.client else { return Err(Error::Unreachable("no connection".into())) };
        let limit = if self.limited { ANSWER_TIMEOUT } else { Duration::MAX };
        let answer = self.runtime.block_on(async { tokio::time::timeout(limit, ask(client)).await });
        answer.unwrap_or_else(|_| {
            self.client = None;
            self.begun = false;
            Err(Error::TimedOut)
        })
    }

    /// Begins; the statement itself travels with the first one of the transaction.
    pub(crate) fn begin(&mut self, mode: Mode) -> Result<(), Error> {
        // The connection's own task runs only while we wait for something; without this it would not have noticed that
        // the server has gone.
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        });
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.connect()?;
        }
        self.held_back.clear();
        self.locks = mode == Mode::Write;
        self.held_back.push(HeldBack::Plain(match mode {
            // Each statement sees what was committed before it; what decides is locked (docs/decisions/0040).
            Mode::Write if self.impatient => {
                "begin isolation level read committed; set local lock_timeout = 50"
            }
            Mode::Write => "begin isolation level read committed",
            Mode::Read if self.ends_with_next => "rollback; begin isolation level repeatable read read only",
            Mode::Read => "begin isolation level repeatable read read only",
        }));
        self.ends_with_next = false;
        Ok(())
    }

    /// Ends a transaction that has only read together with the beginning of the next one, or by [`Self::rollback`].
    pub(crate) fn end_with_next(&mut self) {
        self.held_back.clear();
        self.ends_with_next = self.begun;
    }

    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        self.held_back.push(HeldBack::Plain("commit"));
        let committed = self.flush();
        self.end_transaction(committed)
    }

    /// Tells how a transaction ended whose commit was sent.
    pub(crate) fn end_transaction<T>(&mut self, committed: Result<T, Error>) -> Result<T, Error> {
        // Whether it was kept or not, it is over.
        self.begun = false;
        committed.map_err(|error| match error {
            Error::Unreachable(why) => Error::Unknown(why),
            Error::TimedOut => Error::Unknown(error.to_string()),
            other => other,
        })
    }

    pub(crate) fn rollback(&mut self) -> Result<(), Error> {
        self.held_back.clear();
        self.ends_with_next = false;
        if !std::mem::take(&mut self.begun) {
            return Ok(());
        }
        self.held_back.push(HeldBack::Plain("rollback"));
        let rolled_back = self.flush();
        self.begun = false;
        rolled_back
    }

    pub(crate) fn pause(&mut self, pause: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(pause).await });
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.flush()?;
        self.wait(async |client| client.batch_execute(sql).await.map_err(failure))
    }

    pub(crate) fn locks_rows(&self) -> bool {
        self.locks
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        // What is not declared has SQLite's numbers; no text in it has a question mark.
        let statement = self.prepare(&sql.replace('?', "$"))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Prepares a statement once.
    pub(crate) fn prepare(&mut self, text: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(text) {
            return Ok(statement.clone());
        }
        self.flush()?;
        let statement = self.wait(async |client| client.prepare(text).await.map_err(failure))?;
        self.statements.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(crate) fn send(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), Error> {
        let statement = self.statement(sql)?;
        let params = params.iter().cloned().map(Value::into_owned).collect();
        self.held_back.push(HeldBack::Prepared(statement, params));
        if self.held_back.len() >= HELD_BACK_MAX { self.flush() } else { Ok(()) }
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, Error> {
        let statement = self.statement(sql)?;
        let waiting = self.take_held_back();
        self.wait(async |client| {
            let held_back = send_held_back(client, &waiting).await;
            held_back.with(client.execute_raw(&statement, params).map_err(failure)).await
        })
    }

    pub(crate) fn each(&mut self, sql: &str, params: &[Value<'_>], take: &mut Take<'_>) -> Result<(), Error> {
        let statement = self.statement(sql)?;
        let waiting = self.take_held_back();
        self.wait(async |client| {
            let held_back = send_held_back(client, &waiting).await;
            let find = async {
                let mut found = pin!(client.query_raw(&statement, params).await.map_err(failure)?);
                while let Some(next) = found.try_next().await.map_err(failure)? {
                    if !take(&mut Row::postgres(&next))? {
                        break;
                    }
                }
                Ok(())
            };
            held_back.with(find).await
        })
    }

    /// What is to be sent now; with it goes the beginning of a transaction.
    pub(crate) fn take_held_back(&mut self) -> Vec<HeldBack> {
        self.begun |= !self.held_back.is_empty();
        std::mem::take(&mut self.held_back)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.held_back.is_empty() {
            return Ok(());
        }
        let waiting = self.take_held_back();
        self.wait(async |client| send_held_back(client, &waiting).await.answers().await.map(drop))
    }
}

fn tls_config() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in rustls_native_certs::load_native_certs().certs {
        // A certificate that cannot be read vouches for nobody; the rest still do.
        let _ = roots.add(certificate);
    }
    rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()
}
