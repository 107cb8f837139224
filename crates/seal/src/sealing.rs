//! Encrypts and signs bytes for the two participants of a task, and opens them again. Does not interpret the
//! bytes.

use std::collections::BTreeMap;
use std::io::Read;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::digest::{Context, Digest, SHA256};
use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::checks::{self, NOT_BASE64};
use crate::keys::CONTENT_KEY_BYTES;
use crate::{Error, PrivateKey, PublicKey};

/// The two participants of a task: agent id and public key of each.
pub type Recipients<'a> = [(&'a str, &'a PublicKey); 2];

/// Sealed content: everything that the hub stores of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// Base64 of IV, ciphertext and tag.
    pub content: String,
    /// The content key, wrapped for each agent: agent id to base64.
    pub keys: BTreeMap<String, String>,
    /// Base64 of the sender's signature over task id and content.
    pub signature: String,
}

/// Seals bytes for the two participants of a task. The sender must be one of them.
pub fn seal(
    task_id: &str,
    sender: &PrivateKey,
    recipients: Recipients<'_>,
    plaintext: &[u8],
) -> Result<Sealed, Error> {
    if plaintext.is_empty() {
        return Err(Error::Content("must not be empty"));
    }
    let [(one, _), (other, _)] = recipients;
    if one == other {
        return Err(Error::Keys("must be for two different agents"));
    }
    if recipients.iter().all(|(_, key)| *key != sender.public()) {
        return Err(Error::Keys("must include the sender's own, or the sender could not read it again"));
    }
    let mut content_key = [0; CONTENT_KEY_BYTES];
    rand::fill(&mut content_key)?;
    let mut keys = BTreeMap::new();
    for (agent, key) in recipients {
        keys.insert(agent.to_owned(), STANDARD.encode(key.wrap(&content_key)?));
    }
    let content = STANDARD.encode(encrypt(&content_key, plaintext)?);
    let signature = STANDARD.encode(sender.sign(&signed_digest(task_id, &content))?);
    Ok(Sealed { content, keys, signature })
}

/// Opens what `sender` sealed in this task for `me` and the other participant. The signature is verified before
/// anything is decrypted.
pub fn open(
    task_id: &str,
    sealed: &Sealed,
    me: (&str, &PrivateKey),
    sender: &PublicKey,
) -> Result<Vec<u8>, Error> {
    checks::check_signature(&sealed.signature, sender.modulus_len())?;
    if !verify(sender, task_id, &sealed.content, &sealed.signature) {
        return Err(Error::Signature("is not the sender's, or not for this content in this task"));
    }
    let bytes = checks::decode_content(&sealed.content)?;
    if sealed.keys.len() != 2 {
        return Err(Error::Keys(checks::NOT_TWO));
    }
    let (agent, key) = me;
    let wrapped = sealed.keys.get(agent).ok_or(Error::NotForYou)?;
    let wrapped = STANDARD.decode(wrapped).map_err(|_| Error::Keys(NOT_BASE64))?;
    decrypt(&key.unwrap(&wrapped)?, bytes)
}

/// Whether this key signed this content for this task.
#[must_use]
pub fn verify(public: &PublicKey, task_id: &str, content: &str, signature: &str) -> bool {
    STANDARD
        .decode(signature)
        .is_ok_and(|signature| public.has_signed(&signed_digest(task_id, content), &signature))
}

/// The bytes that the hub stores for a sealed file: the decoded content.
pub fn to_stored(content: &str) -> Result<Vec<u8>, Error> {
    checks::decode_content(content)
}

/// The content of a sealed file from its stored bytes; the reverse of [`to_stored`].
#[must_use]
pub fn from_stored(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Whether this key signed, for this task, the sealed file with these stored bytes. Reads them piece by piece.
pub fn verify_stored(
    public: &PublicKey,
    task_id: &str,
    bytes: &mut impl Read,
    signature: &str,
) -> Result<bool, Error> {
    let unreadable = |_| Error::Content("cannot be read back");
    let signature = STANDARD.decode(signature).map_err(|_| Error::Signature(NOT_BASE64))?;
    let mut context = Context::new(&SHA256);
    context.update(task_id.as_bytes());
    // A multiple of three, so that the base64 of the pieces is the base64 of the whole.
    let mut piece = vec![0; 48 * 1024];
    let (mut text, mut total) = (String::new(), 0);
    loop {
        let mut filled = 0;
        while filled < piece.len() {
            match bytes.read(&mut piece[filled..]).map_err(unreadable)? {
                0 => break,
                count => filled += count,
            }
        }
        text.clear();
        STANDARD.encode_string(&piece[..filled], &mut text);
        context.update(text.as_bytes());
        total += filled;
        if filled < piece.len() {
            break;
        }
    }
    if total < checks::CONTENT_BYTES_MIN {
        return Err(Error::Content(checks::TOO_SHORT));
    }
    Ok(public.has_signed(&context.finish(), &signature))
}

/// The hash of what is signed: the task id followed by the content as base64 text.
fn signed_digest(task_id: &str, content: &str) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(task_id.as_bytes());
    context.update(content.as_bytes());
    context.finish()
}

fn encrypt(content_key: &[u8; CONTENT_KEY_BYTES], plaintext: &[u8]) -> Result<Vec<u8>, Error> {
    let key = RandomizedNonceKey::new(&AES_256_GCM, content_key)?;
    let mut sealed = plaintext.to_vec();
    let nonce = key.seal_in_place_append_tag(Aad::empty(), &mut sealed)?;
    Ok([&nonce.as_ref()[..], &sealed].concat())
}

fn decrypt(content_key: &[u8; CONTENT_KEY_BYTES], mut bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let key = RandomizedNonceKey::new(&AES_256_GCM, content_key)?;
    let (nonce, rest) = bytes.split_at_mut_checked(NONCE_LEN).ok_or(Error::Closed)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error::Closed)?;
    let plaintext = key.open_in_place(nonce, Aad::empty(), rest).map_err(|_| Error::Closed)?;
    Ok(plaintext.to_vec())
}
