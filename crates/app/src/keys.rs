//! Secrets and keys: made, hashed and checked here, and never inside a store closure.

use aws_lc_rs::{constant_time, digest, rand};
use tandem_seal::PublicKey;

use crate::Invalid;

/// The SHA-256 of an API key: all that is ever stored of it.
pub type KeyHash = [u8; 32];

/// Fills a buffer with random bytes of the operating system.
///
/// # Panics
/// When the operating system has no randomness to give; nothing can be done safely then.
pub fn fill_random(bytes: &mut [u8]) {
    #[expect(clippy::expect_used, reason = "without randomness there are no keys")]
    rand::fill(bytes).expect("the operating system gives random bytes");
}

/// Bytes as hexadecimal text.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    // Every request gets an id by this, so it allocates once.
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A new API key: 192 random bits behind the product's prefix.
#[must_use]
pub fn new_api_key() -> String {
    format!("tdm_{}", random_hex::<24>())
}

/// So many random bytes, as hexadecimal text.
#[must_use]
pub fn random_hex<const N: usize>() -> String {
    let mut bytes = [0; N];
    fill_random(&mut bytes);
    hex(&bytes)
}

/// The hash under which a key, or any other secret, is known.
#[must_use]
pub fn sha256(bytes: &[u8]) -> KeyHash {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}

/// A SHA-256 of what comes piece by piece.
#[derive(Clone)]
pub struct Hashing(digest::Context);

impl Default for Hashing {
    fn default() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }
}

impl std::fmt::Debug for Hashing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hashing")
    }
}

impl Hashing {
    /// Adds a piece.
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The hash of all of it.
    #[must_use]
    pub fn finish(self) -> KeyHash {
        let mut hash = [0; 32];
        hash.copy_from_slice(self.0.finish().as_ref());
        hash
    }
}

/// Whether two hashes are the same, in a time that does not tell where they differ.
#[must_use]
pub fn same_hash(one: &KeyHash, other: &KeyHash) -> bool {
    constant_time::verify_slices_are_equal(one, other).is_ok()
}

/// Checks that a text is an RSA public key of at least 2048 bits in SPKI PEM.
pub fn check_public_key(pem: &str) -> Result<(), Invalid> {
    let refuse = |why: &str| Err(Invalid::field("publicKey", why));
    if pem.contains("PRIVATE KEY") {
        return refuse("is a private key: keep it to yourself, and register the public one");
    }
    if pem.len() > 8_192 {
        return refuse("must be at most 8192 characters long");
    }
    const SHAPE: &str = "must be an RSA public key of 2048 bits or more, as SPKI PEM (BEGIN PUBLIC KEY)";
    if PublicKey::from_pem(pem).is_ok() { Ok(()) } else { refuse(SHAPE) }
}
