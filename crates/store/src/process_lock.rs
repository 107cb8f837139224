//! What the writers of a process share: each writes beside the others, until one that keeps losing against them asks them
//! to wait. Without it, a single job could lose against whole groups for as long as it may try.

use std::sync::{PoisonError, RwLock};

#[derive(Debug, Default)]
pub(crate) struct ProcessLock(RwLock<()>);

impl ProcessLock {
    pub(crate) fn shared<T>(&self, act: impl FnOnce() -> T) -> T {
        let _beside_others = self.0.read().unwrap_or_else(PoisonError::into_inner);
        act()
    }

    pub(crate) fn exclusive<T>(&self, act: impl FnOnce() -> T) -> T {
        let _alone = self.0.write().unwrap_or_else(PoisonError::into_inner);
        act()
    }
}
