//! What waits for the caller.

use axum::extract::State;
use tandem_api::events::{AckCursor, Acknowledged};
use tandem_api::updates::{PendingTask, UnreadThread, UpdatesView};
use tandem_app::updates::{self, Updates};
use tandem_core::AgentId;
use tandem_store::updates::News;

use crate::http::front::Caller;
use crate::http::{Answer, Input, Json};
use crate::hub::{Hub, HubParts};

/// What has come in since you last said "seen".
#[utoipa::path(get, path = "/updates", tag = "updates", responses((status = 200, body = UpdatesView)))]
pub(crate) async fn check(State(hub): State<Hub>, Caller(me): Caller) -> Answer<UpdatesView> {
    let by = me.clone();
    let found = hub.read(move |tx, now| updates::check(tx, &by, None, now)).await?;
    show(&hub, &me, found).await
}

/// What waits, and that it has been seen now.
pub(crate) async fn show(hub: &HubParts, me: &AgentId, found: Updates) -> Answer<UpdatesView> {
    let waiting = found.tasks.iter().chain(&found.approvals);
    let first_seen = waiting.filter(|news| news.fetched_at.is_none()).map(|news| news.task.clone()).collect();
    hub.note_fetched(me, first_seen).await?;
    Ok(Json(UpdatesView {
        has_updates: !(found.tasks.is_empty() && found.approvals.is_empty() && found.unread.is_empty()),
        pending_tasks: found.tasks.into_iter().map(pending).collect(),
        unread_messages: found
            .unread
            .into_iter()
            .map(|unread| UnreadThread {
                task_id: unread.task,
                task_title: unread.title,
                count: unread.count,
            })
            .collect(),
        pending_approvals: found.approvals.into_iter().map(pending).collect(),
        cursor: found.cursor,
    }))
}

fn pending(news: News) -> PendingTask {
    PendingTask {
        id: news.task,
        title: news.title,
        from_agent: news.initiator_name,
        from_agent_id: news.initiator,
        status: news.status,
        created_at: news.created_at,
    }
}

/// Say "seen" to everything up to a cursor.
#[utoipa::path(post, path = "/updates/ack", tag = "updates", request_body = AckCursor,
    responses((status = 200, body = Acknowledged)))]
pub(crate) async fn acknowledge(
    State(hub): State<Hub>,
    Caller(me): Caller,
    input: Input<AckCursor>,
) -> Answer<Acknowledged> {
    let cursor = input.body?.cursor;
    let cursor = hub.write(move |tx, _| updates::acknowledge(tx, &me, cursor)).await?;
    Ok(Json(Acknowledged { acknowledged: true, cursor }))
}
