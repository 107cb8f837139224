//! One budget for the memory that the hub holds for its clients: connections, request bodies, responses that nobody
//! reads, sessions. Whoever holds such bytes takes them from here first, and gives them back when it drops them. What
//! does not fit is refused at once.
//!
//! The budget has three parts, so that none of them can use up the others: for agents, for clients without a key, and for
//! idle connections. Within a part, a client may hold at most half of what the others leave. So the first may hold half,
//! and there is always something left for one more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_core::AgentId;
use tandem_store::{Error as StoreError, PAGE_BYTES, Size};

use crate::callers::caller::Address;
use crate::db::Erased;
use crate::{Caller, Error};

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
        StoreError::from(exhausted).into()
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

    /// Takes as many bytes as there are, up to `bytes`. Says which bound was reached if there are less.
    fn grow_towards(&mut self, bytes: usize) -> Option<Exhausted> {
        let exhausted = self.grow(bytes).err()?;
        let mut part = bytes / 2;
        while part >= RESERVED_STEP {
            // What does not fit is tried again in smaller parts.
            let _ = self.grow(part);
            part /= 2;
        }
        Some(exhausted)
    }

    /// Takes as many bytes as are missing to `bytes`, whether or not there is room for them.
    pub fn overdraw_to(&mut self, bytes: usize) {
        let missing = bytes.saturating_sub(self.bytes);
        self.budget.lock().add(&self.holder, missing);
        self.bytes += missing;
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

/// What is read is in memory this many times: as rows, and as the response that is made of them.
const COPIES: usize = 2;
/// What a request may read without taking memory for it: as much as every request holds anyway.
const READ_FREE: usize = 4 * 1024;
/// Less than this is not worth reading a page for.
const RESERVED_STEP: usize = COPIES * PAGE_BYTES / 16;

/// The memory of one request, from the rows that it reads to the response that is made of them. Clones share it.
#[derive(Debug, Clone)]
pub struct RequestMemory(Arc<Mutex<Held>>);

impl RequestMemory {
    #[must_use]
    pub fn new(held: Held) -> Self {
        Self(Arc::new(Mutex::new(held)))
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing yet, for the same client.
    fn empty(&self) -> Held {
        let held = self.lock();
        Held { budget: held.budget.clone(), holder: held.holder.clone(), bytes: 0 }
    }

    /// Hands over what is held to the response.
    #[must_use]
    pub fn take(&self) -> Held {
        let empty = self.empty();
        std::mem::replace(&mut *self.lock(), empty)
    }

    /// A use case whose result counts. It runs on a thread of the store, of which there are few: so the memory of a whole
    /// page is taken when it begins to read, not while it waits, and what it did not need is given back when it has read.
    pub(crate) fn metered(self, size: Size, use_case: Erased) -> Erased {
        Arc::new(move |tx, now| {
            let mut held = self.empty();
            let short = match size {
                Size::Rows => None,
                Size::Page => held.grow_towards(COPIES * PAGE_BYTES).map(StoreError::from),
            };
            if let Some(short) = short.as_ref().filter(|_| held.bytes < RESERVED_STEP) {
                return Err(short.clone().into());
            }
            let room = if short.is_some() { held.bytes / COPIES } else { PAGE_BYTES };
            tx.meter(room, short);
            use_case(tx, now)?;
            let bytes = COPIES * tx.read_bytes();
            held.shrink_to(bytes);
            if bytes > COPIES * READ_FREE {
                held.grow_to(bytes).map_err(StoreError::from)?;
                self.lock().bytes += std::mem::take(&mut held.bytes);
            }
            Ok(())
        })
    }
}

impl From<Exhausted> for StoreError {
    fn from(exhausted: Exhausted) -> Self {
        match exhausted {
            Exhausted::Share => Self::OwnShare,
            Exhausted::Hub => Self::Busy,
        }
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
