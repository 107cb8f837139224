//! The caller of an operation: the agent, its key and the conditions of its request.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tandem_app::decisions::Origin;
use tandem_app::idempotency::Key;
use tandem_app::keys::KeyHash;
use tandem_core::{AgentId, Way};
use tandem_store::Owner;

use crate::callers::budget::{Held, RequestMemory};

/// A client address, for rate limits.
#[derive(Debug, Clone)]
pub struct Address {
    pub ip: IpAddr,
    /// The key under which the address is counted.
    pub key: Arc<str>,
}

impl Address {
    /// An IPv4 address is counted as a whole, an IPv6 address by its /64 network.
    #[must_use]
    pub fn new(ip: IpAddr) -> Self {
        Self { ip, key: crate::callers::rates::address_key(ip).into() }
    }
}

/// The calling agent and the conditions of its request.
#[derive(Debug, Clone)]
pub struct Caller {
    pub agent: AgentId,
    /// Hash of the key in the request. Every write checks that it is still the agent's key.
    pub key_hash: KeyHash,
    pub address: Address,
    pub idempotency: Option<Arc<IdempotentRequest>>,
    /// The versions in `If-Match`.
    pub if_match: Option<Vec<i64>>,
    /// Whether a person looks at the agent's things in the dashboard. Delivery marks and presence are about the agent, so
    /// such a request leaves none.
    pub is_person: bool,
    /// By which way the request came, for the log of decisions.
    pub origin: Origin,
    /// The memory of the request's body. It is held as long as the caller, because the body becomes the operation's
    /// input.
    pub held: Option<Arc<Held>>,
    /// The memory of what the request reads.
    pub memory: Option<RequestMemory>,
}

/// Callers of the store take turns by agent.
impl From<&Caller> for Owner {
    fn from(caller: &Caller) -> Self {
        Self::agent(&caller.agent)
    }
}

impl From<&Address> for Owner {
    fn from(address: &Address) -> Self {
        Self::address(&address.key)
    }
}

impl Caller {
    /// A caller without conditions.
    #[must_use]
    pub fn new(agent: AgentId, key_hash: KeyHash, address: Address) -> Self {
        let (idempotency, if_match, is_person) = (None, None, false);
        let origin = Origin::of(Way::Rest);
        Self { agent, key_hash, address, idempotency, if_match, is_person, origin, held: None, memory: None }
    }

    /// The same for a request with memory for what it reads.
    #[must_use]
    pub fn with_memory(self, memory: Option<&RequestMemory>) -> Self {
        Self { memory: memory.cloned(), ..self }
    }

    /// The same agent, for a person who looks at a page.
    #[must_use]
    pub fn as_person(self) -> Self {
        Self { is_person: true, origin: Origin::of(Way::Page), ..self }
    }

    /// The same for a request that came by another way than the API.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Where a decision comes from, for the log.
    #[must_use]
    pub(crate) fn deciding(&self) -> Origin {
        Origin { address: Some(self.address.ip.to_string()), ..self.origin.clone() }
    }

    #[must_use]
    pub fn with_idempotency_key(self, key: Option<Key>) -> Self {
        Self { idempotency: key.map(|key| Arc::new(IdempotentRequest::new(key))), ..self }
    }

    /// Whether the answer was stored by an earlier request with the same idempotency key.
    #[must_use]
    pub fn was_replayed(&self) -> bool {
        self.idempotency.as_ref().is_some_and(|once| once.was_replayed())
    }
}

/// A request with an idempotency key.
#[derive(Debug)]
pub struct IdempotentRequest {
    pub(crate) key: Key,
    replayed: AtomicBool,
}

impl IdempotentRequest {
    #[must_use]
    pub fn new(key: Key) -> Self {
        Self { key, replayed: AtomicBool::new(false) }
    }

    /// Whether the answer was stored by an earlier request with the same key.
    #[must_use]
    pub fn was_replayed(&self) -> bool {
        self.replayed.load(Relaxed)
    }

    pub(crate) fn note_replayed(&self) {
        self.replayed.store(true, Relaxed);
    }
}
