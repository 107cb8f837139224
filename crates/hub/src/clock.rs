//! The clock. It is the only place where the time is read; tests replace it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tandem_core::Timestamp;

/// The source of the time.
#[derive(Debug, Clone)]
pub enum Clock {
    System,
    /// The system clock, off by so many milliseconds: nodes whose clocks differ.
    Shifted(i64),
    /// A clock set by a test, in milliseconds.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self {
            #[expect(clippy::disallowed_methods, reason = "everybody else asks here")]
            Self::System => Timestamp(jiff::Timestamp::now().as_millisecond()),
            Self::Shifted(ms) => Self::System.now().plus_ms(*ms),
            Self::Manual(ms) => Timestamp(ms.load(Ordering::SeqCst)),
        }
    }
}
