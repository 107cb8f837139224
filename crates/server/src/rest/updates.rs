//! What waits for the caller.

use axum::extract::State;
use tandem_api::events::{AckCursor, Acknowledged};
use tandem_api::updates::{UnreadThread, UpdatesView};
use tandem_app::updates;

use crate::http::front::Caller;
use crate::http::{Answer, Input, Json};
use crate::hub::Hub;
use crate::rest::tasks::unfetched;

/// What has come in since you last said "seen".
#[utoipa::path(get, path = "/updates", tag = "updates", responses((status = 200, body = UpdatesView)))]
pub(crate) async fn check(State(hub): State<Hub>, Caller(me): Caller) -> Answer<UpdatesView> {
    let by = me.clone();
    let found = hub.read(move |tx, _| updates::check(tx, &by)).await?;
    let mut first_seen = unfetched(&found.tasks, &me);
    first_seen.extend(unfetched(&found.approvals, &me));
    hub.note_fetched(&me, first_seen).await?;
    Ok(Json(UpdatesView {
        has_updates: !(found.tasks.is_empty() && found.approvals.is_empty() && found.unread.is_empty()),
        pending_tasks: found.tasks.into_iter().map(Into::into).collect(),
        unread_messages: found
            .unread
            .into_iter()
            .map(|unread| UnreadThread {
                task_id: unread.task,
                task_title: unread.title,
                count: unread.count,
            })
            .collect(),
        pending_approvals: found.approvals.into_iter().map(Into::into).collect(),
        cursor: found.cursor,
    }))
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
