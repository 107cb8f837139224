//! Errors of sealing, opening and reading keys. They never say which part of a decryption failed: an attacker who
//! can try often enough could learn the content from that.

use std::path::PathBuf;

/// Why sealing, opening or reading a key failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The content does not have the form of sealed content.
    #[error("the content {0}")]
    Content(&'static str),
    /// The wrapped keys are malformed, or not for the two participants.
    #[error("the wrapped keys {0}")]
    Keys(&'static str),
    /// The signature is malformed, or does not match the sender, the task and the content.
    #[error("the signature {0}")]
    Signature(&'static str),
    /// There is no wrapped key for this reader.
    #[error("there is no wrapped key for you in it")]
    NotForYou,
    /// The decryption failed, at any step.
    #[error("it cannot be opened with your key")]
    Closed,
    /// The plaintext is not what was expected.
    #[error("it was opened, but there is no {0} inside")]
    Envelope(&'static str),
    /// A text or file does not contain a usable key.
    #[error("the {kind} key {why}")]
    Key {
        /// `public` or `private`.
        kind: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Other users of this machine may read the file of a private key.
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
        /// The error of the operating system.
        #[source]
        cause: std::io::Error,
    },
    /// The crypto library failed at a step that cannot fail with a valid key, such as random number generation.
    #[error("the crypto library failed")]
    Crypto,
}

impl From<aws_lc_rs::error::Unspecified> for Error {
    fn from(_: aws_lc_rs::error::Unspecified) -> Self {
        Self::Crypto
    }
}
