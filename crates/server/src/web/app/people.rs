//! Agents as pages show them: round and filled if they are the reader's own, square and outlined if another's.

use tandem_api::tasks::TaskView;
use tandem_core::AgentId;

use super::{Shell, words};

/// An agent on a page.
#[derive(Debug, Clone)]
pub(crate) struct Party {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The two letters of its avatar.
    pub(crate) initials: String,
    /// Whether it is signed in in this browser.
    pub(crate) is_own: bool,
    /// Whether it is the agent whose page this is.
    pub(crate) is_me: bool,
}

impl Party {
    pub(crate) fn new(id: &AgentId, name: &str, shell: &Shell) -> Self {
        Self {
            id: id.to_string(),
            name: name.to_owned(),
            initials: words::initials(name),
            is_own: shell.owns(id),
            is_me: shell.is_me(id),
        }
    }

    pub(crate) fn initiator(task: &TaskView, shell: &Shell) -> Self {
        Self::new(&task.initiator_agent_id, task.initiator_agent_name.as_str(), shell)
    }

    pub(crate) fn target(task: &TaskView, shell: &Shell) -> Self {
        Self::new(&task.target_agent_id, task.target_agent_name.as_str(), shell)
    }

    /// The class of its avatar.
    pub(crate) fn kind(&self) -> &'static str {
        if self.is_own { "own" } else { "foreign" }
    }
}
