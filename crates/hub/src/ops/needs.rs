//! What the owner of an agent has to decide or repair, and tasks as lists show them. For people who look at the
//! dashboard.

use tandem_api::tasks::{PageQuery, PartyRole, TaskView};
use tandem_api::webhooks::DeliveryView;
use tandem_app::webhooks;
use tandem_core::text::SearchText;
use tandem_core::{AgentId, Role, Status, Task, Timestamp, Waits};
use tandem_store::tasks::Filter;

use super::tasks::select_with;
use super::webhooks as deliveries;
use crate::ops::paging;
use crate::{Caller, Error, HubParts, Listed};

/// A failed or expired task is mentioned for so long.
const ENDED_SECONDS: i64 = 86_400;
/// Deliveries among which the one is searched that fails.
const DELIVERIES_MAX: i64 = 5;

/// Which tasks a list of the dashboard shows.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only in one of these statuses; empty for all.
    pub statuses: Vec<Status>,
    /// Only those that are held at the caller's gate.
    pub held: bool,
    /// Only those whose target has given no sign of life in time.
    pub stalled: bool,
    /// Only where the caller has this role.
    pub role: Option<PartyRole>,
    /// Only with this other party.
    pub with: Option<AgentId>,
    /// Only with this in their title.
    pub text: Option<SearchText>,
    pub cursor: Option<String>,
}

/// A task as people follow it.
#[derive(Debug, Clone)]
pub struct Followed {
    pub task: TaskView,
    /// What the caller is in it.
    pub role: Role,
    pub waits: Waits,
    /// Since when its target has given no sign of life, if it is silent.
    pub silent_since: Option<Timestamp>,
}

impl Followed {
    pub(super) fn new(task: Task, caller: &AgentId) -> Self {
        let role = task.role_of(caller).unwrap_or(Role::Target);
        let (waits, silent_since) = (task.waits(), task.silent_since());
        Self { task: TaskView::new(task, caller), role, waits, silent_since }
    }

    /// Whether the owner of the caller has to act.
    #[must_use]
    pub fn needs_owner(&self) -> bool {
        self.waits.needs(self.role)
    }
}

/// The caller's tasks, newest first, without descriptions and results.
pub async fn tasks(
    hub: &HubParts,
    caller: &Caller,
    selection: Selection,
    limit: i64,
) -> Result<Listed<Followed>, Error> {
    let filter = Filter {
        statuses: selection.statuses,
        held: selection.held,
        stalled: selection.stalled,
        brief: true,
        role: selection.role.map(Role::from),
        with: selection.with,
        text: selection.text,
        before: paging::place(selection.cursor.as_deref())?,
        limit: paging::LIST.of(Some(limit))?,
    };
    select_with(hub, caller, filter, Followed::new).await
}

/// One thing that needs the owner.
#[derive(Debug, Clone)]
pub struct Need {
    pub kind: NeedKind,
    pub task: TaskView,
    /// Since when it waits.
    pub since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedKind {
    /// Let a task in or refuse it.
    Approve,
    /// Answer a question of the target.
    Answer,
    Authorise,
    /// Wake a target that gives no sign of life, or give its task to another.
    Wake,
    /// Accept the result of a reviewed task, or send it back.
    Accept,
    /// Raise the budget of messages.
    Raise,
    /// Retry a task that failed or expired.
    Retry,
}

#[derive(Debug, Clone)]
pub struct Needs {
    /// The most urgent first.
    pub items: Vec<Need>,
    /// Whether there are more than were asked for.
    pub has_more: bool,
}

/// What needs the owner of the caller, at most so much of it.
pub async fn list(hub: &HubParts, caller: &Caller, limit: usize) -> Result<Needs, Error> {
    let now = hub.time();
    let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let own = |statuses: &[Status]| Selection {
        statuses: statuses.to_vec(),
        role: Some(PartyRole::Initiator),
        ..Selection::default()
    };
    let selections = [
        Selection { held: true, ..Selection::default() },
        own(&[Status::InputRequired, Status::AuthRequired]),
        Selection { stalled: true, ..own(&[Status::Working]) },
        own(&[Status::Failed, Status::Expired]),
    ];
    let mut items = Vec::new();
    for selection in selections {
        let found = tasks(hub, caller, selection, rows).await?.items;
        items.extend(found.into_iter().filter_map(|followed| need(followed, now)));
    }
    items.sort_by_key(urgency);
    let has_more = items.len() > limit;
    items.truncate(limit);
    Ok(Needs { items, has_more })
}

fn need(followed: Followed, now: Timestamp) -> Option<Need> {
    let Followed { task, waits, silent_since, .. } = followed;
    let kind = match waits {
        Waits::Approval => NeedKind::Approve,
        Waits::Authorisation => NeedKind::Authorise,
        Waits::Acceptance => NeedKind::Accept,
        Waits::Answer => NeedKind::Answer,
        Waits::Budget => NeedKind::Raise,
        Waits::Sign => NeedKind::Wake,
        Waits::End => NeedKind::Retry,
        // It goes on by itself.
        Waits::Publication | Waits::Taking | Waits::Work | Waits::Resumption => return None,
    };
    let since = match kind {
        NeedKind::Approve => task.delivery.queued_at.unwrap_or(task.created_at),
        NeedKind::Wake => silent_since.unwrap_or(task.updated_at),
        NeedKind::Retry => task.completed_at.unwrap_or(task.updated_at),
        _ => task.updated_at,
    };
    let is_over = kind == NeedKind::Retry && now.ms_since(since) > ENDED_SECONDS * 1_000;
    (!is_over).then_some(Need { kind, task, since })
}

/// What expires comes first, the soonest before all; then by kind, the longest waiting first. Of the tasks that ended,
/// the latest.
fn urgency(need: &Need) -> (bool, Timestamp, NeedKind, i64) {
    let expires = need.task.expires_at.filter(|_| need.kind == NeedKind::Approve);
    let age = if need.kind == NeedKind::Retry { -need.since.0 } else { need.since.0 };
    (expires.is_none(), expires.unwrap_or_default(), need.kind, age)
}

#[derive(Debug, Clone)]
pub enum WebhookState {
    /// There is none.
    None,
    /// It works, or has not been tried.
    Active,
    /// The last attempts failed.
    Failing {
        /// When the first of them failed.
        since: Timestamp,
        /// A delivery that waits for its next attempt.
        delivery: Option<Box<DeliveryView>>,
    },
    /// It was switched off after failing for a day.
    Off,
}

pub async fn webhook(hub: &HubParts, caller: &Caller) -> Result<WebhookState, Error> {
    let by = caller.agent.clone();
    let found = hub.read(caller, move |tx, _| webhooks::settings(tx, &by)).await?;
    let Some(settings) = found.filter(|settings| settings.url.is_some()) else {
        return Ok(WebhookState::None);
    };
    if !settings.active {
        return Ok(WebhookState::Off);
    }
    let Some(since) = settings.failing_since else { return Ok(WebhookState::Active) };
    let query = PageQuery { limit: Some(DELIVERIES_MAX), cursor: None };
    let newest = deliveries::list(hub, caller, query).await?.items;
    let delivery = newest.into_iter().find(|one| one.next_attempt_at.is_some() && one.attempts > 0);
    Ok(WebhookState::Failing { since, delivery: delivery.map(Box::new) })
}
