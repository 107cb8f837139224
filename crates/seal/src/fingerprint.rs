//! What people compare to know that a key is the one they think it is. Knows only the key's encoding.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};

use crate::WORDS;

/// How many words a fingerprint is read out in, a byte each.
const WORDS_SHOWN: usize = 8;

/// The SHA-256 of a public key in SPKI DER, shown as hexadecimal text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(der: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, der).as_ref());
        Self(hash)
    }

    /// All 256 bits.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// All 256 bits, in 64 lower-case digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The first 64 bits, as eight words to be read out. Enough for two people on the telephone; what a
    /// program compares is the whole.
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
