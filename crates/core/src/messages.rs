//! Messages within a task.

use crate::ids::{AgentId, MessageId, TaskId};
use crate::text::Unfit;
use crate::time::Timestamp;

/// The content of a message that was taken back.
pub const DELETED: &str = "[deleted]";
/// What stands as the sender of the hub's own messages.
pub const SYSTEM: &str = "system";

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $error:literal, { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant),+
        }

        impl $name {
            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = Unfit;
            fn try_from(word: String) -> Result<Self, Unfit> {
                match word.as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Unfit($error.into())),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use words;

words!(
    /// What a message's content is.
    ContentType, "must be text, json, file or encrypted", {
        /// Plain text.
        Text = "text",
        /// A JSON document.
        Json = "json",
        /// The id of a file.
        File = "file",
        /// Ciphertext.
        Encrypted = "encrypted",
    }
);

words!(
    /// Why a message exists.
    Kind, "must be message, reply, system or broadcast", {
        /// Somebody wrote it.
        Message = "message",
        /// It is a task's result.
        Reply = "reply",
        /// The hub wrote it.
        System = "system",
        /// It went to a whole network.
        Broadcast = "broadcast",
    }
);

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The task it belongs to.
    pub task: TaskId,
    /// Its place in the task, from 1.
    pub number: i64,
    /// Who wrote it; nobody for the hub's own.
    pub sender: Option<AgentId>,
    /// The writer's name now.
    pub sender_name: Option<String>,
    /// Why it exists.
    pub kind: Kind,
    /// What it says.
    pub content: String,
    /// How to read it.
    pub content_type: ContentType,
    /// Each party's wrapped key, a JSON object as text.
    pub encrypted_keys: Option<String>,
    /// The writer's signature.
    pub sender_signature: Option<String>,
    /// When its recipient read it.
    pub read_at: Option<Timestamp>,
    /// When its recipient acknowledged it.
    pub acknowledged_at: Option<Timestamp>,
    /// When it was written.
    pub created_at: Timestamp,
}
