//! Tasks and steps, as a client of A2A reads them: in answers, in streams, and in what is pushed to it.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tandem_api::a2a::{
    self as wire, Base64, Content, HUB_EXTENSION, Json, JsonObject, Role, StreamResponse,
    TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent,
};
use tandem_api::agents::Presence;
use tandem_api::parts::Part;
use tandem_api::tasks::TaskView;
use tandem_core::files::File;
use tandem_core::messages::{Foreign, Message};
use tandem_core::{AgentId, FileId, Task};

use super::{Artifact, Snapshot, Step, What, extras_of, parts_of, parts_of_task};
use crate::HubParts;
use crate::ops::{cards, files};

/// A file up to this size stands in the answer itself,
const RAW_BYTES_MAX: i64 = 256 * 1024;
/// as long as all of them together are no larger.
const RAW_BYTES_IN_ALL: i64 = 1024 * 1024;

/// How long a link to a file works.
const LINK_SECONDS: i64 = 3_600;

/// Who reads.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The client.
    pub agent: AgentId,
    /// The agent whose address it has called.
    pub host: AgentId,
    /// The hub's address.
    pub base: String,
    /// For clients that know the hub's extension: whether the agent is there.
    pub extension: Option<Presence>,
}

/// What a link to a file signs.
#[must_use]
pub fn link_text(host: &AgentId, file: &FileId, reader: &str, until: i64) -> String {
    format!("{host}\n{file}\n{reader}\n{until}")
}

/// Writes tasks for one answer.
#[derive(Debug)]
pub struct Shown<'h> {
    hub: &'h HubParts,
    reader: Reader,
    files: HashMap<FileId, File>,
    /// How many bytes of files there is room for.
    room: i64,
}

impl<'h> Shown<'h> {
    #[must_use]
    pub fn new(hub: &'h HubParts, reader: Reader) -> Self {
        Self { hub, reader, files: HashMap::new(), room: RAW_BYTES_IN_ALL }
    }

    /// A task as it stands.
    pub async fn task(&mut self, found: Snapshot) -> wire::Task {
        self.files = found.files;
        let task = &found.task;
        let message = match (&found.status_message, &found.status_text) {
            (Some(message), _) => Some(self.message(task, message).await),
            (None, Some(reason)) => Some(spoken(task, reason)),
            (None, None) => None,
        };
        let mut history = Vec::new();
        if found.has_first {
            history.push(self.first(task).await);
        }
        for message in &found.history {
            history.push(self.message(task, message).await);
        }
        let mut artifacts = Vec::new();
        for artifact in found.artifacts {
            artifacts.push(self.artifact(artifact).await);
        }
        wire::Task {
            id: task.id.to_string(),
            context_id: task.links.context.clone(),
            status: TaskStatus { state: found.state, message, timestamp: Some(task.status_at) },
            artifacts,
            history,
            metadata: self.metadata(task, found.ahead),
        }
    }

    /// A reply that is the answer itself.
    pub async fn direct(&mut self, found: &Snapshot, reply: &Message) -> wire::Message {
        self.files.clone_from(&found.files);
        self.message(&found.task, reply).await
    }

    /// One step of a stream, unless there is nothing in it for the client.
    pub async fn step(&mut self, task: &Task, step: Step) -> Option<StreamResponse> {
        let message = match step.what {
            What::Silent => return None,
            What::Status { reason } => reason.filter(|_| step.state.is_end()).map(|text| spoken(task, &text)),
            What::Said(message) => Some(self.message(task, &message).await),
            What::Artifact(artifact) => {
                let (append, last_chunk) = (artifact.append, artifact.last_chunk);
                return Some(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
                    task_id: task.id.to_string(),
                    context_id: task.links.context.clone(),
                    artifact: self.artifact(artifact).await,
                    append,
                    last_chunk,
                    metadata: None,
                }));
            }
        };
        Some(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: task.id.to_string(),
            context_id: task.links.context.clone(),
            status: TaskStatus { state: step.state, message, timestamp: Some(step.status_at) },
            metadata: self.metadata(task, None),
        }))
    }

    /// The files that steps may name.
    pub fn set_files(&mut self, files: HashMap<FileId, File>) {
        self.files = files;
        self.room = RAW_BYTES_IN_ALL;
    }

    /// The first message: the task itself.
    async fn first(&mut self, task: &Task) -> wire::Message {
        let parts = self.parts(parts_of_task(task)).await;
        message(
            task,
            task.foreign.id.as_deref().unwrap_or(task.id.as_str()),
            Role::User,
            parts,
            &task.foreign,
        )
    }

    async fn message(&mut self, task: &Task, said: &Message) -> wire::Message {
        let role = if said.sender.as_ref() == Some(&task.initiator) { Role::User } else { Role::Agent };
        let parts = self.parts(parts_of(said)).await;
        message(task, said.foreign.id.as_deref().unwrap_or(said.id.as_str()), role, parts, &said.foreign)
    }

    async fn artifact(&mut self, artifact: Artifact) -> wire::Artifact {
        wire::Artifact {
            artifact_id: artifact.id,
            name: artifact.name,
            description: artifact.description,
            parts: self.parts(artifact.parts).await,
            metadata: None,
            extensions: Vec::new(),
        }
    }

    fn parts(&mut self, parts: Vec<Part>) -> BoxFuture<'_, Vec<wire::Part>> {
        Box::pin(self.each_part(parts))
    }

    async fn each_part(&mut self, parts: Vec<Part>) -> Vec<wire::Part> {
        let mut written = Vec::with_capacity(parts.len());
        for part in parts {
            written.push(self.part(part).await);
        }
        written
    }

    async fn part(&mut self, part: Part) -> wire::Part {
        let file = part.file_id.as_ref().and_then(|id| self.files.get(id)).cloned();
        let content = match (&file, part.text, part.data, part.url) {
            (Some(file), ..) => self.file(file).await,
            (None, Some(text), ..) => Content::Text(text),
            (None, None, Some(data), _) => Content::Data(Json::from(data)),
            (None, None, None, Some(url)) => Content::Url(url),
            (None, None, None, None) => Content::Text("[deleted]".to_owned()),
        };
        let (name, kind) = file.map(|file| (file.name, file.mime_type)).unzip();
        wire::Part {
            content,
            metadata: part
                .metadata
                .map(Json::from)
                .and_then(|json| JsonObject::new(json.as_str().to_owned())),
            filename: part.filename.or(name),
            media_type: part.media_type.or(kind),
        }
    }

    /// The bytes of a small file, or a link.
    async fn file(&mut self, file: &File) -> Content {
        if file.size_bytes <= RAW_BYTES_MAX.min(self.room)
            && let Ok(bytes) = self.bytes(file).await
        {
            self.room -= file.size_bytes;
            return Content::Raw(Base64::new(STANDARD.encode(bytes)));
        }
        Content::Url(self.link(&file.id))
    }

    /// A link to a file for the reader.
    fn link(&self, file: &FileId) -> String {
        let until = self.hub.time().0 / 1_000 + LINK_SECONDS;
        let Reader { host, agent, base, .. } = &self.reader;
        let word = self.hub.signing.sign_link(&link_text(host, file, agent.as_str(), until));
        let base = cards::address(base, host);
        format!("{base}/files/{file}?for={agent}&until={until}&signature={word}")
    }

    async fn bytes(&self, file: &File) -> Result<Vec<u8>, crate::Error> {
        let mut stored = files::read_whole(self.hub, file).await?;
        let mut bytes = Vec::new();
        while let Some(piece) = stored.try_next().await.map_err(|_| crate::Error::internal())? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// What the hub's extension shows of a task.
    fn metadata(&self, task: &Task, ahead: Option<i64>) -> Option<JsonObject> {
        let presence = self.reader.extension.as_ref()?;
        let mut view = TaskView::new(task.clone(), &self.reader.agent);
        view.delivery.ahead = ahead;
        let mut view = serde_json::to_value(view).ok()?;
        let mut shown = Map::new();
        for (name, field) in [
            ("status", "status"),
            ("nextStatuses", "nextStatuses"),
            ("delivery", "delivery"),
            ("approval", "approvalStatus"),
            ("attempt", "attempt"),
            ("expiresAt", "expiresAt"),
            ("progress", "progress"),
            ("progressNote", "progressNote"),
        ] {
            let value = view[field].take();
            if !value.is_null() {
                shown.insert(name.to_owned(), value);
            }
        }
        shown.insert("online".to_owned(), presence.online.into());
        let all = Map::from_iter([(HUB_EXTENSION.to_owned(), Value::Object(shown))]);
        JsonObject::new(Value::Object(all).to_string())
    }
}

fn message(task: &Task, id: &str, role: Role, parts: Vec<wire::Part>, foreign: &Foreign) -> wire::Message {
    let extras = extras_of(foreign);
    wire::Message {
        message_id: id.to_owned(),
        context_id: task.links.context.clone(),
        task_id: Some(task.id.to_string()),
        role,
        parts,
        metadata: extras.metadata.and_then(|json| JsonObject::new(json.get().to_owned())),
        extensions: extras.extensions,
        reference_task_ids: extras.reference_task_ids,
    }
}

/// Why a task has ended, where nobody wrote a message.
fn spoken(task: &Task, text: &str) -> wire::Message {
    let id = format!("{}-{}", task.id, task.status);
    message(task, &id, Role::Agent, vec![wire::Part::text(text)], &Foreign::default())
}
