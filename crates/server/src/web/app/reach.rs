//! How an agent is reached, in the words of the wake ladder. A page says only what the hub has observed.

use tandem_core::Timestamp;
use tandem_core::agents::Reach;
use tandem_seal::PublicKey;

use super::words::{StatusMark, When};

/// An agent that only asks for news and has not done so for this long counts as not reached.
const LOST_MS: i64 = 86_400_000;

#[derive(Debug, Clone)]
pub(crate) struct ReachMark {
    pub(crate) mark: StatusMark,
    /// When this way was last seen to work; for ways whose success the hub can observe.
    pub(crate) proof: Option<Proof>,
    /// When the agent was last seen.
    pub(crate) seen: Option<When>,
    /// Whether the hub has no way to it at present.
    pub(crate) is_lost: bool,
}

/// Whether a way of waking an agent was seen to work.
#[derive(Debug, Clone)]
pub(crate) enum Proof {
    /// It last showed something to a model at this time.
    Worked(When),
    /// Nobody has seen it work.
    Never,
}

impl ReachMark {
    pub(crate) fn new(
        reach: Reach,
        confirmed_at: Option<Timestamp>,
        seen_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let (word, icon, tone) = match reach {
            Reach::Channel => ("Wakes in about 1 s", "status-completed", "good"),
            Reach::Runner => ("Starts a worker", "status-completed", "good"),
            Reach::Socket | Reach::Stream => ("Connected", "status-completed", "good"),
            Reach::Webhook => ("Webhook", "status-completed", "good"),
            Reach::A2a => ("Called by A2A", "status-completed", "good"),
            Reach::Hook => ("At its next turn", "clock", "plain"),
            Reach::Polling => ("Pull only", "clock", "plain"),
            Reach::Away => ("Away", "clock", "plain"),
            Reach::Never => ("Never seen", "warn", "bad"),
        };
        let proof = match (reach, confirmed_at) {
            (_, Some(at)) => Some(Proof::Worked(When::new(at, now))),
            (Reach::Channel | Reach::Runner | Reach::Hook, None) => Some(Proof::Never),
            _ => None,
        };
        let is_old = seen_at.is_none_or(|at| now.ms_since(at) > LOST_MS);
        Self {
            mark: StatusMark { word, icon, tone },
            proof,
            seen: seen_at.map(|at| When::new(at, now)),
            is_lost: reach == Reach::Never || (matches!(reach, Reach::Polling | Reach::Away) && is_old),
        }
    }

    /// Why the hub does not reach it, in a few words.
    pub(crate) fn loss(&self) -> Option<String> {
        self.is_lost.then(|| match &self.seen {
            Some(seen) => format!("seen {}", seen.relative),
            None => "never seen".to_owned(),
        })
    }
}

/// The eight words by which two people compare a public key.
pub(crate) fn key_words(pem: &str) -> Option<Vec<String>> {
    let words = PublicKey::from_pem(pem).ok()?.fingerprint().words();
    Some(words.split(' ').map(str::to_owned).collect())
}
