//! Tickets that stand for a key where a key cannot be sent. A ticket carries who, until when and a MAC;
//! only using one writes anything.

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
    text: String,
    expires_at: Timestamp,
}

impl Tickets {
    /// Tickets under the hub's own secret.
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// A ticket, and until when it is good.
    #[must_use]
    pub fn issue(&self, agent: &AgentId, now: Timestamp) -> (String, Timestamp) {
        let expires_at = now.plus_seconds(LIFETIME_SECONDS);
        let mut bytes = format!("{} {} {agent}", keys::random_hex::<8>(), expires_at.0).into_bytes();
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
        (expires_at > now).then(|| Ticket { agent, text: text.to_owned(), expires_at })
    }
}

/// Uses a ticket up; false when it was used before, or its agent is gone.
pub fn redeem(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<bool, Error> {
    Ok(agents::find(tx, &ticket.agent)?.is_some()
        && pairing::use_challenge(tx, &ticket.text, ticket.expires_at)?)
}
