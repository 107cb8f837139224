//! Slots for connections: so many in total, and so many for each address, so that one client cannot take them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tandem_api::error::Code;
use tandem_hub::Error;

/// `Retry-After` of a refused connection.
const RETRY_SECONDS: i64 = 1;

#[derive(Debug)]
pub struct Slots {
    max: usize,
    max_per_address: usize,
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
    pub fn new(max: usize, max_per_address: usize) -> Arc<Self> {
        Arc::new(Self { max, max_per_address, taken: Mutex::default() })
    }

    /// Takes a slot for a connection of an address, or of a proxy. It is free again when the result is dropped.
    pub fn take(self: &Arc<Self>, address: Option<Arc<str>>) -> Result<Slot, Error> {
        let mut taken = self.lock();
        if taken.total >= self.max {
            let why = "the hub has too many connections; try again shortly";
            return Err(Error::new(Code::Unavailable, why).retry_after(RETRY_SECONDS));
        }
        if let Some(address) = &address {
            let of_address = taken.by_address.entry(Arc::clone(address)).or_default();
            if *of_address >= self.max_per_address {
                let why = "your address has too many connections; close some of them";
                return Err(Error::new(Code::RateLimited, why).retry_after(RETRY_SECONDS));
            }
            *of_address += 1;
        }
        taken.total += 1;
        Ok(Slot { slots: Arc::clone(self), address })
    }

    #[must_use]
    pub fn taken(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub struct Slot {
    slots: Arc<Slots>,
    address: Option<Arc<str>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.lock();
        taken.total -= 1;
        if let Some(address) = &self.address
            && let Some(count) = taken.by_address.get_mut(address)
        {
            *count -= 1;
            if *count == 0 {
                taken.by_address.remove(address);
            }
        }
    }
}
