//! What waits for the caller, now or in a moment.

use std::time::Duration;

use serde_json::{Value, json};
use tandem_api::events::EventView;
use tandem_api::inbox::InboxView;
use tandem_api::tasks::PageQuery;
use tandem_api::updates::UpdatesView;
use tandem_app::updates::{self as seen, Updates};
use tandem_app::{Error, Invalid, events, networks};
use tandem_core::events::EventKind;
use tandem_store::events::Logged;
use tokio::time::{Instant, timeout_at};

use super::{Does, Entry, Page};
use crate::bus::Way;
use crate::http::{ApiError, Json, Query};
use crate::mcp::call::{Args, Call, Rendered, Replied, Shown, nowhere};
use crate::push::feed::{Fed, Feed};
use crate::rest::events::view;
use crate::rest::{inbox, updates};

/// What becomes of tasks, beside what waits to be taken or read; and what is said to networks.
const CHANGES: [EventKind; 5] = [
    EventKind::TaskUpdated,
    EventKind::TaskStalled,
    EventKind::TaskReassigned,
    EventKind::MessageNoAck,
    EventKind::BroadcastCreated,
];
/// Who comes and goes.
const ABOUT_PEERS: [EventKind; 2] = [EventKind::AgentConnected, EventKind::AgentDisconnected];
/// What nobody needs to be woken for.
const RECEIPTS: [EventKind; 2] = [EventKind::MessageRead, EventKind::MessageAcknowledged];
/// How many pages of the log one look goes through.
const PAGES_MAX: usize = 20;
/// The longest a call waits: below the minute after which clients give up.
const WAIT_SECONDS_MAX: i64 = 50;

pub(super) fn entries() -> Vec<Entry> {
    let acknowledge = json!({"type": "boolean", "description": "Mark all this as seen after returning it"});
    let seconds = json!({"type": "integer", "minimum": 1, "maximum": WAIT_SECONDS_MAX,
        "description": "How long to wait, 1 to 50 (default 50)"});
    let after = json!({"type": "integer",
        "description": "cursor of your last call: wait for something newer, even if old things are unseen"});
    vec![
        Entry::new("check_updates", Does::Set, "What is new for you: tasks, approvals, unread messages.", check_updates)
            .field("acknowledge", acknowledge.clone(), false).gives::<UpdatesView>().core(),
        Entry::new("wait_for_updates", Does::Set,
            "The same as check_updates, but waits for something new if there is nothing. Call it again and again to \
             stay reachable.", wait_for_updates)
            .field("acknowledge", acknowledge, false).field("after", after, false)
            .field("seconds", seconds, false).gives::<UpdatesView>().core(),
        Entry::new("get_inbox", Does::Look, "Everything that waits for you, the most urgent first.", get_inbox)
            .takes::<Page>().gives::<InboxView>(),
    ]
}

async fn check_updates(call: Call, mut args: Args) -> Replied {
    let acknowledge = args.flag("acknowledge")?;
    let now = call.look(None, None).await?;
    call.tell(now, 0, acknowledge).await
}

/// Answers with what has come after a place in the log; if nothing comes, with all that is unseen. The place moves on
/// with every answer, so calls in a loop wait, however much has piled up unseen. Who acknowledges is shown all that is
/// unseen: it must not mark what it has not been shown.
async fn wait_for_updates(call: Call, mut args: Args) -> Replied {
    let acknowledge = args.flag("acknowledge")?;
    let seconds = number(&mut args, "seconds")?.unwrap_or(WAIT_SECONDS_MAX);
    if !(1..=WAIT_SECONDS_MAX).contains(&seconds) {
        return Err(Invalid::field("seconds", format!("must be from 1 to {WAIT_SECONDS_MAX}")).into());
    }
    let after = match number(&mut args, "after")? {
        Some(after) if after < 0 => return Err(Invalid::field("after", "must not be negative").into()),
        Some(after) => after,
        // What was told before is no news: else waiting would come to an end at once, again and again.
        None => match call.hub.sessions.told(&call.me, call.session.as_deref()) {
            // What another of its sessions has acknowledged is no news either.
            Some(told) => {
                let by = call.me.clone();
                told.max(call.hub.read(move |tx, _| seen::acknowledged(tx, &by)).await?)
            }
            None => {
                let now = call.look(None, None).await?;
                if !now.is_empty() {
                    return call.tell(now, 0, acknowledge).await;
                }
                now.found.cursor
            }
        },
    };
    let mut feed = Feed::open(&call.hub, &call.me, Some(after), Way::Poll).await?;
    let until = Instant::now() + Duration::from_secs(seconds.unsigned_abs());
    // The log may end before the place that was named.
    let after = feed.cursor();
    while let Ok(fed) = timeout_at(until, feed.next()).await {
        let Fed::Events(events) = fed? else { break };
        if events.iter().all(|event| is_one_of(&RECEIPTS, event)) {
            continue;
        }
        let now = call.look(if acknowledge { None } else { Some(after) }, Some(after)).await?;
        // What was taken back before anybody saw it is no news.
        if !now.is_empty() {
            return call.tell(now, after, acknowledge).await;
        }
    }
    let now = call.look(None, Some(after)).await?;
    call.tell(now, after, acknowledge).await
}

fn is_one_of(kinds: &[EventKind], event: &Logged) -> bool {
    kinds.iter().any(|kind| kind.as_str() == event.kind)
}

async fn get_inbox(call: Call, args: Args) -> Replied {
    call.inbox(args.query()?.0).await?.into_json()
}

fn number(args: &mut Args, name: &str) -> Result<Option<i64>, ApiError> {
    match args.0.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(Invalid::field(name, "must be a whole number").into()),
        },
    }
}

/// What is new for somebody: what waits, and what has become of the rest.
struct Look {
    found: Updates,
    events: Vec<EventView>,
}

impl Look {
    fn is_empty(&self) -> bool {
        let found = &self.found;
        found.tasks.is_empty()
            && found.approvals.is_empty()
            && found.unread.is_empty()
            && self.events.is_empty()
    }
}

impl Call {
    /// A page of the inbox, with the text of broadcasts: nothing else shows it.
    pub(crate) async fn inbox(&self, page: PageQuery) -> Result<Shown, ApiError> {
        let answer = inbox::list(self.hub(), self.me(), nowhere(), Query(page)).await?;
        let (mut list, next) = Rendered::value(answer).await?;
        let items = list.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten();
        for item in items.filter_map(Value::as_object_mut) {
            if let Some(content) = self.broadcast_text(item.get("messageId")).await? {
                item.insert("content".into(), content.into());
            }
        }
        if let (Some(next), Value::Object(fields)) = (next, &mut list) {
            fields.insert("nextCursor".into(), next.into());
        }
        self.show(Json(list)).await
    }

    async fn broadcast_text(&self, id: Option<&Value>) -> Result<Option<String>, ApiError> {
        let Some(id) = id.and_then(Value::as_str).and_then(|id| id.parse().ok()) else { return Ok(None) };
        let by = self.me.clone();
        match self.hub.read(move |tx, _| networks::message(tx, &by, &id)).await {
            Ok(message) => Ok(Some(message.content)),
            // Its network, or one's place in it, is gone.
            Err(Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks for what is new: since the caller last said "seen", or after a place in its log. Who came and went after
    /// another place is told to who waited for it, and to nobody later.
    async fn look(&self, after: Option<i64>, peers_after: Option<i64>) -> Result<Look, ApiError> {
        let by = self.me.clone();
        let (found, log) = self
            .hub
            .read(move |tx, now| {
                let mut found = seen::check(tx, &by, after, now)?;
                let mut log = events::read(tx, &by, Some(found.since))?;
                for _ in 1..PAGES_MAX {
                    if !log.has_more {
                        break;
                    }
                    let next = events::read(tx, &by, Some(log.cursor))?;
                    (log.cursor, log.has_more) = (next.cursor, next.has_more);
                    log.events.extend(next.events);
                }
                // What was not looked at is not told, so it must not be taken for seen.
                found.cursor = if log.has_more { found.cursor.min(log.cursor) } else { found.cursor };
                Ok((found, log))
            })
            .await?;
        let is_late = |event: &Logged| peers_after.is_some_and(|after| event.seq > after);
        let is_shown = |event: &Logged| {
            event.seq <= found.cursor
                && (is_one_of(&CHANGES, event) || (is_late(event) && is_one_of(&ABOUT_PEERS, event)))
        };
        let events = log.events.into_iter().filter(is_shown).map(view).collect();
        Ok(Look { found, events })
    }

    /// What is new, in words and as data, for somebody who has got to a place in its log already.
    async fn tell(&self, mut look: Look, got_to: i64, acknowledge: bool) -> Replied {
        let is_empty = look.is_empty();
        let shown_to = look.found.cursor;
        let cursor = shown_to.max(got_to);
        look.found.cursor = cursor;
        let Json(updates) = updates::show(&self.hub, &self.me, look.found).await?;
        let mut told = serde_json::to_value(updates).map_err(|_| ApiError::Panicked)?;
        told["hasUpdates"] = (!is_empty).into();
        told["events"] = serde_json::to_value(look.events).map_err(|_| ApiError::Panicked)?;
        for event in told["events"].as_array_mut().into_iter().flatten() {
            let message =
                event["data"].get("messageId").filter(|_| event["type"] == "broadcast.created").cloned();
            if let Some(content) = self.broadcast_text(message.as_ref()).await? {
                event["data"]["content"] = content.into();
            }
        }
        // What nobody reads has been told to nobody.
        let is_read = !self.gone.has_hung_up();
        if acknowledge && is_read {
            let by = self.me.clone();
            self.hub.write(move |tx, _| seen::acknowledge(tx, &by, shown_to)).await?;
        }
        if is_read {
            self.hub.sessions.note_told(&self.me, self.session.as_deref(), cursor);
        }
        let told = self.show(Json(told)).await?;
        let words = in_words(&told.value);
        told.said(words)
    }
}

fn in_words(found: &Value) -> String {
    let list = |name: &str| found.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let text =
        |item: &Value, name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    let tasks = [("pendingTasks", "New tasks"), ("pendingApprovals", "Waiting for your approval")];
    for (name, title) in tasks {
        let items = list(name);
        if items.is_empty() {
            continue;
        }
        lines.push(format!("{title} ({}):", items.len()));
        for item in &items {
            let (id, title) = (text(item, "id"), text(item, "title"));
            lines.push(format!(
                "- {id} from {} ({}): {title}",
                text(item, "fromAgent"),
                text(item, "status")
            ));
        }
    }
    let unread = list("unreadMessages");
    if !unread.is_empty() {
        lines.push(format!("Unread messages, by task ({}):", unread.len()));
        for item in &unread {
            let count = item.get("count").and_then(Value::as_i64).unwrap_or_default();
            lines.push(format!("- {}: {count} unread on {}", text(item, "taskId"), text(item, "taskTitle")));
        }
    }
    let events = list("events");
    if !events.is_empty() {
        lines.push(format!("What has happened ({}):", events.len()));
        lines.extend(events.iter().map(|event| happened(event, &text)));
    }
    if lines.is_empty() {
        return "No updates. You're all caught up.".to_owned();
    }
    if lines.iter().any(|line| line.contains("task")) {
        lines.push("Use get_task to read one.".to_owned());
    }
    lines.join("\n")
}

/// An event as a line.
fn happened(event: &Value, text: &impl Fn(&Value, &str) -> String) -> String {
    let (kind, task, data) =
        (text(event, "type"), text(event, "taskId"), event.get("data").unwrap_or(&Value::Null));
    let mut line = format!("- {kind}");
    let parts = [
        (" on ", task),
        (", now ", text(data, "status")),
        (", reason: ", text(data, "reason")),
        (" by ", text(data, "fromAgentName")),
        (", agent ID: ", text(data, "withAgentId")),
        (": ", text(data, "content")),
    ];
    for (before, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
        line = format!("{line}{before}{part}");
    }
    line
}
