//! Telling agents what happened, and letting them read it.

use serde::Serialize;
use tandem_core::events::EventKind;
use tandem_core::{AgentId, MessageId, Now, Task, TaskId};
use tandem_store::Tx;
use tandem_store::events::{self as log, Logged, NewEvent};

use crate::Error;

/// How many events one look into the log gives at most.
pub const PAGE_MAX: i64 = 100;

/// An event on its way into a log.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    kind: EventKind,
    task: Option<&'a Task>,
    message: Option<&'a MessageId>,
    from: Option<(&'a AgentId, &'a str)>,
    /// Its own fields, as the inside of a JSON object.
    fields: String,
}

impl<'a> Event<'a> {
    /// An event about a task; `from` is who caused it, nobody for the hub.
    pub(crate) fn on_task(kind: EventKind, task: &'a Task, from: Option<(&'a AgentId, &'a str)>) -> Self {
        Self { kind, task: Some(task), message: None, from, fields: String::new() }
            .with("initiatorSessionKey", task.initiator_side.session_key.as_deref())
            .with("targetSessionKey", task.target_side.session_key.as_deref())
    }

    /// An event about an agent, and no task.
    pub(crate) fn from_agent(kind: EventKind, from: (&'a AgentId, &'a str)) -> Self {
        Self { kind, task: None, message: None, from: Some(from), fields: String::new() }
    }

    /// Adds a field, if it has a value. What the log keeps beside an event's fields needs none: its type, its task, its
    /// message and who caused it.
    pub(crate) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        match serde_json::to_string(&value) {
            Ok(value) if value != "null" => {
                let comma = if self.fields.is_empty() { "" } else { "," };
                self.fields.extend([comma, "\"", name, "\":", &value]);
            }
            _ => {}
        }
        self
    }

    /// Adds the message it is about.
    pub(crate) fn with_message(mut self, id: &'a MessageId) -> Self {
        self.message = Some(id);
        self
    }

    /// The event as it is stored.
    fn finished(self, now: &Now) -> NewEvent<'a> {
        let event = match self.from {
            Some((_, name)) => self.with("fromAgentName", name),
            None => self,
        };
        NewEvent {
            kind: event.kind,
            task: event.task.map(|task| &task.id),
            message: event.message,
            from: event.from.map(|from| from.0),
            data: format!("{{{}}}", event.fields),
            at: now.at,
        }
    }
}

/// Writes an event into an agent's log; tells its number there.
pub(crate) fn tell(tx: &mut Tx<'_>, to: &AgentId, event: Event<'_>, now: &Now) -> Result<i64, Error> {
    tell_all(tx, to, vec![event], now)
}

/// Writes events into an agent's log, in their order; tells the number of the last.
pub(crate) fn tell_all(
    tx: &mut Tx<'_>,
    to: &AgentId,
    events: Vec<Event<'_>>,
    now: &Now,
) -> Result<i64, Error> {
    let new: Vec<NewEvent<'_>> = events.into_iter().map(|event| event.finished(now)).collect();
    Ok(log::append(tx, to, &new)?)
}

/// Whether an event hands a task to the agent it is told to.
fn hands_over(event: &Logged) -> bool {
    [EventKind::TaskCreated, EventKind::TaskApprovalRequired].iter().any(|kind| kind.as_str() == event.kind)
}

/// The tasks that these events hand over.
#[must_use]
pub fn handed_over(events: &[Logged]) -> Vec<TaskId> {
    events.iter().filter(|event| hands_over(event)).filter_map(|event| event.task.clone()).collect()
}

/// One look into the log.
#[derive(Debug, Clone)]
pub struct Look {
    /// The events, oldest first.
    pub events: Vec<Logged>,
    /// Where the next look begins.
    pub cursor: i64,
    /// Whether there is more behind it already.
    pub has_more: bool,
    /// Whether the caller has come further by this than it ever was.
    pub is_new: bool,
}

/// Where a feed of the caller's events begins: after a number, but not beyond the end; at the end where
/// none is given.
pub fn start(tx: &mut Tx<'_>, by: &AgentId, after: Option<i64>) -> Result<i64, Error> {
    let last = log::cursors(tx, by)?.last;
    Ok(after.map_or(last, |after| after.min(last)))
}

/// The caller's events after a number, or after what it has acknowledged.
pub fn read(tx: &mut Tx<'_>, by: &AgentId, after: Option<i64>) -> Result<Look, Error> {
    let cursors = log::cursors(tx, by)?;
    let start = after.unwrap_or(cursors.events_acked);
    let mut events = log::after(tx, by, start, PAGE_MAX + 1)?;
    let page = usize::try_from(PAGE_MAX).unwrap_or_default();
    let has_more = events.len() > page;
    events.truncate(page);
    let cursor = events.last().map_or(start, |event| event.seq);
    let is_new = !events.is_empty() && cursor > cursors.fetched;
    Ok(Look { events, cursor, has_more, is_new })
}

/// Notes that the caller has read its log by polling up to a number, and fetched these tasks with it.
pub fn note_fetched(
    tx: &mut Tx<'_>,
    by: &AgentId,
    to: i64,
    tasks: &[TaskId],
    now: &Now,
) -> Result<(), Error> {
    crate::tasks::mark_fetched(tx, by, tasks, now)?;
    Ok(log::set_fetched(tx, by, to)?)
}

/// Acknowledges the log up to a number; tells where the cursor stands.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, cursor: i64) -> Result<i64, Error> {
    Ok(log::acknowledge_events(tx, by, cursor)?)
}
