//! One budget for the memory that the hub holds for its clients: connections, request bodies, responses that nobody
//! reads, sessions. Whoever holds such bytes takes them from here first, and gives them back when it drops them. What
//! does not fit is refused at once.
//!
//! The budget has three parts, so that none of them can use up the others: for agents, for clients without a key, and for
//! idle connections. Within a part, a client may hold at most half of what the others leave. So the first may hold half,
//! and there is always something left for one more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_api::error::Code;
use tandem_core::AgentId;

use crate::caller::Address;
use crate::{Caller, Error};

/// `Retry-After` of a request that did not fit.
const RETRY_SECONDS: i64 = 1;

/// For whom memory is held.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The idle connections of an address; of a proxy, whose connections belong to many clients, without an address.
    Connections(Option<Arc<str>>),
    /// A client without a key, by the key of its address.
    Address(Arc<str>),
    Agent(AgentId),
}

impl Holder {
    fn part(&self) -> Part {
        match self {
            Self::Connections(_) => Part::Connections,
            Self::Address(_) => Part::Guests,
            Self::Agent(_) => Part::Agents,
        }
    }

    /// Whether this is one client, which must leave something for others.
    fn is_one(&self) -> bool {
        !matches!(self, Self::Connections(None))
    }
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Agents,
    Guests,
    Connections,
}

impl Part {
    /// The size of this part of a budget.
    fn of(self, limit: usize) -> usize {
        limit / 8
            * match self {
                Self::Agents => 4,
                Self::Guests => 1,
                Self::Connections => 3,
            }
    }
}

impl From<&Address> for Holder {
    fn from(address: &Address) -> Self {
        Self::Address(Arc::clone(&address.key))
    }
}

impl From<&Caller> for Holder {
    fn from(caller: &Caller) -> Self {
        Self::Agent(caller.agent.clone())
    }
}

/// Which bound was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// The share of this client.
    Share,
    /// That of all clients, or of all clients without a key.
    Hub,
}

impl From<Exhausted> for Error {
    fn from(exhausted: Exhausted) -> Self {
        let error = match exhausted {
            Exhausted::Share => Self::new(
                Code::RateLimited,
                "you have too much under way at once; read your responses, or wait until your requests have ended",
            ),
            Exhausted::Hub => {
                Self::new(Code::Unavailable, "the hub has too much under way at once; try again shortly")
            }
        };
        error.retry_after(RETRY_SECONDS)
    }
}

#[derive(Debug, Default)]
struct Used {
    by_part: [usize; 3],
    by_holder: HashMap<Holder, usize>,
}

impl Used {
    fn add(&mut self, holder: &Holder, bytes: usize) {
        self.by_part[holder.part() as usize] += bytes;
        match self.by_holder.get_mut(holder) {
            Some(held) => *held += bytes,
            None => {
                self.by_holder.insert(holder.clone(), bytes);
            }
        }
    }
}

#[derive(Debug)]
struct Shared {
    limit: usize,
    used: Mutex<Used>,
}

/// The budget of a hub. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget(Arc<Shared>);

impl Budget {
    /// A budget of so many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(Shared { limit, used: Mutex::default() }))
    }

    /// Takes bytes for a client. They are given back when the result is dropped.
    pub fn hold(&self, holder: impl Into<Holder>, bytes: usize) -> Result<Held, Exhausted> {
        let mut held = Held { budget: self.clone(), holder: holder.into(), bytes: 0 };
        held.grow(bytes)?;
        Ok(held)
    }

    /// The bytes held for all clients.
    #[must_use]
    pub fn used(&self) -> usize {
        self.lock().by_part.iter().sum()
    }

    /// The bytes that clients may hold in all.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes taken from the budget.
#[derive(Debug)]
pub struct Held {
    budget: Budget,
    holder: Holder,
    bytes: usize,
}

impl Held {
    /// Takes more bytes.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let part = self.holder.part();
        let size = part.of(self.budget.0.limit);
        let mut used = self.budget.lock();
        let own = used.by_holder.get(&self.holder).copied().unwrap_or(0);
        let of_others = used.by_part[part as usize] - own;
        let left = size.saturating_sub(of_others);
        let room = if self.holder.is_one() { left / 2 } else { left };
        if own + bytes > room {
            let too_much_alone = self.holder.is_one() && own + bytes > size / 2;
            return Err(if too_much_alone { Exhausted::Share } else { Exhausted::Hub });
        }
        used.add(&self.holder, bytes);
        self.bytes += bytes;
        Ok(())
    }

    /// Takes more bytes, whether or not there is room for them.
    pub fn overdraw(&mut self, bytes: usize) {
        self.budget.lock().add(&self.holder, bytes);
        self.bytes += bytes;
    }

    /// Takes bytes for the same client, which are given back on their own.
    pub fn again(&self, bytes: usize) -> Result<Self, Exhausted> {
        self.budget.hold(self.holder.clone(), bytes)
    }

    /// Takes as many bytes as are missing to `bytes`.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Exhausted> {
        if bytes > self.bytes { self.grow(bytes - self.bytes) } else { Ok(()) }
    }

    /// Gives back all but `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        let Some(freed) = self.bytes.checked_sub(bytes).filter(|freed| *freed > 0) else { return };
        self.bytes = bytes;
        let mut used = self.budget.lock();
        used.by_part[self.holder.part() as usize] -= freed;
        if let Some(held) = used.by_holder.get_mut(&self.holder) {
            *held -= freed;
            if *held == 0 {
                used.by_holder.remove(&self.holder);
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// Bytes together with their part of the budget, which is given back when the last reference to them is dropped.
struct HeldBytes<B> {
    bytes: B,
    _held: Held,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for HeldBytes<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl Held {
    /// Ties bytes to this part of the budget.
    #[must_use]
    pub fn tie(self, bytes: impl AsRef<[u8]> + Send + 'static) -> bytes::Bytes {
        bytes::Bytes::from_owner(HeldBytes { bytes, _held: self })
    }
}
