//! Fingerprints: what people compare to make sure that they have the right key.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};

use crate::WORDS;

/// Words in the spoken form of a fingerprint, one per byte.
const WORDS_SHOWN: usize = 8;

/// The SHA-256 of a public key in SPKI DER; displayed in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(der: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, der).as_ref());
        Self(hash)
    }

    /// All 256 bits, as bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// All 256 bits, in 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The first 64 bits, as eight words. Enough for two people on the phone; programs compare all bits.
    #[must_use]
    pub fn words(&self) -> String {
        let words: Vec<&str> =
            self.0.iter().take(WORDS_SHOWN).map(|byte| WORDS[usize::from(*byte)]).collect();
        words.join(" ")
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({})", self.hex())
    }
}
