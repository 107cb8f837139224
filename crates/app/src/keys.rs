//! Secrets and keys: made, hashed and checked here, and never inside a store closure.

use aws_lc_rs::{constant_time, digest, rand, rsa};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    let body = pem
        .trim()
        .strip_prefix("-----BEGIN PUBLIC KEY-----")
        .and_then(|rest| rest.strip_suffix("-----END PUBLIC KEY-----"));
    let Some(body) = body else { return refuse(SHAPE) };
    let base64: String = body.split_ascii_whitespace().collect();
    let Ok(der) = STANDARD.decode(base64) else { return refuse(SHAPE) };
    match rsa::PublicEncryptingKey::from_der(&der) {
        Ok(key) if key.key_size_bits() >= 2048 => Ok(()),
        _ => refuse(SHAPE),
    }
}
