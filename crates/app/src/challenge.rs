//! Proof of work before registration. Off by default; one setting turns it on.
//!
//! A challenge contains its expiry time and a MAC, so issuing one writes nothing to the database. Only a solved
//! challenge is stored, so that it cannot be used twice.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tandem_core::Timestamp;

use crate::{Invalid, keys};

/// How long a challenge is valid.
const LIFETIME_SECONDS: i64 = 600;
const NONCE_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
const SIGNED_BYTES: usize = NONCE_BYTES + TIME_BYTES;

/// Issues challenges and checks solutions.
#[derive(Debug)]
pub struct Challenges {
    key: hmac::Key,
    /// Required number of leading zero bits; 0 turns the proof of work off.
    pub difficulty: u32,
}

/// A solved challenge. The registration stores it, so that it cannot be used again.
#[derive(Debug, Clone)]
pub struct Solved {
    pub challenge: String,
    pub expires_at: Timestamp,
}

impl Challenges {
    /// Creates an issuer that signs with the hub's secret.
    #[must_use]
    pub fn new(secret: &[u8], difficulty: u32) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret), difficulty }
    }

    #[must_use]
    pub fn issue(&self, now: Timestamp) -> String {
        let mut bytes = vec![0; NONCE_BYTES];
        keys::fill_random(&mut bytes);
        bytes.extend(now.plus_seconds(LIFETIME_SECONDS).0.to_be_bytes());
        bytes.extend(hmac::sign(&self.key, &bytes).as_ref());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Checks a solution. Returns `None` when proof of work is off.
    pub fn check(
        &self,
        challenge: Option<&str>,
        solution: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<Solved>, Invalid> {
        if self.difficulty == 0 {
            return Ok(None);
        }
        let Some(challenge) = challenge else {
            return Err(Invalid::field("challenge", "is required here: get one from GET /agents/challenge"));
        };
        let Some(solution) = solution else {
            return Err(Invalid::field("solution", "is required together with the challenge"));
        };
        let expires_at = self
            .expiry(challenge)
            .ok_or_else(|| Invalid::field("challenge", "was not issued by this hub"))?;
        if expires_at <= now {
            return Err(Invalid::field("challenge", "has expired: get a new one"));
        }
        let work = keys::sha256(format!("{challenge}{solution}").as_bytes());
        if leading_zero_bits(&work) < self.difficulty {
            let why = format!(
                "does not solve it: SHA-256(challenge + solution) must begin with {} zero bits",
                self.difficulty
            );
            return Err(Invalid::field("solution", why));
        }
        Ok(Some(Solved { challenge: challenge.to_owned(), expires_at }))
    }

    fn expiry(&self, challenge: &str) -> Option<Timestamp> {
        let bytes = URL_SAFE_NO_PAD.decode(challenge).ok()?;
        let (signed, mac) = bytes.split_at_checked(SIGNED_BYTES)?;
        hmac::verify(&self.key, signed, mac).ok()?;
        let time: [u8; TIME_BYTES] = signed[NONCE_BYTES..].try_into().ok()?;
        Some(Timestamp(i64::from_be_bytes(time)))
    }
}

/// Counts the leading zero bits of a hash.
#[must_use]
pub fn leading_zero_bits(hash: &[u8]) -> u32 {
    let zero_bytes = hash.iter().take_while(|byte| **byte == 0).count();
    let rest = hash.get(zero_bytes).map_or(0, |byte| byte.leading_zeros());
    u32::try_from(zero_bytes).unwrap_or(0) * 8 + rest
}
