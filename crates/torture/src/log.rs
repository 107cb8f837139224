//! What is compared of an event: its number, and what it is about.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// An event as the log, a frame or a webhook shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) cursor: i64,
    pub(crate) kind: String,
    pub(crate) task: String,
    pub(crate) message: String,
    pub(crate) status: String,
}

fn field(of: &Value, name: &str) -> String {
    of[name].as_str().unwrap_or_default().to_owned()
}

impl Logged {
    /// An event of `GET /events`.
    pub(crate) fn of_log(event: &Value) -> Self {
        let data = &event["data"];
        Self {
            cursor: event["id"].as_i64().unwrap_or(-1),
            kind: field(event, "type"),
            task: field(event, "taskId"),
            message: field(data, "messageId"),
            status: field(data, "status"),
        }
    }

    /// A frame of a socket or a stream.
    pub(crate) fn of_frame(frame: &Value) -> Self {
        Self {
            cursor: frame["cursor"].as_i64().unwrap_or(-1),
            kind: field(frame, "type"),
            task: field(frame, "taskId"),
            message: field(frame, "messageId"),
            status: field(frame, "status"),
        }
    }
}

/// An agent's log as far as it was read, with what it has to contain once.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) events: Vec<Logged>,
    /// How many events of a kind there are about a task or a message.
    counts: HashMap<(String, String), usize>,
    /// How many events were looked through for unknown tasks.
    checked: usize,
}

impl Truth {
    pub(crate) fn last(&self) -> i64 {
        self.events.last().map_or(0, |event| event.cursor)
    }

    /// Adds events, and returns what is wrong with their numbers.
    pub(crate) fn extend(&mut self, new: Vec<Logged>) -> Vec<String> {
        let mut wrong = Vec::new();
        for event in new {
            if event.cursor != self.last() + 1 {
                wrong.push(format!("after event {} came {event:?}", self.last()));
            }
            let about = if event.message.is_empty() { &event.task } else { &event.message };
            let kind = if event.kind == "task.updated" {
                format!("task.updated {}", event.status)
            } else {
                event.kind.clone()
            };
            *self.counts.entry((kind, about.clone())).or_default() += 1;
            self.events.push(event);
        }
        wrong
    }

    /// How many events of a kind there are about something.
    pub(crate) fn count(&self, kind: &str, about: &str) -> usize {
        self.counts.get(&(kind.to_owned(), about.to_owned())).copied().unwrap_or_default()
    }

    /// The new tasks since the last call that are not among the known ones.
    pub(crate) fn unchecked_tasks(&mut self, known: &HashSet<&str>) -> Vec<String> {
        let new = &self.events[self.checked..];
        self.checked = self.events.len();
        let created = new.iter().filter(|event| event.kind == "task.created");
        created.map(|event| event.task.clone()).filter(|task| !known.contains(task.as_str())).collect()
    }
}
