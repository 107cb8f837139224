//! What a remote is sent: the message of A2A that a task, or a message on it, is.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::TryStreamExt as _;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tandem_api::a2a::{
    Base64, Content, HUB_EXTENSION, Json, JsonObject, Message, Part, PushConfig, Role,
    SendMessageConfiguration, SendMessageRequest,
};
use tandem_api::parts::{self as kept, Extras};
use tandem_app::remotes::{Act, Work};
use tandem_core::Task;
use tandem_core::files::File;
use tandem_core::remotes::{HOPS_MAX, Remote};

use crate::ops::a2a::{extras_of, parts_of, parts_of_task};
use crate::ops::cards::address;
use crate::{Held, Holder, HubParts};

/// Where other sides push to, below the hub's address.
const PUSH_PATH: &str = "/a2a/pushes";
/// Files in a message: each, and all of them. Larger ones become links.
const FILE_BYTES_MAX: i64 = 256 * 1024;
const FILES_BYTES_MAX: i64 = 1024 * 1024;
/// All of them where no link leads to this hub.
const UNLINKED_BYTES_MAX: i64 = 4 * 1024 * 1024;
/// How many times the bytes of a message are in memory while it is written and sent.
const WRITTEN_FACTOR: usize = 4;
/// How long a link works.
const LINK_SECONDS: i64 = 3_600;

/// Why a task is not sent at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unsendable {
    /// It cannot be.
    Never(String),
    /// Its files cannot be read now.
    Later(String),
}

/// A request with the headers that belong to it.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) request: SendMessageRequest,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) _held: Held,
}

/// The request for what is to be sent; `None` if that is no message.
pub(super) async fn outgoing(
    hub: &HubParts,
    remote: &Remote,
    work: &Work,
) -> Result<Option<Outgoing>, Unsendable> {
    let (task, id, parts, files, extras, parents) = match &work.act {
        Act::Start { task, messages, files, parents } => {
            let mut parts = first_parts(task);
            parts.extend(messages.iter().flat_map(parts_of));
            let id = match task.attempt.number {
                1 => task.id.to_string(),
                attempt => format!("{}-{attempt}", task.id),
            };
            (task, id, parts, files.as_slice(), extras_of(&task.foreign), parents)
        }
        Act::Message { task, message, file, parents } => {
            let extras = extras_of(&message.foreign);
            (task, message.id.to_string(), parts_of(message), file.as_slice(), extras, parents)
        }
        Act::Ask | Act::Cancel => return Ok(None),
    };
    let hops = hops(&extras, task, parents);
    if hops > HOPS_MAX {
        return Err(Unsendable::Never(format!("it has come through more than {HOPS_MAX} hubs")));
    }
    let is_link_possible = hub.config.public_address().is_some();
    let no_room = |_| Unsendable::Later("the hub has no memory for it at the moment".to_owned());
    let held = hub.budget.hold(Holder::Agent(remote.owner.clone()), work.bytes() * WRITTEN_FACTOR);
    let held = held.map_err(no_room)?;
    let mut files = Files { hub, remote, files, sum: 0, is_link_possible, held };
    let parts = files.parts(parts).await?;
    let held = files.held;
    let mut headers = vec![("Idempotency-Key", id.clone()), ("A2A-Extensions", HUB_EXTENSION.to_owned())];
    headers.extend(extras.traceparent.clone().map(|trace| ("traceparent", trace)));
    headers.extend(extras.tracestate.clone().map(|trace| ("tracestate", trace)));
    let is_over = work.row.is_ended;
    let mut extensions = extras.extensions;
    extensions.retain(|uri| uri != HUB_EXTENSION);
    extensions.push(HUB_EXTENSION.to_owned());
    let message = Message {
        message_id: id,
        context_id: work.row.foreign_context.clone().or_else(|| task.links.context.clone()),
        task_id: work.row.foreign_id.clone().filter(|_| !is_over),
        role: Role::User,
        parts,
        metadata: metadata(extras.metadata, hops),
        extensions,
        reference_task_ids: work.row.foreign_id.clone().filter(|_| is_over).into_iter().collect(),
    };
    let configuration = SendMessageConfiguration {
        accepted_output_modes: extras.accepted_output_modes,
        task_push_notification_config: push_config(hub, work).filter(|_| remote.card.interface.pushes),
        history_length: Some(0),
        return_immediately: true,
    };
    let tenant = remote.card.interface.tenant.clone();
    let request = SendMessageRequest { tenant, message, configuration: Some(configuration), metadata: None };
    Ok(Some(Outgoing { request, headers, _held: held }))
}

/// The task itself: as its client sent it, or its title and its description.
fn first_parts(task: &Task) -> Vec<kept::Part> {
    if task.foreign.id.is_some() {
        return parts_of_task(task);
    }
    let content = &task.content;
    let text = match &content.description {
        Some(description) => format!("{}\n\n{description}", content.title),
        None => content.title.clone(),
    };
    vec![kept::Part::text(text)]
}

/// Through how many hubs the task will have come: one more than the client said, of it or of a task above it.
fn hops(extras: &Extras, task: &Task, parents: &[Option<String>]) -> i64 {
    let said = |extras: &str| serde_json::from_str::<Extras>(extras).ok().and_then(|extras| extras.hops);
    let first = task.foreign.extras.as_deref().and_then(said);
    let above = parents.iter().flatten().filter_map(|extras| said(extras));
    above.chain(first).chain(extras.hops).max().unwrap_or(0).max(0).saturating_add(1)
}

/// The client's metadata, as it was written, with what we have to say.
fn metadata(given: Option<Box<RawValue>>, hops: i64) -> Option<JsonObject> {
    let given = given.and_then(|json| serde_json::from_str(json.get()).ok());
    let mut fields: BTreeMap<String, Box<RawValue>> = given.unwrap_or_default();
    fields.insert(HUB_EXTENSION.to_owned(), to_raw_value(&json!({ "hops": hops })).ok()?);
    JsonObject::new(serde_json::to_string(&fields).ok()?)
}

/// Where the other side tells of changes, if it does so and finds us.
fn push_config(hub: &HubParts, work: &Work) -> Option<PushConfig> {
    let (base, path, token) =
        (hub.config.public_address()?, work.row.push_path.as_ref()?, work.row.push_token.as_ref()?);
    Some(PushConfig {
        tenant: None,
        id: Some(work.row.task.to_string()),
        task_id: None,
        url: format!("{base}{PUSH_PATH}/{path}"),
        token: Some(token.clone()),
        authentication: None,
    })
}

/// The files of a message.
struct Files<'a> {
    hub: &'a HubParts,
    remote: &'a Remote,
    files: &'a [File],
    /// Bytes that are in the message already.
    sum: i64,
    is_link_possible: bool,
    /// The memory of the message.
    held: Held,
}

impl Files<'_> {
    async fn parts(&mut self, given: Vec<kept::Part>) -> Result<Vec<Part>, Unsendable> {
        let mut parts = Vec::with_capacity(given.len());
        for part in given {
            let content = match (&part.text, &part.data, &part.url, &part.file_id) {
                (Some(text), ..) => Content::Text(text.clone()),
                (_, Some(data), ..) => Content::Data(Json::from(data.clone())),
                (_, _, Some(url), _) => Content::Url(url.clone()),
                (_, _, _, Some(id)) => match self.files.iter().find(|file| file.id == *id) {
                    Some(file) => {
                        let file = file.clone();
                        parts.push(self.file(&file, part).await?);
                        continue;
                    }
                    // It was deleted.
                    None => continue,
                },
                _ => continue,
            };
            parts.push(Part {
                content,
                metadata: part.metadata.and_then(|json| JsonObject::new(json.get().to_owned())),
                filename: part.filename,
                media_type: part.media_type,
            });
        }
        if parts.is_empty() {
            Err(Unsendable::Never("there is nothing left of it to send".into()))
        } else {
            Ok(parts)
        }
    }

    async fn file(&mut self, file: &File, part: kept::Part) -> Result<Part, Unsendable> {
        let fits = file.size_bytes <= FILE_BYTES_MAX && self.sum + file.size_bytes <= FILES_BYTES_MAX;
        let content = if fits || (!self.is_link_possible && self.sum + file.size_bytes <= UNLINKED_BYTES_MAX)
        {
            self.sum += file.size_bytes;
            let bytes = usize::try_from(file.size_bytes).unwrap_or(usize::MAX);
            let no_room = |_| Unsendable::Later("the hub has no memory for it at the moment".to_owned());
            self.held.grow(bytes.saturating_mul(WRITTEN_FACTOR)).map_err(no_room)?;
            Content::Raw(self.bytes(file).await?)
        } else if let Some(base) = self.hub.config.public_address() {
            Content::Url(self.link(base, file))
        } else {
            let why = format!("the file {} is too large to be sent without public_url", file.name);
            return Err(Unsendable::Never(why));
        };
        Ok(Part {
            content,
            metadata: part.metadata.and_then(|json| JsonObject::new(json.get().to_owned())),
            filename: Some(part.filename.unwrap_or_else(|| file.name.clone())),
            media_type: Some(part.media_type.unwrap_or_else(|| file.mime_type.clone())),
        })
    }

    async fn bytes(&self, file: &File) -> Result<Base64, Unsendable> {
        let later =
            |error: String| Unsendable::Later(format!("the file {} cannot be read: {error}", file.name));
        let stream = crate::ops::files::read_whole(self.hub, file).await;
        let mut stream = stream.map_err(|error| later(error.to_string()))?;
        let mut bytes = Vec::new();
        while let Some(piece) = stream.try_next().await.map_err(|error| later(error.to_string()))? {
            bytes.extend_from_slice(&piece);
        }
        Ok(Base64::new(STANDARD.encode(bytes)))
    }

    /// A link to the file, good for an hour and for as long as the remote may read the file.
    fn link(&self, base: &str, file: &File) -> String {
        let until = self.hub.time().0 / 1_000 + LINK_SECONDS;
        let reader = &self.remote.agent;
        let text = format!("{reader}\n{}\n{reader}\n{until}", file.id);
        let word = self.hub.signing.sign_link(&text);
        let base = address(base, reader);
        format!("{base}/files/{}?for={reader}&until={until}&signature={word}", file.id)
    }
}
