//! What a worker is given: the task with its thread, in the clear.

use serde::Serialize;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_client::{Client, Error, Opened, each_page};
use tandem_core::MessageId;

use super::super::task_view::WithTrust;
use super::folder::FileIn;

/// Messages that a worker is given, the newest ones.
const MESSAGES_MAX: usize = 2_000;
/// Bytes of their contents.
const BYTES_MAX: usize = 32 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Thread {
    /// As the hub sent them, oldest first.
    pub(super) messages: Vec<MessageView>,
}

impl Thread {
    pub(super) async fn read(client: &Client, task: &TaskView) -> Result<Self, Error> {
        let (mut messages, mut bytes): (Vec<MessageView>, _) = (Vec::new(), 0);
        let read = async |query| client.messages(&task.id, &query).await;
        each_page(1_000, read, |page| {
            bytes += page.items.iter().map(|message| message.content.as_str().len()).sum::<usize>();
            // Each page is in order, and the next one is older.
            messages.splice(0..0, page.items);
            messages.len() < MESSAGES_MAX && bytes < BYTES_MAX
        })
        .await?;
        Ok(Self { messages })
    }

    pub(super) fn newest(&self) -> Option<MessageId> {
        self.messages.last().map(|message| message.id.clone())
    }

    /// The messages after one; all of them if it is gone.
    pub(super) fn after(&self, seen: Option<&MessageId>) -> &[MessageView] {
        let at = seen.and_then(|seen| self.messages.iter().position(|message| message.id == *seen));
        &self.messages[at.map_or(0, |at| at + 1)..]
    }
}

/// Standard input of a worker.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Input<'a> {
    task: &'a TaskView,
    /// What is known about title and description.
    trust: &'static str,
    messages: Vec<WithTrust<'a, MessageView>>,
    files: Vec<FileIn>,
    /// The number of this run of the attempt.
    run: u32,
}

/// The task as JSON, in one line.
pub(super) fn json(
    task: &Opened<TaskView>,
    messages: &[Opened<MessageView>],
    files: Vec<FileIn>,
    run: u32,
) -> Result<Vec<u8>, serde_json::Error> {
    let messages = messages.iter().map(WithTrust::of).collect();
    let input = Input { task: &task.view, trust: task.trust.as_str(), messages, files, run };
    let mut json = serde_json::to_vec(&input)?;
    json.push(b'\n');
    Ok(json)
}
