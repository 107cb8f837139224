//! When two names are the same, and names on encrypted tasks. The hub could put any name next to a text, so those come from
//! the caller's own profile and from the pins, never from a view.

use std::collections::HashMap;

use tandem_api::actor::Actor;
use tandem_api::messages::MessageView;
use tandem_api::tasks::TaskView;
use tandem_api::text::{Author, PeerName};
use tandem_core::AgentId;
use tandem_core::text::is_invisible;
use unicode_normalization::UnicodeNormalization as _;

use crate::Client;

/// Characters of a name that are shown in an error.
const NAME_CHARS_MAX: usize = 100;

/// A name in one line without invisible characters, for an error that has lines of its own.
pub(super) fn one_line(name: &str) -> String {
    let blank = |c: char| if c.is_control() || c.is_whitespace() { ' ' } else { c };
    let clean: String = name.chars().take(NAME_CHARS_MAX).map(blank).filter(|c| !is_invisible(*c)).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name as it is compared: names that cannot be told apart by eye are the same. Case, blanks around it and how many there
/// are between words do not count, nor do invisible characters, and each letter has one form (NFKC). Look-alikes of
/// different scripts stay different.
#[must_use]
pub fn folded_name(name: &str) -> String {
    let visible: String = name.chars().filter(|c| !is_invisible(*c)).collect();
    // A letter can become another one in small letters, so its form is the last step.
    let small = visible.nfkc().collect::<String>().to_lowercase().nfkc().collect::<String>();
    small.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Client {
    /// Replaces the senders' names in messages of an encrypted task. Those of a plain one stay.
    pub fn name_senders(&self, task: &TaskView, messages: &mut [MessageView]) {
        if matches!(self.is_encrypted(task), Ok(false)) {
            return;
        }
        let mut names = HashMap::new();
        for message in messages {
            message.sender_agent_name = match &message.sender_agent_id {
                Actor::Agent(agent) => {
                    let name = names.entry(agent.clone()).or_insert_with(|| self.known_name(agent));
                    Some(name.clone())
                }
                Actor::System => None,
            };
        }
    }

    /// Replaces the names of the parties in a view of an encrypted task.
    pub(super) fn name_parties(&self, task: &mut TaskView) {
        task.initiator_agent_name = self.known_name(&task.initiator_agent_id);
        task.target_agent_name = self.known_name(&task.target_agent_id);
    }

    /// The name of an agent as it is known here; its id if it is not.
    pub(super) fn known_name(&self, agent: &AgentId) -> PeerName {
        let Ok(keyring) = self.keyring() else { return PeerName::peer(agent.as_str()) };
        if keyring.agent() == agent {
            return PeerName::new(Author::Reader, keyring.name());
        }
        let pinned = keyring.pins().ok().and_then(|pins| pins.name(agent));
        // Its texts would look like the caller's own.
        let pinned = pinned.filter(|name| folded_name(name) != folded_name(keyring.name()));
        PeerName::peer(pinned.unwrap_or_else(|| agent.to_string()))
    }
}
