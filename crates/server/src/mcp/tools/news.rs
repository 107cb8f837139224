//! Tools for updates: `check_updates`, `wait_for_updates` and `get_inbox`.

use std::time::Duration;

use serde_json::{Value, json};
use tandem_api::events::{AckCursor, TypedEvent};
use tandem_api::inbox::InboxView;
use tandem_api::text::{PeerName, PeerText};
use tandem_api::updates::{NewsView, UpdatesView};
use tandem_app::Invalid;
use tandem_core::wake::Rung;
use tandem_core::{Id, Status};
use tandem_hub::Error;
use tandem_hub::bus::Transport;
use tandem_hub::feed::{Feed, FeedItem, Start};
use tandem_hub::ops::news::{self, News};
use tandem_hub::ops::{updates, wake};
use tokio::time::{Instant, timeout_at};

use super::{Entry, Page, ToolKind};
use crate::mcp::call::{Args, Call};
use crate::mcp::reply::{ToolReply, ToolResult, fenced};

/// Maximum wait: less than the minute after which clients give up.
const WAIT_SECONDS_MAX: i64 = 50;

/// The text of a wait without news while earlier updates are not seen.
const STILL_WAITING: &str = "Nothing new. Earlier updates still wait for you; check_updates lists them.";

pub(super) fn entries() -> Vec<Entry> {
    let acknowledge = json!({"type": "boolean", "description": "Mark the returned updates as seen"});
    let seconds = json!({"type": "integer", "minimum": 1, "maximum": WAIT_SECONDS_MAX,
        "description": "Seconds to wait (default 50)"});
    let after = json!({"type": "integer",
        "description": "cursor of your last call; only newer updates count"});
    vec![
        Entry::new(
            "check_updates",
            ToolKind::Update,
            "See what needs you: tasks to take, approvals, unread messages. Use it first, and whenever you \
             look for work.",
            check_updates,
        )
        .field("acknowledge", acknowledge.clone(), false)
        .output::<UpdatesView>()
        .waits()
        .core(),
        Entry::new(
            "wait_for_updates",
            ToolKind::Update,
            "Like check_updates, but waits up to 50 s for something new. Call it in a loop to stay \
             reachable.",
            wait_for_updates,
        )
        .field("acknowledge", acknowledge, false)
        .field("after", after, false)
        .field("seconds", seconds, false)
        .output::<UpdatesView>()
        .waits()
        .core(),
        Entry::new(
            "get_inbox",
            ToolKind::Read,
            "List everything that waits for you, most urgent first. Use it to choose what to do next.",
            get_inbox,
        )
        .input::<Page>()
        .output::<InboxView>(),
    ]
}

async fn check_updates(call: Call, mut args: Args) -> ToolResult {
    let acknowledge = args.flag("acknowledge")?;
    let now = news::find(&call.hub, &call.caller, None, None).await?;
    call.report(now, 0, acknowledge, Rung::Pull).await
}

/// Reports what came after a cursor, and nothing else. The cursor moves with every call, so that repeated calls wait,
/// however much is unseen. A call that acknowledges reports everything unseen as soon as something is new, because it
/// must not acknowledge what was not shown.
async fn wait_for_updates(call: Call, mut args: Args) -> ToolResult {
    let acknowledge = args.flag("acknowledge")?;
    let seconds = number(&mut args, "seconds")?.unwrap_or(WAIT_SECONDS_MAX);
    if !(1..=WAIT_SECONDS_MAX).contains(&seconds) {
        return Err(Invalid::field("seconds", format!("must be from 1 to {WAIT_SECONDS_MAX}")).into());
    }
    let after = match number(&mut args, "after")? {
        Some(after) if after < 0 => return Err(Invalid::field("after", "must not be negative").into()),
        Some(after) => after,
        // Do not report events again, or the call would return at once each time.
        None => match call.sessions.reported(call.me(), call.session.as_deref()) {
            // Another session may have acknowledged more.
            Some(reported) => reported.max(news::acknowledged(&call.hub, &call.caller).await?),
            None => {
                let now = news::find(&call.hub, &call.caller, None, None).await?;
                if !now.is_empty() {
                    return call.report(now, 0, acknowledge, Rung::LongPoll).await;
                }
                now.cursor()
            }
        },
    };
    // Nothing of the request is needed while it waits.
    drop(args);
    let mut feed = Feed::open(&call.hub, call.me(), Start::After(after), Transport::Poll).await?;
    // A key that ended before the feed was open does not end the wait.
    call.hub.access.check(&call.caller).await?;
    let until = Instant::now() + Duration::from_secs(seconds.unsigned_abs());
    // The log may end before the given cursor.
    let after = feed.cursor();
    while let Ok(fed) = timeout_at(until, feed.next()).await {
        let FeedItem::Events(events) = fed? else { break };
        if !events.iter().any(news::ends_a_wait) {
            continue;
        }
        let from = if acknowledge { None } else { Some(after) };
        let now = news::find(&call.hub, &call.caller, from, Some(after)).await?;
        // The event may have been deleted meanwhile.
        if !now.is_empty() {
            return call.report(now, after, acknowledge, Rung::LongPoll).await;
        }
    }
    let now = news::find(&call.hub, &call.caller, Some(after), Some(after)).await?;
    if acknowledge && !now.is_empty() {
        let all = news::find(&call.hub, &call.caller, None, Some(after)).await?;
        return call.report(all, after, true, Rung::LongPoll).await;
    }
    let is_new = !now.is_empty();
    let reported = call.report(now, after, false, Rung::LongPoll).await?;
    let unseen = news::find(&call.hub, &call.caller, None, None).await?;
    Ok(if is_new || unseen.is_empty() {
        reported
    } else {
        ToolReply { words: STILL_WAITING.to_owned(), ..reported }
    })
}

async fn get_inbox(call: Call, args: Args) -> ToolResult {
    ToolReply::json("", news::inbox(&call.hub, &call.caller, args.read()?).await?)
}

fn number(args: &mut Args, name: &str) -> Result<Option<i64>, Error> {
    match args.0.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(Invalid::field(name, "must be a whole number").into()),
        },
    }
}

impl Call {
    /// What is new, as text and as data, for a caller that has read its log up to a number.
    async fn report(&self, found: News, got_to: i64, acknowledge: bool, rung: Rung) -> ToolResult {
        let unsurfaced = found.unsurfaced();
        let shown_to = found.cursor();
        let cursor = shown_to.max(got_to);
        let view = news::view(&self.hub, &self.caller, found, cursor).await?;
        // What nobody reads has been told to nobody.
        let is_read = !self.disconnect.is_disconnected();
        if acknowledge && is_read {
            updates::acknowledge(&self.hub, &self.caller, AckCursor { cursor: shown_to }).await?;
        }
        if is_read {
            wake::shown_to_model(&self.hub, &self.caller, rung, unsurfaced);
            self.sessions.set_reported(self.me(), self.session.as_deref(), cursor);
        }
        let view = fenced(view);
        ToolReply::new(&view, in_words(&view))
    }
}

/// A report of news in words. The view is fenced already.
#[must_use]
pub fn in_words(view: &NewsView) -> String {
    let found = &view.updates;
    let mut lines = Vec::new();
    for (tasks, title) in
        [(&found.pending_tasks, "New tasks"), (&found.pending_approvals, "Waiting for your approval")]
    {
        if !tasks.is_empty() {
            lines.push(format!("{title} ({}):", tasks.len()));
        }
        lines.extend(tasks.iter().map(|task| {
            let (from, title) = (task.from_agent.as_str(), task.title.as_str());
            format!("- {} from {from} ({}): {title}", task.id, task.status)
        }));
    }
    if !found.unread_messages.is_empty() {
        lines.push(format!("Unread messages, by task ({}):", found.unread_messages.len()));
    }
    lines.extend(found.unread_messages.iter().map(|thread| {
        let (count, title) = (thread.count, thread.task_title.as_str());
        format!("- {}: {count} unread on {title}", thread.task_id)
    }));
    if !view.events.is_empty() {
        lines.push(format!("Events ({}):", view.events.len()));
        lines.extend(view.events.iter().map(describe_event));
    }
    if lines.is_empty() {
        return "No updates. You're all caught up.".to_owned();
    }
    let names_a_task = found.has_updates || view.events.iter().any(|event| event.task_id.is_some());
    if names_a_task {
        lines.push("Use get_task to read one.".to_owned());
    }
    lines.join("\n")
}

fn describe_event(event: &TypedEvent) -> String {
    let data = &event.data;
    let mut line = format!("- {}", event.kind.as_str());
    let parts = [
        (" on ", event.task_id.as_ref().map(Id::as_str)),
        (", now ", data.status.map(Status::as_str)),
        (", reason: ", data.reason.as_ref().map(PeerText::as_str)),
        (" by ", data.from_agent_name.as_ref().map(PeerName::as_str)),
        (", agent ID: ", data.with_agent_id.as_ref().map(Id::as_str)),
        (": ", data.content.as_ref().map(PeerText::as_str)),
    ];
    for (before, part) in parts {
        line.extend(part.map(|part| format!("{before}{part}")));
    }
    line
}
