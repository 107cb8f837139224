//! Read receipts and acknowledgements.

use std::sync::Arc;

use tandem_api::messages::MessageView;
use tandem_api::tasks::{AcknowledgedView, ReadView};
use tandem_app::tasks;
use tandem_core::{MessageId, TaskId};

use crate::hub::Step;
use crate::{Caller, Error, HubParts};

/// Returns the caller's unread messages and marks them as read.
pub async fn read(hub: &HubParts, caller: &Caller, task: &TaskId) -> Result<ReadView, Error> {
    let (by, id) = (caller.agent.clone(), task.clone());
    hub.write_once(caller, move |tx, now| {
        let read = tasks::read(tx, &by, &id, now)?;
        let messages = read.messages.into_iter().map(|message| MessageView::new(message, &by)).collect();
        Ok(ReadView { messages, unread_count: read.unread })
    })
    .await
}

/// Acknowledges all messages on a task and, as the target, the task.
pub async fn acknowledge(hub: &HubParts, caller: &Caller, task: &TaskId) -> Result<AcknowledgedView, Error> {
    let mut before: Vec<Arc<Vec<MessageId>>> = Vec::new();
    loop {
        let (by, id, earlier) = (caller.agent.clone(), task.clone(), before.clone());
        let step = hub.write_step(caller, move |tx, now| {
            let done = tasks::acknowledge(tx, &by, &id, now)?;
            if done.more {
                return Ok(Step::Part(done.messages));
            }
            Ok(Step::Last(AcknowledgedView {
                acknowledged: true,
                message_ids: earlier
                    .iter()
                    .flat_map(|part| part.iter().cloned())
                    .chain(done.messages)
                    .collect(),
                acknowledged_at: done.task_at,
                unread_count: 0,
            }))
        });
        match step.await? {
            Step::Last(answer) => return Ok(answer),
            Step::Part(messages) => before.push(Arc::new(messages)),
        }
    }
}
