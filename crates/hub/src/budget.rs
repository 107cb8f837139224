//! One budget for the memory that the hub holds for its clients: connections, request bodies, responses that nobody
//! reads, sessions. Whoever holds such bytes takes them from here first, and gives them back when it drops them. What
//! does not fit is refused at once.
//!
//! No client can use it up alone: an agent may hold a quarter, an address an eighth for its requests without a key and an
//! eighth for its idle connections. All clients without a key together may hold a quarter, all idle connections half.

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
    /// An agent.
    Agent(AgentId),
}

impl Holder {
    /// The holders that have a bound together, and the part of the budget that they may hold.
    fn group(&self) -> Option<(Group, usize)> {
        match self {
            Self::Connections(_) => Some((Group::Connections, 2)),
            Self::Address(_) => Some((Group::Guests, 4)),
            Self::Agent(_) => None,
        }
    }

    /// The part of the budget that this holder may hold.
    fn part(&self) -> usize {
        match self {
            Self::Connections(Some(_)) | Self::Address(_) => 8,
            Self::Connections(None) => 2,
            Self::Agent(_) => 4,
        }
    }
}

/// Holders with a common bound.
#[derive(Debug, Clone, Copy)]
enum Group {
    Connections,
    Guests,
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
    total: usize,
    by_group: [usize; 2],
    by_holder: HashMap<Holder, usize>,
}

impl Used {
    fn add(&mut self, holder: &Holder, bytes: usize) {
        self.total += bytes;
        if let Some((group, _)) = holder.group() {
            self.by_group[group as usize] += bytes;
        }
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
        self.lock().total
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
        let limit = self.budget.0.limit;
        let mut used = self.budget.lock();
        let of_holder = used.by_holder.get(&self.holder).copied().unwrap_or(0);
        if of_holder + bytes > limit / self.holder.part() {
            return Err(Exhausted::Share);
        }
        let group = self.holder.group();
        let group_full =
            group.is_some_and(|(group, part)| used.by_group[group as usize] + bytes > limit / part);
        if group_full || used.total + bytes > limit {
            return Err(Exhausted::Hub);
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
        used.total -= freed;
        if let Some((group, _)) = self.holder.group() {
            used.by_group[group as usize] -= freed;
        }
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
