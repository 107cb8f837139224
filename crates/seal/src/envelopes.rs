//! The plaintext formats: a description, a message or a file, as JSON. Does not know how they are encrypted.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sealing::Recipients;
use crate::{Error, PrivateKey, PublicKey, Sealed, open, seal};

/// The visible title of an encrypted task.
pub const CLEAR_TITLE: &str = "Encrypted Task";
/// The visible name of an encrypted file.
pub const CLEAR_FILENAME: &str = "encrypted_file";
/// The visible media type of an encrypted file.
pub const CLEAR_MIME_TYPE: &str = "application/octet-stream";

/// Title and description of an encrypted task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The real title.
    pub title: String,
    /// The real description.
    pub description: String,
}

/// How to read the body of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentType {
    /// Plain text.
    Text,
    /// JSON, as text.
    Json,
}

/// A message between the participants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// How to read the body.
    pub content_type: ContentType,
    /// Text or JSON, as `content_type` says.
    pub body: String,
}

/// A file with its real name and type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// The real name. It comes from the sender and is not checked: do not use it as a path.
    pub filename: String,
    /// The real media type.
    pub mime_type: String,
    /// The bytes, in base64 inside the JSON.
    #[serde(with = "base64_text")]
    pub data: Vec<u8>,
}

/// A plaintext that is sealed as JSON.
pub trait Envelope: Serialize + DeserializeOwned {
    /// The name in the error when the plaintext is something else.
    const NAME: &'static str;

    /// Seals it for the two participants of a task. The sender must be one of them.
    fn seal(&self, task_id: &str, sender: &PrivateKey, recipients: Recipients<'_>) -> Result<Sealed, Error> {
        let json = serde_json::to_vec(self).map_err(|_| Error::Envelope(Self::NAME))?;
        seal(task_id, sender, recipients, &json)
    }

    /// Opens what `sender` sealed in this task for `me` and the other participant. Unknown fields are ignored.
    fn open(
        task_id: &str,
        sealed: &Sealed,
        me: (&str, &PrivateKey),
        sender: &PublicKey,
    ) -> Result<Self, Error> {
        let json = open(task_id, sealed, me, sender)?;
        serde_json::from_slice(&json).map_err(|_| Error::Envelope(Self::NAME))
    }
}

impl Envelope for Description {
    const NAME: &'static str = "description";
}

impl Envelope for Message {
    const NAME: &'static str = "message";
}

impl Envelope for File {
    const NAME: &'static str = "file";
}

/// Bytes as base64 text in JSON.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}
