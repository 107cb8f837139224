//! What is sealed: a description, a message or a file, as JSON. Knows nothing of how it is sealed.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sealing::Recipients;
use crate::{Error, PrivateKey, PublicKey, Sealed, open, seal};

/// The title that everybody sees of a task whose description is sealed.
pub const CLEAR_TITLE: &str = "Encrypted Task";
/// The name that everybody sees of a sealed file.
pub const CLEAR_FILENAME: &str = "encrypted_file";
/// The type that everybody sees of a sealed file.
pub const CLEAR_MIME_TYPE: &str = "application/octet-stream";

/// What a task is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The real title.
    pub title: String,
    /// The real description.
    pub description: String,
}

/// How the body of a message is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContentType {
    /// As it stands.
    Text,
    /// As JSON, which is a text here too.
    Json,
}

/// What one participant says to the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// How the body is to be read.
    pub content_type: ContentType,
    /// The words.
    pub body: String,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// The real name. It is the sender's word: whoever saves the file decides where.
    pub filename: String,
    /// The real type.
    pub mime_type: String,
    /// The bytes, in base64 inside the JSON.
    #[serde(with = "base64_text")]
    pub data: Vec<u8>,
}

/// Something that is sealed as JSON.
pub trait Envelope: Serialize + DeserializeOwned {
    /// What it is called when something else was found.
    const NAME: &'static str;

    /// Seals it for the two participants of a task, of whom the sender is one.
    fn seal(&self, task_id: &str, sender: &PrivateKey, recipients: Recipients<'_>) -> Result<Sealed, Error> {
        let json = serde_json::to_vec(self).map_err(|_| Error::Envelope(Self::NAME))?;
        seal(task_id, sender, recipients, &json)
    }

    /// Opens what `sender` sealed in this task for `me` and somebody else. Fields it does not know are left
    /// aside, as everywhere.
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
