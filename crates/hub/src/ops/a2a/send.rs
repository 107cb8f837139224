//! A message of a client of A2A: a new task, or one more message on a task.

use serde::Serialize;
use tandem_api::parts::{Extras, Part};
use tandem_app::a2a::pushes::NewPush;
use tandem_app::a2a::{self, Later, Sending};
use tandem_app::keys::Hashing;
use tandem_app::messages::{NewMessage, Sent as SentBeside};
use tandem_app::tasks::NewTask;
use tandem_app::{Error as AppError, Invalid};
use tandem_core::ids;
use tandem_core::messages::Foreign;
use tandem_core::tasks::{LeaseSeconds, MaxMessages, OnStall, Priority, TtlSeconds};
use tandem_core::text::{Body, ContextId, ForeignId, Title};
use tandem_core::{AgentId, Id, TaskId, Timestamp};

use super::check_host;
use super::pushes::check_push;
use crate::ops::messages::limit_of;
use crate::ops::parts::{self, StoredFiles};
use crate::{Caller, Error, HubParts};

/// The title of a task whose message has neither a text nor a file with a name.
const TITLE: &str = "A2A task";
/// Characters of a title.
const TITLE_CHARS_MAX: usize = 128;
/// Ids and words that a message may name, each of them up to 256 bytes.
const NAMED_MAX: usize = 100;
const NAMED_BYTES_MAX: usize = 256;

/// A message of a client.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub message_id: ForeignId,
    pub parts: Vec<Part>,
    pub extras: Extras,
    /// The conversation; a new one if neither this nor a task is named.
    pub context: Option<ContextId>,
    /// The task that it continues.
    pub task: Option<TaskId>,
    /// What a new task is to be like.
    pub settings: Settings,
    /// Where to push what happens to the task.
    pub push: Option<NewPush>,
}

/// What a client may say of a new task beside its message.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub title: Option<Title>,
    pub priority: Option<Priority>,
    pub ttl_seconds: Option<TtlSeconds>,
    pub lease_seconds: Option<LeaseSeconds>,
    pub on_stall: Option<OnStall>,
    pub max_messages: Option<MaxMessages>,
    pub parent: Option<TaskId>,
}

/// What became of a message.
#[derive(Debug, Clone)]
pub struct Sent {
    pub task: TaskId,
    pub created_at: Timestamp,
    /// The step that the message was. An end or an interruption that answers it has a later one.
    pub step: i64,
    /// Whether the same message was sent before, and nothing was added.
    pub joined: bool,
}

impl From<Sending> for Sent {
    fn from(sent: Sending) -> Self {
        Self { task: sent.task, created_at: sent.created_at, step: sent.step, joined: sent.joined }
    }
}

fn check(message: &Incoming) -> Result<(), Invalid> {
    parts::check(&message.parts)?;
    if message.parts.iter().any(|part| part.file_id.is_some()) {
        return Err(Invalid::field("parts", "must have exactly one of text, data, url and raw each"));
    }
    let (text, _) = parts::readable(&message.parts);
    if text.is_empty() && message.parts.iter().all(|part| part.raw.is_none()) {
        return Err(Invalid::field("parts", "must not all be empty"));
    }
    if let Some(metadata) = &message.extras.metadata {
        parts::check_metadata("metadata", metadata.get())?;
    }
    for (field, named) in [
        ("referenceTaskIds", &message.extras.reference_task_ids),
        ("acceptedOutputModes", &message.extras.accepted_output_modes),
        ("extensions", &message.extras.extensions),
    ] {
        if named.len() > NAMED_MAX || named.iter().any(|name| name.len() > NAMED_BYTES_MAX) {
            let why = format!("must be at most {NAMED_MAX}, of at most {NAMED_BYTES_MAX} bytes each");
            return Err(Invalid::field(field, why));
        }
    }
    Ok(())
}

/// What tells a message from anything else that the caller sends: where it goes and what it says, but not how it was
/// traced.
fn hash_of(caller: &Caller, host: &AgentId, message: &Incoming) -> [u8; 32] {
    let mut hash = Hashing::default();
    let mut add = |bytes: &[u8]| {
        hash.add(&bytes.len().to_le_bytes());
        hash.add(bytes);
    };
    add(caller.agent.as_str().as_bytes());
    add(host.as_str().as_bytes());
    add(message.task.as_ref().map_or("", |task| task.as_str()).as_bytes());
    add(message.context.as_ref().map_or("", ContextId::as_str).as_bytes());
    add(message.message_id.as_str().as_bytes());
    add(&json(&message.extras.metadata));
    add(&json(&message.extras.reference_task_ids));
    for part in &message.parts {
        let name = |text: &Option<String>| json(text);
        add(&json(&[&part.text, &part.url]));
        add(&json(&part.data));
        add(&json(&part.metadata));
        add(part.raw.as_deref().unwrap_or_default().as_bytes());
        add(&name(&part.filename));
        add(&name(&part.media_type));
    }
    hash.finish()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Makes a task, adds a message to one, or finds what an equal message has already done.
pub async fn send(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    mut message: Incoming,
) -> Result<Sent, Error> {
    check_host(host)?;
    // Before the checks: the parties may have disconnected since the first request.
    if let Some(earlier) = hub.earlier_answer(caller).await? {
        return Ok(earlier);
    }
    check(&message)?;
    if let Some(push) = &message.push {
        check_push(hub, push)?;
    }
    let hash = hash_of(caller, host, &message);
    check_may_send(hub, caller, host, &message).await?;
    let stored = parts::store_files(hub, caller, &mut message.parts).await?;
    let files = StoredFiles { new: stored.new.clone() };
    let sent = match message.task.clone() {
        Some(task) => continue_task(hub, caller, host, &task, message, (hash, stored)).await,
        None => start(hub, caller, host, message, (hash, stored)).await,
    };
    let is_kept = match &sent {
        Ok(sent) => !sent.joined && !caller.was_replayed(),
        Err(error) => !parts::has_no_rows(error),
    };
    if !is_kept {
        files.discard(hub).await;
    }
    sent
}

/// Before bytes are stored: whether the caller can reach the agent, or sees the task.
async fn check_may_send(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    message: &Incoming,
) -> Result<(), Error> {
    if message.parts.iter().all(|part| part.raw.is_none()) {
        return Ok(());
    }
    let (by, host, task) = (caller.agent.clone(), host.clone(), message.task.clone());
    hub.read_as(caller, move |tx, now| match &task {
        Some(task) => a2a::check(tx, &by, &host, task, now),
        None => a2a::terms(tx, &by, &host)?.map(drop).ok_or(AppError::NotConnected),
    })
    .await
}

/// What is kept of a message beside its text.
fn beside(message: &Incoming, hash: [u8; 32]) -> SentBeside {
    let extras = serde_json::to_string(&message.extras).ok().filter(|extras| extras != "{}");
    SentBeside {
        foreign: Foreign {
            id: Some(message.message_id.to_string()),
            parts: parts::kept(&message.parts),
            extras,
        },
        hash: Some(hash),
    }
}

/// A file of a message that has other parts too.
fn as_pieces(stored: &mut StoredFiles, id: &ForeignId) {
    for file in &mut stored.new {
        let foreign = Foreign { id: Some(id.to_string()), ..Foreign::default() };
        file.sent = Some(SentBeside { foreign, hash: None });
    }
}

fn body(text: String) -> Result<Body, Invalid> {
    Body::try_from(text).map_err(|unfit| Invalid::field("parts", unfit.0))
}

/// The first line of the texts, else the name of a file, else a fixed text.
fn title(message: &Incoming) -> Title {
    let line = |text: &str| {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        let line: String = line.chars().filter(|c| !c.is_control()).take(TITLE_CHARS_MAX).collect();
        Title::try_from(line.trim().to_owned()).ok()
    };
    let named = || message.parts.iter().find_map(|part| line(part.filename.as_deref()?));
    line(&parts::texts(&message.parts))
        .or_else(named)
        .or_else(|| Title::try_from(TITLE.to_owned()).ok())
        .unwrap_or_else(|| unreachable!("the fixed title is one"))
}

async fn start(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    message: Incoming,
    (hash, mut stored): ([u8; 32], StoredFiles),
) -> Result<Sent, Error> {
    let target = host.to_string().try_into().map_err(|_| AppError::NotConnected)?;
    let (text, _) = parts::readable(&message.parts);
    let description = if text.is_empty() { None } else { Some(body(text)?) };
    let sent = beside(&message, hash);
    as_pieces(&mut stored, &message.message_id);
    let made: Id<ids::Context> = hub.db.now().new_id();
    let made = ContextId::try_from(made.to_string()).ok();
    let title = message.settings.title.clone().unwrap_or_else(|| title(&message));
    let (settings, push) = (message.settings, message.push);
    let new = NewTask {
        description,
        priority: settings.priority.unwrap_or(Priority::Normal),
        ttl_seconds: settings.ttl_seconds,
        lease_seconds: settings.lease_seconds,
        on_stall: settings.on_stall,
        max_messages: settings.max_messages,
        parent: settings.parent,
        context: message.context.or(made),
        sent: Some(sent),
        files: stored.new,
        ..NewTask::plain(target, title)
    };
    let (by, host, defaults) = (caller.agent.clone(), host.clone(), hub.config.task_defaults());
    hub.write_once(caller, move |tx, now| {
        Ok(a2a::start(tx, &by, &host, (&new, push.as_ref()), &defaults, now)?.into())
    })
    .await
}

async fn continue_task(
    hub: &HubParts,
    caller: &Caller,
    host: &AgentId,
    task: &TaskId,
    message: Incoming,
    (hash, mut stored): ([u8; 32], StoredFiles),
) -> Result<Sent, Error> {
    let (text, content_type) = parts::readable(&message.parts);
    let sent = beside(&message, hash);
    let limit = Some(limit_of(hub, caller, task.as_str()));
    as_pieces(&mut stored, &message.message_id);
    let new = if text.is_empty() {
        if let Some(last) = stored.new.last_mut() {
            // A message of files alone is kept with the last of them.
            let parts = sent.foreign.parts.clone().or_else(|| serde_json::to_string(&message.parts).ok());
            let foreign = Foreign { parts, ..sent.foreign };
            (last.sent, last.limit) = (Some(SentBeside { foreign, ..sent }), limit);
        }
        None
    } else {
        Some(NewMessage { content_type, sent: Some(sent), limit, ..NewMessage::plain(body(text)?) })
    };
    let later = Later { context: message.context, message: new, files: stored.new, hash, push: message.push };
    let (by, host, id) = (caller.agent.clone(), host.clone(), task.clone());
    hub.write_once(caller, move |tx, now| Ok(a2a::add(tx, &by, &host, &id, &later, now)?.into())).await
}
