//! Why something was not sealed, opened or taken. Never says what part of a decryption failed: whoever can
//! ask often enough could learn the content from that.

use std::path::PathBuf;

/// Why something was not sealed, opened or taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The content does not have the shape of sealed content.
    #[error("the content {0}")]
    Content(&'static str),
    /// The wrapped keys are not those of the two participants.
    #[error("the wrapped keys {0}")]
    Keys(&'static str),
    /// The signature does not have the shape of one, or is not the sender's for this task and content.
    #[error("the signature {0}")]
    Signature(&'static str),
    /// None of the wrapped keys is for this reader.
    #[error("there is no wrapped key for you in it")]
    NotForYou,
    /// The decryption failed, and it is not said where.
    #[error("it cannot be opened with your key")]
    Closed,
    /// It was opened, and something else was inside.
    #[error("it was opened, but there is no {0} inside")]
    Envelope(&'static str),
    /// A text or file does not hold a key that can be used.
    #[error("the {kind} key {why}")]
    Key {
        /// `public` or `private`.
        kind: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Others on this machine may read the file of a private key.
    #[error(
        "{} can be read by others on this machine (mode {mode:o}); say `chmod 600` on it, and make a new key if \
         others may have read it",
        path.display()
    )]
    Exposed {
        /// The file of the key.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A key file could not be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file of the key.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        cause: std::io::Error,
    },
    /// The crypto library failed at something that cannot fail with a good key, such as finding randomness.
    #[error("the crypto library failed")]
    Crypto,
}

impl From<aws_lc_rs::error::Unspecified> for Error {
    fn from(_: aws_lc_rs::error::Unspecified) -> Self {
        Self::Crypto
    }
}
