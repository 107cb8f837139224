//! `/updates`: tasks, approvals and messages that wait for the caller.

use tandem_api::events::{AckCursor, Acknowledged};
use tandem_api::text::{Author, HubText, PeerName, PeerText};
use tandem_api::updates::{PendingTask, UnreadThread, UpdatesView};
use tandem_app::updates::{self, Updates};
use tandem_store::updates::News;

use crate::{Caller, Error, HubParts};

/// Tasks, approvals and messages that wait for the caller.
pub async fn check(hub: &HubParts, caller: &Caller) -> Result<UpdatesView, Error> {
    let by = caller.agent.clone();
    let found = hub.read(caller, move |tx, now| updates::check(tx, &by, None, now)).await?;
    Ok(view(hub, caller, found))
}

/// Converts updates into the wire type. The tasks in them count as fetched.
pub fn view(hub: &HubParts, caller: &Caller, found: Updates) -> UpdatesView {
    let waiting = found.tasks.iter().chain(&found.approvals);
    let unfetched = waiting.filter(|news| news.fetched_at.is_none()).map(|news| news.task.clone());
    hub.mark_fetched(caller, unfetched);
    UpdatesView {
        has_updates: !(found.tasks.is_empty() && found.approvals.is_empty() && found.unread.is_empty()),
        pending_tasks: found.tasks.into_iter().map(pending).collect(),
        unread_messages: found
            .unread
            .into_iter()
            .map(|unread| UnreadThread {
                task_id: unread.task,
                task_title: PeerText::new(Author::of(&unread.initiator, &caller.agent), unread.title),
                count: unread.count,
            })
            .collect(),
        pending_approvals: found.approvals.into_iter().map(pending).collect(),
        cursor: found.cursor,
        epoch: HubText::new(&hub.epoch),
    }
}

fn pending(news: News) -> PendingTask {
    PendingTask {
        id: news.task,
        title: PeerText::peer(news.title),
        from_agent: PeerName::peer(news.initiator_name),
        from_agent_id: news.initiator,
        status: news.status,
        created_at: news.created_at,
    }
}

pub async fn acknowledge(hub: &HubParts, caller: &Caller, body: AckCursor) -> Result<Acknowledged, Error> {
    let by = caller.agent.clone();
    let cursor = hub.write(caller, move |tx, _| updates::acknowledge(tx, &by, body.cursor)).await?;
    Ok(Acknowledged { acknowledged: true, cursor, epoch: HubText::new(&hub.epoch) })
}
