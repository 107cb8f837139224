//! End-to-end encryption between the two participants of a task: keys, seals, envelopes, fingerprints.
//!
//! The same code seals at one client, opens at the other, and checks at the hub what can be checked without
//! a private key. It does no network I/O, reads no clock, and knows no task beyond its id; the only files it
//! touches are key files whose path it is handed.
//!
//! A signature covers the task id and the content, and not the wrapped keys: whoever carries a sealed
//! content can spoil a wrapped key, but can neither read nor change the content.

mod checks;
mod envelopes;
mod error;
mod fingerprint;
mod key_files;
mod keys;
mod pem;
mod sealing;
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
