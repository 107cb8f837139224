//! Everything of an agent's, as one JSON document that is written while it is read.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{TryStreamExt as _, stream};
use serde::Serialize;
use serde_json::{Value, json};
use tandem_api::agents::{BlockEntry, DeletedAccount, Profile};
use tandem_api::connections::ConnectionView;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_app::{Error, agents, blocks, connections, events, files, messages, tasks};
use tandem_core::files::File;
use tandem_core::{AgentId, TaskId, Timestamp};
use tandem_store::tasks::Filter;
use tokio::sync::mpsc;

use crate::files as stored;
use crate::http::front::Caller;
use crate::http::{Answer, ApiError, Json};
use crate::hub::{Hub, json as text};
use crate::rates::Rated;
use crate::rest::events::view;

/// How many bytes of files an export holds.
const FILE_BYTES_MAX: i64 = 45_000_000;
/// How many rows are read at once.
const PAGE: i64 = 500;
/// How many pieces wait for the reader.
const PIECES: usize = 4;

/// Everything of yours.
///
/// One JSON object: your profile, connections, tasks with their messages, files (their bytes up to 45 MB in all),
/// blocks and events; no secrets. It is whole when `__exportComplete` is there. Once in ten minutes.
#[utoipa::path(get, path = "/agents/me/export", tag = "agents",
    responses((status = 200, description = "The export", content_type = "application/json")))]
pub(crate) async fn export(State(hub): State<Hub>, Caller(me): Caller) -> Result<Response, ApiError> {
    let every = hub.config.export_interval_seconds;
    if let Some(over) = hub.rates.count_within(Rated::Exports, me.as_str(), 1, every, hub.clock.now())
        && !over.allowed
    {
        return Err(over.into());
    }
    let (pieces, written) = mpsc::channel::<Bytes>(PIECES);
    tokio::spawn(async move {
        match (Export { hub, me, pieces }).write().await {
            Ok(()) | Err(CutOff::Reader) => {}
            Err(cause) => tracing::warn!(%cause, "an export was cut off"),
        }
    });
    let body = stream::unfold(written, |mut written| async {
        let piece = written.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(piece), written))
    });
    let mut response = Response::new(Body::from_stream(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Why an export is not whole.
#[derive(Debug, thiserror::Error)]
enum CutOff {
    /// Nobody reads it any more.
    #[error("its reader went away")]
    Reader,
    #[error(transparent)]
    App(#[from] Error),
    #[error(transparent)]
    Files(#[from] stored::Error),
}

/// An export that is being written.
struct Export {
    hub: Hub,
    me: AgentId,
    pieces: mpsc::Sender<Bytes>,
}

impl Export {
    async fn put(&self, piece: impl Into<Bytes>) -> Result<(), CutOff> {
        self.pieces.send(piece.into()).await.map_err(|_| CutOff::Reader)
    }

    /// Rows of an array, after those before them.
    async fn rows<T: Serialize>(&self, first: &mut bool, rows: &[T]) -> Result<(), CutOff> {
        let mut piece = String::new();
        for row in rows {
            if !std::mem::take(first) {
                piece.push(',');
            }
            piece.push_str(&text(row));
        }
        if piece.is_empty() { Ok(()) } else { self.put(piece).await }
    }

    async fn write(&self) -> Result<(), CutOff> {
        let by = self.me.clone();
        let agent = self.hub.read(move |tx, _| agents::profile(tx, &by)).await?;
        let seen = self.hub.seen(&agent);
        self.put(format!("{{\"agent\":{}", text(&Profile::new(agent, seen)))).await?;
        self.put(",\"connections\":[").await?;
        self.connections().await?;
        self.put("],\"tasks\":[").await?;
        self.tasks().await?;
        self.put("],\"messages\":[").await?;
        self.messages().await?;
        self.put("],\"files\":[").await?;
        self.files().await?;
        self.put("],\"blocks\":[").await?;
        self.blocks().await?;
        self.put("],\"events\":[").await?;
        self.events().await?;
        self.put("],\"__exportComplete\":true}").await
    }

    async fn connections(&self) -> Result<(), CutOff> {
        let (mut first, mut before) = (true, None);
        loop {
            let (by, place) = (self.me.clone(), before.clone());
            let page = self.hub.read(move |tx, _| connections::list(tx, &by, place.as_ref(), PAGE)).await?;
            let view = |connection: tandem_core::agents::Connection| {
                let seen = self.hub.seen(&connection.peer);
                ConnectionView::new(connection, seen)
            };
            let views: Vec<ConnectionView> = page.items.into_iter().map(view).collect();
            self.rows(&mut first, &views).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    /// A page of the agent's tasks, newest first, and where the next one begins.
    async fn task_page(
        &self,
        before: Option<(Timestamp, TaskId)>,
    ) -> Result<tandem_app::Page<tandem_core::Task, (Timestamp, TaskId)>, Error> {
        let by = self.me.clone();
        let filter = Filter { before, limit: PAGE, ..Filter::default() };
        self.hub.read(move |tx, now| tasks::list(tx, &by, &filter, now)).await
    }

    async fn tasks(&self) -> Result<(), CutOff> {
        let (mut first, mut before) = (true, None);
        loop {
            let page = self.task_page(before).await?;
            let views: Vec<TaskView> =
                page.items.into_iter().map(|task| TaskView::new(task, &self.me)).collect();
            self.rows(&mut first, &views).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    async fn messages(&self) -> Result<(), CutOff> {
        let (mut first, mut before) = (true, None);
        loop {
            let page = self.task_page(before).await?;
            for task in page.items.iter().filter(|task| task.message_count > 0) {
                self.thread(&mut first, &task.id).await?;
            }
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    /// One task's messages, the newest page first and each page oldest first.
    async fn thread(&self, first: &mut bool, task: &TaskId) -> Result<(), CutOff> {
        let mut before = None;
        loop {
            let (by, id) = (self.me.clone(), task.clone());
            let page = self.hub.read(move |tx, now| messages::list(tx, &by, &id, before, PAGE, now)).await;
            let page = match page {
                // It was deleted, or given to somebody else, while this was being written.
                Err(Error::NotFound(_)) => return Ok(()),
                other => other?,
            };
            let views: Vec<MessageView> = page.items.into_iter().map(MessageView::from).collect();
            self.rows(first, &views).await?;
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    async fn files(&self) -> Result<(), CutOff> {
        let (mut first, mut before, mut room) = (true, None, FILE_BYTES_MAX);
        loop {
            let page = self.task_page(before).await?;
            for task in page.items.into_iter().filter(|task| task.message_count > 0) {
                let found = self.hub.read(move |tx, _| files::of_task(tx, &task.id)).await?;
                for file in found {
                    room -= file.size_bytes;
                    self.file(&mut first, &file, room >= 0).await?;
                }
            }
            before = page.next;
            if before.is_none() {
                return Ok(());
            }
        }
    }

    /// One file: with its bytes, or with a mark that they were left out.
    async fn file(&self, first: &mut bool, file: &File, whole: bool) -> Result<(), CutOff> {
        let mut about = json!({
            "id": file.id, "taskId": file.task, "messageId": file.message, "uploaderAgentId": file.uploader,
            "filename": file.name, "mimeType": file.mime_type, "sizeBytes": file.size_bytes,
            "createdAt": file.created_at,
        });
        let bytes =
            if whole { self.hub.files.read(&file.id, None).await } else { Err(stored::Error::Missing) };
        let mut bytes = match bytes {
            // Too much for an export, or deleted while this was being written.
            Err(stored::Error::Missing) => {
                about["base64Content"] = Value::Null;
                about["contentOmitted"] = Value::Bool(true);
                return self.rows(first, &[about]).await;
            }
            opened => opened?,
        };
        let mut head = about.to_string();
        head.pop();
        let comma = if std::mem::take(first) { "" } else { "," };
        self.put(format!("{comma}{head},\"base64Content\":\"")).await?;
        let mut rest = Vec::new();
        while let Some(piece) = bytes.try_next().await.map_err(stored::Error::from)? {
            // Three bytes are four characters; what is left over waits for the next piece.
            rest.extend_from_slice(&piece);
            let whole = rest.len() / 3 * 3;
            self.put(STANDARD.encode(&rest[..whole])).await?;
            rest.drain(..whole);
        }
        self.put(STANDARD.encode(&rest)).await?;
        self.put("\",\"contentOmitted\":false}").await
    }

    async fn blocks(&self) -> Result<(), CutOff> {
        let (mut first, mut after): (bool, Option<AgentId>) = (true, None);
        loop {
            let (by, place) = (self.me.clone(), after.clone());
            let page = self.hub.read(move |tx, _| blocks::list(tx, &by, place.as_ref(), PAGE)).await?;
            let entry = |block: tandem_store::blocks::Block| BlockEntry {
                agent_id: block.agent,
                agent_name: block.name,
                created_at: block.created_at,
            };
            let entries: Vec<BlockEntry> = page.items.into_iter().map(entry).collect();
            self.rows(&mut first, &entries).await?;
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn events(&self) -> Result<(), CutOff> {
        let (mut first, mut after) = (true, 0);
        loop {
            let by = self.me.clone();
            let look = self.hub.read(move |tx, _| events::read(tx, &by, Some(after))).await?;
            let views: Vec<_> = look.events.into_iter().map(view).collect();
            self.rows(&mut first, &views).await?;
            after = look.cursor;
            if !look.has_more {
                return Ok(());
            }
        }
    }
}

/// Delete yourself.
///
/// Everything of yours goes: connections (your peers get `agent.disconnected`), tasks with their messages and files,
/// networks you own, your log. Your key ends at once.
#[utoipa::path(delete, path = "/agents/me", tag = "agents", responses((status = 200, body = DeletedAccount)))]
pub(crate) async fn delete(State(hub): State<Hub>, Caller(me): Caller) -> Answer<DeletedAccount> {
    let gone = hub.delete_account(&me).await?;
    Ok(Json(DeletedAccount {
        deleted: true,
        connections: gone.connections,
        tasks: gone.tasks,
        messages: gone.messages,
        files: gone.files.len() as u64,
    }))
}
