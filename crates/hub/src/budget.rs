//! One budget for the memory that the hub holds for its clients: connections, request bodies, responses that nobody
//! reads, sessions. Whoever holds such bytes takes them from here first, and gives them back when it drops them. What
//! does not fit is refused at once.
//!
//! No client can use it up: each agent may hold a quarter, idle connections a quarter together, clients without a key a
//! quarter together, and each of their addresses half of that.

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
    /// Connections that wait for a request. Their number is also limited by address, see the server's slots.
    Connections,
    /// A client without a key, by the key of its address.
    Address(Arc<str>),
    /// An agent.
    Agent(AgentId),
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
    by_guests: usize,
    by_holder: HashMap<Holder, usize>,
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

    /// The most that a holder may hold.
    fn share(&self, holder: &Holder) -> usize {
        match holder {
            Holder::Connections | Holder::Agent(_) => self.0.limit / 4,
            Holder::Address(_) => self.0.limit / 8,
        }
    }

    /// The most that all clients without a key may hold together.
    fn share_of_guests(&self) -> usize {
        self.0.limit / 4
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
        let mut used = self.budget.lock();
        let is_guest = matches!(self.holder, Holder::Address(_));
        let of_holder = used.by_holder.get(&self.holder).copied().unwrap_or(0);
        if of_holder + bytes > self.budget.share(&self.holder) {
            // There is no single client to blame for all connections.
            let is_all = matches!(self.holder, Holder::Connections);
            return Err(if is_all { Exhausted::Hub } else { Exhausted::Share });
        }
        let guests_full = is_guest && used.by_guests + bytes > self.budget.share_of_guests();
        if guests_full || used.total + bytes > self.budget.0.limit {
            return Err(Exhausted::Hub);
        }
        used.total += bytes;
        if is_guest {
            used.by_guests += bytes;
        }
        match used.by_holder.get_mut(&self.holder) {
            Some(held) => *held += bytes,
            None => {
                used.by_holder.insert(self.holder.clone(), bytes);
            }
        }
        drop(used);
        self.bytes += bytes;
        Ok(())
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
        if matches!(self.holder, Holder::Address(_)) {
            used.by_guests -= freed;
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
