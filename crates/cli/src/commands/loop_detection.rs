//! Loop detection for programs that wake a model because of a message: models that answer every message of one another
//! would never stop.

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_client::{Client, Trust};
use tandem_core::loops::{Line, looping};
use tandem_core::messages::ContentType;
use tandem_core::{AgentId, TaskId};

/// Messages that decide.
const NEWEST: usize = 3;

/// Whether the newest messages of a task, oldest first, are a loop in which a model should not be asked for another
/// answer. `other` is the other agent.
pub(crate) async fn is_looping(
    client: &Client,
    task: &TaskId,
    other: &AgentId,
    mut messages: Vec<MessageView>,
) -> bool {
    messages.retain(|message| matches!(message.sender_agent_id, Actor::Agent(_)));
    let newest = messages.split_off(messages.len().saturating_sub(NEWEST));
    let mut lines: Vec<Line> = newest
        .iter()
        .map(|message| Line {
            mine: !matches!(&message.sender_agent_id, Actor::Agent(sender) if sender == other),
            chars: chars(message),
        })
        .collect();
    // Encrypted texts are longer than what was written.
    if newest.iter().any(|message| message.content_type == ContentType::Encrypted)
        && let Ok(view) = client.task(task).await
        && !matches!(client.is_encrypted(&view), Ok(false))
    {
        let opened = client.open_messages(&view, newest).await;
        for (line, opened) in lines.iter_mut().zip(&opened) {
            line.chars = match opened.trust {
                Trust::Verified => chars(&opened.view),
                // A file, or a text that is not shown.
                _ => usize::MAX,
            };
        }
    }
    looping(&lines).is_some()
}

/// The length of a message. A file always needs an answer, however short its id is.
fn chars(message: &MessageView) -> usize {
    match message.content_type {
        ContentType::File => usize::MAX,
        _ => message.content.as_str().chars().count(),
    }
}
