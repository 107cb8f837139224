//! The event log: use cases append events to the recipient's log, and agents read their own log by cursor.

use serde::Serialize;
use tandem_core::events::{EventKind, Subject};
use tandem_core::{AgentId, MessageId, Now, Task, TaskId};
use tandem_store::Tx;
use tandem_store::events::{self as log, Appended, Cursors, Logged, NewEvent};

use crate::{Error, Page};

/// Page size when the log is read.
pub const PAGE_MAX: i64 = 100;

/// An event before it is stored.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    kind: EventKind,
    task: Option<&'a Task>,
    message: Option<&'a MessageId>,
    from: Option<(&'a AgentId, &'a str)>,
    /// The fields of `data`, as the inside of a JSON object.
    fields: String,
}

impl<'a> Event<'a> {
    /// An event about a task. `from` is the party that caused it; `None` means the hub.
    pub(crate) fn on_task(kind: EventKind, task: &'a Task, from: Option<(&'a AgentId, &'a str)>) -> Self {
        Self { kind, task: Some(task), message: None, from, fields: String::new() }
            .with("initiatorSessionKey", task.initiator_side.session_key.as_deref())
            .with("targetSessionKey", task.target_side.session_key.as_deref())
    }

    /// An event about an agent, without a task.
    pub(crate) fn from_agent(kind: EventKind, from: (&'a AgentId, &'a str)) -> Self {
        Self { kind, task: None, message: None, from: Some(from), fields: String::new() }
    }

    /// Adds a field, unless its value is null. The event's type, task, message and sender have columns of their own
    /// and are not added here.
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

    /// Sets the message that the event is about.
    pub(crate) fn with_message(mut self, id: &'a MessageId) -> Self {
        self.message = Some(id);
        self
    }

    /// Converts the event into a row.
    fn into_new_event(self, now: &Now) -> NewEvent<'a> {
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

/// Appends an event to an agent's log.
pub(crate) fn append_event(
    tx: &mut Tx<'_>,
    to: &AgentId,
    event: Event<'_>,
    now: &Now,
) -> Result<Appended, Error> {
    append_events(tx, to, vec![event], now)
}

/// Appends events to an agent's log, in the given order.
pub(crate) fn append_events(
    tx: &mut Tx<'_>,
    to: &AgentId,
    events: Vec<Event<'_>>,
    now: &Now,
) -> Result<Appended, Error> {
    let new: Vec<NewEvent<'_>> = events.into_iter().map(|event| event.into_new_event(now)).collect();
    Ok(log::append(tx, to, &new)?)
}

/// The tasks that these events give to their recipient.
#[must_use]
pub fn assigned_tasks(events: &[Logged]) -> Vec<TaskId> {
    let assigning = events.iter().filter(|event| event.subject().is_some_and(Subject::assigns_task));
    assigning.filter_map(|event| event.task.clone()).collect()
}

/// A page of an agent's event log.
#[derive(Debug, Clone)]
pub struct LogPage {
    /// The events, oldest first.
    pub events: Vec<Logged>,
    /// Cursor of the next page.
    pub cursor: i64,
    pub has_more: bool,
    /// Whether this page reaches beyond what the agent has fetched before.
    pub is_new: bool,
}

/// Where a stream of the caller's events starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Behind this event.
    After(i64),
    /// Behind the last event that the caller has acknowledged.
    Acknowledged,
    /// With what is new.
    End,
}

impl From<Option<i64>> for Start {
    fn from(after: Option<i64>) -> Self {
        after.map_or(Self::End, Self::After)
    }
}

/// Start cursor of a stream of the caller's events. It is never beyond the end of the log.
pub fn start_cursor(tx: &mut Tx<'_>, by: &AgentId, start: Start) -> Result<i64, Error> {
    let cursors = log::cursors(tx, by)?;
    Ok(match start {
        Start::After(after) => start_of(cursors, Some(after), cursors.last),
        Start::Acknowledged => cursors.events_acked,
        Start::End => cursors.last,
    })
}

/// Where reading starts. A cursor beyond the end comes from before a restore; it means the end, or the events up to it
/// would be missed.
fn start_of(cursors: Cursors, after: Option<i64>, otherwise: i64) -> i64 {
    after.unwrap_or(otherwise).min(cursors.last)
}

/// Reads the caller's log after a cursor, or after the acknowledged cursor.
pub fn read(tx: &mut Tx<'_>, by: &AgentId, after: Option<i64>) -> Result<LogPage, Error> {
    let cursors = log::cursors(tx, by)?;
    let start = start_of(cursors, after, cursors.events_acked);
    let mut events = log::after(tx, by, start, PAGE_MAX + 1)?;
    let page = usize::try_from(PAGE_MAX).unwrap_or_default();
    let has_more = events.len() > page;
    events.truncate(page);
    let cursor = events.last().map_or(start, |event| event.seq);
    let is_new = !events.is_empty() && cursor > cursors.fetched;
    Ok(LogPage { events, cursor, has_more, is_new })
}

/// Numbers of the log that one search by type looks at. A rare type is searched for page by page, so that no request
/// reads a whole log.
pub const SEARCHED_MAX: i64 = 5_000;

/// Which events of the caller's log are wanted.
#[derive(Debug, Clone, Default)]
pub struct Newest {
    /// Only events before this number.
    pub before: Option<i64>,
    /// Only these types; none named means all.
    pub kinds: Vec<EventKind>,
    /// Only events about this task.
    pub task: Option<TaskId>,
}

/// The caller's events, newest first. The next page begins before the number in `next`; a page of a search by type may
/// have no event although older ones match.
pub fn newest(
    tx: &mut Tx<'_>,
    by: &AgentId,
    wanted: &Newest,
    limit: i64,
) -> Result<Page<Logged, i64>, Error> {
    let end = log::cursors(tx, by)?.last.saturating_add(1);
    let before = wanted.before.unwrap_or(end).min(end);
    let is_search = !wanted.kinds.is_empty() && wanted.task.is_none();
    let from = if is_search { (before - SEARCHED_MAX).max(0) } else { 0 };
    let range = log::Wanted { from, before, kinds: &wanted.kinds, task: wanted.task.as_ref() };
    let page = Page::cut(log::newest(tx, by, &range, limit + 1)?, limit, |event| event.seq);
    let further = Some(from).filter(|from| *from > 1);
    Ok(Page { next: page.next.or(further), ..page })
}

/// Stores how far agents have read their logs by polling.
pub fn write_polled(tx: &mut Tx<'_>, polled: &[(AgentId, i64)]) -> Result<(), Error> {
    for (agent, to) in polled {
        log::set_fetched(tx, agent, *to)?;
    }
    Ok(())
}

/// Acknowledges the log up to a cursor. Returns the acknowledged cursor, which never moves back.
pub fn acknowledge(tx: &mut Tx<'_>, by: &AgentId, cursor: i64) -> Result<i64, Error> {
    Ok(log::acknowledge_events(tx, by, cursor)?)
}
