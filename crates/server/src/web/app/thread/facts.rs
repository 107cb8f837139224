//! The facts about a task beside its thread: parties, terms, progress, keys.

use tandem_api::actor::Actor;
use tandem_api::tasks::TaskView;
use tandem_core::tasks::{OnStall, Priority};
use tandem_core::{AgentId, Role, Status};
use tandem_hub::ops::threads::{PartyKey, ThreadPage};
use tandem_seal::PublicKey;

use super::super::Shell;
use super::super::people::Party;
use super::super::words::{self, When};

/// Whoever did something. It is decided by ids: an agent may be called "You" or "The hub".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Author {
    /// The agent whose page this is, or its owner.
    Own,
    Hub,
    /// Another agent, by its name.
    Peer(String),
    FormerTarget,
}

impl Author {
    pub(crate) fn of(actor: &Actor, task: &TaskView, shell: &Shell) -> Self {
        match actor {
            Actor::System => Self::Hub,
            Actor::Agent(id) if shell.is_me(id) => Self::Own,
            Actor::Agent(id) if *id == task.initiator_agent_id => {
                Self::Peer(task.initiator_agent_name.as_str().to_owned())
            }
            Actor::Agent(id) if *id == task.target_agent_id => {
                Self::Peer(task.target_agent_name.as_str().to_owned())
            }
            Actor::Agent(_) => Self::FormerTarget,
        }
    }

    /// At the beginning of a sentence, without colours: a name is in quotation marks.
    pub(crate) fn in_sentence(&self) -> String {
        match self {
            Self::Own => "Your agent, or you in another window,".to_owned(),
            Self::Hub => "The hub".to_owned(),
            Self::Peer(name) => words::quoted(name),
            Self::FormerTarget => "A former target".to_owned(),
        }
    }
}

/// An agent that a task can be given to.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_online: bool,
}

/// A public key as people compare it, and as the page's script needs it.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) agent: String,
    pub(crate) name: String,
    pub(crate) pem: String,
    pub(crate) words: Option<String>,
}

impl Key {
    pub(crate) fn new(agent: &AgentId, name: &str, pem: &str) -> Self {
        Self { agent: agent.to_string(), name: name.to_owned(), pem: pem.to_owned(), words: fingerprint(pem) }
    }

    fn of(key: &PartyKey, name: &str) -> Option<Self> {
        Some(Self::new(&key.agent, name, key.pem.as_deref()?))
    }
}

/// The fingerprint of a public key in words.
pub(crate) fn fingerprint(pem: &str) -> Option<String> {
    PublicKey::from_pem(pem).ok().map(|key| key.fingerprint().words())
}

/// Progress as the target reported it.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub(crate) percent: Option<i64>,
    pub(crate) note: Option<String>,
}

/// What is known about a task.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) id: String,
    pub(crate) initiator: Party,
    pub(crate) target: Party,
    pub(crate) other: Party,
    pub(crate) me: Party,
    /// Priority, attempt, review and budget, in one line.
    pub(crate) terms: String,
    pub(crate) created: When,
    pub(crate) expires: Option<When>,
    pub(crate) expires_soon: bool,
    pub(crate) ttl: Option<String>,
    pub(crate) lease: Option<String>,
    pub(crate) lease_until: Option<When>,
    pub(crate) progress: Option<Progress>,
    pub(crate) reason: Option<String>,
    /// What the owner of the target wrote when approving.
    pub(crate) owner_note: Option<String>,
    pub(crate) own_session: Option<String>,
    pub(crate) network: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) usage: Option<String>,
    pub(crate) unread: i64,
    pub(crate) ahead: Option<i64>,
    pub(crate) keys: Vec<Key>,
}

/// Less than this is left: say it in colour.
const SOON_MS: i64 = 15 * 60 * 1_000;

impl Facts {
    pub(crate) fn of(thread: &ThreadPage, shell: &Shell) -> Self {
        let task = &thread.task;
        let (initiator, target) = (Party::initiator(task, shell), Party::target(task, shell));
        let is_initiator = thread.role == Role::Initiator;
        let (own, other) = if is_initiator { (&initiator, &target) } else { (&target, &initiator) };
        let can_expire = task.status == Status::Submitted && task.acknowledged_at.is_none();
        let expires_at = task.expires_at.filter(|_| can_expire);
        let own_session = if is_initiator { &task.initiator_session_key } else { &task.target_session_key };
        let names = [&initiator.name, &target.name];
        let keys = thread.keys.iter().zip(names).filter_map(|(key, name)| Key::of(key, name));
        let has_progress = task.progress.is_some() || task.progress_note.is_some();
        let usage = task.usage_reported.to_string();
        Self {
            id: task.id.to_string(),
            terms: terms(thread, &initiator),
            created: shell.when(&task.created_at),
            expires: expires_at.map(|at| shell.when(&at)),
            expires_soon: expires_at.is_some_and(|at| at.ms_since(shell.now) < SOON_MS),
            ttl: task.ttl_seconds.map(seconds),
            lease: task.lease_seconds.map(|lease| format!("{}, then {}", seconds(lease), on_stall(task))),
            lease_until: thread.lease_until.map(|at| shell.when(&at)),
            progress: has_progress.then(|| Progress {
                percent: task.progress,
                note: task.progress_note.as_ref().map(|note| note.as_str().to_owned()),
            }),
            reason: task.status_reason.as_ref().map(|reason| reason.as_str().to_owned()),
            owner_note: task.approval_note.as_ref().map(|note| note.as_str().to_owned()),
            own_session: own_session.as_ref().map(|key| key.as_str().to_owned()),
            network: task.network_id.as_ref().map(ToString::to_string),
            parent: task.parent_task_id.as_ref().map(ToString::to_string),
            usage: (usage != "0 USD").then_some(usage),
            unread: task.unread_count,
            ahead: task.delivery.ahead.filter(|_| task.status == Status::Submitted),
            keys: keys.collect(),
            me: own.clone(),
            other: other.clone(),
            initiator,
            target,
        }
    }
}

/// A time of some seconds, exact: a term is a promise.
pub(crate) fn seconds(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        _ => format!("{} s", words::thousands(seconds)),
    }
}

fn on_stall(task: &TaskView) -> String {
    match task.on_stall {
        OnStall::Notify => "the sender is told".to_owned(),
        OnStall::Expire => "it expires".to_owned(),
        OnStall::Retry => format!("a new attempt, {} at most", task.max_attempts),
    }
}

/// The priority of a task in words.
pub(crate) fn priority(priority: Priority) -> &'static str {
    match priority {
        Priority::High => "High priority",
        Priority::Normal => "Normal priority",
        Priority::Low => "Low priority",
    }
}

fn terms(thread: &ThreadPage, initiator: &Party) -> String {
    let task = &thread.task;
    let mut parts = vec![priority(task.priority).to_owned()];
    parts.push(match task.on_stall {
        OnStall::Retry => format!("attempt {} of {}", task.attempt, task.max_attempts),
        _ => format!("attempt {}", task.attempt),
    });
    parts.push(match (task.requires_review, initiator.is_me) {
        (true, true) => "you accept the result".to_owned(),
        (true, false) => "the sender accepts the result".to_owned(),
        (false, _) => "no review".to_owned(),
    });
    let (used, max) = (words::thousands(thread.messages_used), words::thousands(task.max_messages));
    parts.push(format!("{used} of {max} messages"));
    parts.join(" · ")
}
