//! Asking an agent's own model for an answer, over a session that said it can.
//!
//! One rung of the ladder: it saves polling where a client offers it. Whatever goes wrong, the task is as it was, and
//! the agent finds it when it next looks.
#![expect(
    deprecated,
    reason = "sampling is deprecated from 2026-07-28 on, and is for the revisions before it"
)]

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientResult, CreateMessageRequest, CreateMessageRequestParams, SamplingMessage, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use tandem_app::messages::{self, NewMessage};
use tandem_app::tasks::{self, Change, Expected};
use tandem_app::{Error, files};
use tandem_core::events::EventKind;
use tandem_core::loops::{Line, looping};
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::text::Body;
use tandem_core::{AgentId, Approval, Status, Task, TaskId, Timestamp};
use tandem_store::Tx;
use tandem_store::events::Logged;

use crate::http::ApiError;
use crate::hub::Hub;
use crate::mcp::fence;
use crate::mcp::prompts::FENCED;
use crate::mcp::sessions::Sampler;

/// How many earlier messages a prompt holds.
const HISTORY_MAX: i64 = 10;
/// How many characters of each.
const LINE_CHARS_MAX: usize = 8_000;
/// How long a model may think, or its owner hesitate to let it.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long an answer may become.
const TOKENS_MAX: u32 = 4_096;

const SYSTEM: &str = "You are an agent on Tandem, a hub where agents of different owners hand each other tasks. Answer \
                      with the message to send back on the task, and nothing else.";

/// What may wake a model: a new task (also one let in), or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Task,
    Message,
}

fn trigger(event: &Logged) -> Option<Trigger> {
    let triggers = [(EventKind::TaskCreated, Trigger::Task), (EventKind::MessageCreated, Trigger::Message)];
    triggers.into_iter().find(|(kind, _)| kind.as_str() == event.kind).map(|(_, trigger)| trigger)
}

/// Asks for an answer to an event, unless it calls for none. Returns at once.
pub(crate) fn consider(hub: &Hub, agent: &AgentId, sampler: Sampler, event: &Logged, now: Timestamp) {
    let (Some(trigger), Some(task)) = (trigger(event), event.task.clone()) else { return };
    // One at a time: what comes meanwhile waits until the agent looks by itself.
    if hub.sessions.is_busy(agent, &sampler.session, now) {
        return;
    }
    let asked = Asked { hub: Arc::clone(hub), me: agent.clone(), sampler, task, trigger };
    tokio::spawn(async move {
        // Streams come and go while a model thinks; its answer counts as long as the session is there.
        let outcome = tokio::select! {
            () = asked.sampler.over.cancelled() => Ok(()),
            outcome = asked.ask() => outcome,
        };
        if let Err(why) = outcome {
            if matches!(why, Nothing::Client(ServiceError::Timeout { .. })) {
                asked.hub.sessions.mute(&asked.sampler.session);
            }
            tracing::debug!(%why, agent = %asked.me, task = %asked.task, "sampling came to nothing");
        }
    });
}

/// Why no answer was stored.
#[derive(Debug, thiserror::Error)]
enum Nothing {
    #[error(transparent)]
    App(#[from] Error),
    #[error("the client did not answer: {0}")]
    Client(#[from] ServiceError),
    #[error("the answer holds no text, or too much")]
    NoText,
    #[error("the answer was refused: {0}")]
    Refused(String),
}

/// What a prompt is made of.
struct Thread {
    task: Task,
    messages: Vec<Message>,
    attached: Vec<String>,
}

/// A model that is asked about a task.
struct Asked {
    hub: Hub,
    me: AgentId,
    sampler: Sampler,
    task: TaskId,
    trigger: Trigger,
}

impl Asked {
    async fn ask(&self) -> Result<(), Nothing> {
        let (by, of) = (self.me.clone(), self.task.clone());
        let base = self.hub.config.public_address().unwrap_or_default().to_owned();
        let thread = self.hub.read(move |tx, now| thread(tx, &by, &of, &base, now)).await?;
        if !calls_for_an_answer(&thread, &self.me, self.trigger) {
            return Ok(());
        }
        // Another event may have been faster.
        let (session, now) = (&self.sampler.session, self.hub.clock.now());
        let Some(_only) = self.hub.sessions.lock_sampling(&self.me, session, now) else { return Ok(()) };
        if self.trigger == Trigger::Task {
            let (by, pushed) = (self.me.clone(), vec![self.task.clone()]);
            self.hub.write(move |tx, now| tasks::mark_pushed(tx, &by, &pushed, now)).await?;
        }
        let prompt = SamplingMessage::user_text(prompt(&thread, &self.me, self.trigger));
        let mut params = CreateMessageRequestParams::new(vec![prompt], TOKENS_MAX);
        params.system_prompt = Some(format!("{SYSTEM} {FENCED}"));
        let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(params));
        // When time is over, the client is told that nobody waits any more.
        let patience = PeerRequestOptions::with_timeout(PATIENCE);
        let asked = self.sampler.peer.send_request_with_option(request, patience).await?;
        let ClientResult::CreateMessageResult(answer) = asked.await_response().await? else {
            return Err(Nothing::NoText);
        };
        let blocks = answer.message.content.into_vec();
        let text: Vec<&str> =
            blocks.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
        self.store(text.join("\n")).await
    }

    /// Sends the answer as the agent's message, and begins a new task with it.
    async fn store(&self, text: String) -> Result<(), Nothing> {
        if text.trim().is_empty() {
            return Err(Nothing::NoText);
        }
        let message = NewMessage::plain(Body::try_from(text).map_err(|_| Nothing::NoText)?);
        let (by, of, trigger) = (self.me.clone(), self.task.clone(), self.trigger);
        let stored = self.hub.write(move |tx, now| {
            if trigger == Trigger::Task {
                let expected = Expected { status: Some(Status::Submitted), versions: None };
                let begun = Change { status: Some(Status::Working), expected, ..Change::default() };
                tasks::change(tx, &by, &of, &begun, now)?;
            }
            messages::send(tx, &by, &of, &message, now).map(drop)
        });
        let stored = async { stored.await.map_err(ApiError::from) };
        let counted = self.hub.counted(&self.me, self.task.as_str(), stored).await;
        counted.map_err(|error| Nothing::Refused(error.to_string()))
    }
}

/// The task with its newest messages and what is attached to them.
fn thread(
    tx: &mut Tx<'_>,
    me: &AgentId,
    id: &TaskId,
    base: &str,
    now: &tandem_core::Now,
) -> Result<Thread, Error> {
    let (task, _) = tasks::view(tx, me, id, now)?;
    let page = messages::list(tx, me, id, None, HISTORY_MAX + 1, now)?;
    let mut attached = Vec::new();
    for message in page.items.iter().filter(|message| message.content_type == ContentType::File) {
        let Ok(file) = message.content.parse() else { continue };
        let file = match files::find(tx, me, &file) {
            Ok((file, _)) => file,
            // One that was taken back is not there any more.
            Err(Error::NotFound(_)) => continue,
            Err(error) => return Err(error),
        };
        let (name, kind) = (fence::text(&file.name), fence::name(&file.mime_type));
        attached.push(format!("{name} ({kind}, {} bytes): {base}/files/{}", file.size_bytes, file.id));
    }
    Ok(Thread { task, messages: page.items, attached })
}

fn calls_for_an_answer(thread: &Thread, me: &AgentId, why: Trigger) -> bool {
    let task = &thread.task;
    let open = !task.encrypted && task.approval != Some(Approval::Pending) && !task.status.is_terminal();
    let lines: Vec<Line> = thread
        .messages
        .iter()
        .filter(|message| message.sender.is_some())
        .map(|message| Line {
            mine: message.sender.as_ref() == Some(me),
            // A file is never a mere courtesy, however short its id is.
            chars: match message.content_type {
                ContentType::File => usize::MAX,
                _ => message.content.chars().count(),
            },
        })
        .collect();
    open && match why {
        Trigger::Task => task.target == *me && task.status == Status::Submitted,
        // Results and the hub's own words wake nobody.
        Trigger::Message => {
            let latest = thread.messages.last().filter(|latest| latest.kind == Kind::Message);
            latest.is_some_and(|latest| latest.sender.as_ref() != Some(me)) && looping(&lines).is_none()
        }
    }
}

fn prompt(thread: &Thread, me: &AgentId, why: Trigger) -> String {
    let task = &thread.task;
    let (other, name) = if task.initiator == *me {
        (&task.target, &task.target_name)
    } else {
        (&task.initiator, &task.initiator_name)
    };
    let of_task = |text: &str| if task.initiator == *me { cut(text) } else { fence::text(&cut(text)) };
    let what = if why == Trigger::Task { "A new task has come" } else { "A message has come" };
    let mut lines = vec![
        format!("{what} from {} (agent ID: {other}).", fence::name(name)),
        format!("Task ID: {}", fence::id(task.id.as_str())),
        format!("Title: {}", of_task(&task.title)),
    ];
    if let Some(description) = &task.description {
        lines.push(format!("Description: {}", of_task(description)));
    }
    let said = |message: &Message| match &message.sender {
        Some(sender) if sender == me => format!("You: {}", cut(&message.content)),
        Some(_) => {
            let by = message.sender_name.as_deref().unwrap_or_default();
            format!("{}: {}", fence::name(by), fence::text(&cut(&message.content)))
        }
        None => format!("The hub: {}", fence::text(&cut(&message.content))),
    };
    if let (Trigger::Message, Some((latest, earlier))) = (why, thread.messages.split_last()) {
        if !earlier.is_empty() {
            lines.push("Earlier messages:".to_owned());
            lines.extend(earlier.iter().map(said));
        }
        lines.push("The latest message, to which you answer:".to_owned());
        lines.push(said(latest));
    }
    if !thread.attached.is_empty() {
        lines.push("Files, to be downloaded with your key:".to_owned());
        lines.extend(thread.attached.iter().cloned());
    }
    lines.join("\n")
}

/// As much of a text as a prompt holds.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}
