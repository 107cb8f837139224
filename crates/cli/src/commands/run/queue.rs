//! Tasks that wait for a free place, and those that have one.

use std::collections::{HashMap, HashSet, VecDeque};

use tandem_core::TaskId;

use super::task::Control;

/// Tasks that wait. More are found again when these are done.
const WAITING_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<TaskId>,
    known: HashSet<TaskId>,
    active: HashMap<TaskId, Control>,
    /// Active tasks to which something happened, so that they are looked at again.
    again: HashSet<TaskId>,
    /// Whether some found no room.
    is_cut: bool,
}

impl Queue {
    /// Adds a task, once.
    pub(super) fn add(&mut self, task: TaskId) {
        if let Some(control) = self.active.get(&task) {
            control.check.notify_one();
            self.again.insert(task);
        } else if self.waiting.len() >= WAITING_MAX {
            self.is_cut = true;
        } else if self.known.insert(task.clone()) {
            self.waiting.push_back(task);
        }
    }

    pub(super) fn is_active(&self, task: &TaskId) -> bool {
        self.active.contains_key(task)
    }

    pub(super) fn active_count(&self) -> usize {
        self.active.len()
    }

    pub(super) fn active(&self) -> impl Iterator<Item = &Control> {
        self.active.values()
    }

    /// The next task. It is active until [`ended`](Self::ended).
    pub(super) fn start(&mut self, control: &Control) -> Option<TaskId> {
        let task = self.waiting.pop_front()?;
        self.known.remove(&task);
        self.active.insert(task.clone(), control.clone());
        Some(task)
    }

    pub(super) fn ended(&mut self, task: &TaskId) {
        self.active.remove(task);
        if self.again.remove(task) {
            self.add(task.clone());
        }
    }

    /// Whether tasks that found no room are to be looked for now.
    pub(super) fn wants_more(&mut self) -> bool {
        self.waiting.is_empty() && std::mem::take(&mut self.is_cut)
    }
}
