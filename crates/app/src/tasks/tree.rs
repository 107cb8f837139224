//! The tree of subtasks below a task.

use std::collections::VecDeque;

use tandem_core::{AgentId, Now, Refusal, Role, Task, TaskId};
use tandem_store::{Tx, tasks as rows};

use super::on_task;
use crate::Error;

/// Tasks in one response.
pub const TREE_MAX: usize = 500;

/// A task and its descendants, without their content. Only the initiator may see it.
#[derive(Debug, Clone)]
pub struct Tree {
    pub root: Task,
    /// Descendants with their depth, in breadth-first order.
    pub descendants: Vec<(i64, Task)>,
    pub has_more: bool,
}

/// The published descendants of one of the caller's tasks.
pub fn tree(tx: &mut Tx<'_>, by: &AgentId, id: &TaskId, now: &Now) -> Result<Tree, Error> {
    on_task(tx, by, id, now, |tx, root, role| {
        if role != Role::Initiator {
            return Err(Refusal::NotYourMove.into());
        }
        let mut tree = Tree { root, descendants: Vec::new(), has_more: false };
        let mut parents = VecDeque::from([(0, tree.root.id.clone())]);
        while let Some((depth, parent)) = parents.pop_front() {
            let room = TREE_MAX - tree.descendants.len();
            let found = rows::children(tx, &parent, i64::try_from(room).unwrap_or(0) + 1)?;
            for child in found {
                if tree.descendants.len() == TREE_MAX {
                    tree.has_more = true;
                    return Ok(tree);
                }
                parents.push_back((depth + 1, child.id.clone()));
                tree.descendants.push((depth + 1, child));
            }
        }
        super::check_not_overdue(tree.descendants.iter().map(|found| &found.1), now)?;
        Ok(tree)
    })
}
