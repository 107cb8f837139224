//! Remotes: agents elsewhere that speak A2A. Their owner sends them tasks as to any connection; the hub hands the tasks over
//! and carries out what the other side answers.

use std::fmt;

use crate::ids::{AgentId, TaskId};
use crate::messages::words;
use crate::text::Unfit;
use crate::time::Timestamp;

/// How many hubs a task may come through.
pub const HOPS_MAX: i64 = 8;
/// After this time without an answer, a task has failed.
pub const SILENCE_MAX_MS: i64 = 24 * 3_600 * 1_000;
/// The shortest and the longest pause between two questions about a task.
pub const POLL_MIN_MS: i64 = 2_000;
pub const POLL_MAX_MS: i64 = 300_000;
/// The pause while an open stream tells what happens.
pub const POLL_STREAMED_MS: i64 = 60_000;
/// Streams to one remote at a time.
pub const STREAMS_MAX: i64 = 8;
/// How long a stream stays open before it is opened again.
pub const STREAM_SECONDS: i64 = 300;
/// How often a card is read, and how soon again after that failed.
pub const CARD_EVERY_SECONDS: i64 = 24 * 3_600;
pub const CARD_AGAIN_SECONDS: i64 = 3_600;

words!(
    /// How the interface of a remote is called.
    Binding, "must be JSONRPC or HTTP+JSON", {
        Rpc = "JSONRPC",
        Http = "HTTP+JSON",
    }
);

words!(
    /// What becomes of a task when nobody knows whether the other side has got it.
    OnUnclear, "must be retry or fail", {
        /// It is sent again, with the same ids.
        Retry = "retry",
        /// It has failed.
        Fail = "fail",
    }
);

words!(
    /// Whether the card of a remote is signed. A signature that cannot be verified is refused.
    Signature, "must be unsigned or verified", {
        Unsigned = "unsigned",
        Verified = "verified",
    }
);

words!(
    /// Why tasks for a remote wait.
    PauseReason, "must be owner, origin, key, signature or card", {
        /// Its owner said so.
        Owner = "owner",
        /// The card names an origin that the owner has not seen.
        Origin = "origin",
        /// The card is no longer signed with the key that was pinned.
        Key = "key",
        /// The card is signed, and no signature can be verified.
        Signature = "signature",
        /// The card cannot be used.
        Card = "card",
    }
);

words!(
    /// How the hub authenticates itself to a remote.
    AuthType, "must be bearer, basic or apiKey", {
        Bearer = "bearer",
        /// `user:password`.
        Basic = "basic",
        /// A header of its own.
        ApiKey = "apiKey",
    }
);

/// What the hub authenticates itself with. It is never shown.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Auth {
    #[serde(rename = "type")]
    pub kind: AuthType,
    pub value: String,
    /// The header of an API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Why and since when tasks for a remote wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub reason: PauseReason,
    /// In words; the origin or the key that the card names.
    pub detail: Option<String>,
    pub since: Timestamp,
}

/// Where and how a remote is called, by its card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub url: String,
    pub binding: Binding,
    pub tenant: Option<String>,
    pub streams: bool,
    pub pushes: bool,
}

/// What its owner says of a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    pub card_url: String,
    pub auth: Option<Auth>,
    /// Origins beside that of the card.
    pub origins: Vec<String>,
    /// The keys that sign the card: a JSON array of JWKs, as text. Without any, the first one that is seen is pinned.
    pub keys: Option<String>,
    pub on_unclear: OnUnclear,
}

/// What the card of a remote said when it was read last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFacts {
    pub interface: Interface,
    pub signature: Signature,
    /// The key that the card was signed with at first: a JWK, as text.
    pub pinned: Option<String>,
    pub version: String,
    pub read_at: Timestamp,
}

/// An agent elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub agent: AgentId,
    pub owner: AgentId,
    pub terms: Terms,
    pub card: CardFacts,
    pub pause: Option<Pause>,
    /// Since when nothing has got through, and why.
    pub failing_since: Option<Timestamp>,
    pub last_error: Option<String>,
    /// When the card is read next.
    pub card_next_at: Timestamp,
    /// How often its owner has changed it. What was begun before a change does not count after it.
    pub version: i64,
    pub created_at: Timestamp,
}

/// Where a task for a remote stands on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteTask {
    pub task: TaskId,
    pub agent: AgentId,
    /// The attempt that it is about.
    pub attempt: i64,
    /// What the other side calls the task and its conversation.
    pub foreign_id: Option<String>,
    pub foreign_context: Option<String>,
    /// Up to which number the initiator's messages were sent; `None` before the task itself was.
    pub sent_to: Option<i64>,
    /// Whether a request left whose outcome was not recorded.
    pub is_sending: bool,
    /// How often the present request has failed.
    pub failures: i64,
    /// When something is to be done; `None` for nothing.
    pub next_at: Option<Timestamp>,
    /// Whether the task is at its end on the other side.
    pub is_ended: bool,
    /// When the other side last answered.
    pub heard_at: Timestamp,
    /// The pause between questions.
    pub pause_ms: i64,
    /// Until when a stream is open.
    pub stream_until: Option<Timestamp>,
    /// Before which time no stream is opened: the last one failed.
    pub stream_after: Option<Timestamp>,
    /// The secrets of the address to which the other side pushes.
    pub push_path: Option<String>,
    pub push_token: Option<String>,
    /// What was carried out last: a hash of state and words.
    pub seen: Option<String>,
    /// Hashes of the artifacts that were taken over.
    pub artifacts: Vec<String>,
    /// Counts the turns, so that a result that comes too late is known.
    pub turn: i64,
}

impl RemoteTask {
    #[must_use]
    pub fn new(task: TaskId, agent: AgentId, attempt: i64, now: Timestamp) -> Self {
        Self {
            task,
            agent,
            attempt,
            foreign_id: None,
            foreign_context: None,
            sent_to: None,
            is_sending: false,
            failures: 0,
            next_at: Some(now),
            is_ended: false,
            heard_at: now,
            pause_ms: POLL_MIN_MS,
            stream_until: None,
            stream_after: None,
            push_path: None,
            push_token: None,
            seen: None,
            artifacts: Vec::new(),
            turn: 0,
        }
    }

    /// Whether a stream tells what happens.
    #[must_use]
    pub fn is_streamed(&self, now: Timestamp) -> bool {
        self.stream_until.is_some_and(|until| until > now)
    }

    /// When to ask next: soon after a change, then less and less often. With a bell, rarely.
    pub fn plan_question(&mut self, changed: bool, is_pushed: bool, now: Timestamp) {
        self.pause_ms = match changed {
            true => POLL_MIN_MS,
            false => (self.pause_ms.saturating_mul(3) / 2).clamp(POLL_MIN_MS, POLL_MAX_MS),
        };
        let pause = match self.is_streamed(now) {
            true => self.pause_ms.max(POLL_STREAMED_MS),
            false if is_pushed => POLL_MAX_MS,
            false => self.pause_ms,
        };
        self.next_at = Some(now.plus_ms(pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> RemoteTask {
        RemoteTask::new("t".parse().unwrap(), "a".parse().unwrap(), 1, Timestamp(0))
    }

    fn pause(task: &RemoteTask) -> i64 {
        task.next_at.unwrap().0
    }

    #[test]
    fn questions_become_rare_while_nothing_changes() {
        let mut task = task();
        task.plan_question(true, false, Timestamp(0));
        assert_eq!(pause(&task), POLL_MIN_MS);
        let mut before = 0;
        for _ in 0..20 {
            task.plan_question(false, false, Timestamp(0));
            assert!(pause(&task) >= before);
            before = pause(&task);
        }
        assert_eq!(before, POLL_MAX_MS);
        task.plan_question(true, false, Timestamp(0));
        assert_eq!(pause(&task), POLL_MIN_MS);
    }

    #[test]
    fn whoever_is_told_asks_rarely() {
        let mut task = task();
        task.plan_question(true, true, Timestamp(0));
        assert_eq!(pause(&task), POLL_MAX_MS);
        task.stream_until = Some(Timestamp(10));
        task.plan_question(true, false, Timestamp(0));
        assert_eq!(pause(&task), POLL_STREAMED_MS);
        task.plan_question(true, false, Timestamp(10));
        assert_eq!(pause(&task), 10 + POLL_MIN_MS);
    }

    #[test]
    fn a_secret_is_not_shown() {
        let auth = Auth { kind: AuthType::Bearer, value: "secret".into(), header: None };
        assert!(!format!("{auth:?}").contains("secret"));
    }
}
