//! Slots for connections: so many in total, and so many for each address, so that one client cannot take them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_api::error::Code;
use tandem_hub::{Address, Error};

/// `Retry-After` of a refused connection.
const RETRY_SECONDS: i64 = 1;

/// All slots of a hub.
#[derive(Debug)]
pub struct Slots {
    max: usize,
    /// `None` behind a proxy, where all connections come from one address.
    max_per_address: Option<usize>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_address: HashMap<Arc<str>, usize>,
}

impl Slots {
    /// Creates free slots.
    #[must_use]
    pub fn new(max: usize, max_per_address: Option<usize>) -> Arc<Self> {
        Arc::new(Self { max, max_per_address, taken: Mutex::default() })
    }

    /// Takes a slot for a connection. It is free again when the result is dropped.
    pub fn take(self: &Arc<Self>, address: &Address) -> Result<Slot, Error> {
        let mut taken = self.lock();
        if taken.total >= self.max {
            let why = "the hub has too many connections; try again shortly";
            return Err(Error::new(Code::Unavailable, why).retry_after(RETRY_SECONDS));
        }
        let of_address = taken.by_address.get(&address.key).copied().unwrap_or(0);
        if self.max_per_address.is_some_and(|max| of_address >= max) {
            let why = "your address has too many connections; close some of them";
            return Err(Error::new(Code::RateLimited, why).retry_after(RETRY_SECONDS));
        }
        taken.total += 1;
        taken.by_address.insert(Arc::clone(&address.key), of_address + 1);
        Ok(Slot { slots: Arc::clone(self), address: Arc::clone(&address.key) })
    }

    /// Number of slots taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of one connection.
#[derive(Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    address: Arc<str>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.lock();
        taken.total -= 1;
        if let Some(count) = taken.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}
