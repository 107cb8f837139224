//! End-to-end encryption between the two participants of a task: keys, sealing, envelopes, fingerprints. Also the
//! signed requests of webhooks, which hub and clients build alike.
//!
//! Clients use this crate to seal and open; the hub uses it for the checks that need no private key. It does no
//! network I/O, reads no clock, and knows a task only by its id. The only files it touches are key files whose path
//! is a parameter.
//!
//! A signature covers the task id and the content, but not the wrapped keys: whoever transports sealed content
//! can make a wrapped key useless, but can neither read nor change the content.

#![warn(missing_docs)]

mod checks;
mod envelopes;
mod error;
mod fingerprint;
mod key_files;
mod keys;
mod pem;
mod sealing;
pub mod webhooks;
mod words;

pub use checks::{CONTENT_BYTES_MIN, check_keys, check_sealed, check_signature};
pub use envelopes::{
    CLEAR_FILENAME, CLEAR_MIME_TYPE, CLEAR_TITLE, ContentType, Description, Envelope, File, Message,
};
pub use error::Error;
pub use fingerprint::Fingerprint;
pub use keys::{PrivateKey, PublicKey};
pub use sealing::{Recipients, Sealed, from_stored, open, seal, to_stored, verify, verify_stored};
pub use words::WORDS;
