//! What waits for the caller, now or in a moment.

use std::time::Duration;

use serde_json::{Value, json};
use tandem_api::inbox::InboxView;
use tandem_api::tasks::PageQuery;
use tandem_api::updates::UpdatesView;
use tandem_app::{Invalid, updates as seen};
use tokio::time::timeout;

use super::{Does, Entry, Page};
use crate::bus::Way;
use crate::http::ApiError;
use crate::mcp::call::{Args, Call, Replied, Shown, nowhere};
use crate::push::feed::Feed;
use crate::rest::{inbox, updates};

/// The longest a call waits: below the minute after which clients give up.
const WAIT_SECONDS_MAX: i64 = 50;

pub(super) fn entries() -> Vec<Entry> {
    let acknowledge = json!({"type": "boolean", "description": "Mark all this as seen after returning it"});
    let seconds = json!({"type": "integer", "minimum": 1, "maximum": WAIT_SECONDS_MAX,
        "description": "How long to wait (default 50)"});
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
    call.tell(acknowledge).await
}

async fn wait_for_updates(call: Call, mut args: Args) -> Replied {
    let acknowledge = args.flag("acknowledge")?;
    let seconds = number(&mut args, "seconds")?.unwrap_or(WAIT_SECONDS_MAX);
    if !(1..=WAIT_SECONDS_MAX).contains(&seconds) {
        return Err(Invalid::field("seconds", format!("must be from 1 to {WAIT_SECONDS_MAX}")).into());
    }
    let after = match number(&mut args, "after")? {
        Some(after) if after < 0 => return Err(Invalid::field("after", "must not be negative").into()),
        Some(after) => Some(after),
        None => {
            let by = call.me.clone();
            let now = call.hub.read(move |tx, now| seen::check(tx, &by, now)).await?;
            let is_empty = now.tasks.is_empty() && now.approvals.is_empty() && now.unread.is_empty();
            is_empty.then_some(now.cursor)
        }
    };
    if let Some(after) = after {
        let mut feed = Feed::open(&call.hub, &call.me, Some(after), Way::Poll).await?;
        if let Ok(fed) = timeout(Duration::from_secs(seconds.unsigned_abs()), feed.next()).await {
            fed?;
        }
    }
    call.tell(acknowledge).await
}

async fn get_inbox(call: Call, args: Args) -> Replied {
    let list = call.inbox(args.query()?.0).await?;
    let is_empty = list.value.get("items").and_then(Value::as_array).is_none_or(Vec::is_empty);
    if is_empty { list.said("Your inbox is empty.") } else { list.into_json() }
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

impl Call {
    /// A page of the inbox.
    pub(crate) async fn inbox(&self, page: PageQuery) -> Result<Shown, ApiError> {
        let query = crate::http::Query(page);
        self.show(inbox::list(self.hub(), self.me(), nowhere(), query).await?).await
    }

    /// What is new, in words and as data.
    async fn tell(&self, acknowledge: bool) -> Replied {
        let found = self.show(updates::check(self.hub(), self.me()).await?).await?;
        if acknowledge {
            let (by, cursor) = (self.me.clone(), found.number("cursor"));
            self.hub.write(move |tx, _| seen::acknowledge(tx, &by, cursor)).await?;
        }
        let words = in_words(&found.value);
        found.said(words)
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
        lines.push(format!("Unread messages on {} tasks:", unread.len()));
        for item in &unread {
            let count = item.get("count").and_then(Value::as_i64).unwrap_or_default();
            lines.push(format!("- {}: {count} unread on {}", text(item, "taskId"), text(item, "taskTitle")));
        }
    }
    if lines.is_empty() {
        return "No updates. You're all caught up.".to_owned();
    }
    lines.push("Use get_task to read one.".to_owned());
    lines.join("\n")
}
