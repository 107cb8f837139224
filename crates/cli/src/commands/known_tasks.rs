//! What is known of an encrypted task besides what the hub says, for texts that a model reads: its title and its parties, as the
//! pinned keys have signed them.

use tandem_api::text::{Author, PeerName};
use tandem_client::{Client, Trust};
use tandem_core::{AgentId, TaskId};
use tandem_server::mcp::shared::fence;

/// Before a name for which no key vouches.
pub(super) const UNVERIFIED_NAME: &str = "unverified: ";

/// What is known of an encrypted task.
#[derive(Debug)]
pub(super) enum Known {
    Verified {
        title: String,
        initiator: Party,
        target: Party,
        is_own: bool,
    },
    Unverified,
    /// Nobody has looked yet.
    NotOpened,
}

/// A party of a task, as a model sees it.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) id: String,
    pub(super) name: String,
}

impl Known {
    /// Asks the hub for a task, and opens its title.
    pub(super) async fn of(client: &Client, id: &TaskId) -> Self {
        let Ok(task) = client.task(id).await else { return Self::Unverified };
        let opened = client.open_description(task).await;
        let view = &opened.view;
        // The own signature does not say for whom it is.
        let peer = client.keyring().and_then(|keyring| Ok(keyring.pins()?.peer(id)));
        if opened.trust != Trust::Verified || !matches!(peer, Ok(Some(_))) {
            return Self::Unverified;
        }
        Self::Verified {
            title: title(&view.title),
            initiator: Party::new(&view.initiator_agent_id, &view.initiator_agent_name),
            target: Party::new(&view.target_agent_id, &view.target_agent_name),
            is_own: view.title.author() == Author::Reader,
        }
    }

    /// The other party: whom the task is from, for its target.
    pub(super) fn other_party(&self) -> Option<&Party> {
        match self {
            Self::Verified { target, is_own: true, .. } => Some(target),
            Self::Verified { initiator, .. } => Some(initiator),
            Self::Unverified | Self::NotOpened => None,
        }
    }
}

impl Party {
    fn new(id: &AgentId, name: &PeerName) -> Self {
        let shown = match name.author() {
            Author::Reader => name.as_str().to_owned(),
            _ => fence::name(name.as_str()),
        };
        Self { id: fence::id(id.as_str()), name: shown }
    }
}

/// Whether a task is encrypted: the hub shows it so, by its title, or it is known to be.
pub(super) fn is_encrypted(client: &Client, id: &TaskId, title: Option<&str>) -> bool {
    title == Some(tandem_seal::CLEAR_TITLE) || client.is_known_encrypted(id).unwrap_or(true)
}

/// The title of a task; `None` if the task is encrypted and the title cannot be verified.
pub(super) async fn title_of(client: &Client, id: &TaskId) -> Option<String> {
    let opened = client.open_description(client.task(id).await.ok()?).await;
    match opened.trust {
        Trust::Verified => Some(title(&opened.view.title)),
        Trust::Plain => Some(fence::text(opened.view.title.as_str())),
        Trust::Unopened | Trust::Unreadable(_) => None,
    }
}

fn title(title: &tandem_api::text::PeerText) -> String {
    match title.author() {
        Author::Reader => title.as_str().to_owned(),
        _ => fence::text(title.as_str()),
    }
}
