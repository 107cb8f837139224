//! `tandem bench-limit`: the limit that the hub is measured against. A bare axum router on the store's
//! floor: it knows who asks, does one job of as many rows as the hub's, and answers as many bytes. It has
//! no rules, and must never get any.

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
use tandem_store::bare::{Floor, Furniture, Write};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::crowd::{Agent, pairs, text};

/// What a task says beside its own text, so that answers are as long as the hub's.
const TASK_FILLER: usize = 780;
/// The same of a message.
const MESSAGE_FILLER: usize = 150;
/// The length of an event as the hub shows it.
const EVENT_BYTES: usize = 330;

/// What `tandem bench-limit` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An empty folder for its database
    #[arg(long)]
    data: PathBuf,
    /// How many agents it knows
    #[arg(long)]
    agents: usize,
    /// Keep tasks in order for both of their parties as well, as lists need it
    #[arg(long)]
    lists: bool,
}

/// The agents that the limit knows: their ids and keys are as long as the hub's, and told beforehand.
pub(super) fn agents(count: usize) -> Vec<Agent> {
    (0..count).map(|n| Agent { id: format!("agent_{n:024}"), key: format!("lim_{n:048}") }).collect()
}

struct Parts {
    floor: Floor,
    keys: HashMap<KeyHash, String>,
    ids: AtomicU64,
    clock: AtomicI64,
    task_filler: String,
    message_filler: String,
    /// Who listens; the newest socket of an agent.
    listening: Mutex<HashMap<String, mpsc::Sender<String>>>,
}

type Limit = State<Arc<Parts>>;

/// Runs the limit until it is ended from outside.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let parts = Arc::new(open(arguments)?);
        println!("Listening    http://{}", listener.local_addr()?);
        let router = Router::new()
            .route("/job", post(job))
            .route("/message/{task}/{to}", post(message))
            .route("/row/{id}", get(row))
            .route("/shelf/{name}/{count}", get(shelf))
            .route("/echo", post(echo))
            .route("/echo-socket", any(echo_socket))
            .route("/push-socket", any(push_socket))
            .route("/health", get(|| async { "ok" }))
            .with_state(parts);
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // As the hub does; without it, the limit would be the delayed packet.
            let _ = stream.set_nodelay(true);
        });
        Ok(axum::serve(listener, router).await?)
    })
}

fn open(arguments: &Arguments) -> anyhow::Result<Parts> {
    let agents = agents(arguments.agents);
    let ids: Vec<String> = agents.iter().map(|agent| agent.id.clone()).collect();
    let joined: Vec<(String, String)> =
        pairs(ids.len()).into_iter().map(|(one, other)| (ids[one].clone(), ids[other].clone())).collect();
    let task = "t".repeat(text().len() + TASK_FILLER + 120);
    let event = "e".repeat(EVENT_BYTES);
    let furniture = Furniture {
        agents: &ids,
        joined: &joined,
        shelves: &[("tasks", &task), ("events", &event)],
        lists: arguments.lists,
    };
    Ok(Parts {
        floor: Floor::open(&arguments.data.join("limit.db"), &furniture)?,
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

    /// Pushes a frame to whoever listens; nobody has to.
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

fn failed(error: tandem_store::Error) -> StatusCode {
    eprintln!("tandem bench-limit: {error}");
    StatusCode::INTERNAL_SERVER_ERROR
}

async fn job(State(limit): Limit, headers: HeaderMap, body: Bytes) -> Result<Response, StatusCode> {
    let by = limit.caller(&headers)?;
    let new: NewTask = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let id = limit.id("task");
    let job = Write::Task {
        id: id.clone(),
        by: by.to_owned(),
        to: new.target_agent_id.clone(),
        title: new.title,
        body: new.description.clone(),
        event: event(by)?,
        at: limit.clock.fetch_add(1, Relaxed),
    };
    let frame = frame(&id, by)?;
    let number = limit.floor.write(job).await.map_err(failed)?;
    limit.push(&new.target_agent_id, frame);
    let (to, text, filler) = (&new.target_agent_id, &new.description, &limit.task_filler);
    made(&Made { id: &id, by, to, number, text, filler })
}

#[derive(Deserialize)]
struct NewMessage {
    content: String,
}

async fn message(
    State(limit): Limit,
    Path((task, to)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, StatusCode> {
    let by = limit.caller(&headers)?;
    let new: NewMessage = serde_json::from_slice(&body).map_err(|_| StatusCode::BAD_REQUEST)?;
    let id = limit.id("msg");
    let job = Write::Message {
        id: id.clone(),
        event: event(by)?,
        task,
        by: by.to_owned(),
        to: to.clone(),
        body: new.content.clone(),
        at: limit.clock.fetch_add(1, Relaxed),
    };
    let number = limit.floor.write(job).await.map_err(failed)?;
    made(&Made { id: &id, by, to: &to, number, text: &new.content, filler: &limit.message_filler })
}

async fn row(
    State(limit): Limit,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let by = limit.caller(&headers)?;
    let text = limit.floor.row(id.clone()).await.map_err(failed)?.ok_or(StatusCode::NOT_FOUND)?;
    made(&Made { id: &id, by, to: by, number: 1, text: &text, filler: &limit.task_filler })
}

async fn shelf(
    State(limit): Limit,
    Path((name, count)): Path<(String, i64)>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let by = limit.caller(&headers)?;
    let rows = limit.floor.shelf(&name, by, count).await.map_err(failed)?;
    let text = serde_json::to_string(&rows).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

async fn echo(State(limit): Limit, headers: HeaderMap, body: Bytes) -> Result<Response, StatusCode> {
    limit.caller(&headers)?;
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
    State(limit): Limit,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Result<Response, StatusCode> {
    let agent = limit.caller(&headers)?.to_owned();
    let (sender, mut frames) = mpsc::channel(64);
    limit.listening.lock().unwrap_or_else(PoisonError::into_inner).insert(agent, sender);
    Ok(upgrade.on_upgrade(async move |mut socket| {
        while let Some(frame) = frames.recv().await {
            if socket.send(Message::Text(frame.into())).await.is_err() {
                break;
            }
        }
    }))
}
