//! Typed identifiers, and the one place that generates them.
//!
//! Generated ids sort by time: 48 bits of milliseconds, then 72 random bits, as 24 characters of lower-case
//! base 32. Lower case only, so that every database collation orders them alike.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::time::Timestamp;

/// An identifier of a `T`: 1 to 64 characters of `[A-Za-z0-9_-]`.
pub struct Id<T>(Arc<str>, PhantomData<fn() -> T>);

#[derive(Debug)]
pub enum Agent {}
/// Marks ids of artifacts that the hub makes.
#[derive(Debug)]
pub enum Artifact {}
/// Marks ids of conversations that the hub makes.
#[derive(Debug)]
pub enum Context {}
#[derive(Debug)]
pub enum Connection {}
/// Marks ids of webhook deliveries.
#[derive(Debug)]
pub enum Delivery {}
#[derive(Debug)]
pub enum File {}
#[derive(Debug)]
pub enum Message {}
#[derive(Debug)]
pub enum Network {}
/// Marks ids of offers to pair: one for each code.
#[derive(Debug)]
pub enum Pairing {}
/// Marks ids of nodes: processes that share a database.
#[derive(Debug)]
pub enum Node {}

pub type AgentId = Id<Agent>;
/// Id of a connection between two agents.
pub type ConnectionId = Id<Connection>;
pub type DeliveryId = Id<Delivery>;
pub type FileId = Id<File>;
/// Id of a message, also of a broadcast.
pub type MessageId = Id<Message>;
pub type NetworkId = Id<Network>;
pub type NodeId = Id<Node>;
/// Id of an offer to pair. Unlike its code, it is no secret.
pub type PairingId = Id<Pairing>;
/// Id of a task; the client may choose it.
pub type TaskId = Id<crate::tasks::Task>;

/// The prefix of generated ids of one kind.
pub trait Prefixed {
    /// Includes the underscore.
    const PREFIX: &'static str;
}
impl Prefixed for Agent {
    const PREFIX: &'static str = "agent_";
}
impl Prefixed for Artifact {
    const PREFIX: &'static str = "art_";
}
impl Prefixed for Context {
    const PREFIX: &'static str = "ctx_";
}
impl Prefixed for Connection {
    const PREFIX: &'static str = "conn_";
}
impl Prefixed for Delivery {
    const PREFIX: &'static str = "whd_";
}
impl Prefixed for File {
    const PREFIX: &'static str = "file_";
}
impl Prefixed for Message {
    const PREFIX: &'static str = "msg_";
}
impl Prefixed for Network {
    const PREFIX: &'static str = "net_";
}
impl Prefixed for Pairing {
    const PREFIX: &'static str = "pair_";
}
impl Prefixed for crate::tasks::Task {
    const PREFIX: &'static str = "task_";
}

/// The text is not a valid id.
#[derive(Debug, thiserror::Error)]
#[error("must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")]
pub struct NotAnId;

impl<T> Id<T> {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Text that is shown in the place of an id, such as the id between markers. It is not checked and names nothing:
    /// only a view that is about to be written out may hold it.
    #[must_use]
    pub fn shown_as(text: &str) -> Self {
        Self(text.into(), PhantomData)
    }
}

impl<T> FromStr for Id<T> {
    type Err = NotAnId;
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into(), PhantomData))
        } else {
            Err(NotAnId)
        }
    }
}

impl<T> TryFrom<String> for Id<T> {
    type Error = NotAnId;
    fn try_from(text: String) -> Result<Self, NotAnId> {
        text.parse()
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0), PhantomData)
    }
}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<T> std::hash::Hash for Id<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl<T> serde::Serialize for Id<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
impl<'de, T> serde::Deserialize<'de> for Id<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

const RANDOM_BITS: u32 = 72;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters after the prefix.
const MADE_CHARS: usize = 24;

/// Whether an id looks like a generated one, as opposed to one that a client chose.
#[must_use]
pub fn has_made_shape(id: &str) -> bool {
    let prefixes = [
        Agent::PREFIX,
        Connection::PREFIX,
        Delivery::PREFIX,
        File::PREFIX,
        Message::PREFIX,
        Network::PREFIX,
        crate::tasks::Task::PREFIX,
    ];
    let rest = prefixes.iter().find_map(|prefix| id.strip_prefix(prefix)).unwrap_or_default();
    rest.len() == MADE_CHARS && rest.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// Generates ids that never repeat and, within one process, always increase.
pub struct IdSource {
    random: fn(&mut [u8]),
    last: Mutex<u128>,
}

impl fmt::Debug for IdSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdSource")
    }
}

impl IdSource {
    /// `random` fills its argument with random bytes.
    #[must_use]
    pub fn new(random: fn(&mut [u8])) -> Self {
        Self { random, last: Mutex::new(0) }
    }

    fn next(&self, at: Timestamp) -> u128 {
        let mut bytes = [0; 16];
        (self.random)(&mut bytes[..9]);
        let random = u128::from_le_bytes(bytes);
        let time = u128::from(at.0.max(0).unsigned_abs()) & ((1 << 48) - 1);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Within one millisecond, or after the clock went back, increment the last id.
        *last = (time << RANDOM_BITS | random).max(*last + 1);
        *last
    }
}

/// The current time and the source of new ids; a parameter of every use case.
#[derive(Debug, Clone)]
pub struct Now {
    pub at: Timestamp,
    ids: Arc<IdSource>,
}

impl Now {
    /// Combines a time with a source of ids.
    #[must_use]
    pub fn new(at: Timestamp, ids: Arc<IdSource>) -> Self {
        Self { at, ids }
    }

    /// A new id, greater than all before it.
    #[must_use]
    pub fn new_id<T: Prefixed>(&self) -> Id<T> {
        let number = self.ids.next(self.at);
        let mut text = String::with_capacity(T::PREFIX.len() + MADE_CHARS);
        text.push_str(T::PREFIX);
        for place in (0..MADE_CHARS).rev() {
            let digit = usize::try_from(number >> (place * 5) & 31).unwrap_or_default();
            text.push(char::from(ALPHABET[digit]));
        }
        Id(text.into(), PhantomData)
    }
}
