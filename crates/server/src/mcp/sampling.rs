//! Sampling: asks an agent's own model for an answer, over a session whose client supports it.
//!
//! This saves polling where it is available. If anything fails, the task is unchanged, and the agent finds it at its
//! next poll.
#![expect(
    deprecated,
    reason = "sampling is deprecated from 2026-07-28 on, and is for the revisions before it"
)]

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::model::{
    ClientResult, CreateMessageRequest, CreateMessageRequestParams, SamplingMessage, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use tandem_core::events::Subject;
use tandem_core::loops::{Line, looping};
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::text::Body;
use tandem_core::{AgentId, Approval, Status, TaskId, Timestamp};

use tandem_hub::feed::Logged;
use tandem_hub::ops::messages::{Thread, recent, send_sampled};
use tandem_hub::ops::tasks::mark_pushed;
use tandem_hub::{Error, Hub};

use crate::mcp::fence;
use crate::mcp::prompts::FENCED;
use crate::mcp::sessions::{Sampler, Sessions};

/// Earlier messages in a prompt.
const HISTORY_MAX: i64 = 10;
/// Bytes of earlier messages in a prompt; the SDK keeps the last few prompts of a session.
const HISTORY_BYTES_MAX: usize = 32 * 1024;
/// Characters of each message in a prompt.
const LINE_CHARS_MAX: usize = 8_000;
/// Time limit for the model and for the owner's consent.
const TIMEOUT: Duration = Duration::from_secs(180);
/// Maximum length of an answer.
const TOKENS_MAX: u32 = 4_096;

const SYSTEM: &str = "You are an agent on Tandem, a hub where agents of different owners hand each other tasks. Answer \
                      with the message to send back on the task, and nothing else.";

/// What starts sampling: a new or approved task, or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Task,
    Message,
}

fn trigger(event: &Logged) -> Option<Trigger> {
    match event.subject()? {
        Subject::Task => Some(Trigger::Task),
        Subject::Message => Some(Trigger::Message),
        _ => None,
    }
}

/// Asks the model for an answer to an event, if it needs one. Returns at once.
pub(crate) fn sample_for_event(
    hub: &Hub,
    sessions: &Arc<Sessions>,
    sampler: Sampler,
    event: &Logged,
    now: Timestamp,
) {
    let (Some(trigger), Some(task)) = (trigger(event), event.task.clone()) else { return };
    // One request at a time; the agent finds later events at its next poll.
    if sessions.is_busy(&sampler.session, now) {
        return;
    }
    let asked =
        SamplingRequest { hub: Arc::clone(hub), sessions: Arc::clone(sessions), sampler, task, trigger };
    tokio::spawn(
        async move {
            // The stream may be replaced meanwhile; the answer counts as long as the session exists.
            let outcome = tokio::select! {
                () = asked.sampler.session.ended() => Ok(()),
                outcome = asked.ask() => outcome,
            };
            if let Err(why) = outcome {
                tracing::debug!(%why, agent = %asked.me(), task = %asked.task, "no answer from sampling");
            }
        }
        .boxed(),
    );
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum SamplingError {
    #[error(transparent)]
    Hub(#[from] Error),
    #[error("the client did not answer: {0}")]
    Client(#[from] ServiceError),
    #[error("the answer holds no text, or too much")]
    NoText,
    #[error("the answer was refused: {0}")]
    Refused(String),
}

/// A request to a model about a task.
struct SamplingRequest {
    hub: Hub,
    sessions: Arc<Sessions>,
    sampler: Sampler,
    task: TaskId,
    trigger: Trigger,
}

impl SamplingRequest {
    fn me(&self) -> &AgentId {
        &self.sampler.session.caller.agent
    }

    async fn ask(&self) -> Result<(), SamplingError> {
        let session = &self.sampler.session;
        let thread = recent(&self.hub, &session.caller, &self.task, HISTORY_MAX + 1).await?;
        if !calls_for_an_answer(&thread, self.me(), self.trigger) {
            return Ok(());
        }
        // Another event may have started a request meanwhile.
        let Some(only) = self.sessions.lock_sampling(session, self.hub.time()) else { return Ok(()) };
        if self.trigger == Trigger::Task {
            mark_pushed(&self.hub, self.me(), &self.task);
        }
        let prompt = SamplingMessage::user_text(prompt(&thread, &self.hub, self.me(), self.trigger));
        let mut params = CreateMessageRequestParams::new(vec![prompt], TOKENS_MAX);
        params.system_prompt = Some(format!("{SYSTEM} {FENCED}"));
        let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(params));
        // After the timeout the client is notified that the request is cancelled.
        let options = PeerRequestOptions::with_timeout(TIMEOUT);
        let asked = self.sampler.peer.send_request_with_option(request, options).await?;
        let answered = asked.await_response().await;
        if matches!(answered, Err(ServiceError::Timeout { .. })) {
            only.unanswered();
            return answered.map(drop).map_err(Into::into);
        }
        let ClientResult::CreateMessageResult(answer) = answered? else { return Err(SamplingError::NoText) };
        let blocks = answer.message.content.into_vec();
        let text: Vec<&str> =
            blocks.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
        self.store(text.join("\n")).await
    }

    /// Sends the answer as the agent's message, and sets a new task to `working`.
    async fn store(&self, text: String) -> Result<(), SamplingError> {
        if text.trim().is_empty() {
            return Err(SamplingError::NoText);
        }
        let content = Body::try_from(text).map_err(|_| SamplingError::NoText)?;
        let begins = self.trigger == Trigger::Task;
        let caller = &self.sampler.session.caller;
        let sent = send_sampled(&self.hub, caller, &self.task, content, begins).await;
        sent.map_err(|error| SamplingError::Refused(error.to_string()))
    }
}

fn calls_for_an_answer(thread: &Thread, me: &AgentId, why: Trigger) -> bool {
    let task = &thread.task;
    let open = !task.content.encrypted
        && task.gate.approval != Some(Approval::Pending)
        && !task.status.is_terminal();
    let lines: Vec<Line> = thread
        .messages
        .iter()
        .filter(|message| message.sender.is_some())
        .map(|message| Line {
            mine: message.sender.as_ref() == Some(me),
            // A file always needs an answer, however short its id is.
            chars: match message.content_type {
                ContentType::File => usize::MAX,
                _ => message.content.chars().count(),
            },
        })
        .collect();
    open && match why {
        Trigger::Task => task.target == *me && task.status == Status::Submitted,
        // Results and messages of the hub need no answer.
        Trigger::Message => {
            let latest = thread.messages.last().filter(|latest| latest.kind == Kind::Message);
            latest.is_some_and(|latest| latest.sender.as_ref() != Some(me)) && looping(&lines).is_none()
        }
    }
}

fn prompt(thread: &Thread, hub: &Hub, me: &AgentId, why: Trigger) -> String {
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
        format!("Task ID: {}", fence::id_in_words(task.id.as_str())),
        format!("Title: {}", of_task(&task.content.title)),
    ];
    if let Some(description) = &task.content.description {
        lines.push(format!("Description: {}", of_task(description)));
    }
    if let Some(note) = task.gate.note.as_ref().filter(|_| task.target == *me) {
        lines.push(format!("Your owner approved it with this note for you: {}", cut(note)));
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
        let earlier = newest_that_fit(earlier.iter().map(said).collect());
        if !earlier.is_empty() {
            lines.push("Earlier messages:".to_owned());
            lines.extend(earlier);
        }
        lines.push("The latest message, to which you answer:".to_owned());
        lines.push(said(latest));
    }
    if !thread.files.is_empty() {
        lines.push("Files, to be downloaded with your key:".to_owned());
        let base = hub.config.public_address().unwrap_or_default();
        lines.extend(thread.files.iter().map(|file| {
            let (name, kind) = (fence::text(&file.name), fence::name(&file.mime_type));
            format!("{name} ({kind}, {} bytes): {base}/files/{}", file.size_bytes, file.id)
        }));
    }
    lines.join("\n")
}

/// The last lines that are within the size limit together.
fn newest_that_fit(mut lines: Vec<String>) -> Vec<String> {
    let mut room = HISTORY_BYTES_MAX;
    let fit = lines.iter().rev().take_while(|line| {
        let fits = line.len() <= room;
        room = room.saturating_sub(line.len());
        fits
    });
    lines.split_off(lines.len() - fit.count())
}

/// Cuts a text to the limit of a prompt.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}
