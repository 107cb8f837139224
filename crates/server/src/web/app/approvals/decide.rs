//! Decisions at the gate. Whoever comes too late learns what happened.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use tandem_api::connections::PatchConnection;
use tandem_api::error::Code;
use tandem_api::tasks::{ApproveTask, WithReason};
use tandem_core::text::Reason;
use tandem_core::{Approval, ConnectionId, Rule, Status, TaskId, Timestamp};
use tandem_hub::ops::{approvals, connections, parse_id, tasks};
use tandem_hub::{Caller, Error, Hub};

use super::super::{Form, Page, Viewer, redirect};
use super::super::{told, words};
use super::{Show, Typed};

/// A decision that came too late.
#[derive(Debug)]
pub(super) struct Late {
    pub(super) title: Option<String>,
    pub(super) href: Option<String>,
    pub(super) sentence: String,
    pub(super) more: String,
}

/// A decision at the gate.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decision {
    reason: Option<Reason>,
    /// The owner's words for its own agent.
    note: Option<Reason>,
    /// The version of the task that the person saw. If its terms have changed since, the decision is not theirs.
    seen: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NewRule {
    Require,
    Auto,
    Default,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetRule {
    connection: String,
    approval: NewRule,
}

/// `POST /app/{agent}/approvals/{task}/approve`
pub(super) async fn approve(
    State(hub): State<Hub>,
    Path((_, task)): Path<(String, String)>,
    form: Form<Viewer, Decision>,
) -> Page {
    decide(&hub, &task, form, true).await
}

/// `POST /app/{agent}/approvals/{task}/reject`
pub(super) async fn reject(
    State(hub): State<Hub>,
    Path((_, task)): Path<(String, String)>,
    form: Form<Viewer, Decision>,
) -> Page {
    decide(&hub, &task, form, false).await
}

async fn decide(hub: &Hub, task: &str, form: Form<Viewer, Decision>, is_approval: bool) -> Page {
    let task: TaskId = parse_id(task, "task")?;
    let (viewer, sent) = (&form.by, &form.sent);
    let decided = match form.fields {
        Ok(Decision { reason, note, seen }) => {
            let caller = Caller { if_match: seen.map(|version| vec![version]), ..viewer.caller.clone() };
            if is_approval {
                let body = ApproveTask { note, expected_status: None };
                approvals::approve(hub, &caller, &task, body).await.map(|_| "approved")
            } else {
                let body = WithReason { reason, expected_status: None };
                approvals::reject(hub, &caller, &task, body).await.map(|_| "rejected")
            }
        }
        Err(error) => Err(error),
    };
    let error = match decided {
        Ok(done) => {
            let place = format!("/app/{}/approvals?done={done}", viewer.caller.agent);
            // The next request gets the focus.
            return Ok(redirect(&match sent.get("next").parse::<TaskId>() {
                Ok(next) => format!("{place}&task={next}#approval-{next}"),
                Err(_) => place,
            }));
        }
        Err(error) => error,
    };
    if matches!(error.code(), Code::Unauthorized | Code::Suspended) {
        return Err(error.into());
    }
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let is_late =
        matches!(error.code(), Code::InvalidState | Code::Conflict | Code::NotFound | Code::TaskTerminal);
    let late = if is_late { Some(late(hub, viewer, &task).await?) } else { None };
    let error = late.is_none().then(|| told::sentence(&error));
    let text = |name: &str| sent.get(name).to_owned();
    let typed = Some(Typed { task: task.to_string(), reason: text("reason"), note: text("note") });
    Show { late, error, typed, ..Show::new(hub, viewer) }.render(status).await
}

/// What happened to a task before the person's decision.
async fn late(hub: &Hub, viewer: &Viewer, task: &TaskId) -> Result<Late, Error> {
    let task = match tasks::view(hub, &viewer.caller, task).await {
        Ok(found) => found.view,
        Err(error) if error.code() == Code::NotFound => {
            return Ok(Late {
                title: None,
                href: None,
                sentence: "This task is not yours any more.".to_owned(),
                more: "Its sender gave it to another agent or deleted it. Nothing is left to decide."
                    .to_owned(),
            });
        }
        Err(error) => return Err(error),
    };
    let before = |at: Option<Timestamp>| match at.map(|at| hub.time().ms_since(at)) {
        None => String::new(),
        Some(..1_000) => " just before you".to_owned(),
        Some(ms) => format!(" {} before you", words::short_span(ms)),
    };
    let reason =
        task.status_reason.as_ref().map_or_else(String::new, |reason| format!(": “{}”", reason.as_str()));
    let nothing_left =
        "Your agent did it, or somebody in another window. Nothing is left to decide.".to_owned();
    let (sentence, more) = match (task.approval_status, task.status) {
        (Some(Approval::Pending), Status::Submitted) => {
            ("Its terms changed while you looked.".to_owned(), "Look at it again, then decide.".to_owned())
        }
        (Some(Approval::Approved), status) => {
            let at = (status == Status::Submitted).then_some(task.updated_at);
            (format!("It was approved{}.", before(at)), nothing_left)
        }
        (Some(Approval::Rejected), _) => {
            (format!("It was rejected{}{reason}.", before(task.completed_at)), nothing_left)
        }
        (_, Status::Expired) => {
            (format!("It expired{}.", before(task.completed_at)), "Its sender can send it again.".to_owned())
        }
        (_, Status::Cancelled) => {
            let who = words::quoted(task.initiator_agent_name.as_str());
            (
                format!("{who} cancelled it{}{reason}.", before(task.completed_at)),
                "Nothing is left to decide.".to_owned(),
            )
        }
        (_, status) => {
            let word = words::status(status, None).word;
            (format!("Nobody holds it at your gate: it is {word}."), "Nothing is left to decide.".to_owned())
        }
    };
    let href = format!("/app/{}/tasks/{}", viewer.caller.agent, task.id);
    Ok(Late { title: Some(task.title.as_str().to_owned()), href: Some(href), sentence, more })
}

/// `POST /app/{agent}/approvals/{task}/rule`
pub(super) async fn rule(State(hub): State<Hub>, form: Form<Viewer, SetRule>) -> Page {
    let viewer = &form.by;
    let changed = async {
        let SetRule { connection, approval } = form.fields?;
        let connection: ConnectionId = parse_id(&connection, "connection")?;
        let approval = match approval {
            NewRule::Require => Some(Rule::Require),
            NewRule::Auto => Some(Rule::Auto),
            NewRule::Default => None,
        };
        let change = PatchConnection { approval: Some(approval), alias: None };
        connections::change(&hub, &viewer.caller, &connection, change).await
    };
    match changed.await {
        Ok(_) => Ok(redirect(&format!("/app/{}/approvals?done=rule", viewer.caller.agent))),
        Err(error) if error.code() == Code::Unauthorized => Err(error.into()),
        Err(error) => {
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Show { error: Some(told::sentence(&error)), ..Show::new(&hub, viewer) }.render(status).await
        }
    }
}
