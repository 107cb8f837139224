//! Checks of sealed content that need no private key; the hub runs them. They say which part is wrong and
//! never look into the content.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Error;

/// IV and tag of AES-GCM, and at least one byte of ciphertext.
pub const CONTENT_BYTES_MIN: usize = 12 + 1 + 16;

pub(crate) const NOT_BASE64: &str = "must be standard base64 with padding and without white space";
pub(crate) const TOO_SHORT: &str = "must have at least 29 bytes: IV, ciphertext and tag";
pub(crate) const NOT_TWO: &str = "must be for exactly the two participants";

/// Checks the form of sealed content and of its wrapped keys. `modulus_lens` are the key lengths of the
/// participants, in the same order.
pub fn check_sealed(
    content: &str,
    keys: &BTreeMap<String, String>,
    participants: [&str; 2],
    modulus_lens: [usize; 2],
) -> Result<(), Error> {
    decode_content(content)?;
    check_keys(keys, participants, modulus_lens)
}

/// Checks the form of the wrapped keys alone.
pub fn check_keys(
    keys: &BTreeMap<String, String>,
    participants: [&str; 2],
    modulus_lens: [usize; 2],
) -> Result<(), Error> {
    if keys.len() != 2 || !keys.keys().all(|agent| participants.contains(&agent.as_str())) {
        return Err(Error::Keys(NOT_TWO));
    }
    for (agent, modulus_len) in participants.into_iter().zip(modulus_lens) {
        let wrapped = keys.get(agent).ok_or(Error::Keys(NOT_TWO))?;
        let wrapped = STANDARD.decode(wrapped).map_err(|_| Error::Keys(NOT_BASE64))?;
        if wrapped.len() != modulus_len {
            return Err(Error::Keys("must each be as long as the modulus of that agent's key"));
        }
    }
    Ok(())
}

/// Checks the form of a signature by a sender whose key has this length. [`verify`](crate::verify) checks the
/// signature itself.
pub fn check_signature(signature: &str, modulus_len: usize) -> Result<(), Error> {
    let signature = STANDARD.decode(signature).map_err(|_| Error::Signature(NOT_BASE64))?;
    if signature.len() != modulus_len {
        return Err(Error::Signature("must be as long as the modulus of the sender's key"));
    }
    Ok(())
}

pub(crate) fn decode_content(content: &str) -> Result<Vec<u8>, Error> {
    let bytes = STANDARD.decode(content).map_err(|_| Error::Content(NOT_BASE64))?;
    if bytes.len() < CONTENT_BYTES_MIN {
        return Err(Error::Content(TOO_SHORT));
    }
    Ok(bytes)
}
