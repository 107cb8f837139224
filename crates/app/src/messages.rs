//! Talking within a task.

use tandem_core::events::EventKind;
use tandem_core::messages::{ContentType, DELETED, Kind, Message};
use tandem_core::tasks::CheckInSeconds;
use tandem_core::text::{Alias, BODY_BYTES_MAX, Body};
use tandem_core::{AgentId, FileId, MessageId, Now, Refusal, Role, Task, TaskId};
use tandem_store::{Tx, connections, files, messages as rows, tasks};

use crate::events::{Event, tell};
use crate::sealed::Sealed;
use crate::tasks::{PLAIN_ON_ENCRYPTED, check_time, note_signature, on_task, pause, present, set_check_in};
use crate::{Error, Invalid, Page};

/// What somebody wants to say.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The text.
    pub content: Body,
    /// How to read it.
    pub content_type: ContentType,
    /// How soon it should be acknowledged; as the task says, where it says nothing itself.
    pub check_in_seconds: Option<CheckInSeconds>,
    /// The keys and the signature that come with encrypted content.
    pub sealed: Option<Sealed>,
}

impl NewMessage {
    /// Plain text.
    #[must_use]
    pub fn plain(content: Body) -> Self {
        Self { content, content_type: ContentType::Text, check_in_seconds: None, sealed: None }
    }
}

/// Adds a message to a task and tells the other party.
pub fn send(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewMessage,
    now: &Now,
) -> Result<Message, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        check_message(&task, new)?;
        let message = add(tx, &mut task, role, new, Kind::Message, now)?;
        tasks::update_thread(tx, &task)?;
        pause_if_spent(tx, &mut task, role, now)?;
        Ok(message)
    })
}

/// The newest task with an agent that is open to messages: where a message to the agent itself goes.
pub fn newest_open_task(tx: &mut Tx<'_>, by: &AgentId, named: &Alias, now: &Now) -> Result<TaskId, Error> {
    let mut found = match named.as_str().parse() {
        Ok(agent) => tasks::newest_open(tx, by, &agent)?,
        Err(_) => None,
    };
    if found.is_none()
        && let Some(agent) = connections::by_alias(tx, by, named.as_str())?
    {
        found = tasks::newest_open(tx, by, &agent)?;
    }
    if let Some(task) = &found {
        check_time(tasks::find(tx, task)?.as_ref(), now)?;
    }
    found.ok_or(Error::NotFound("open task with that agent; create one with POST /tasks"))
}

/// Whether a message may be added.
pub(crate) fn check_message(task: &Task, new: &NewMessage) -> Result<(), Error> {
    if task.encrypted != (new.content_type == ContentType::Encrypted) {
        let why = if task.encrypted { PLAIN_ON_ENCRYPTED } else { "must be text or json on this task" };
        return Err(Invalid::field("contentType", why).into());
    }
    if new.content.as_str().len() > BODY_BYTES_MAX {
        return Err(Error::TooLarge("message"));
    }
    check_open(task)
}

/// Whether anything may be said on a task, whatever it is.
pub(crate) fn check_open(task: &Task) -> Result<(), Error> {
    task.position().check_open()?;
    let max = task.terms.max_messages;
    if task.spoken_count >= max { Err(Refusal::MessageBudget(max).into()) } else { Ok(()) }
}

/// Adds a message of a party and tells the other. The caller has asked whether it may, and writes the task
/// back.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    task: &mut Task,
    role: Role,
    new: &NewMessage,
    kind: Kind,
    now: &Now,
) -> Result<Message, Error> {
    if let Some(sealed) = &new.sealed {
        note_signature(tx, &task.id, sealed)?;
    }
    present(tx, task, role, now)?;
    let message = Message {
        id: now.new_id(),
        task: task.id.clone(),
        number: task.message_count + 1,
        sender: task.party(role).map(|party| party.0.clone()),
        sender_name: task.party(role).map(|party| party.1.to_owned()),
        kind,
        content: new.content.as_str().to_owned(),
        content_type: new.content_type,
        encrypted_keys: new.sealed.as_ref().map(|sealed| sealed.keys.clone()),
        sender_signature: new.sealed.as_ref().map(|sealed| sealed.signature.clone()),
        read_at: None,
        acknowledged_at: None,
        // Requests may be decided in another order than they came in; the thread reads in time's order.
        created_at: now.at.max(task.updated_at),
    };
    let event = Event::on_task(EventKind::MessageCreated, task, task.party(role)).with_message(&message.id);
    tell(tx, task.other(role).0, event, now)?;
    rows::insert(tx, &message)?;
    let window = new.check_in_seconds.map_or(task.terms.check_in_seconds, CheckInSeconds::get);
    set_check_in(tx, task, message.number, window, now)?;
    task.message_count += 1;
    task.spoken_count += 1;
    task.updated_at = message.created_at;
    if let Some(writer) = task.side_mut(role) {
        writer.said = message.number;
    }
    if let Some(reader) = task.side_mut(role.opposite()) {
        reader.unread += 1;
        reader.unread_since.get_or_insert(message.created_at);
    }
    Ok(message)
}

/// Stops two agents that talk and talk: at the agreed number of messages the initiator is asked.
pub(crate) fn pause_if_spent(tx: &mut Tx<'_>, task: &mut Task, by: Role, now: &Now) -> Result<(), Error> {
    let max = task.terms.max_messages;
    if task.spoken_count < max || task.status.is_terminal() {
        return Ok(());
    }
    let why = format!("it has had the {max} messages it may have; its initiator can raise maxMessages");
    pause(tx, task, by, &why, now)
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
        encrypted_keys: None,
        sender_signature: None,
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
    now: &Now,
) -> Result<Page<Message, i64>, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        let (found, cut) = rows::before(tx, &task.id, before.unwrap_or(i64::MAX), limit + 1)?;
        let first = found.first().filter(|_| cut).map(|message| message.number);
        let page = Page::newest(found, limit, |message| message.number);
        Ok(Page { next: page.next.or(first), ..page })
    })
}

/// Takes a message back; a tombstone stays. Tells which file went with it: the caller removes its bytes.
pub fn delete(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    message: &MessageId,
    now: &Now,
) -> Result<Option<FileId>, Error> {
    on_task(tx, by, id, now, |tx, mut task, role| {
        let found = rows::find(tx, &task.id, message)?.ok_or(Error::NotFound("message"))?;
        if found.sender.as_ref() != Some(by) {
            return Err(Error::NotSender);
        }
        let (buried, file) = bury(tx, &mut task, role, &found)?;
        if buried {
            let event =
                Event::on_task(EventKind::MessageDeleted, &task, task.party(role)).with_message(message);
            tell(tx, task.other(role).0, event, now)?;
        }
        Ok(file)
    })
}

/// Leaves only a tombstone of a message, and nothing of its file; tells whether it was none before, and which file.
fn bury(
    tx: &mut Tx<'_>,
    task: &mut Task,
    writer: Role,
    message: &Message,
) -> Result<(bool, Option<FileId>), Error> {
    let buried = rows::bury(tx, &message.id)?;
    if buried {
        if message.kind == Kind::Reply && task.result.as_ref() == Some(&message.content) {
            task.result = Some(DELETED.to_owned());
            tasks::update(tx, task)?;
        }
        // There is nothing left to read.
        if message.read_at.is_none() {
            task.unread_less(writer.opposite());
            tasks::update_thread(tx, task)?;
        }
    }
    let file = files::of_message(tx, &message.id)?;
    if let Some(file) = &file {
        files::remove(tx, file)?;
    }
    Ok((buried, file.map(|file| file.id)))
}

/// Buries all that an agent wrote on a task while it was its target; tells how much that was, and which files.
pub(crate) fn bury_all_of(
    tx: &mut Tx<'_>,
    target: &AgentId,
    id: &TaskId,
) -> Result<(u64, Vec<FileId>), Error> {
    let (mut count, mut gone) = (0, Vec::new());
    if let Some(mut task) = tasks::find(tx, id)? {
        for message in rows::of_sender(tx, id, target)? {
            gone.extend(bury(tx, &mut task, Role::Target, &message)?.1);
            count += 1;
        }
    }
    Ok((count, gone))
}
