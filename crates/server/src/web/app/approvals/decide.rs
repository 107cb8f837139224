//! Decisions at the gate. Whoever comes too late learns what happened.

use axum::extract::{Path, State};
use serde::Deserialize;
use tandem_api::connections::PatchConnection;
use tandem_api::error::Code;
use tandem_api::tasks::{ApproveTask, WithReason};
use tandem_app::Invalid;
use tandem_core::text::{Reason, Unfit};
use tandem_core::{Approval, ConnectionId, Rule, Status, TaskId, Timestamp};
use tandem_hub::ops::{approvals, connections, parse_id, tasks};
use tandem_hub::{Caller, Error, Hub};

use super::super::refused::Refused;
use super::super::words;
use super::super::{Form, Page, Viewer, redirect};
use super::Show;

/// A decision that came too late.
#[derive(Debug)]
pub(super) struct Late {
    pub(super) title: Option<String>,
    pub(super) href: Option<String>,
    pub(super) sentence: String,
    pub(super) more: String,
}

/// The usual reasons of a rejection, to be chosen with a touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UsualReason {
    MoreDetail,
    WrongAgent,
    NotNow,
}

impl UsualReason {
    pub(crate) const ALL: [Self; 3] = [Self::MoreDetail, Self::WrongAgent, Self::NotNow];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::MoreDetail => "more-detail",
            Self::WrongAgent => "wrong-agent",
            Self::NotNow => "not-now",
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::MoreDetail => "Needs more detail",
            Self::WrongAgent => "Wrong agent",
            Self::NotNow => "Not now",
        }
    }

    /// What was chosen and what was typed, as one reason.
    pub(crate) fn with(chosen: Option<Self>, typed: Option<Reason>) -> Result<Option<Reason>, Error> {
        let Some(chosen) = chosen else { return Ok(typed) };
        let text = match typed {
            None => chosen.words().to_owned(),
            Some(typed) => format!("{}. {}", chosen.words(), typed.as_str()),
        };
        let unfit = |unfit: Unfit| Invalid::field("reason", unfit.to_string());
        Ok(Some(Reason::try_from(text).map_err(unfit)?))
    }
}

/// A decision at the gate.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decision {
    reason: Option<Reason>,
    /// One of the usual reasons.
    usual: Option<UsualReason>,
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
        Ok(Decision { reason, usual, note, seen }) => {
            let caller = Caller { if_match: seen.map(|version| vec![version]), ..viewer.caller.clone() };
            if is_approval {
                let body = ApproveTask { note, expected_status: None };
                approvals::approve(hub, &caller, &task, body).await.map(|_| "approved")
            } else {
                match UsualReason::with(usual, reason) {
                    Ok(reason) => {
                        let body = WithReason { reason, expected_status: None };
                        approvals::reject(hub, &caller, &task, body).await.map(|_| "rejected")
                    }
                    Err(error) => Err(error),
                }
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
    let is_late =
        matches!(error.code(), Code::InvalidState | Code::Conflict | Code::NotFound | Code::TaskTerminal);
    let late = if is_late { Some(late(hub, viewer, &task).await?) } else { None };
    // What was typed stays also where the decision came too late.
    let refused = Refused::about(task.to_string(), &error, sent.clone());
    Show { late, refused, ..Show::new(hub, viewer) }.render().await
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
            let refused = Refused::about("rule", &error, form.sent);
            Show { refused, ..Show::new(&hub, viewer) }.render().await
        }
    }
}
