//! The only place where the time is read, and where tests move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tandem_core::Timestamp;

/// Where the time comes from.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine.
    System,
    /// A test, in milliseconds.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self {
            #[expect(clippy::disallowed_methods, reason = "everybody else asks here")]
            Self::System => Timestamp(jiff::Timestamp::now().as_millisecond()),
            Self::Manual(ms) => Timestamp(ms.load(Ordering::SeqCst)),
        }
    }
}
