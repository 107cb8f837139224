//! Tickets: one-time tokens for connections that cannot send an API key in a header. A ticket contains the agent, the
//! expiry time, a fingerprint of the key and a MAC, so only its use writes to the database. It becomes invalid when
//! the key is rotated.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tandem_core::{AgentId, Timestamp};
use tandem_store::{Tx, agents, pairing};

use crate::{Error, keys};

/// How long a ticket is valid.
const LIFETIME_SECONDS: i64 = 30;
const MAC_BYTES: usize = 32;

/// Issues and checks tickets.
#[derive(Debug)]
pub struct Tickets(hmac::Key);

/// A genuine ticket that has not expired. It may have been used.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// The agent that it authenticates.
    pub agent: AgentId,
    key_fingerprint: String,
    text: String,
    expires_at: Timestamp,
}

impl Tickets {
    /// Creates an issuer that signs with the hub's secret.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Issues a ticket. Returns it with its expiry time.
    #[must_use]
    pub fn issue(&self, agent: &AgentId, key_fingerprint: &str, now: Timestamp) -> (String, Timestamp) {
        let expires_at = now.plus_seconds(LIFETIME_SECONDS);
        let nonce = keys::random_hex::<8>();
        let mut bytes = format!("{nonce} {} {agent} {key_fingerprint}", expires_at.0).into_bytes();
        bytes.extend(hmac::sign(&self.0, &bytes).as_ref());
        (URL_SAFE_NO_PAD.encode(bytes), expires_at)
    }

    /// Checks the MAC and the expiry time.
    #[must_use]
    pub fn check(&self, text: &str, now: Timestamp) -> Option<Ticket> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (signed, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        hmac::verify(&self.0, signed, mac).ok()?;
        let mut parts = std::str::from_utf8(signed).ok()?.split(' ').skip(1);
        let expires_at = Timestamp(parts.next()?.parse().ok()?);
        let agent = parts.next()?.parse().ok()?;
        let key_fingerprint = parts.next()?.to_owned();
        (expires_at > now).then(|| Ticket { agent, key_fingerprint, text: text.to_owned(), expires_at })
    }
}

/// A fingerprint of the agent's current key. It differs for each key and reveals nothing about it.
pub fn key_fingerprint(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<String>, Error> {
    let Some((key_hash, suspended)) = agents::key_of(tx, agent)? else { return Ok(None) };
    if suspended {
        return Err(Error::Suspended);
    }
    let mark = keys::sha256(&[b"ticket".as_slice(), &key_hash].concat());
    Ok(Some(URL_SAFE_NO_PAD.encode(&mark[..12])))
}

/// Whether the key that a ticket was issued for is still its agent's.
pub fn is_of_key(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<bool, Error> {
    Ok(key_fingerprint(tx, &ticket.agent)?.is_some_and(|mark| mark == ticket.key_fingerprint))
}

/// Uses a ticket. Returns false if it was used before, or if its agent or key no longer exists.
pub fn redeem(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<bool, Error> {
    Ok(is_of_key(tx, ticket)? && pairing::use_challenge(tx, &ticket.text, ticket.expires_at)?)
}
