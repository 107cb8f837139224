//! Messages on a task.

mod deletion;

use tandem_core::events::EventKind;
use tandem_core::messages::{ContentType, Foreign, Kind, Message};
use tandem_core::tasks::{CheckInSeconds, Side};
use tandem_core::text::{Alias, BODY_BYTES_MAX, Body};
use tandem_core::{AgentId, MessageId, Now, Role, Status, StatusChange, Task, TaskId, Timestamp};
use tandem_store::events::Appended;
use tandem_store::{Tx, connections, messages as rows, tasks};

use crate::events::{Event, append_event};
use crate::limits::{self, Limit};
use crate::sealed::Sealed;
use crate::tasks::{
    Cause, Expected, PLAIN_ON_ENCRYPTED, acknowledge_all, change_status, check_not_overdue, on_task, pause,
    record_signature, set_check_in, show_marks,
};
use crate::{Error, Invalid, Page};

pub use deletion::delete;
pub(crate) use deletion::delete_content_by;

#[derive(Debug, Clone)]
pub struct NewMessage {
    pub content: Body,
    pub content_type: ContentType,
    /// Acknowledgement window of this message; `None` uses the task's window.
    pub check_in_seconds: Option<CheckInSeconds>,
    /// Wrapped keys and signature of encrypted content.
    pub sealed: Option<Sealed>,
    /// The message of the same task that it answers.
    pub in_reply_to: Option<MessageId>,
    /// How often its sender may write to the task.
    pub limit: Option<Limit>,
    /// What a client of another protocol sent beside the text.
    pub sent: Option<Sent>,
    /// For an artifact: its id, its name and how it continues an earlier one; a JSON object, as text.
    pub artifact: Option<String>,
    /// Whether a reply is the answer itself and no artifact.
    pub direct: bool,
}

/// What a client of another protocol sent, to be kept.
#[derive(Debug, Clone)]
pub struct Sent {
    pub foreign: Foreign,
    /// Tells the message from anything else that is sent; none for a piece of one.
    pub hash: Option<[u8; 32]>,
}

impl NewMessage {
    #[must_use]
    pub fn plain(content: Body) -> Self {
        Self {
            content,
            content_type: ContentType::Text,
            check_in_seconds: None,
            sealed: None,
            in_reply_to: None,
            limit: None,
            sent: None,
            artifact: None,
            direct: false,
        }
    }

    /// Says that [`NewMessage::count`] follows, so that its row can be fetched together with others.
    pub(crate) fn expect(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        self.limit.as_ref().map_or(Ok(()), |limit| limit.expect(tx))
    }

    /// The last checks before a message is added: its sender's limit, and whether its signature was used before. From
    /// here on it counts.
    pub(crate) fn count(&self, tx: &mut Tx<'_>, task: &Task, now: &Now) -> Result<(), Error> {
        let admission = limits::admit(tx, self.limit.as_ref(), now.at)?;
        if let Some(sealed) = &self.sealed {
            record_signature(tx, &task.id, sealed)?;
        }
        admission.count(tx)
    }
}

/// Adds a message to a task and notifies the other party.
pub fn send(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewMessage,
    now: &Now,
) -> Result<Message, Error> {
    new.expect(tx)?;
    on_task(tx, by, id, now, |tx, task, role| {
        check_message(&task, new)?;
        if let Some(answered) = &new.in_reply_to
            && rows::find(tx, &task.id, answered)?.is_none()
        {
            return Err(Invalid::field("inReplyTo", "must be a message of this task").into());
        }
        new.count(tx, &task, now)?;
        add_last(tx, task, role, new, now)
    })
}

/// Sends the answer to a new task, which begins the work on it.
pub fn begin(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    new: &NewMessage,
    now: &Now,
) -> Result<Message, Error> {
    new.expect(tx)?;
    on_task(tx, by, id, now, |tx, mut task, role| {
        Expected { status: Some(Status::Submitted), versions: None }.check(&task)?;
        task.position().check(role, Status::Working)?;
        check_message(&task, new)?;
        new.count(tx, &task, now)?;
        change_status(tx, &mut task, StatusChange::Set(Status::Working), &Cause::of(role), now)?;
        add_last(tx, task, role, new, now)
    })
}

/// Adds a message as the last thing that happens to its task.
fn add_last(
    tx: &mut Tx<'_>,
    mut task: Task,
    role: Role,
    new: &NewMessage,
    now: &Now,
) -> Result<Message, Error> {
    let message = add(tx, &mut task, role, new, Kind::Message, now)?;
    tasks::update_thread(tx, &task)?;
    pause_if_budget_spent(tx, &mut task, role, now)?;
    Ok(message)
}

/// The newest task with an agent that accepts messages. A message that names only the agent goes there.
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
        check_not_overdue(tasks::find(tx, task)?.as_ref(), now)?;
    }
    found.ok_or(Error::NotFound("open task with that agent; create one with POST /tasks"))
}

/// Checks that a message may be added.
pub(crate) fn check_message(task: &Task, new: &NewMessage) -> Result<(), Error> {
    check_content(task, new)?;
    Ok(task.check_open()?)
}

/// Checks that the content of a message fits the task.
pub(crate) fn check_content(task: &Task, new: &NewMessage) -> Result<(), Error> {
    if task.content.encrypted != (new.content_type == ContentType::Encrypted) {
        let why =
            if task.content.encrypted { PLAIN_ON_ENCRYPTED } else { "must be text or json on this task" };
        return Err(Invalid::field("contentType", why).into());
    }
    if new.content.as_str().len() > BODY_BYTES_MAX {
        return Err(Error::TooLarge("message"));
    }
    Ok(())
}

/// The event that tells a party of the other's message.
fn created_event<'a>(task: &'a Task, role: Role, message: &'a Message) -> Event<'a> {
    Event::on_task(EventKind::MessageCreated, task, task.party(role))
        .with_message(&message.id)
        .with("kind", message.kind)
        .with("contentType", message.content_type)
}

/// Tells the target of what the initiator attached to the draft. The caller has told it of the task, and saves the task.
pub(crate) fn announce(tx: &mut Tx<'_>, task: &mut Task, now: &Now) -> Result<(), Error> {
    if task.initiator_side.said == 0 {
        return Ok(());
    }
    for message in rows::unannounced(tx, &task.id, &task.initiator)? {
        let event = created_event(task, Role::Initiator, &message);
        let appended = append_event(tx, &task.target, event, now)?;
        rows::set_event(tx, &message.id, appended.last)?;
        // Whoever approved the task may have read it.
        if message.read_at.is_none() {
            add_unread(&mut task.target_side, appended, now.at);
        }
    }
    tasks::update_thread(tx, task)?;
    Ok(())
}

/// Counts a message that a party has not read.
fn add_unread(reader: &mut Side, appended: Appended, at: Timestamp) {
    reader.unread += 1;
    reader.unread_since.get_or_insert(at);
    reader.unseen.add(appended.last, appended.updates_acked);
}

/// Adds a message of a party and notifies the other, unless it does not know the task yet. The caller has checked that it
/// may be added, has counted it, and saves the task.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    task: &mut Task,
    role: Role,
    new: &NewMessage,
    kind: Kind,
    now: &Now,
) -> Result<Message, Error> {
    acknowledge_all(tx, task, role, now)?;
    let message = Message {
        id: now.new_id(),
        task: task.id.clone(),
        in_reply_to: new.in_reply_to.clone(),
        number: task.counts.messages + 1,
        sender: task.party(role).map(|party| party.0.clone()),
        sender_name: task.party(role).map(|party| party.1.to_owned()),
        kind,
        content: new.content.as_str().to_owned(),
        content_type: new.content_type,
        encrypted_keys: new.sealed.as_ref().map(|sealed| sealed.keys.clone()),
        sender_signature: new.sealed.as_ref().map(|sealed| sealed.signature.clone()),
        read_at: None,
        acknowledged_at: None,
        // Requests may commit in another order than they arrived; the times in a thread never go back.
        created_at: now.at.max(task.updated_at),
        deleted: false,
        foreign: new.sent.as_ref().map(|sent| sent.foreign.clone()).unwrap_or_default(),
        step: next_step(task),
        artifact: new.artifact.clone(),
        direct: new.direct,
    };
    let hash = new.sent.as_ref().and_then(|sent| sent.hash.as_ref()).map(<[u8; 32]>::as_slice);
    if !task.is_announced() {
        rows::insert(tx, &message, None, hash)?;
        count_spoken(task, role, &message);
        return Ok(message);
    }
    let event = created_event(task, role, &message);
    let appended = append_event(tx, task.other(role).0, event, now)?;
    rows::insert(tx, &message, Some(appended.last), hash)?;
    let window = new.check_in_seconds.map_or(task.terms.check_in_seconds, CheckInSeconds::get);
    set_check_in(tx, task, message.number, window, now)?;
    count_spoken(task, role, &message);
    if let Some(reader) = task.side_mut(role.opposite()) {
        add_unread(reader, appended, message.created_at);
    }
    Ok(message)
}

/// The number of a message among the steps of its task, before it is counted.
fn next_step(task: &Task) -> Option<i64> {
    task.step().map(|step| step + 1)
}

/// Counts a message of a party.
fn count_spoken(task: &mut Task, role: Role, message: &Message) {
    task.counts.messages += 1;
    task.counts.spoken += 1;
    task.updated_at = message.created_at;
    if let Some(writer) = task.side_mut(role) {
        writer.said = message.number;
    }
}

/// Adds what the target said when it rejected a task at its gate: a message without an event of its own, because the event
/// of the rejection has the same words. The caller saves the task.
pub(crate) fn add_rejection(tx: &mut Tx<'_>, task: &mut Task, reason: &str, now: &Now) -> Result<(), Error> {
    let message = Message {
        id: now.new_id(),
        task: task.id.clone(),
        in_reply_to: None,
        number: task.counts.messages + 1,
        sender: Some(task.target.clone()),
        sender_name: Some(task.target_name.clone()),
        kind: Kind::Message,
        content: reason.to_owned(),
        content_type: ContentType::Text,
        encrypted_keys: None,
        sender_signature: None,
        read_at: None,
        acknowledged_at: None,
        created_at: now.at.max(task.updated_at),
        deleted: false,
        foreign: Foreign::default(),
        step: next_step(task),
        artifact: None,
        direct: false,
    };
    rows::insert(tx, &message, None, None)?;
    count_spoken(task, Role::Target, &message);
    task.initiator_side.unread += 1;
    task.initiator_side.unread_since.get_or_insert(message.created_at);
    Ok(tasks::update_thread(tx, task)?)
}

/// Pauses a task whose message budget is used up. This stops two agents that answer each other forever; the initiator
/// can raise the budget. A draft pauses when it is published, and a held task when it is approved.
pub(crate) fn pause_if_budget_spent(
    tx: &mut Tx<'_>,
    task: &mut Task,
    by: Role,
    now: &Now,
) -> Result<(), Error> {
    let max = task.terms.max_messages;
    let waits = task.status == Status::Draft || task.position().held;
    if task.counts.spoken < max || task.status.is_terminal() || waits {
        return Ok(());
    }
    let why = format!("the limit of {max} messages is reached; the initiator can raise maxMessages");
    pause(tx, task, by, &why, now)?;
    Ok(())
}

/// Adds a message from the hub. The caller saves the task.
pub(crate) fn add_system(tx: &mut Tx<'_>, task: &mut Task, text: String, now: &Now) -> Result<(), Error> {
    task.counts.messages += 1;
    let message = Message {
        id: now.new_id(),
        task: task.id.clone(),
        in_reply_to: None,
        number: task.counts.messages,
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
        deleted: false,
        foreign: Foreign::default(),
        step: task.step(),
        artifact: None,
        direct: false,
    };
    Ok(rows::insert(tx, &message, None, None)?)
}

/// A page of a thread, oldest first. The next page holds older messages.
pub fn list(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    before: Option<i64>,
    limit: i64,
    now: &Now,
) -> Result<Page<Message, i64>, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        let (mut found, cut) = rows::before(tx, &task.id, before.unwrap_or(i64::MAX), limit + 1)?;
        show_marks(tx, &task, &mut found)?;
        Ok(Page::newest(found, cut, limit, |message| message.number))
    })
}

/// When the message with this number was written; none if there is none.
pub fn written_at(tx: &mut Tx<'_>, task: &TaskId, number: i64) -> Result<Option<Timestamp>, Error> {
    let (mut found, _) = rows::before(tx, task, number.saturating_add(1), 1)?;
    Ok(found.pop().filter(|message| message.number == number).map(|message| message.created_at))
}

/// These messages of a task, oldest first. Those that no longer exist are left out.
pub fn by_ids(
    tx: &mut Tx<'_>,
    by: &AgentId,
    id: &TaskId,
    messages: &[MessageId],
    now: &Now,
) -> Result<Vec<Message>, Error> {
    on_task(tx, by, id, now, |tx, task, _| {
        let mut found = rows::by_ids(tx, &task.id, messages)?;
        show_marks(tx, &task, &mut found)?;
        Ok(found)
    })
}
