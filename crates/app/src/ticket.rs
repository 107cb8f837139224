//! Tickets that stand for a key where a key cannot be sent. A ticket carries who, until when, by which key and a MAC;
//! only using one writes anything. It ends with the key that bought it.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tandem_core::{AgentId, Timestamp};
use tandem_store::{Tx, agents, pairing};

use crate::{Error, keys};

/// How long a ticket can be used.
const LIFETIME_SECONDS: i64 = 30;
const MAC_BYTES: usize = 32;

/// Sells tickets and checks them.
#[derive(Debug)]
pub struct Tickets(hmac::Key);

/// A ticket that is genuine and has not run out.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Whose it is.
    pub agent: AgentId,
    key_mark: String,
    text: String,
    expires_at: Timestamp,
}

impl Tickets {
    /// Tickets under the hub's own secret.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// A ticket for whoever has this key, and until when it is good.
    #[must_use]
    pub fn issue(&self, agent: &AgentId, key_mark: &str, now: Timestamp) -> (String, Timestamp) {
        let expires_at = now.plus_seconds(LIFETIME_SECONDS);
        let nonce = keys::random_hex::<8>();
        let mut bytes = format!("{nonce} {} {agent} {key_mark}", expires_at.0).into_bytes();
        bytes.extend(hmac::sign(&self.0, &bytes).as_ref());
        (URL_SAFE_NO_PAD.encode(bytes), expires_at)
    }

    /// What a text is worth as a ticket.
    #[must_use]
    pub fn check(&self, text: &str, now: Timestamp) -> Option<Ticket> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (signed, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_BYTES)?)?;
        hmac::verify(&self.0, signed, mac).ok()?;
        let mut parts = std::str::from_utf8(signed).ok()?.split(' ').skip(1);
        let expires_at = Timestamp(parts.next()?.parse().ok()?);
        let agent = parts.next()?.parse().ok()?;
        let key_mark = parts.next()?.to_owned();
        (expires_at > now).then(|| Ticket { agent, key_mark, text: text.to_owned(), expires_at })
    }
}

/// What tells an agent's key from the one before it, and nothing else about it.
pub fn key_mark(tx: &mut Tx<'_>, agent: &AgentId) -> Result<Option<String>, Error> {
    let Some((key_hash, suspended)) = agents::key_of(tx, agent)? else { return Ok(None) };
    if suspended {
        return Err(Error::Suspended);
    }
    let mark = keys::sha256(&[b"ticket".as_slice(), &key_hash].concat());
    Ok(Some(URL_SAFE_NO_PAD.encode(&mark[..12])))
}

/// Uses a ticket up; false when it was used before, or its agent or key is gone.
pub fn redeem(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<bool, Error> {
    Ok(key_mark(tx, &ticket.agent)?.is_some_and(|mark| mark == ticket.key_mark)
        && pairing::use_challenge(tx, &ticket.text, ticket.expires_at)?)
}
