//! `tandem-bench bare`: the server that the hub is measured against. It knows who calls, writes or reads as many rows as
//! the hub does for the same request, and answers as many bytes. It has no rules, and must never get any.

mod checkpoint;
mod postgres;
mod rows;
mod sqlite;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use serde::{Deserialize, Serialize};
use tandem_app::keys::{KeyHash, sha256};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use postgres::Postgres;
use rows::{Contents, MessageJob, Rows, TaskJob, Write};
use sqlite::Sqlite;

use super::workload::{Agent, pairs, text};

/// How many bytes an answer about a task has beside the task's text, so that it is as long as the hub's.
const TASK_FILLER: usize = 780;
/// The same for a message.
const MESSAGE_FILLER: usize = 150;
/// How many bytes the hub's answer has for one event.
const EVENT_BYTES: usize = 470;

/// What `tandem-bench bare` takes.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// An empty folder for its database
    #[arg(long)]
    pub data: PathBuf,
    /// A PostgreSQL schema to use instead, empty
    #[arg(long)]
    pub postgres: Option<String>,
    /// How many agents it knows
    #[arg(long)]
    pub agents: usize,
    /// Keep tasks in the two orders that lists need
    #[arg(long)]
    pub in_order: bool,
}

/// The agents that the bare server knows. Their ids and keys are as long as the hub's.
pub(crate) fn agents(count: usize) -> Vec<Agent> {
    (0..count).map(|n| Agent { id: format!("agent_{n:024}"), key: format!("key_{n:048}") }).collect()
}

struct Parts {
    rows: Rows,
    keys: HashMap<KeyHash, String>,
    ids: AtomicU64,
    clock: AtomicI64,
    task_filler: String,
    message_filler: String,
    /// The newest socket of each agent that listens.
    listening: Mutex<HashMap<String, mpsc::Sender<String>>>,
}

type Server = State<Arc<Parts>>;

/// Serves until the process is ended from outside.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = router(arguments).await?;
        println!("Listening    http://{address}");
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // As the hub does; otherwise delayed packets would be measured.
            let _ = stream.set_nodelay(true);
        });
        Ok(axum::serve(listener, router).await?)
    })
}

/// The bare server on an open database.
pub async fn router(arguments: &Arguments) -> anyhow::Result<Router> {
    let parts = Arc::new(open(arguments).await?);
    Ok(Router::new()
        .route("/job", post(job))
        .route("/message/{task}/{to}", post(message))
        .route("/row/{id}", get(row))
        .route("/page/{name}/{count}", get(page))
        .route("/echo", post(echo))
        .route("/echo-socket", any(echo_socket))
        .route("/push-socket", any(push_socket))
        .route("/health", get(|| async { "ok" }))
        .with_state(parts))
}

async fn open(arguments: &Arguments) -> anyhow::Result<Parts> {
    let agents = agents(arguments.agents);
    let ids: Vec<String> = agents.iter().map(|agent| agent.id.clone()).collect();
    let connections =
        pairs(ids.len()).into_iter().map(|(one, other)| (ids[one].clone(), ids[other].clone())).collect();
    let task = "t".repeat(text().len() + TASK_FILLER + 120);
    let contents = Contents {
        agents: ids,
        connections,
        pages: [("tasks", task), ("events", "e".repeat(EVENT_BYTES))],
        in_order: arguments.in_order,
    };
    let rows = match &arguments.postgres {
        Some(url) => Rows::Postgres(Postgres::open(url, &contents).await?),
        None => Rows::Sqlite(Sqlite::open(&arguments.data.join("bare.db"), &contents)?),
    };
    Ok(Parts {
        rows,
        keys: agents.into_iter().map(|agent| (sha256(agent.key.as_bytes()), agent.id)).collect(),
        ids: AtomicU64::new(0),
        clock: AtomicI64::new(1_700_000_000_000),
        task_filler: "f".repeat(TASK_FILLER),
        message_filler: "f".repeat(MESSAGE_FILLER),
        listening: Mutex::default(),
    })
}

impl Parts {
    fn caller(&self, headers: &HeaderMap) -> Result<&str, StatusCode> {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let key = value.and_then(|value| value.strip_prefix("Bearer ")).ok_or(StatusCode::UNAUTHORIZED)?;
        self.keys.get(&sha256(key.as_bytes())).map(String::as_str).ok_or(StatusCode::UNAUTHORIZED)
    }

    /// Pushes a frame to the agent, if it listens.
    fn push(&self, to: &str, frame: String) {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(socket) = listening.get(to) {
            let _ = socket.try_send(frame);
        }
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:024}", self.ids.fetch_add(1, Relaxed))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewTask {
    target_agent_id: String,
    title: String,
    description: String,
}

#[derive(Serialize)]
struct Event<'a> {
    task: &'a str,
    sender: &'a str,
    name: &'a str,
    attempt: i64,
}

#[derive(Serialize)]
struct Fields<'a> {
    name: &'a str,
    attempt: i64,
}

#[derive(Serialize)]
struct Made<'a> {
    id: &'a str,
    by: &'a str,
    to: &'a str,
    number: i64,
    text: &'a str,
    filler: &'a str,
}

/// What is pushed.
fn frame(task: &str, sender: &str) -> Result<String, StatusCode> {
    let event = Event { task, sender, name: sender, attempt: 1 };
    serde_json::to_string(&event).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

/// What is stored: the rest has columns of its own.
fn event(sender: &str) -> Result<String, StatusCode> {
    let fields = Fields { name: sender, attempt: 1 };
    serde_json::to_string(&fields).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

fn made(made: &Made<'_>) -> Result<Response, StatusCode> {
    let text = serde_json::to_string(made).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok((StatusCode::CREATED, [(header::CONTENT_TYPE, "application/json")], text).into_response())
}

fn failed(error: anyhow::Error) -> StatusCode {
    eprintln!("tandem-bench bare: {error:#}");
    StatusCode::INTERNAL_SERVER_ERROR
}

async fn job(State(server): Server, headers: HeaderMap, body: Bytes) -> Result<Response, StatusCode> {
    let by = server.caller(&headers)?;
    let new: NewTask = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let id = server.id("task");
    let job = Write::Task(TaskJob {
        id: id.clone(),
        by: by.to_owned(),
        to: new.target_agent_id.clone(),
        title: new.title,
        body: new.description.clone(),
        event: event(by)?,
        at: server.clock.fetch_add(1, Relaxed),
    });
    let frame = frame(&id, by)?;
    let number = server.rows.write(job).await.map_err(failed)?;
    server.push(&new.target_agent_id, frame);
    let (to, text, filler) = (&new.target_agent_id, &new.description, &server.task_filler);
    made(&Made { id: &id, by, to, number, text, filler })
}

#[derive(Deserialize)]
struct NewMessage {
    content: String,
}

async fn message(
    State(server): Server,
    Path((task, to)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, StatusCode> {
    let by = server.caller(&headers)?;
    let new: NewMessage = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let id = server.id("msg");
    let job = Write::Message(MessageJob {
        id: id.clone(),
        event: event(by)?,
        task,
        by: by.to_owned(),
        to: to.clone(),
        body: new.content.clone(),
        at: server.clock.fetch_add(1, Relaxed),
    });
    let number = server.rows.write(job).await.map_err(failed)?;
    made(&Made { id: &id, by, to: &to, number, text: &new.content, filler: &server.message_filler })
}

async fn row(
    State(server): Server,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let by = server.caller(&headers)?;
    let text = server.rows.task(id.clone()).await.map_err(failed)?.ok_or(StatusCode::NOT_FOUND)?;
    made(&Made { id: &id, by, to: by, number: 1, text: &text, filler: &server.task_filler })
}

async fn page(
    State(server): Server,
    Path((name, count)): Path<(String, i64)>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let by = server.caller(&headers)?;
    let rows = server.rows.page(&name, by, count).await.map_err(failed)?;
    let text = serde_json::to_string(&rows).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

async fn echo(State(server): Server, headers: HeaderMap, body: Bytes) -> Result<Response, StatusCode> {
    server.caller(&headers)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Sends back whatever comes.
async fn echo_socket(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(async |mut socket| {
        while let Some(Ok(message)) = socket.recv().await {
            if matches!(message, Message::Text(_)) && socket.send(message).await.is_err() {
                break;
            }
        }
    })
}

/// Pushes a frame for every job that names this agent, once it is committed; without a log.
async fn push_socket(
    State(server): Server,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Result<Response, StatusCode> {
    let agent = server.caller(&headers)?.to_owned();
    let (sender, mut frames) = mpsc::channel(64);
    server.listening.lock().unwrap_or_else(PoisonError::into_inner).insert(agent, sender);
    Ok(upgrade.on_upgrade(async move |mut socket| {
        while let Some(frame) = frames.recv().await {
            if socket.send(Message::Text(frame.into())).await.is_err() {
                break;
            }
        }
    }))
}
