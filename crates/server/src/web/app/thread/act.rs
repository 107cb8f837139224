//! The forms of a task's page. Each calls the operation that REST and MCP call; a refusal shows the page again, with the
//! reason and with what was typed.

use std::str::FromStr as _;

use axum::extract::{Path, Request, State};
use serde::Deserialize;
use tandem_api::error::Code;
use tandem_api::messages::SendMessage;
use tandem_api::tasks::{
    ApproveTask, PatchTask, ReassignTask, ReplyOutcome, ReplyTask, RetryTask, WithReason,
};
use tandem_app::Invalid;
use tandem_core::tasks::MaxMessages;
use tandem_core::text::{Alias, Body, Reason};
use tandem_core::{Approval, MessageId, Status, TaskId};
use tandem_hub::ops::threads::{ThreadPage, ThreadQuery};
use tandem_hub::ops::{approvals, messages, parse_id, receipts, tasks};
use tandem_hub::{Caller, Error, Hub};

use super::super::approvals::decide::UsualReason;
use super::super::refused::Refused;
use super::super::session::Sent;
use super::super::words;
use super::super::{Form, Page, Shell, Viewer, redirect};
use super::Show;
use super::action::TaskAction;
use super::facts::Author;
use crate::http::files::form;

/// The fields of all forms of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fields {
    content: Option<Body>,
    outcome: Option<ReplyOutcome>,
    reason: Option<Reason>,
    /// One of the usual reasons of a rejection.
    usual: Option<UsualReason>,
    note: Option<Reason>,
    expected_status: Option<Status>,
    target_agent_id: Option<Alias>,
    max_messages: Option<MaxMessages>,
    message_id: Option<MessageId>,
    /// The version of the task that the person saw. If it has changed since, the decision is not theirs.
    seen: Option<i64>,
}

fn needed<T>(field: Option<T>, name: &str) -> Result<T, Error> {
    field.ok_or_else(|| Invalid::field(name, "is required").into())
}

/// What is written for a person who wants a sign of life.
const PING: &str = "Please give a sign of life: are you still working on this?";

/// `POST /app/{agent}/tasks/{task}/{action}`
pub(super) async fn submit(
    State(hub): State<Hub>,
    Path((_, task, action)): Path<(String, String, String)>,
    form: Form<Viewer, Fields>,
) -> Page {
    let task: TaskId = parse_id(&task, "task")?;
    let (viewer, sent) = (&form.by, &form.sent);
    let status = Status::from_str(sent.get("status")).ok();
    let known = TaskAction::of_form(&action, status);
    let acted = match (form.fields, known) {
        (Err(error), _) => Err(error),
        (Ok(fields), Some(action)) => Box::pin(act(&hub, &viewer.caller, &task, action, fields)).await,
        (Ok(_), None) if action == "status" => Err(Invalid::field("status", "is required").into()),
        (Ok(_), None) => Err(Error::not_found("action")),
    };
    let base = format!("/app/{}/tasks", viewer.caller.agent);
    match (acted, known) {
        (Ok(()), Some(TaskAction::Delete)) => Ok(redirect(&format!("{base}?done=deleted"))),
        (Ok(()), Some(action)) => Ok(redirect(&format!("{base}/{task}?done={}", action.done()))),
        (Ok(()), None) => Err(Error::internal().into()),
        (Err(error), known) => {
            let form = known.map_or(action, TaskAction::id);
            show_again(&hub, viewer, &task, (form, sent.clone()), error).await
        }
    }
}

/// Carries out an action.
async fn act(
    hub: &Hub,
    caller: &Caller,
    task: &TaskId,
    action: TaskAction,
    fields: Fields,
) -> Result<(), Error> {
    let expected_status = fields.expected_status;
    let if_match = fields.seen.filter(|_| action.is_decision()).map(|version| vec![version]);
    let caller = &Caller { if_match, ..caller.clone() };
    let set = |status: Status, reason: Option<Reason>| PatchTask {
        status: Some(status),
        reason,
        expected_status,
        ..PatchTask::default()
    };
    match action {
        TaskAction::Message => {
            let content = lines(needed(fields.content, "content")?)?;
            messages::send(hub, caller, task, SendMessage::new(content)).await.map(drop)
        }
        TaskAction::Ping => {
            let content = Body::try_from(PING.to_owned()).map_err(|_| Error::internal())?;
            messages::send(hub, caller, task, SendMessage::new(content)).await.map(drop)
        }
        TaskAction::Reply => {
            let content = lines(needed(fields.content, "content")?)?;
            let reply = ReplyTask { outcome: fields.outcome, expected_status, ..ReplyTask::new(content) };
            tasks::reply(hub, caller, task, reply).await.map(drop)
        }
        TaskAction::Start => tasks::change(hub, caller, task, set(Status::Working, None)).await.map(drop),
        TaskAction::Set(to) => tasks::change(hub, caller, task, set(to, fields.reason)).await.map(drop),
        TaskAction::Accept => tasks::change(hub, caller, task, set(Status::Completed, None)).await.map(drop),
        TaskAction::Reopen => tasks::change(hub, caller, task, set(Status::Working, None)).await.map(drop),
        TaskAction::Publish => tasks::change(hub, caller, task, set(Status::Submitted, None)).await.map(drop),
        TaskAction::Cancel => {
            let body = WithReason { reason: fields.reason, expected_status };
            tasks::cancel(hub, caller, task, body).await.map(drop)
        }
        TaskAction::Approve => {
            let body = ApproveTask { note: fields.note, expected_status };
            approvals::approve(hub, caller, task, body).await.map(drop)
        }
        TaskAction::Reject => {
            let reason = UsualReason::with(fields.usual, fields.reason)?;
            let body = WithReason { reason, expected_status };
            approvals::reject(hub, caller, task, body).await.map(drop)
        }
        TaskAction::Retry => tasks::retry(hub, caller, task, RetryTask { expected_status }).await.map(drop),
        TaskAction::Reassign => {
            let target_agent_id = needed(fields.target_agent_id, "targetAgentId")?;
            let body = ReassignTask { target_agent_id, expected_status };
            tasks::reassign(hub, caller, task, body).await.map(drop)
        }
        TaskAction::Budget => {
            let max_messages = Some(needed(fields.max_messages, "maxMessages")?);
            let body = PatchTask { max_messages, ..PatchTask::default() };
            tasks::change(hub, caller, task, body).await.map(drop)
        }
        TaskAction::Read => receipts::read(hub, caller, task).await.map(drop),
        TaskAction::Acknowledge => receipts::acknowledge(hub, caller, task).await.map(drop),
        TaskAction::Delete => tasks::delete(hub, caller, task).await.map(drop),
        TaskAction::DeleteMessage => {
            let message = needed(fields.message_id, "messageId")?;
            messages::delete(hub, caller, task, &message).await.map(drop)
        }
    }
}

/// Browsers end the lines of a text field with two characters.
fn lines(body: Body) -> Result<Body, Error> {
    let text = body.as_str().replace("\r\n", "\n");
    Body::try_from(text).map_err(|why| Invalid::field("content", why.to_string()).into())
}

/// `POST /app/{agent}/tasks/{task}/file`
pub(super) async fn upload(
    State(hub): State<Hub>,
    viewer: Viewer,
    Path((_, task)): Path<(String, String)>,
    request: Request,
) -> Page {
    let task: TaskId = parse_id(&task, "task")?;
    let csrf = viewer.browser.csrf();
    let (parts, body) = request.into_parts();
    let uploaded = form::upload_of_page(&hub, &viewer.caller, &task, (&parts, body), &csrf);
    match Box::pin(uploaded).await {
        Ok(_) => Ok(redirect(&format!("/app/{}/tasks/{task}?done=attached", viewer.caller.agent))),
        Err(error) if matches!(error.code(), Code::ForeignOrigin | Code::Unauthorized) => Err(error.into()),
        Err(error) => show_again(&hub, &viewer, &task, ("file".to_owned(), Sent::default()), error).await,
    }
}

/// The page after a refusal: what happened, and what was typed.
async fn show_again(
    hub: &Hub,
    viewer: &Viewer,
    task: &TaskId,
    (form, sent): (String, Sent),
    error: Error,
) -> Page {
    if matches!(error.code(), Code::NotFound | Code::Unauthorized | Code::Suspended) {
        // The task may have been deleted, or given to another agent.
        return Err(error.into());
    }
    let Ok(show) = Show::load(hub, viewer, task, ThreadQuery::default()).await else {
        return Err(error.into());
    };
    let headline = what_happened(hub, &show.shell, &show.thread, &error);
    let refused = Refused::about(form, &error, sent).because(headline);
    Show { refused, ..show }.render().await
}

/// Who was faster, if somebody was.
fn what_happened(hub: &Hub, shell: &Shell, thread: &ThreadPage, error: &Error) -> Option<String> {
    let is_race = matches!(
        error.code(),
        Code::Conflict
            | Code::TaskTerminal
            | Code::InvalidState
            | Code::ApprovalPending
            | Code::InvalidTransition
    );
    if !is_race {
        return None;
    }
    let before_you = |at: tandem_core::Timestamp| match hub.time().ms_since(at) {
        ..1_000 => "just before you".to_owned(),
        ms => format!("{} before you", words::short_span(ms)),
    };
    let task = &thread.task;
    if task.status == Status::Submitted && task.approval_status == Some(Approval::Pending) {
        return Some("It has changed while you looked. Look at it again, then decide.".to_owned());
    }
    if task.status == Status::Submitted && task.approval_status == Some(Approval::Approved) {
        // The gate leaves no line in the history.
        return Some(format!("It was approved {}.", before_you(task.updated_at)));
    }
    let last = thread.history.last()?;
    let who = Author::of(&last.actor, task, shell).in_sentence();
    let word = words::status(last.to_status, None).word;
    let said = last.detail.as_ref().map_or_else(String::new, |detail| format!(": “{}”", detail.as_str()));
    Some(format!("{who} set it to {word} {}{said}.", before_you(last.created_at)))
}
