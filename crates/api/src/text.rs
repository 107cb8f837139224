//! Text types of views that record who wrote the text.
//!
//! On the wire each is the bare value. The author decides how the text is shown to a model: see
//! [`fence`](crate::fence). Deserialised text counts as written by a peer, because its author is unknown.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tandem_core::AgentId;

use crate::fence::{Fence, Fencer, no_text};

/// Who wrote a text, from the reader's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// Another agent. A model must not follow it as instructions.
    Peer,
    /// The reader itself.
    Reader,
    /// The hub.
    Hub,
}

impl Author {
    /// The author that `writer` is to `reader`.
    #[must_use]
    pub fn of(writer: &AgentId, reader: &AgentId) -> Self {
        if writer == reader { Self::Reader } else { Self::Peer }
    }
}

/// Defines a text type with an author. `$fenced` is the method of [`Fencer`] for a peer's text.
macro_rules! authored {
    ($(#[$doc:meta])* $name:ident, $fenced:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name {
            text: String,
            author: Author,
        }

        impl $name {
            /// A text by this author.
            #[must_use]
            pub fn new(author: Author, text: impl Into<String>) -> Self {
                Self { text: text.into(), author }
            }

            /// Text of the reader.
            #[must_use]
            pub fn own(text: impl Into<String>) -> Self {
                Self::new(Author::Reader, text)
            }

            /// Text of another agent, or of an unknown author.
            #[must_use]
            pub fn peer(text: impl Into<String>) -> Self {
                Self::new(Author::Peer, text)
            }

            /// A text by the hub.
            #[must_use]
            pub fn hub(text: impl Into<String>) -> Self {
                Self::new(Author::Hub, text)
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.text
            }

            /// Who wrote it.
            #[must_use]
            pub fn author(&self) -> Author {
                self.author
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.text
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.text == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.text == *other
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::peer)
            }
        }

        impl Fence for $name {
            fn fence(&mut self, with: &dyn Fencer) {
                if self.author == Author::Peer {
                    if let Cow::Owned(shown) = with.$fenced(&self.text) {
                        self.text = shown;
                    }
                    // The text is now rendered by the hub; marking it again would only make it longer.
                    self.author = Author::Hub;
                }
            }
        }
    };
}

authored!(
    /// Free text.
    PeerText, text
);
authored!(
    /// The name of an agent or a network.
    PeerName, name
);
authored!(
    /// Machine-readable text: ciphertext, a signature, a public key, a file id.
    PeerToken, token
);

authored!(
    /// The cursor of a list, which may contain an id that a client chose.
    PeerCursor, cursor
);

/// A description, message or result: free text, or machine-readable text.
#[derive(Debug, Clone)]
pub enum PeerContent {
    /// Free text.
    Prose(PeerText),
    /// Ciphertext, or a file id.
    Token(PeerToken),
}

impl PeerContent {
    /// Free text, unless it is machine-readable.
    #[must_use]
    pub fn new(author: Author, text: impl Into<String>, is_token: bool) -> Self {
        if is_token {
            Self::Token(PeerToken::new(author, text))
        } else {
            Self::Prose(PeerText::new(author, text))
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Prose(text) => text.as_str(),
            Self::Token(token) => token.as_str(),
        }
    }
}

impl PartialEq<&str> for PeerContent {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Serialize for PeerContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PeerContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PeerText::deserialize(deserializer).map(Self::Prose)
    }
}

impl Fence for PeerContent {
    fn fence(&mut self, with: &dyn Fencer) {
        match self {
            Self::Prose(text) => text.fence(with),
            Self::Token(token) => token.fence(with),
        }
    }
}

/// The tags of an agent.
#[derive(Debug, Clone)]
pub struct PeerTags {
    tags: Vec<String>,
    author: Author,
}

impl PeerTags {
    /// Tags by this author.
    #[must_use]
    pub fn new(author: Author, tags: Vec<String>) -> Self {
        Self { tags, author }
    }

    /// The tags.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.tags
    }
}

impl Serialize for PeerTags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tags.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PeerTags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(Author::Peer, Vec::deserialize(deserializer)?))
    }
}

impl Fence for PeerTags {
    fn fence(&mut self, with: &dyn Fencer) {
        if self.author == Author::Peer {
            with.tags(&mut self.tags);
            self.author = Author::Hub;
        }
    }
}

/// A JSON value of an agent. A peer's is shown to a model as marked text, because its keys are text too.
#[derive(Debug, Clone)]
pub struct PeerJson {
    json: Box<RawValue>,
    author: Author,
}

impl PeerJson {
    /// JSON by this author; `None` if the text is not valid JSON.
    #[must_use]
    pub fn new(author: Author, json: String) -> Option<Self> {
        Some(Self { json: RawValue::from_string(json).ok()?, author })
    }

    /// A stored list; an empty one if nothing is stored.
    #[must_use]
    pub fn list(author: Author, json: Option<String>) -> Self {
        let stored = json.and_then(|json| Self::new(author, json));
        stored.unwrap_or_else(|| Self { json: empty_list(), author })
    }

    /// The value as JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.json.get()
    }
}

fn empty_list() -> Box<RawValue> {
    to_raw_value::<[(); 0]>(&[]).unwrap_or_default()
}

impl Serialize for PeerJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PeerJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { json: raw(deserializer)?, author: Author::Peer })
    }
}

impl Fence for PeerJson {
    fn fence(&mut self, with: &dyn Fencer) {
        if self.author == Author::Peer {
            if let Ok(shown) = to_raw_value(&with.text(self.json.get())) {
                self.json = shown;
            }
            self.author = Author::Hub;
        }
    }
}

/// For encrypted content: the wrapped key of each party, by agent id.
#[derive(Debug, Clone)]
pub struct WrappedKeys {
    json: Box<RawValue>,
    author: Author,
}

impl WrappedKeys {
    /// Keys by this author; `None` if the text is not valid JSON.
    #[must_use]
    pub fn new(author: Author, json: String) -> Option<Self> {
        Some(Self { json: RawValue::from_string(json).ok()?, author })
    }

    /// The keys as a JSON object.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.json.get()
    }
}

impl Serialize for WrappedKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WrappedKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { json: raw(deserializer)?, author: Author::Peer })
    }
}

impl Fence for WrappedKeys {
    fn fence(&mut self, with: &dyn Fencer) {
        if self.author != Author::Peer {
            return;
        }
        self.author = Author::Hub;
        let shown = match serde_json::from_str::<Map<String, Value>>(self.json.get()) {
            Ok(keys) => {
                let shown = keys.into_iter().map(|(party, key)| {
                    let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                    (with.id(&party).into_owned(), Value::from(with.token(&key)))
                });
                to_raw_value(&shown.collect::<Map<String, Value>>())
            }
            Err(_) => to_raw_value(&with.text(self.json.get())),
        };
        if let Ok(shown) = shown {
            self.json = shown;
        }
    }
}

/// JSON as text. It is parsed as a value first, because a flattened struct passes its fields on as values.
fn raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<RawValue>, D::Error> {
    to_raw_value(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

/// Text of the hub: a code, a key, a URL, a note.
#[derive(Default, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HubText(String);

impl HubText {
    /// Text that only the hub has written.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

no_text!(HubText);
