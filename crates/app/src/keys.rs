//! API keys, hashes and random bytes. Nothing here runs inside a transaction.

use aws_lc_rs::{constant_time, digest, rand};
use tandem_seal::PublicKey;

use crate::Invalid;

/// SHA-256 of an API key. The key itself is never stored.
pub type KeyHash = [u8; 32];

/// Fills a buffer with random bytes from the operating system.
///
/// # Panics
///
/// Panics if the operating system provides no random bytes: without them nothing is secure.
pub fn fill_random(bytes: &mut [u8]) {
    #[expect(clippy::expect_used, reason = "without randomness there are no keys")]
    rand::fill(bytes).expect("the operating system gives random bytes");
}

/// Bytes as hexadecimal text.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    // Every request id is formatted here, so this allocates only once.
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Creates an API key: the prefix `tdm_` and 192 random bits.
#[must_use]
pub fn new_api_key() -> String {
    format!("tdm_{}", random_hex::<24>())
}

/// `N` random bytes as hexadecimal text.
#[must_use]
pub fn random_hex<const N: usize>() -> String {
    let mut bytes = [0; N];
    fill_random(&mut bytes);
    hex(&bytes)
}

/// A random number from 0 to 255, to spread what many processes do at once.
#[must_use]
pub fn random_byte() -> u8 {
    let mut byte = [0];
    fill_random(&mut byte);
    byte[0]
}

/// SHA-256 of a key or another secret.
#[must_use]
pub fn sha256(bytes: &[u8]) -> KeyHash {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}

/// Incremental SHA-256.
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
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the hash of all added bytes.
    #[must_use]
    pub fn finish(self) -> KeyHash {
        let mut hash = [0; 32];
        hash.copy_from_slice(self.0.finish().as_ref());
        hash
    }
}

/// Compares two hashes in constant time.
#[must_use]
pub fn same_hash(one: &[u8], other: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(one, other).is_ok()
}

/// Whether two texts are equal, in a time that does not depend on where they differ.
#[must_use]
pub fn same_text(one: &str, other: &str) -> bool {
    same_hash(one.as_bytes(), other.as_bytes())
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
