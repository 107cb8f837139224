//! Who calls an operation, and what a caller may use: its key, its requests per minute, the memory that is held for it, the
//! answer that it had before. Nothing here knows what the operations do.

pub mod budget;
pub(crate) mod caller;
pub(crate) mod completion;
pub(crate) mod keys;
pub mod rates;
pub(crate) mod replay;
