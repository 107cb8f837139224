//! Talking within a task.

use tandem_core::events::EventKind;
use tandem_core::messages::{ContentType, Kind, Message};
use tandem_core::text::{BODY_BYTES_MAX, Body};
use tandem_core::{AgentId, MessageId, Now, Role, Task, TaskId};
use tandem_store::{Tx, messages as rows, tasks};

use crate::events::{Event, tell};
use crate::tasks::on_task;
use crate::{Error, Page};

/// What somebody wants to say.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The text.
    pub content: Body,
    /// How to read it.
    pub content_type: ContentType,
}

/// Adds a message to a task and tells the other party.
pub fn send(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewMessage,
    now: &Now,
) -> Result<Message, Error> {
    on_task(tx, by, id, |tx, mut task, role| {
        if new.content.as_str().len() > BODY_BYTES_MAX {
            return Err(Error::TooLarge("message"));
        }
        task.position().check_open()?;
        let message = Message {
            id: now.new_id(),
            task: task.id.clone(),
            number: task.message_count + 1,
            sender: Some(by.clone()),
            sender_name: task.party(role).map(|party| party.1.to_owned()),
            kind: Kind::Message,
            content: new.content.as_str().to_owned(),
            content_type: new.content_type,
            read_at: None,
            acknowledged_at: None,
            // Requests may be decided in another order than they came in; the thread reads in time's order.
            created_at: now.at.max(task.updated_at),
        };
        let event = Event::on_task(EventKind::MessageCreated, &task, task.party(role))
            .with_sender()
            .with_message(&message.id);
        tell(tx, task.other(role).0, event, now)?;
        rows::insert(tx, &message)?;
        match role {
            Role::Initiator => task.target_unread += 1,
            Role::Target => task.initiator_unread += 1,
            Role::Hub => {}
        }
        task.message_count += 1;
        task.updated_at = message.created_at;
        tasks::update_counts(tx, &task)?;
        Ok(message)
    })
}

/// Adds the hub's own message. The caller writes the task back.
pub(crate) fn add_system(tx: &mut Tx<'_>, task: &mut Task, text: String, now: &Now) -> Result<(), Error> {
    task.message_count += 1;
    let message = Message {
        id: now.new_id(),
        task: task.id.clone(),
        number: task.message_count,
        sender: None,
        sender_name: None,
        kind: Kind::System,
        content: text,
        content_type: ContentType::Text,
        read_at: None,
        acknowledged_at: None,
        created_at: now.at,
    };
    Ok(rows::insert(tx, &message)?)
}

/// A page of a task's thread, oldest first; the next page is the one before it.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    before: Option<i64>,
    limit: i64,
) -> Result<Page<Message, i64>, Error> {
    on_task(tx, by, id, |tx, task, _| {
        let mut found = rows::before(tx, &task.id, before.unwrap_or(i64::MAX), limit + 1)?;
        let more = i64::try_from(found.len()).unwrap_or(i64::MAX) > limit;
        if more {
            found.remove(0);
        }
        let next = found.first().filter(|_| more).map(|oldest| oldest.number);
        Ok(Page { items: found, next })
    })
}

/// Takes a message back; a tombstone stays.
pub fn delete(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    message: &MessageId,
    now: &Now,
) -> Result<(), Error> {
    on_task(tx, by, id, |tx, mut task, role| {
        let found = rows::find(tx, &task.id, message)?.ok_or(Error::NotFound("message"))?;
        if found.sender.as_ref() != Some(by) {
            return Err(Error::NotSender);
        }
        if rows::bury(tx, message)? {
            let event = Event::on_task(EventKind::MessageDeleted, &task, task.party(role))
                .with_sender()
                .with_message(message);
            tell(tx, task.other(role).0, event, now)?;
            // There is nothing left to read.
            if found.read_at.is_none() {
                match role {
                    Role::Initiator => task.target_unread -= 1,
                    Role::Target => task.initiator_unread -= 1,
                    Role::Hub => {}
                }
                tasks::update_counts(tx, &task)?;
            }
        }
        Ok(())
    })
}
