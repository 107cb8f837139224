//! Starts a hub for a test and speaks to it as a foreign client would: JSON over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::JoinHandle;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tandem_app::tasks::{self, Defaults, NewTask};
use tandem_core::{AgentId, Now};
use tandem_hub::webhooks::address::Resolver;
use tandem_hub::{Clock, Config};
use tandem_server::Server;
use tandem_server::mcp::{Extension, Sessions};
use tandem_store::Tx;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// On which database a test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Db {
    Sqlite,
    Postgres,
}

/// A database of its own, and its data folder. Both go when it is dropped.
#[derive(Debug)]
pub struct Place {
    pub folder: std::path::PathBuf,
    pub database: Option<String>,
    name: String,
}

fn admin_url() -> String {
    std::env::var("TANDEM_TEST_POSTGRES")
        .expect("TANDEM_TEST_POSTGRES is not set: run the tests by ./check, or under scripts/with-postgres")
}

/// Runs a statement on the server's own database.
fn administer(sql: String) {
    on_postgres(admin_url(), sql);
}

/// Runs statements on a database, on a thread because tests are async already.
fn on_postgres(url: String, sql: String) {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
            let driver = tokio::spawn(connection);
            client.batch_execute(&sql).await.unwrap();
            drop(client);
            driver.await.unwrap().unwrap();
        });
    };
    std::thread::spawn(run).join().unwrap();
}

impl Place {
    pub fn new(db: Db) -> Self {
        let name = format!("tandem_test_{}", tandem_app::keys::random_hex::<8>());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let database = (db == Db::Postgres).then(|| {
            // With an order of its own, so that whatever relies on the order of bytes says so.
            administer(format!(
                "create database {name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'"
            ));
            let url = admin_url();
            let (server, options) = url.split_once('?').unwrap_or((&url, "sslmode=disable"));
            format!("{}/{name}?{options}", server.rsplit_once('/').unwrap().0)
        });
        Self { folder, database, name }
    }

    /// The same folder with another database. Dropping this removes nothing.
    pub fn with_database(&self, url: String) -> Self {
        Self { folder: self.folder.clone(), database: Some(url), name: String::new() }
    }

    /// Runs statements on the database while no hub uses it.
    pub fn execute(&self, sql: &str) {
        match &self.database {
            Some(url) => on_postgres(url.clone(), sql.to_owned()),
            None => {
                let file = rusqlite::Connection::open(self.folder.join("tandem.db")).unwrap();
                file.execute_batch(sql).unwrap();
            }
        }
    }

    /// Ends every connection to the database, as a server does that is restarted.
    pub fn end_connections(&self) {
        let name = &self.name;
        administer(format!(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'"
        ));
    }

    /// The settings of most tests: no rate limit gets in their way.
    pub fn config(&self) -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: self.folder.clone(),
            database: self.database.clone(),
            admin_token: Some(ADMIN_TOKEN.into()),
            // More than the default, so that writers get into each other's way.
            database_writers: 2,
            rate_limit_max: 0,
            rate_limit_register_max: 0,
            rate_limit_discover_max: 0,
            max_messages_per_minute: 0,
            pair_attempts_max: 0,
            min_discovery_age_hours: 0,
            ..Config::default()
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.name.is_empty() {
            return;
        }
        if self.database.is_some() {
            administer(format!("drop database if exists {} with (force)", self.name));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub const ADMIN_TOKEN: &str = "operator-token-of-the-tests";

/// When a test begins: a round number, so that tests can reckon with it.
const START_MS: i64 = 1_800_000_000_000;

/// A running hub.
#[derive(Debug)]
pub struct Harness {
    pub client: Client,
    pub clock: Arc<AtomicI64>,
    pub hub: tandem_hub::Hub,
    pub sessions: Arc<Sessions>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Kept until the hub is gone.
    pub place: Arc<Place>,
}

impl Harness {
    pub async fn start(db: Db) -> Self {
        Self::start_with(db, |_| {}).await
    }

    pub async fn start_with(db: Db, set: impl FnOnce(&mut Config)) -> Self {
        let place = Arc::new(Place::new(db));
        let mut config = place.config();
        set(&mut config);
        let clock = Arc::new(AtomicI64::new(START_MS));
        Self::start_at(place, config, clock).await
    }

    pub async fn start_at(place: Arc<Place>, config: Config, clock: Arc<AtomicI64>) -> Self {
        Self::start_named(place, config, clock, Resolver::system()).await
    }

    /// With more for MCP to offer.
    pub async fn start_extended(db: Db, extension: Arc<dyn Extension>) -> Self {
        let place = Arc::new(Place::new(db));
        let config = place.config();
        let clock = Arc::new(AtomicI64::new(START_MS));
        Self::start_whole(place, config, clock, Resolver::system(), Some(extension)).await
    }

    /// With a say in how names become addresses.
    pub async fn start_named(
        place: Arc<Place>,
        config: Config,
        clock: Arc<AtomicI64>,
        names: Resolver,
    ) -> Self {
        Self::start_whole(place, config, clock, names, None).await
    }

    async fn start_whole(
        place: Arc<Place>,
        config: Config,
        clock: Arc<AtomicI64>,
        names: Resolver,
        extension: Option<Arc<dyn Extension>>,
    ) -> Self {
        tandem_server::logs::init();
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, started) = oneshot::channel();
        let hub_clock = Clock::Manual(Arc::clone(&clock));
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async move {
                let started = tandem_hub::start::open(config, hub_clock, names).await.unwrap();
                let mut server = Server::new(started);
                server.mcp_extension = extension;
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                ready.send((address, Arc::clone(server.hub()), Arc::clone(&server.sessions))).ok();
                let stop = async move {
                    let _ = stopped.await;
                };
                server.run(listener, stop).await;
            });
        });
        let (address, hub, sessions) = started.await.expect("the hub starts");
        Self {
            client: Client { address },
            clock,
            hub,
            sessions,
            stop: Some(stop),
            thread: Some(thread),
            place,
        }
    }

    /// Makes plain tasks in bulk.
    pub async fn fill(&self, from: &Agent, to: &Agent, count: usize, ttl_seconds: Option<i64>) {
        let (by, to): (AgentId, _) = (from.id.parse().unwrap(), to.id.clone());
        let defaults = Defaults { ttl_seconds, check_in_seconds: Some(0), max_messages: 200 };
        let make = move |tx: &mut Tx<'_>, now: &Now| {
            for _ in 0..count {
                let (to, title) = (to.clone().try_into().unwrap(), "hay".to_owned().try_into().unwrap());
                tasks::create(tx, &by, &NewTask::plain(to, title), &defaults, now)?;
            }
            Ok(())
        };
        self.hub.db.write(make).await.unwrap();
    }

    /// Ends MCP sessions that nobody has used for as long as the settings say.
    pub fn end_idle_sessions(&self) {
        let idle_ms = i64::from(self.hub.config.mcp_session_idle_seconds) * 1_000;
        self.sessions.end_idle(self.hub.time(), idle_ms);
    }

    pub fn advance_ms(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// Waits until the timer has come by and handled what was due. While nobody asks the hub anything, only the
    /// timer reads: once before it handles something, and once more at its next look.
    pub async fn timer_has_looked(&self) {
        let figures = || self.hub.db.store().stats().figures();
        let reads = || figures().iter().find(|(name, _)| *name == "reads").unwrap().1;
        let before = reads();
        eventually(async || (reads() >= before + 3).then_some(())).await;
    }

    pub async fn agent(&self, name: &str) -> Agent {
        self.agent_with(json!({ "name": name })).await
    }

    pub async fn agent_with(&self, body: Value) -> Agent {
        let reply = self.client.send("POST", "/agents", None, Some(body)).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        Agent {
            id: reply.text("id"),
            name: reply.text("name"),
            key: reply.text("apiKey"),
            client: self.client.clone(),
        }
    }

    /// Two agents that are connected.
    pub async fn pair(&self) -> (Agent, Agent) {
        let (ada, bob) = (self.agent("Ada").await, self.agent("Bob").await);
        ada.pair_with(&bob).await;
        (ada, bob)
    }

    /// A request with the operator's token.
    pub async fn admin(&self, method: &str, path: &str) -> Reply {
        self.client.send(method, path, Some(ADMIN_TOKEN), None).await
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let joined = self.thread.take().map(JoinHandle::join);
        if std::thread::panicking() {
            return;
        }
        joined.unwrap().expect("the server stops cleanly");
        let waiting = || {
            let figures = self.hub.db.store().stats().figures();
            figures
                .into_iter()
                .filter(|(name, value)| name.starts_with("waiting") && *value > 0)
                .collect::<Vec<_>>()
        };
        // What was asked right before the stop is still taken; what stays is lost.
        let deadline = std::time::Instant::now() + PATIENCE;
        while !waiting().is_empty() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(waiting(), [], "no job may be left behind");
    }
}

/// Sends requests and reads answers.
#[derive(Debug, Clone)]
pub struct Client {
    pub address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// A field of a JSON object as text.
    pub fn text(&self, field: &str) -> String {
        let json = self.json();
        json[field].as_str().unwrap_or_else(|| panic!("no text {field} in {json}")).to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Asserts an error of the contract's shape.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let json = self.json();
        assert_eq!((self.status, json["code"].as_str()), (status, Some(code)), "{json}");
        assert!(json["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{json}");
        json
    }

    /// Asserts success and gives the body.
    #[track_caller]
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        let json = self.json();
        assert!(!json.is_null());
        json
    }

    /// Where the next page is, as a path.
    pub fn next_link(&self) -> Option<String> {
        let link = self.header("link")?;
        let (path, rel) = link.split_once('>').unwrap();
        assert_eq!(rel, "; rel=\"next\"");
        Some(path.trim_start_matches('<').to_owned())
    }
}

impl Client {
    pub async fn send(&self, method: &str, path: &str, key: Option<&str>, body: Option<Value>) -> Reply {
        let mut request =
            Request::builder().method(method).uri(path).header("host", self.address.to_string());
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let bytes = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        self.raw(request.body(Full::new(bytes)).unwrap()).await
    }

    /// A request as it is. No answer of a test is ever a failure of the hub.
    pub async fn raw(&self, request: Request<Full<Bytes>>) -> Reply {
        let reply = self.try_raw(request).await.expect("the hub answers");
        let refusals = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::INSUFFICIENT_STORAGE];
        assert!(reply.status < 500 || refusals.iter().any(|code| *code == reply.status), "{reply:?}");
        assert_eq!(reply.header("api-version"), Some("v1"));
        assert!(reply.header("x-request-id").is_some());
        reply
    }

    pub async fn try_raw(&self, request: Request<Full<Bytes>>) -> Result<Reply, Box<dyn std::error::Error>> {
        let stream = TcpStream::connect(self.address).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        let response = sender.send_request(request).await?;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes();
        drop(sender);
        let _ = driver.await;
        Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, bytes })
    }
}

/// An agent and its key.
#[derive(Debug, Clone)]
pub struct Agent {
    pub id: String,
    pub name: String,
    pub key: String,
    pub client: Client,
}

impl Agent {
    pub async fn get(&self, path: &str) -> Reply {
        self.client.send("GET", path, Some(&self.key), None).await
    }
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.client.send("POST", path, Some(&self.key), Some(body)).await
    }
    pub async fn post_empty(&self, path: &str) -> Reply {
        self.client.send("POST", path, Some(&self.key), None).await
    }
    pub async fn patch(&self, path: &str, body: Value) -> Reply {
        self.client.send("PATCH", path, Some(&self.key), Some(body)).await
    }
    pub async fn delete(&self, path: &str) -> Reply {
        self.client.send("DELETE", path, Some(&self.key), None).await
    }

    /// Connects by a code; gives the connection's id.
    pub async fn pair_with(&self, other: &Agent) -> String {
        let code = self.post_empty("/pair/generate").await.text("code");
        let connected = other.post("/pair/connect", json!({ "code": code })).await;
        connected.ok(201);
        connected.text("connectionId")
    }

    /// Makes a task and gives its id.
    pub async fn task(&self, target: &Agent) -> String {
        self.task_with(target, json!({})).await
    }

    pub async fn task_with(&self, target: &Agent, more: Value) -> String {
        let mut body = json!({ "targetAgentId": target.id, "title": "A task" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = self.post("/tasks", body).await;
        reply.ok(201);
        reply.text("id")
    }

    pub async fn set(&self, task: &str, status: &str) -> Reply {
        self.patch(&format!("/tasks/{task}"), json!({ "status": status })).await
    }

    pub async fn view(&self, task: &str) -> Value {
        self.get(&format!("/tasks/{task}")).await.ok(200)
    }

    /// All of the log, from its beginning.
    pub async fn events(&self) -> Vec<Value> {
        let mut all = Vec::new();
        let mut after = 0;
        loop {
            let page = self.get(&format!("/events?after={after}")).await.ok(200);
            all.extend(page["events"].as_array().unwrap().clone());
            after = page["cursor"].as_i64().unwrap();
            if !page["hasMore"].as_bool().unwrap() {
                return all;
            }
        }
    }

    /// The kinds of all events in the log.
    pub async fn event_kinds(&self) -> Vec<String> {
        self.events().await.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// Gives everything the log holds from now on: the events that `act` causes.
    pub async fn last_event(&self) -> Value {
        self.events().await.pop().expect("the log is not empty")
    }
}

/// How long a test waits for something that should happen at once.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Waits until `state` gives something.
pub async fn eventually<T>(mut state: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = state().await {
            return found;
        }
        assert!(std::time::Instant::now() < deadline, "it did not happen");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// An open WebSocket.
pub struct Socket(pub tokio_tungstenite::WebSocketStream<TcpStream>);

impl Socket {
    pub async fn open(client: &Client, path: &str, key: Option<&str>) -> Result<Self, (u16, Value)> {
        use tokio_tungstenite::tungstenite::{Error, client::IntoClientRequest as _};
        let mut request = format!("ws://{}{path}", client.address).into_client_request().unwrap();
        if let Some(key) = key {
            request.headers_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
        }
        let stream = TcpStream::connect(client.address).await.unwrap();
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                Err((response.status().as_u16(), serde_json::from_slice(body).unwrap_or_default()))
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// The next frame of text, or the code and reason of the end.
    pub async fn next(&mut self) -> Result<Value, (u16, String)> {
        use futures_util::StreamExt as _;
        use tokio_tungstenite::tungstenite::Message;
        loop {
            let frame = tokio::time::timeout(PATIENCE, self.0.next()).await.expect("a frame comes");
            match frame {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(Some(close)))) => {
                    return Err((close.code.into(), close.reason.to_string()));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("{other:?}"),
                Some(Err(_)) | None => return Err((1006, String::new())),
            }
        }
    }
}

impl Agent {
    /// A socket that has said hello.
    pub async fn socket(&self, query: &str) -> Socket {
        let mut socket = Socket::open(&self.client, &format!("/ws{query}"), Some(&self.key)).await.unwrap();
        let hello = socket.next().await.unwrap();
        assert_eq!((&hello["type"], &hello["agentId"]), (&json!("connected"), &json!(self.id)));
        socket
    }
}
