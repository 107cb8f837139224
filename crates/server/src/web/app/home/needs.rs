//! The rows of "Needs you": the verb first, who, since when or how long, and one button.

use tandem_hub::ops::needs::{Need, NeedKind, WebhookState};

use crate::web::app::Shell;
use crate::web::app::people::Party;
use crate::web::app::tasks::row::{Left, cut};
use crate::web::app::words::When;

/// Characters of a question or reason.
const DETAIL_CHARS: usize = 140;

pub(super) struct NeedRow {
    pub(super) icon: &'static str,
    pub(super) tone: &'static str,
    /// What to do: "Approve or reject".
    pub(super) verb: &'static str,
    /// The title of the task; none if the verb says all.
    pub(super) title: Option<String>,
    pub(super) from: Option<Party>,
    /// None if the other party is the only one.
    pub(super) to: Option<Party>,
    /// What the other party or the hub says about it.
    pub(super) detail: Option<String>,
    pub(super) left: Option<Left>,
    /// The word before the time: "asked".
    pub(super) since_word: &'static str,
    pub(super) since: Option<When>,
    pub(super) button: &'static str,
    pub(super) href: String,
}

impl NeedRow {
    pub(super) fn of_task(need: Need, shell: &Shell) -> Self {
        let task = &need.task;
        let (icon, tone, verb, since_word, button) = match need.kind {
            NeedKind::Approve => ("gate", "wait", "Approve or reject", "since", "Review"),
            NeedKind::Answer => ("status-input-required", "wait", "Answer", "asked", "Answer"),
            NeedKind::Authorise => ("key", "wait", "Authorise", "asked", "Look"),
            NeedKind::Accept => ("shield", "wait", "Accept the result", "delivered", "Look"),
            NeedKind::Wake => ("warn", "wait", "Wake or move", "silent since", "Open"),
            NeedKind::Raise => ("up", "wait", "Raise the budget", "paused", "Open"),
            NeedKind::Retry if task.status == tandem_core::Status::Expired => {
                ("status-expired", "bad", "Retry or leave", "expired", "Look")
            }
            NeedKind::Retry => ("status-failed", "bad", "Retry or leave", "failed", "Look"),
        };
        let is_held = need.kind == NeedKind::Approve;
        let href = match need.kind {
            NeedKind::Approve => format!("{}/approvals?task={}#approval-{}", shell.base, task.id, task.id),
            _ => format!("{}/tasks/{}", shell.base, task.id),
        };
        // A delivered result is explained by the verb already.
        let reason = task.status_reason.as_ref().filter(|_| !is_held && need.kind != NeedKind::Accept);
        let (initiator, target) = (Party::initiator(task, shell), Party::target(task, shell));
        let other = if is_held { initiator } else { target.clone() };
        Self {
            icon,
            tone,
            verb,
            title: Some(task.title.as_str().to_owned()),
            from: Some(other),
            to: is_held.then_some(target),
            detail: reason.map(|reason| format!("“{}”", cut(reason.as_str(), DETAIL_CHARS))),
            left: task.expires_at.filter(|_| is_held).map(|at| Left::new(at, shell)),
            since_word,
            since: Some(shell.when(&need.since)),
            button,
            href,
        }
    }
}

/// The row of a webhook that does not work.
pub(super) fn webhook(state: &WebhookState, shell: &Shell) -> Option<NeedRow> {
    let (verb, detail, since) = match state {
        WebhookState::None | WebhookState::Active => return None,
        WebhookState::Failing { since, delivery } => {
            let detail = delivery.as_ref().map(|delivery| {
                let answer = match delivery.response_status {
                    Some(status) => format!("it answers {status}"),
                    None => "it does not answer".to_owned(),
                };
                let tries = delivery.attempts;
                format!("{answer}, {tries} {} so far", if tries == 1 { "try" } else { "tries" })
            });
            ("Repair the webhook", detail, Some(shell.when(since)))
        }
        WebhookState::Off => {
            let detail = "The hub switched it off after it failed for a day. Events are kept in the log.";
            ("Repair and switch on the webhook", Some(detail.to_owned()), None)
        }
    };
    Some(NeedRow {
        icon: "hook",
        tone: "bad",
        verb,
        title: None,
        from: None,
        to: None,
        detail,
        left: None,
        since_word: "failing, first",
        since,
        button: "Open",
        href: format!("{}/webhooks", shell.base),
    })
}
